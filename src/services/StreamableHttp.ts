/**
 * `Transport` over HTTP, for both eras.
 *
 * Modern: revision 2026-07-28, basic/transports/streamable-http. Legacy: revision 2025-11-25, basic/transports,
 * "Streamable HTTP". One POST a message; the answer is JSON, or comes on an event stream. A legacy server's session is
 * captured, echoed, and deleted when the scope closes.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import {
  type ConnectionFailedReason,
  HttpStatus,
  type McpError,
  ProtocolViolation,
  SessionExpired,
  Unreachable
} from "../errors/McpError.ts"
import * as Dropped from "../internal/dropped.ts"
import { encodeValue, isHeaderValue } from "../internal/headers.ts"
import * as HttpSender from "../internal/httpSender.ts"
import * as Json from "../internal/json.ts"
import * as MessageEvents from "../internal/messageEvents.ts"
import { messagesOf, readReply, type ReplyReader, streamPlan, toReason } from "../internal/reply.ts"
import * as RetryAfter from "../internal/retryAfter.ts"
import * as JsonRpc from "../schema/JsonRpc.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import * as ByteBudget from "./ByteBudget.ts"
import type { Credentials } from "./Credentials.ts"
import type { EgressGuard } from "./EgressGuard.ts"
import {
  type Head,
  header,
  type HttpAnswer,
  type HttpExchange,
  maxHeaderBlock,
  type ResponseHeaders
} from "./HttpExchange.ts"
import { McpPolicy, type StreamEnd } from "./McpPolicy.ts"
import type { Outgoing, Reply, Request, Transport } from "./Transport.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The MCP endpoint: http or https, without userinfo.
   */
  readonly url: string | URL
  /**
   * Default: those of the `Credentials` reference.
   */
  readonly credentials?: Credentials | undefined
  /**
   * Further headers for every request. They cannot replace those of the protocol.
   */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>> | undefined
  /**
   * `"never"` (default), or `"same-origin"`: follows up to three 307 and 308 answers to the server's own origin, with
   * method and body kept.
   */
  readonly redirects?: "never" | "same-origin" | undefined
}

/**
 * Session ids are visible ASCII: revision 2025-11-25, basic/transports, "Session Management".
 */
const sessionId = /^[\x21-\x7e]{1,1024}$/

/**
 * Opens a transport to one server. Nothing is sent yet. Closing the scope ends the session, within its bound.
 *
 * Fails with `InvalidInput` for a URL or a header that cannot be used, and with `ConnectionFailed`, reason
 * `EgressDenied`, for a host that the guard refuses.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<Transport["Service"], McpError, HttpExchange | EgressGuard | Scope.Scope> {
  const { failed, send, server, url } = yield* HttpSender.make(options)
  const policy = yield* McpPolicy

  let session: string | undefined
  let negotiated: ProtocolVersion.ProtocolVersion | undefined
  let receive: (message: JsonRpc.ServerMessage) => void = () => {}

  const versionHeaders = (version: ProtocolVersion.ProtocolVersion | undefined): ReadonlyArray<string> =>
    version === undefined ? [] : ["mcp-protocol-version", version]
  const sessionHeaders = (): ReadonlyArray<string> => session === undefined ? [] : ["mcp-session-id", session]

  /**
   * The headers of a message, without those that sign it.
   */
  const messageHeaders = (message: Outgoing & Partial<Request>): Array<string> => {
    const { method, name, parameterHeaders, traceparent, version } = message
    const headers = [
      "content-type",
      "application/json",
      "accept",
      "application/json, text/event-stream",
      ...versionHeaders(version)
    ]
    if (ProtocolVersion.isModern(version)) {
      headers.push("mcp-method", method)
      if (name !== undefined) headers.push("mcp-name", encodeValue(name))
      if (parameterHeaders !== undefined) headers.push(...parameterHeaders)
    } else if (method !== "initialize") {
      headers.push(...sessionHeaders())
    }
    if (traceparent !== undefined) headers.push("traceparent", traceparent)
    return headers
  }

  const captureSession = (operation: string, headers: ResponseHeaders): Effect.Effect<void, McpError> => {
    const id = header(headers, "mcp-session-id")
    if (id !== undefined && !sessionId.test(id)) {
      return Effect.fail(
        failed(operation, new ProtocolViolation({ detail: "a session id that cannot stand in a header" }))
      )
    }
    session = id
    return Effect.void
  }

  const onReply = (
    { method, operation }: Request,
    carried: string | undefined,
    answer: HttpAnswer,
    reply: Result.Result<JsonRpc.Response, ConnectionFailedReason>
  ): Effect.Effect<Reply, McpError> =>
    Effect.gen(function*() {
      if (carried !== undefined && isSessionForgotten(answer.status, reply)) {
        return yield* failed(operation, new SessionExpired())
      }
      if (Result.isFailure(reply)) {
        return yield* failed(operation, yield* withRetryAfter(reply.failure, answer.headers))
      }
      if (method === "initialize" && "result" in reply.success) yield* captureSession(operation, answer.headers)
      return { response: reply.success, text: undefined, status: answer.status }
    })

  /**
   * Takes a broken stream up where it ended, until its answer is there or the policy gives up: revision 2025-11-25,
   * basic/transports, "Resumability and Redelivery". The request itself is never sent again.
   */
  const resume = (message: Request, reader: ReplyReader): Effect.Effect<void, McpError> => {
    const { meter, operation, ownTime, version } = message
    const again = Effect.suspend(() => {
      ownTime.restart()
      const headers = [
        "accept",
        "text/event-stream",
        "last-event-id",
        reader.resumeFrom(),
        ...versionHeaders(version),
        ...sessionHeaders()
      ]
      return send(operation, { method: "GET", url, headers, body: undefined, meter, onHead: reader.onResume })
    }).pipe(
      Effect.flatMap(({ headers, status }) =>
        status === 200 ? Effect.void : Effect.flatMap(
          withRetryAfter(new HttpStatus({ status }), headers),
          (reason) => Effect.fail(failed(operation, reason))
        )
      ),
      // A connection that breaks, or is not had, is one more stream that brought nothing.
      Effect.catchIf(isUnreachable, () => Effect.void)
    )
    let drops = 0
    const next = Effect.suspend(() => drops++ === 0 ? Effect.void : again).pipe(
      Effect.map(() => {
        ownTime.hold()
        return reader.streamEnd()
      })
    )
    return Effect.asVoid(Effect.repeat(next, policy.resumption))
  }

  const request = (message: Request): Effect.Effect<Reply, McpError> => {
    const { body, meter, method, operation, version } = message
    const isLegacy = ProtocolVersion.isLegacy(version)
    const carried = isLegacy ? session : undefined
    negotiated = version
    const reader = readReply(message, receive)
    const onBody = (answer: HttpAnswer, read: Result.Result<unknown, Json.Problem>): Effect.Effect<Reply, McpError> => {
      const reply = reader.onEnd(answer, read)
      // The plain path, which is nearly every request, is no generator.
      const replied = Result.isSuccess(reply) && answer.status === 200 && method !== "initialize"
        ? Effect.succeed({ response: reply.success, text: reader.text(), status: answer.status })
        : onReply(message, carried, answer, reply)
      return reader.dropped.isEmpty() ? replied : Effect.andThen(reader.dropped.note, replied)
    }
    const onAnswer = (answer: HttpAnswer): Effect.Effect<Reply, McpError> =>
      Json.isShort(answer.text)
        ? onBody(answer, Json.parseShort(answer.text))
        : Effect.flatMap(Json.parseLong(answer.text, meter), (read) => onBody(answer, read))
    // The status alone says that the session is forgotten, however much follows.
    const onHead = (head: Head) => carried !== undefined && head.status === 404 ? "none" : reader.onHead(head)
    const http = { method: "POST", url, headers: messageHeaders(message), body, meter, onHead } as const
    const sent = send(operation, http, message.onSent)
    if (!isLegacy) return Effect.flatMap(sent, onAnswer)
    const canResume = (): boolean => reader.resumeFrom() !== ""
    const broken: HttpAnswer = { status: 200, headers: { "content-type": "text/event-stream" }, text: "" }
    return sent.pipe(
      Effect.catchIf(
        (error) => isUnreachable(error) && canResume(),
        () => Effect.succeed(broken)
      ),
      Effect.tap(() => canResume() ? resume(message, reader) : Effect.void),
      Effect.flatMap(onAnswer)
    )
  }

  const notify = (message: Outgoing): Effect.Effect<void, McpError> =>
    Effect.gen(function*() {
      const { body, meter, operation } = message
      const headers = messageHeaders(message)
      const answer = yield* send(operation, { method: "POST", url, headers, body, meter, onHead: () => "none" })
      if (answer.status < 200 || answer.status >= 300) {
        const reason = new HttpStatus({ status: answer.status })
        return yield* failed(operation, yield* withRetryAfter(reason, answer.headers))
      }
    })

  /**
   * The stream of a server's own: revision 2025-11-25, basic/transports, "Listening for Messages from the Server". A server
   * that has none says so by any status but 200. Once it has been open, it is lost, and tried again, where it ends, and
   * where it is refused for now.
   */
  const follow: NonNullable<Transport["Service"]["follow"]> = ({ again, meter, onOpen, operation, version }) =>
    Effect.suspend(() => {
      let lastEventId = ""
      let retry: number | undefined
      let progressed = false
      let isOpened = false
      // Why it is not there; `undefined` where there is none.
      let lost: McpError | undefined
      let problem: Json.Problem | undefined
      const dropped = Dropped.make()
      const onMessage = (message: unknown): void => {
        const classified = JsonRpc.classify(message)
        if (Result.isFailure(classified)) dropped.add(classified.failure)
        else if (classified.success._tag === "Response") dropped.add("a response that nobody waits for")
        else receive(classified.success)
      }
      const read = () => {
        isOpened = true
        onOpen()
        const events = MessageEvents.make(
          {
            onMessage: (value) => messagesOf(value, version).forEach(onMessage),
            onOther: ({ type }) => dropped.add(`an event named ${type}`),
            onDropped: dropped.add,
            onProblem: (found) => {
              problem = found
            },
            isDone: () => problem !== undefined
          },
          meter,
          lastEventId
        )
        return (text: string) => {
          const isDone = events.feed(text)
          progressed = true
          lastEventId = events.lastEventId()
          retry = events.retry() ?? retry
          return isDone
        }
      }
      const once = Effect.suspend(() => {
        progressed = false
        lost = undefined
        const carried = session
        const headers = [
          "accept",
          "text/event-stream",
          ...(isHeaderValue(lastEventId) ? ["last-event-id", lastEventId] : []),
          ...versionHeaders(version),
          ...sessionHeaders()
        ]
        const onHead = (head: Head) => streamPlan(head, read)
        const sent = send(operation, { method: "GET", url, headers, body: undefined, meter, onHead })
        return Effect.flatMap(sent, (answer) => refused(answer, carried))
      }).pipe(
        Effect.catchIf(isUnreachable, (error) => {
          lost = error
          return Effect.void
        }),
        Effect.flatMap((retryAfter): Effect.Effect<StreamEnd, McpError> => {
          if (problem !== undefined) return Effect.fail(failed(operation, toReason(problem)))
          const wait = retryAfter ?? (retry === undefined ? undefined : Duration.millis(retry))
          return Effect.as(dropped.note, lost === undefined ? { done: true } : { done: false, progressed, retry: wait })
        })
      )
      /**
       * What a stream that has ended, or was refused, comes to. Answers how long to wait where the server says so.
       */
      const refused = (
        { headers, status }: HttpAnswer,
        carried: string | undefined
      ): Effect.Effect<Duration.Duration | undefined, McpError> =>
        Effect.gen(function*() {
          if (status === 200) {
            lost = failed(operation, new Unreachable({ delivered: "unknown", detail: "the event stream ended" }))
            return undefined
          }
          if (!isOpened && !again) return undefined
          if (status === 404 && isOpened && carried !== undefined) return yield* failed(operation, new SessionExpired())
          const reason = yield* withRetryAfter(new HttpStatus({ status }), headers)
          if (status !== 429 && status < 500) return yield* failed(operation, reason)
          lost = failed(operation, reason)
          return reason._tag === "HttpStatus" ? reason.retryAfter : undefined
        })
      return Effect.andThen(
        Effect.repeat(once, policy.resumption),
        Effect.suspend(() => lost === undefined ? Effect.void : Effect.fail(lost))
      )
    })

  /**
   * A session that cannot be deleted is the server's to forget: closing never fails, and has its bound. It has a meter
   * of its own, since the connection's may be used up.
   */
  const closeSession = Effect.suspend(() => {
    if (session === undefined) return Effect.void
    const headers = [...versionHeaders(negotiated), ...sessionHeaders()]
    session = undefined
    const meter = ByteBudget.make({ limit: maxHeaderBlock }).open()
    const deleting = send("close", { method: "DELETE", url, headers, body: undefined, meter, onHead: () => "none" })
    // On a fiber of its own, which is left behind at the bound: what signs the request may not let itself be interrupted.
    return Effect.flatMap(
      Effect.forkDetach(Effect.interruptible(deleting)),
      (fiber) =>
        Effect.flatMap(Effect.timeoutOption(Fiber.await(fiber), policy.closeTimeout), (exit) => {
          fiber.interruptUnsafe()
          if (Option.isSome(exit) && Exit.isSuccess(exit.value)) return Effect.void
          return Dropped.note("session not deleted", Option.isSome(exit) ? "the request failed" : "no answer in time")
        })
    )
  })

  yield* Effect.addFinalizer(() => closeSession)
  return {
    server,
    hasHeaders: true,
    request,
    notify,
    follow,
    listen: (receiver) => {
      receive = receiver
    }
  }
})

const isUnreachable = (error: McpError): boolean =>
  error._tag === "ConnectionFailed" && error.reason._tag === "Unreachable"

/**
 * 404 on a request that carried a session: revision 2025-11-25, basic/transports, "Session Management". Several widely
 * used servers say it with a 400 and an error that names no request.
 */
const isSessionForgotten = (
  status: number,
  reply: Result.Result<JsonRpc.Response, ConnectionFailedReason>
): boolean =>
  status === 404 ||
  (status === 400 && Result.isSuccess(reply) && "error" in reply.success && reply.success.anonymous)

const withRetryAfter = (
  reason: ConnectionFailedReason,
  headers: ResponseHeaders
): Effect.Effect<ConnectionFailedReason> =>
  reason._tag === "HttpStatus" && headers["retry-after"] !== undefined
    ? Effect.map(
      Clock.currentTimeMillis,
      (now) =>
        new HttpStatus({ status: reason.status, retryAfter: RetryAfter.parse(header(headers, "retry-after"), now) })
    )
    : Effect.succeed(reason)
