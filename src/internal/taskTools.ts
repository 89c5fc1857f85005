/**
 * Which tools can be called as tasks alone: what a server of revision 2025-11-25 says in its listing, and nowhere else
 * (basic/utilities/tasks, "Tool-Level Negotiation").
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { McpError } from "../errors/McpError.ts"
import { errorCodes } from "../schema/JsonRpc.ts"
import * as Task from "../schema/Task.ts"
import type { Tool } from "../schema/Tool.ts"
import type { Reply } from "../services/Transport.ts"
import { warn } from "./dropped.ts"
import type { Operation, Requester } from "./requester.ts"

/**
 * @see make
 */
export interface TaskTools {
  /**
   * Takes what a listing said.
   */
  readonly take: (tools: ReadonlyArray<Tool>) => void
  readonly has: (name: string) => boolean
  /**
   * Has the tools listed unless they have been: what a server answers to a call that should have been a task need not
   * say so.
   */
  readonly learn: (operation: Operation) => Effect.Effect<void, McpError>
  /**
   * Has the tools listed anew.
   */
  readonly relearn: (operation: Operation) => Effect.Effect<void, McpError>
}

/**
 * Nothing is known yet. `list` lists the tools, and has them taken.
 */
export const make = (
  requester: Requester,
  list: (operation: Operation) => Effect.Effect<unknown, McpError>
): TaskTools => {
  let names: ReadonlySet<string> | undefined
  const listingOnce = Semaphore.makeUnsafe(1).withPermits(1)

  // A listing that cannot be read costs those calls alone that have to be tasks.
  const relearn = (operation: Operation): Effect.Effect<void, McpError> =>
    Effect.catchTag(Effect.asVoid(list(operation)), "ServerAnswered", (error) => {
      names ??= new Set()
      return warn("tasks not known", error.message)
    })

  return {
    take: (tools) => {
      names = new Set(tools.filter(Task.isRequiredBy).map(({ name }) => name))
    },
    has: (name) => names?.has(name) === true,
    relearn,
    learn: (operation) =>
      Effect.suspend(() => {
        if (names !== undefined) return Effect.void
        const unlessKnown = Effect.suspend(() => names === undefined ? relearn(operation) : Effect.void)
        return requester.within(operation, listingOnce(unlessKnown))
      })
  }
}

/**
 * Whether a call may have been refused because it had to be a task, or must not be one ("Protocol Errors").
 */
export const mayBeWhy = ({ response }: Reply): boolean =>
  "error" in response &&
  (response.error.code === errorCodes.methodNotFound || response.error.code === errorCodes.invalidRequest)

/**
 * What makes a call a task. The server keeps it as long as somebody waits for it here.
 */
export const member = ({ deadline }: Operation): string => {
  const ttl = Math.ceil(Duration.toMillis(deadline.total))
  return Number.isFinite(ttl) ? `,"task":{"ttl":${ttl}}` : `,"task":{}`
}
