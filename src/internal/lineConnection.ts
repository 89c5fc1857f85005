/**
 * Requests and answers over two streams of bytes, one JSON-RPC message a line: revision 2026-07-28,
 * basic/transports/stdio.
 *
 * There is one reader and one writer, for as long as the scope. Nobody who waits for an answer holds either up: what a
 * server does not read waits with those who sent it, and goes when they do.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
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
import type { Take, Wire } from "./wire.ts"

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
 * So many bytes are taken until others have their turn.
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
  readonly wire: Wire
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
 * A message as one line. Where its arguments came with line ends between their tokens, it goes without them. Two searches
 * are quicker than a pattern, and the text is looked at as it is sent, so that it is put together once.
 */
const toLine = (body: string): string => {
  const line = `${body}\n`
  return line.indexOf("\n") === body.length && !line.includes("\r") ? line : `${body.replace(/[\r\n]/g, "")}\n`
}

/**
 * Talks over two streams until the scope closes.
 */
export const make = Effect.fnUntraced(function*(
  { gone, receive, server, whyEnded, wire }: Options
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

  const takePiece: Take = (piece) => {
    if (!shared.meter.take(piece.length)) {
      problem = overBudget(shared.meter)
      return true
    }
    const found = lines.feed(piece)
    if (found !== undefined) return takeLines(found)
    problem = new BudgetExceeded({ what: "bytes of one line", limit: maxLine })
    return true
  }

  let taken = 0
  const take: Take = (piece) => {
    taken += piece.length
    const isDone = takePiece(piece)
    if (isDone === false && taken < maxAtOnce) return false
    taken = 0
    return isDone === false ? Effect.as(Effect.yieldNow, false) : isDone
  }

  const writingFails = Effect.matchCauseEffect(wire.write(outbox), {
    onFailure: () => Effect.void,
    onSuccess: () => Effect.never
  })
  const settle = (reason: ConnectionFailedReason): void => {
    failure = reason
    messages.fail(reason)
    outbox.fail(reason)
  }
  const ending = Effect.raceFirst(
    wire.read(take),
    Effect.andThen(Effect.raceFirst(writingFails, gone), Effect.sleep(grace))
  ).pipe(
    Effect.andThen(Effect.suspend(() => problem === undefined ? whyEnded : Effect.succeed(problem))),
    Effect.onExit((exit) => Effect.sync(() => settle(Exit.isSuccess(exit) ? exit.value : new Closed())))
  )
  const fiber = yield* Effect.forkScoped(ending)

  const failed = (operation: string, reason: ConnectionFailedReason): McpError =>
    new ConnectionFailed({ operation, server, reason })

  return {
    request: ({ body, id, meter, onSent, operation, version: inForce }) =>
      Effect.callback((resume) => {
        if (failure !== undefined) return resume(Effect.fail(failed(operation, failure)))
        const stopCounting = shared.countOn(meter)
        const forget = messages.wait(id, (answer) => {
          stopCounting()
          const outcome = Result.isSuccess(answer)
            ? Exit.succeed({ response: answer.success, text: undefined, status: undefined })
            : Exit.fail(failed(operation, answer.failure))
          // What was dropped is told of on the way to what came.
          resume(dropped.isEmpty() ? outcome : Effect.andThen(dropped.note, outcome))
        })
        version = inForce
        const takeBack = outbox.push({ text: toLine(body), onLeft: onSent })
        return Effect.sync(() => {
          forget()
          takeBack()
          stopCounting()
        })
      }),
    notify: ({ body, operation }) =>
      Effect.mapError(
        Effect.callback<void, ConnectionFailedReason>((resume) => {
          messages.notified()
          const takeBack = outbox.push({ text: toLine(body), onWritten: resume })
          return Effect.sync(takeBack)
        }),
        (reason) => failed(operation, reason)
      ),
    end: outbox.end,
    failure: () => failure,
    ended: Fiber.await(fiber)
  }
})
