/**
 * Follows a task to its end: looks at it again and again, gives it the input that it asks for, fetches its result, and
 * cancels it at the server where nobody waits for it any more.
 *
 * The extension `io.modelcontextprotocol/tasks` of revision 2026-07-28 (SEP-2663), and revision 2025-11-25,
 * basic/utilities/tasks.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import {
  type McpError,
  RpcError,
  type ServerAnswered,
  type ServerAnsweredReason,
  TaskUnfinished,
  Unreadable
} from "../errors/McpError.ts"
import { isJsonObject, type JsonObject } from "../schema/Json.ts"
import { errorCodes, errorFromWire } from "../schema/JsonRpc.ts"
import * as Task from "../schema/Task.ts"
import type { McpPolicy, TaskPoll } from "../services/McpPolicy.ts"
import { note } from "./dropped.ts"
import * as InputRounds from "./inputRounds.ts"
import type { Operation, Outcome, Requester } from "./requester.ts"
import { resultTypeOf } from "./resultType.ts"
import * as TaskReports from "./taskReports.ts"
import * as TaskSupport from "./taskSupport.ts"

/**
 * Statuses of a server, or of what stands before it, that is there again in a while.
 */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504])

/**
 * Whether a look at a task brought no answer, which says nothing about the task; and when to try again.
 */
const lost = (error: McpError): TaskPoll | undefined => {
  if (error._tag !== "ConnectionFailed") return undefined
  const { reason } = error
  const poll: TaskPoll = { done: false, lost: true, pollInterval: undefined }
  switch (reason._tag) {
    case "Unreachable":
    case "TimedOut":
      return poll
    case "HttpStatus":
      return passing.has(reason.status) ? { ...poll, pollInterval: reason.retryAfter } : undefined
    default:
      return undefined
  }
}

/**
 * The server does not know the task, so that there is nothing to cancel.
 */
const isForgotten = (error: McpError): boolean =>
  error._tag === "ServerAnswered" && error.reason._tag === "RpcError" &&
  error.reason.code === errorCodes.invalidParams

/**
 * Follows tasks of the server at the other end of a requester. `created` is the task as the server first described it;
 * the outcome is that of the call that it stands for.
 */
export const follow = (
  requester: Requester,
  policy: McpPolicy,
  dialect: Task.Dialect
): (operation: Operation, created: JsonObject) => Effect.Effect<Outcome, McpError> => {
  const isExtension = dialect === "extension"
  const canCancel = TaskSupport.takesCancel(requester.negotiated, dialect)

  const send = (
    operation: Operation,
    method: string,
    id: string,
    { members = "", waits = false }: { readonly members?: string; readonly waits?: boolean } = {}
  ): Effect.Effect<JsonObject, McpError> =>
    Effect.flatMap(
      requester.send(operation, { method, name: id, members: `"taskId":${JSON.stringify(id)}${members}`, waits }),
      (reply) =>
        Effect.flatMap(requester.outcome(operation, reply), ({ result, type }) =>
          type === "complete"
            ? Effect.succeed(result)
            : Effect.fail(
              requester.answered(operation.name, new Unreadable({ detail: `${method} may not ask for input` }))
            ))
    )

  /**
   * On a fiber of the connection: who gave a call up does not wait for it.
   */
  const cancel = (id: string): Effect.Effect<void> => {
    const method = "tasks/cancel"
    const cancelling = requester.operation(
      method,
      { "mcp.method.name": method },
      undefined,
      (operation) => send(operation, method, id)
    )
    const noted = cancelling.pipe(Effect.catch((error) => note("task not cancelled", error.message)))
    return canCancel ? Effect.asVoid(Effect.forkIn(noted, requester.scope)) : Effect.void
  }

  return (operation, created) => {
    const { hear, meta } = operation
    const answered = (reason: ServerAnsweredReason): ServerAnswered => requester.answered(operation.name, reason)
    const unreadable = (detail: string): McpError => answered(new Unreadable({ detail }))
    const read = <A>(result: Result.Result<A, string>): Effect.Effect<A, McpError> =>
      Effect.mapError(Effect.fromResult(result), unreadable)

    const known = Task.idFromWire(created)
    if (Result.isFailure(known)) return Effect.fail(unreadable(known.failure))
    const id = known.success
    const reports = hear && TaskReports.make(hear, id)
    const looking: Operation = {
      ...operation,
      // A look that hangs is one that is lost, however long the call may take.
      deadline: { ...operation.deadline, each: Duration.min(operation.deadline.each, policy.requestTimeout) },
      meta: meta && { ...meta, wantsProgress: false },
      hear: reports?.hearing
    }

    /**
     * The result that the extension has in the last state of a task.
     */
    const inlineResult = ({ error, result, status }: Task.Task): Effect.Effect<JsonObject, McpError> => {
      if (status === "failed") {
        return Effect.flatMap(read(errorFromWire(error)), (failed) => Effect.fail(answered(new RpcError(failed))))
      }
      if (!isJsonObject(result)) return Effect.fail(unreadable("a completed task has no result"))
      const type = resultTypeOf(result)
      if (Result.isFailure(type)) return Effect.fail(answered(type.failure))
      return type.success === "complete"
        ? Effect.succeed(result)
        : Effect.fail(unreadable("a completed task may not ask for input"))
    }

    /**
     * The result that a server of 2025-11-25 has beside the task.
     */
    const fetchResult = (waits: boolean): Effect.Effect<JsonObject, McpError> =>
      Effect.flatMap(send(looking, "tasks/result", id, { waits }), (result) => {
        const related = Task.relatedTo(result)
        return related === undefined || related === id
          ? Effect.succeed(result)
          : Effect.fail(unreadable("the result of another task"))
      })

    const get = Effect.suspend(() =>
      Effect.flatMap(send(looking, "tasks/get", id), (task) => read(Task.fromWire(task, id, dialect)))
    )

    let isOver = false
    const following = Effect.gen(function*() {
      let latest = yield* read(Task.fromWire(created, id, dialect))
      let result: JsonObject | undefined
      let failure: McpError | undefined
      let looks = 0

      const giveInput = yield* InputRounds.forTask({ features: requester.features, policy, answered })
      const given = new Set<string>()

      /**
       * A key is asked for once, though the server may go on showing it for a while.
       */
      const update = ({ inputRequests }: Task.Task): Effect.Effect<void, McpError> => {
        const wanted = isJsonObject(inputRequests) ? Object.entries(inputRequests) : undefined
        const fresh = wanted?.filter(([key]) => !given.has(key)) ?? []
        if (wanted !== undefined && wanted.length > 0 && fresh.length === 0) return Effect.void
        return Effect.flatMap(giveInput(wanted && Object.fromEntries(fresh)), (responses) => {
          if (fresh.length === 0) return Effect.void
          for (const [key] of fresh) given.add(key)
          return send(looking, "tasks/update", id, { members: `,"inputResponses":${responses}` })
        })
      }

      const onFailure = (error: McpError): Effect.Effect<TaskPoll, McpError> => {
        failure = error
        if (isForgotten(error)) isOver = true
        const poll = lost(error)
        return poll === undefined ? Effect.fail(error) : Effect.succeed(poll)
      }

      const onResult = (found: JsonObject): Effect.Effect<TaskPoll> => {
        isOver = true
        result = found
        return Effect.succeed({ done: true })
      }

      const onTask = (task: Task.Task): Effect.Effect<TaskPoll, McpError> => {
        latest = task
        failure = undefined
        isOver = Task.isOver(task)
        if (!isOver) reports?.tell(task)
        const { pollInterval, status } = task
        const again: TaskPoll = { done: false, lost: false, pollInterval }
        if (status === "working") return Effect.succeed(again)
        if (status === "cancelled") return Effect.succeed({ done: true })
        if (isExtension && !isOver) return Effect.as(update(task), again)
        // At 2025-11-25 what a task asks for comes as requests of its own, on the stream of its result at the latest.
        const ending = isExtension ? inlineResult(task) : fetchResult(!isOver)
        return Effect.matchEffect(ending, { onFailure, onSuccess: onResult })
      }

      // A task that is new has neither a result nor requests with it: the extension has them in the answer to a look.
      const isSeen = latest.status === "working" || !isExtension
      const look = Effect.suspend(() =>
        looks++ === 0 && isSeen ? onTask(latest) : Effect.matchEffect(get, { onFailure, onSuccess: onTask })
      )
      yield* Effect.repeat(look, policy.taskPolling)

      if (result !== undefined) return result
      const { status, statusMessage } = latest
      return yield* Effect.fail(failure ?? answered(new TaskUnfinished({ status, statusMessage, looks })))
    }).pipe(
      Effect.map((result): Outcome => ({ type: "complete", result })),
      Effect.onExit((exit) => Exit.isSuccess(exit) || isOver ? Effect.void : cancel(id))
    )
    return requester.within(operation, following)
  }
}
