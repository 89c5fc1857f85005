/**
 * What a server announces, and who listens: revision 2026-07-28, basic/patterns/progress and
 * basic/patterns/subscriptions.
 */
import type { ServerNotification } from "../schema/JsonRpc.ts"
import type { Dropped } from "./dropped.ts"

/**
 * Everybody who listens to one server.
 */
export interface Announcements {
  /**
   * Takes what has come. Never waits.
   */
  readonly take: (notification: ServerNotification) => void
  /**
   * Has a listener called with what comes, until the answer is called. It says whether it wanted it, and neither waits
   * nor throws.
   */
  readonly listen: (listener: Listener) => () => void
}

/**
 * Says whether it wanted what came.
 */
export type Listener = (notification: ServerNotification) => boolean

/**
 * Nobody listens yet. What nobody wants is dropped.
 */
export const make = (dropped: Dropped): Announcements => {
  const listeners = new Set<Listener>()
  return {
    take: (notification) => {
      let isWanted = false
      for (const listener of listeners) if (listener(notification)) isWanted = true
      if (!isWanted) dropped.add(notification.method)
    },
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  }
}
