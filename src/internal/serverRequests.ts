/**
 * Answers what a server asks for by itself: revision 2025-11-25, basic/index, "Requests", and basic/utilities/ping.
 *
 * Nobody here handles anything yet but `ping`, and nothing is declared, so that everything else is refused. Answers are
 * messages of their own and are sent on fibers of the connection: whoever reads what the server says never waits.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { McpError } from "../errors/McpError.ts"
import { errorCodes } from "../schema/JsonRpc.ts"
import type { ServerRequest } from "../services/Transport.ts"
import { note } from "./dropped.ts"

/**
 * Requests that are handled at the same time.
 */
const maxAtOnce = 8

/**
 * Refusals that wait to be sent. A server that asks for more is not answered any more.
 */
const maxWaiting = 1024

const result = ({ id }: ServerRequest, value: object): string => JSON.stringify({ jsonrpc: "2.0", id, result: value })

const refusal = ({ id }: ServerRequest, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })

const answerTo = (request: ServerRequest): string =>
  request.method === "ping"
    ? result(request, {})
    : refusal(request, errorCodes.methodNotFound, "the client does not offer this method")

/**
 * Takes requests as they come, and never waits. Closing the scope ends what is under way. `send` sends one answer.
 */
export const make = (
  scope: Scope.Scope,
  send: (answer: string) => Effect.Effect<void, McpError>
): (request: ServerRequest) => void => {
  let handling = 0
  let waiting: Array<ServerRequest> = []
  let isRefusing = false

  const fork = (effect: Effect.Effect<void>): void => {
    Effect.runFork(Effect.forkIn(effect, scope))
  }
  const deliver = (answer: string): Effect.Effect<void> =>
    Effect.matchEffect(send(answer), {
      onFailure: (error) => note("answer not delivered", error.message),
      onSuccess: () => Effect.void
    })

  const handle = (request: ServerRequest): Effect.Effect<void> =>
    Effect.ensuring(
      Effect.suspend(() => deliver(answerTo(request))),
      Effect.sync(() => {
        handling--
      })
    )

  const refuse: Effect.Effect<void> = Effect.gen(function*() {
    while (waiting.length > 0) {
      const refused = waiting
      waiting = []
      for (const request of refused) {
        yield* deliver(refusal(request, errorCodes.internalError, "too many requests at the same time"))
      }
    }
    isRefusing = false
  })

  return (request) => {
    if (handling < maxAtOnce) {
      handling++
      fork(handle(request))
    } else if (waiting.length < maxWaiting) {
      waiting.push(request)
      if (isRefusing) return
      isRefusing = true
      fork(refuse)
    } else {
      fork(note("request not answered", request.method))
    }
  }
}
