/**
 * Requests whose answers come on one stream, in any order.
 */
import * as Result from "effect/Result"
import { ProtocolViolation } from "../errors/McpError.ts"
import * as JsonRpc from "../schema/JsonRpc.ts"

/**
 * @see make
 */
export interface Multiplex<E> {
  /**
   * Calls back once: with the answer to the request with this id, or with the reason why there is none. What it gives says
   * that nobody waits any more.
   */
  readonly wait: (id: number, answered: Answered<E>) => () => void
  /**
   * Takes a message off the stream.
   */
  readonly take: (message: unknown) => void
  /**
   * There is nothing more to come.
   */
  readonly fail: (reason: E) => void
  /**
   * Something goes out that has no answer.
   */
  readonly notified: () => void
}

type Answered<E> = (answer: Result.Result<JsonRpc.Response, E | ProtocolViolation>) => void

interface Pending<E> {
  readonly answered: Answered<E>
  /**
   * So many notifications had gone out before it.
   */
  readonly after: number
}

/**
 * Nothing has been asked yet. `receive` takes what the server says without having been asked; `onDropped` is told what
 * was for nobody.
 */
export const make = <E>(
  receive: (message: JsonRpc.ServerMessage) => void,
  onDropped: (what: string) => void
): Multiplex<E> => {
  const pending = new Map<number, Pending<E>>()
  // Of the notifications that went out, how many the server has got past: it has answered a request that went out later.
  let notifications = 0
  let passed = 0
  let failure: { readonly reason: E } | undefined

  /**
   * Whose answer this is. An error that names no request is the answer to the only one, if there is only one. Some servers
   * answer notifications as well, in that way, though: as long as one may be meant, it is for nobody.
   */
  const idOf = (message: { readonly [key: string]: unknown }): number | undefined => {
    const { id } = message
    if (typeof id === "number" && pending.has(id)) return id
    const [only] = pending.keys()
    const isAlone = pending.size === 1 && passed === notifications
    return message["error"] !== undefined && JsonRpc.isNobodysId(id) && isAlone ? only : undefined
  }

  return {
    wait: (id, answered) => {
      if (failure === undefined) pending.set(id, { answered, after: notifications })
      else answered(Result.fail(failure.reason))
      return () => pending.delete(id)
    },
    take: (message) => {
      const classified = JsonRpc.classify(message)
      if (Result.isFailure(classified)) return onDropped(classified.failure)
      const known = classified.success
      if (known._tag !== "Response") return receive(known)
      const id = idOf(known.message)
      if (id === undefined) return onDropped("a response that nobody waits for")
      const { after, answered } = pending.get(id)!
      pending.delete(id)
      passed = Math.max(passed, after)
      answered(Result.mapError(
        JsonRpc.readResponse(known.message, id),
        (detail) => new ProtocolViolation({ detail })
      ))
    },
    fail: (reason) => {
      failure ??= { reason }
      for (const { answered } of pending.values()) answered(Result.fail(reason))
      pending.clear()
    },
    notified: () => {
      notifications++
    }
  }
}
