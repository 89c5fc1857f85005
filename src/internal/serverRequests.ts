/**
 * Answers what a legacy server asks for by itself: revision 2025-11-25, basic/index, "Requests", and
 * basic/utilities/ping.
 *
 * Answers are messages of their own. They are found and sent on fibers of the connection: whoever reads what the server
 * says never waits.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { McpError } from "../errors/McpError.ts"
import { errorCodes } from "../schema/JsonRpc.ts"
import type { ServerRequest } from "../services/Transport.ts"
import { note } from "./dropped.ts"
import { type Features, maxAtOnce, type Refusal } from "./features.ts"

/**
 * Refusals that wait to be sent. A server that asks for more is not answered any more.
 */
const maxWaiting = 1024

/**
 * What a server asks for by itself, on one connection.
 */
export interface ServerRequests {
  /**
   * Takes a request. Never waits. Until `release`, what is no `ping` is held: as long as no revision is agreed on, nobody
   * knows whether the server may ask at all.
   */
  readonly take: (request: ServerRequest) => void
  /**
   * Holds no more, and gives back what was held.
   */
  readonly release: () => ReadonlyArray<ServerRequest>
  /**
   * Ends what is under way under an id, and has it unanswered. Says whether anything was.
   */
  readonly cancel: (id: unknown) => boolean
}

/**
 * What they are answered with, and how an answer is sent.
 */
export interface Options {
  readonly features: Features
  readonly send: (answer: string) => Effect.Effect<void, McpError>
  /**
   * What a handler may take to end, once it is interrupted. One that takes longer is left behind.
   */
  readonly grace: Duration.Duration
}

/**
 * `text` is JSON.
 */
const result = ({ id }: ServerRequest, text: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`

const refusal = ({ id }: ServerRequest, { code, message }: Refusal): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })

const tooMany: Refusal = { code: errorCodes.internalError, message: "too many requests at the same time" }

/**
 * Takes requests as they come. Closing the scope interrupts what is under way.
 */
export const make = Effect.fnUntraced(function*(
  { features, grace, send }: Options
): Effect.fn.Return<ServerRequests, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const handling = new Set<{ readonly id: ServerRequest["id"]; readonly fiber: Fiber.Fiber<void> }>()
  let held: Array<ServerRequest> | undefined = []
  let waiting: Array<ServerRequest> = []
  let isRefusing = false
  let isClosed = false

  const fork = (effect: Effect.Effect<void>): void => {
    runFork(Effect.forkIn(effect, scope))
  }
  const deliver = (answer: string): Effect.Effect<void> =>
    Effect.matchEffect(send(answer), {
      onFailure: (error) => note("answer not delivered", error.message),
      onSuccess: () => Effect.void
    })

  const answerTo = (request: ServerRequest): Effect.Effect<string> => {
    const { method, params } = request
    if (method === "ping") return Effect.succeed(result(request, "{}"))
    const undeclared = features.undeclared(method, params)
    if (undeclared !== undefined) return Effect.succeed(refusal(request, undeclared))
    return Result.match(features.prepare(method, params), {
      onFailure: (message) => Effect.succeed(refusal(request, { code: errorCodes.invalidParams, message })),
      onSuccess: Effect.match({
        onFailure: (refused) => refusal(request, refused),
        onSuccess: ({ text }) => result(request, text)
      })
    })
  }

  const handle = (request: ServerRequest): void => {
    // Begins at once, so that what the server says of a request is heard, however soon it comes after it.
    const fiber = runFork(Effect.flatMap(Effect.suspend(() => answerTo(request)), deliver))
    const entry = { id: request.id, fiber }
    handling.add(entry)
    fiber.addObserver(() => handling.delete(entry))
  }

  const refuse: Effect.Effect<void> = Effect.gen(function*() {
    while (waiting.length > 0) {
      const refused = waiting
      waiting = []
      for (const request of refused) yield* deliver(refusal(request, tooMany))
    }
    isRefusing = false
  })

  // Told of by one note, however many there are.
  let unanswered = 0
  const tellUnanswered = Effect.suspend(() => {
    const times = unanswered
    unanswered = 0
    return note("request not answered", `${times} beyond what is refused`, times)
  })

  const end = Effect.suspend(() => {
    isClosed = true
    const fibers = [...handling].map(({ fiber }) => fiber)
    if (fibers.length === 0) return Effect.void
    for (const fiber of fibers) fiber.interruptUnsafe()
    return Effect.flatMap(
      Effect.timeoutOption(Fiber.awaitAll(fibers), grace),
      (ended) => Option.isSome(ended) ? Effect.void : note("handler left behind", "it does not end", handling.size)
    )
  })
  yield* Effect.addFinalizer(() => end)

  return {
    take: (request) => {
      if (isClosed) return
      const isHeld = held !== undefined && request.method !== "ping"
      if (held !== undefined && isHeld && held.length < maxAtOnce) {
        held.push(request)
      } else if (!isHeld && handling.size < maxAtOnce) {
        handle(request)
      } else if (waiting.length < maxWaiting) {
        waiting.push(request)
        if (isRefusing) return
        isRefusing = true
        fork(refuse)
      } else {
        if (unanswered++ === 0) fork(Effect.andThen(Effect.yieldNow, tellUnanswered))
      }
    },
    release: () => {
      const released = held ?? []
      held = undefined
      return released
    },
    cancel: (id) => {
      const index = held?.findIndex((request) => request.id === id) ?? -1
      if (index >= 0) held?.splice(index, 1)
      const named = [...handling].filter((entry) => entry.id === id)
      for (const { fiber } of named) fiber.interruptUnsafe()
      return index >= 0 || named.length > 0
    }
  }
})
