/**
 * Tells an application how far a task has got, as of a request that reports its progress.
 */
import type { JsonObject } from "../schema/Json.ts"
import * as Task from "../schema/Task.ts"
import type { Hearing } from "./requester.ts"

const method = "notifications/progress"

/**
 * A report of a task is about no request, and gives none its time once more.
 */
const noTime = { hold: () => {}, restart: () => {} }

/**
 * @see make
 */
export interface TaskReports {
  /**
   * Hears what the server itself reports of the task, as it may at revision 2025-11-25 ("Task Progress Notifications").
   */
  readonly hearing: Hearing
  /**
   * Tells of a status, unless it was told already.
   */
  readonly tell: (task: Task.Task) => void
}

/**
 * Reports of the task with this id, to who hears those of its call. Where the server counts nothing, the statuses are
 * counted.
 */
export const make = (hear: Hearing, id: string): TaskReports => {
  let last: JsonObject = { progress: 0 }
  let statuses = 0
  let told: string | undefined
  return {
    hearing: (notification, requestId, ownTime) => {
      if (notification.method !== method || Task.relatedTo(notification.params) !== id) return false
      last = notification.params
      return hear({ method, params: { ...last, progressToken: requestId } }, requestId, ownTime)
    },
    tell: ({ status, statusMessage }) => {
      const message = statusMessage ?? status
      if (message === told) return
      told = message
      if (last["progressToken"] === undefined) last = { progress: ++statuses }
      const { progress, total } = last
      hear({ method, params: { progressToken: 0, progress, total, message } }, 0, noTime)
    }
  }
}
