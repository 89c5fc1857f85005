/**
 * Requests and answers over two streams of bytes, one JSON-RPC message a line: revision 2026-07-28,
 * basic/transports/stdio.
 *
 * One fiber reads and one writes, for as long as the scope. Nobody who waits for an answer holds either up: what a server
 * does not read waits with those who sent it, and goes when they do.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import {
  BudgetExceeded,
  Closed,
  ConnectionFailed,
  type ConnectionFailedReason,
  type McpError,
  ProtocolViolation
} from "../errors/McpError.ts"
import type { ServerMessage } from "../schema/JsonRpc.ts"
import type { ProtocolVersion } from "../schema/ProtocolVersion.ts"
import { overBudget } from "../services/HttpExchange.ts"
import type { Outgoing, Reply, Request } from "../services/Transport.ts"
import * as Dropped from "./dropped.ts"
import * as Lines from "./lines.ts"
import * as MessageTexts from "./messageTexts.ts"
import * as Multiplex from "./multiplex.ts"
import * as Outbox from "./outbox.ts"
import { messagesOf, toReason } from "./reply.ts"
import * as SharedMeter from "./sharedMeter.ts"

/**
 * The longest line that is read, whatever the budget allows.
 */
const maxLine = 8 * 1024 * 1024

/**
 * So many lines one after another that are no messages, and it is another program that talks. A server that logs to where
 * it should answer says a message now and then, however long it runs, and is put up with.
 */
const maxNoise = 100

/**
 * So many bytes are taken in one go. Then others have their turn.
 */
const maxAtOnce = 64 * 1024

/**
 * What was written before the end may take so long to come through.
 */
export const grace = Duration.millis(250)

/**
 * The other side.
 */
export interface Options {
  readonly input: Stream.Stream<Uint8Array, unknown>
  readonly output: Sink.Sink<unknown, Uint8Array, unknown, unknown>
  readonly receive: (message: ServerMessage) => void
  /**
   * Ends when the other side is gone, though the input may not end by itself.
   */
  readonly gone: Effect.Effect<unknown>
  /**
   * Why the input ended, or nothing more can be sent.
   */
  readonly whyEnded: Effect.Effect<ConnectionFailedReason>
  readonly server: string | undefined
}

/**
 * @see make
 */
export interface LineConnection {
  readonly request: (request: Request) => Effect.Effect<Reply, McpError>
  readonly notify: (message: Outgoing) => Effect.Effect<void, McpError>
  /**
   * Ends the output once what waits is written.
   */
  readonly end: () => void
  /**
   * What everything fails with, once there is no connection any more.
   */
  readonly failure: () => ConnectionFailedReason | undefined
  /**
   * Waits for that.
   */
  readonly ended: Effect.Effect<unknown>
}

/**
 * A message as one line. Where its arguments came with line ends between their tokens, it goes without them.
 */
const toLine = (body: string): string => /[\r\n]/.test(body) ? body.replace(/[\r\n]/g, "") : body

/**
 * Talks over two streams until the scope closes.
 */
export const make = Effect.fnUntraced(function*(
  { gone, input, output, receive, server, whyEnded }: Options
): Effect.fn.Return<LineConnection, never, Scope.Scope> {
  const outbox = Outbox.make<ConnectionFailedReason>()
  const lines = Lines.make(maxLine)
  const shared = yield* SharedMeter.make
  const dropped = Dropped.make()
  const messages = Multiplex.make<ConnectionFailedReason>(receive, dropped.add)
  let problem: ConnectionFailedReason | undefined
  let failure: ConnectionFailedReason | undefined
  // In force by the last request.
  let version: ProtocolVersion | undefined
  let noise = 0

  const takeLines = MessageTexts.make({
    onMessage: (message) => {
      noise = 0
      messagesOf(message, version).forEach(messages.take)
    },
    onNoise: () => {
      dropped.add("a line that is not JSON")
      if (++noise > maxNoise) {
        problem ??= new ProtocolViolation({ detail: `more than ${maxNoise} lines in a row that are not JSON` })
      }
    },
    onProblem: (found) => {
      problem ??= toReason(found)
    },
    isDone: () => problem !== undefined
  }, shared.meter)

  const take = (piece: Uint8Array): boolean | Effect.Effect<boolean> => {
    if (!shared.meter.take(piece.length)) {
      problem = overBudget(shared.meter)
      return true
    }
    const found = lines.feed(piece)
    if (found !== undefined) return takeLines(found)
    problem = new BudgetExceeded({ what: "bytes of one line", limit: maxLine })
    return true
  }

  const enough = Effect.fail("enough" as const)
  const takeFrom = (pieces: ReadonlyArray<Uint8Array>, from: number): Effect.Effect<void, "enough"> => {
    let taken = 0
    for (let at = from; at < pieces.length; at++) {
      if (taken >= maxAtOnce) return Effect.flatMap(Effect.yieldNow, () => takeFrom(pieces, at))
      taken += pieces[at]!.length
      const isDone = take(pieces[at]!)
      if (isDone === true) return enough
      if (isDone !== false) return Effect.flatMap(isDone, (done) => done ? enough : takeFrom(pieces, at + 1))
    }
    return Effect.void
  }

  const reading = Effect.exit(Stream.runForEachArray(input, (pieces) => takeFrom(pieces, 0)))
  const writingFails = Effect.matchCauseEffect(Stream.run(outbox.bytes, output), {
    onFailure: () => Effect.void,
    onSuccess: () => Effect.never
  })
  const settle = (reason: ConnectionFailedReason): void => {
    failure = reason
    messages.fail(reason)
    outbox.fail(reason)
  }
  const ending = Effect.raceFirst(
    reading,
    Effect.andThen(Effect.raceFirst(writingFails, gone), Effect.sleep(grace))
  ).pipe(
    Effect.andThen(Effect.suspend(() => problem === undefined ? whyEnded : Effect.succeed(problem))),
    Effect.onExit((exit) => Effect.sync(() => settle(Exit.isSuccess(exit) ? exit.value : new Closed())))
  )
  const fiber = yield* Effect.forkScoped(ending)

  const failed = (operation: string, reason: ConnectionFailedReason): McpError =>
    new ConnectionFailed({ operation, server, reason })

  /**
   * Tells of what was dropped, on the way to what came.
   */
  const afterwards = <A, E>(outcome: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    dropped.isEmpty() ? outcome : Effect.andThen(dropped.note, outcome)

  return {
    request: (message) =>
      Effect.suspend(() => {
        const { body, id, meter, operation } = message
        let stopCounting = (): void => {}
        const answer = messages.answer(id, () => {
          stopCounting = shared.countOn(meter)
          version = message.version
          return outbox.push(toLine(body), { onLeft: message.onSent })
        })
        const replied = Effect.matchEffect(answer, {
          onFailure: (reason) => afterwards(Effect.fail(failed(operation, reason))),
          onSuccess: (response) => afterwards(Effect.succeed({ response, text: undefined, status: undefined }))
        })
        return Effect.ensuring(replied, Effect.sync(() => stopCounting()))
      }),
    notify: ({ body, operation }) =>
      Effect.mapError(
        Effect.callback<void, ConnectionFailedReason>((resume) => {
          messages.notified()
          const takeBack = outbox.push(toLine(body), { onWritten: resume })
          return Effect.sync(takeBack)
        }),
        (reason) => failed(operation, reason)
      ),
    end: outbox.end,
    failure: () => failure,
    ended: Fiber.await(fiber)
  }
})
