/**
 * `Transport` over HTTP with SSE, as revision 2024-11-05 had it: basic/transports, "HTTP with SSE". Every answer comes on
 * one event stream, whose first event says where messages are posted.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import {
  BudgetExceeded,
  type ConnectionFailedReason,
  EgressDenied,
  HttpStatus,
  isMcpError,
  type McpError,
  Unreachable
} from "../errors/McpError.ts"
import type { Response, ServerMessage } from "../schema/JsonRpc.ts"
import type { EgressGuard } from "../services/EgressGuard.ts"
import type { HttpExchange } from "../services/HttpExchange.ts"
import type { Options } from "../services/StreamableHttp.ts"
import type { Outgoing, Reply, Request, Transport } from "../services/Transport.ts"
import * as Dropped from "./dropped.ts"
import * as HttpSender from "./httpSender.ts"
import * as MessageEvents from "./messageEvents.ts"
import * as Multiplex from "./multiplex.ts"
import { streamPlan, toReason } from "./reply.ts"
import * as ServerUrl from "./serverUrl.ts"
import * as SharedMeter from "./sharedMeter.ts"

/**
 * Where messages are posted: a reference that leads to the origin of the stream, or a refusal.
 */
const resolveEndpoint = (reference: string, stream: URL): URL | EgressDenied => {
  const target = URL.parse(reference, stream)
  const endpoint = target === null ? undefined : Result.getOrUndefined(ServerUrl.parse(target))
  return endpoint?.origin === stream.origin
    ? endpoint
    : new EgressDenied({ host: target?.hostname || "an endpoint that is no http URL" })
}

/**
 * The longest event that is read, whatever the budget allows: several requests may pay for it one after another, and while
 * nobody waits nobody does.
 */
const maxEvent = 8 * 1024 * 1024

type Failure = ConnectionFailedReason | McpError

/**
 * Opens a transport to one server; its stream is opened with the first request. Closing the scope closes the stream,
 * which is what ends a session of that time. Nothing is resumed.
 */
export const make = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<Transport["Service"], McpError, HttpExchange | EgressGuard | Scope.Scope> {
  const { failed, send, server, url } = yield* HttpSender.make(options)
  const scope = yield* Effect.scope
  const endpoint = yield* Deferred.make<URL, Failure>()

  const { countOn, meter } = yield* SharedMeter.make
  let receive: (message: ServerMessage) => void = () => {}
  let problem: ConnectionFailedReason | undefined
  const dropped = Dropped.make()

  const messages = Multiplex.make<Failure>((message) => receive(message), dropped.add)
  const events = MessageEvents.make({
    onMessage: messages.take,
    onOther: ({ data, type }) => {
      if (type !== "endpoint") return dropped.add(`an event named ${type}`)
      const resolved = resolveEndpoint(data, url)
      if (resolved instanceof URL) Deferred.doneUnsafe(endpoint, Effect.succeed(resolved))
      else problem ??= resolved
    },
    onDropped: dropped.add,
    onProblem: (found) => {
      problem ??= toReason(found)
    },
    isDone: () => problem !== undefined
  }, meter)

  const take: typeof events.feed = (text) => {
    const isDone = events.feed(text)
    if (events.gathered() <= maxEvent) return isDone
    problem ??= new BudgetExceeded({ what: "bytes of one event", limit: maxEvent })
    return true
  }

  const stream: Effect.Effect<void> = send("connect", {
    method: "GET",
    url,
    headers: ["accept", "text/event-stream"],
    body: undefined,
    meter,
    onHead: (head) => streamPlan(head, () => take)
  }).pipe(
    Effect.match({
      onFailure: (error) => error,
      onSuccess: ({ status }) => {
        if (status !== 200) return new HttpStatus({ status })
        return problem ?? new Unreachable({ delivered: "unknown", detail: "the event stream ended" })
      }
    }),
    Effect.map((end) => {
      Deferred.doneUnsafe(endpoint, Effect.fail(end))
      messages.fail(end)
    })
  )
  let isOpen = false
  const opened = Effect.suspend(() => {
    if (isOpen) return Deferred.await(endpoint)
    isOpen = true
    return Effect.andThen(Effect.forkIn(stream, scope), Deferred.await(endpoint))
  })

  const post = (message: Outgoing, onSent?: () => void): Effect.Effect<void, Failure> =>
    Effect.gen(function*() {
      const { body, meter: own, operation } = message
      const target = yield* opened
      const headers = ["content-type", "application/json", "accept", "application/json"]
      const { status } = yield* send(operation, {
        method: "POST",
        url: target,
        headers,
        body,
        meter: own,
        onHead: () => "none"
      }, onSent)
      if (status < 200 || status >= 300) return yield* new HttpStatus({ status })
    })

  /**
   * What ended the stream ends every operation, each under its own name.
   */
  const named = (operation: string) => (failure: Failure): McpError => {
    if (!isMcpError(failure)) return failed(operation, failure)
    return failure._tag === "ConnectionFailed" ? failed(operation, failure.reason) : failure
  }

  const answer = (id: number): Effect.Effect<Response, Failure> =>
    Effect.callback((resume) => Effect.sync(messages.wait(id, (found) => resume(Effect.fromResult(found)))))

  const request = (message: Request): Effect.Effect<Reply, McpError> =>
    Effect.acquireUseRelease(
      Effect.sync(() => countOn(message.meter)),
      () => Effect.raceFirst(answer(message.id), Effect.andThen(post(message, message.onSent), Effect.never)),
      (stopCounting) => Effect.andThen(Effect.sync(stopCounting), dropped.note)
    ).pipe(
      Effect.map((response) => ({ response, text: undefined, status: 200 })),
      Effect.mapError(named(message.operation))
    )

  return {
    server,
    hasHeaders: true,
    request,
    notify: (message) =>
      Effect.suspend(() => {
        messages.notified()
        return Effect.mapError(post(message), named(message.operation))
      }),
    listen: (receiver) => {
      receive = receiver
    }
  }
})
