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
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Challenge from "../errors/Challenge.ts"
import {
  ConnectionFailed,
  type ConnectionFailedReason,
  HttpStatus,
  InvalidInput,
  type McpError,
  ProtocolViolation,
  SessionExpired,
  Unauthorized
} from "../errors/McpError.ts"
import { note } from "../internal/dropped.ts"
import { encodeValue, isHeaderName, isHeaderValue } from "../internal/headers.ts"
import { readReply, type ReplyReader } from "../internal/reply.ts"
import * as RetryAfter from "../internal/retryAfter.ts"
import * as ServerUrl from "../internal/serverUrl.ts"
import type * as JsonRpc from "../schema/JsonRpc.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import * as ByteBudget from "./ByteBudget.ts"
import { Credentials } from "./Credentials.ts"
import { EgressGuard } from "./EgressGuard.ts"
import {
  header,
  type HttpAnswer,
  HttpExchange,
  type HttpRequest,
  isRefusal,
  maxHeaderBlock,
  type ResponseHeaders
} from "./HttpExchange.ts"
import { McpPolicy } from "./McpPolicy.ts"
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

const maxRedirects = 3

/**
 * Session ids are visible ASCII: revision 2025-11-25, basic/transports, "Session Management".
 */
const sessionId = /^[\x21-\x7e]{1,1024}$/

/**
 * Headers that only this module, or HTTP itself, may write.
 */
const reserved = (name: string): boolean =>
  name.startsWith("mcp-") ||
  [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "te",
    "traceparent",
    "trailer",
    "transfer-encoding",
    "upgrade"
  ].includes(name)

/**
 * The text of a secret; `undefined` where it was wiped.
 */
const reveal = (value: string | Redacted.Redacted): string | undefined => {
  try {
    return typeof value === "string" ? value : Redacted.value(value)
  } catch {
    return undefined
  }
}

const givenHeaders = (
  given: Readonly<Record<string, string | Redacted.Redacted>>
): Result.Result<ReadonlyArray<string>, string> => {
  const headers: Array<string> = []
  for (const [key, value] of Object.entries(given)) {
    const name = key.toLowerCase()
    const text = reveal(value)
    if (text === undefined) return Result.fail(`the value of the header ${name} is no longer known`)
    if (!isHeaderName(name)) return Result.fail("a header name is not a token")
    if (reserved(name)) return Result.fail(`the header ${name} belongs to the protocol`)
    if (!isHeaderValue(text)) return Result.fail(`the value of the header ${name} cannot stand in a header`)
    headers.push(name, text)
  }
  return Result.succeed(headers)
}

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
  const exchange = yield* HttpExchange
  const guard = yield* EgressGuard
  const credentials = options.credentials ?? (yield* Credentials)
  const policy = yield* McpPolicy

  const invalid = (detail: string): InvalidInput =>
    new InvalidInput({ operation: "connect", server: undefined, detail })
  const url = yield* Effect.mapError(Effect.fromResult(ServerUrl.parse(options.url)), invalid)
  const server = ServerUrl.display(url)
  const failed = (operation: string, reason: ConnectionFailedReason): ConnectionFailed =>
    new ConnectionFailed({ operation, server, reason })
  yield* Effect.mapError(Effect.fromResult(guard.vetUrl(url)), (denied) => failed("connect", denied))
  const fixedHeaders = yield* Effect.mapError(
    Effect.fromResult(Result.flatMap(givenHeaders(options.headers ?? {}), (headers) =>
      credentials._tag === "Static"
        ? Result.map(givenHeaders(credentials.headers), (signing) => [...signing, ...headers])
        : Result.succeed(headers))),
    invalid
  )

  let session: string | undefined
  let negotiated: ProtocolVersion.ProtocolVersion | undefined

  /**
   * The headers of a message, without those that sign it.
   */
  const messageHeaders = (message: Outgoing & Partial<Request>): Array<string> => {
    const headers = ["content-type", "application/json", "accept", "application/json, text/event-stream"]
    const { method, name, parameterHeaders, traceparent, version } = message
    if (version !== undefined) headers.push("mcp-protocol-version", version)
    if (ProtocolVersion.isModern(version)) {
      headers.push("mcp-method", method)
      if (name !== undefined) headers.push("mcp-name", encodeValue(name))
      if (parameterHeaders !== undefined) headers.push(...parameterHeaders)
    } else if (session !== undefined && method !== "initialize") {
      headers.push("mcp-session-id", session)
    }
    if (traceparent !== undefined) headers.push("traceparent", traceparent)
    return headers
  }

  const sign: (operation: string, headers: Array<string>) => Effect.Effect<ReadonlyArray<string>, McpError> =
    credentials._tag === "Static"
      ? (_, headers) => Effect.succeed(headers.concat(fixedHeaders))
      : (operation, headers) =>
        credentials.headers.pipe(
          // However it ends, be it by a defect of its own: what it was asked for cannot be had.
          Effect.catchCause(() =>
            Effect.fail(new Unauthorized({ operation, server, status: undefined, challenges: [] }))
          ),
          Effect.flatMap((given) =>
            Effect.mapError(
              Effect.fromResult(givenHeaders(given)),
              (detail) => new InvalidInput({ operation, server, detail })
            )
          ),
          Effect.map((signing) => headers.concat(signing, fixedHeaders))
        )

  const send = (
    operation: string,
    http: Omit<HttpRequest, "headers">,
    unsigned: Array<string>
  ): Effect.Effect<HttpAnswer, McpError> =>
    Effect.flatMap(
      Effect.flatMap(sign(operation, unsigned), (headers) => follow(operation, { ...http, headers }, maxRedirects)),
      (answer) =>
        isRefusal(answer.status)
          ? Effect.fail(
            new Unauthorized({
              operation,
              server,
              status: answer.status,
              challenges: Challenge.parse(answer.headers["www-authenticate"])
            })
          )
          : Effect.succeed(answer)
    )

  const exchangeOnce = (operation: string, http: HttpRequest): Effect.Effect<HttpAnswer, McpError> =>
    Effect.mapError(exchange.send(http), (reason) => failed(operation, reason))

  const follow: typeof followRedirects = options.redirects === "same-origin" ? followRedirects : exchangeOnce

  function followRedirects(operation: string, http: HttpRequest, left: number): Effect.Effect<HttpAnswer, McpError> {
    return Effect.flatMap(exchangeOnce(operation, http), (answer) => {
      const target = left > 0 ? redirectTarget(answer, http.url) : undefined
      return target === undefined
        ? Effect.succeed(answer)
        : followRedirects(operation, { ...http, url: target }, left - 1)
    })
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
    const { meter, operation, restartDeadline, version } = message
    const again = Effect.suspend(() => {
      restartDeadline()
      const headers = ["accept", "text/event-stream", "last-event-id", reader.resumeFrom()]
      if (version !== undefined) headers.push("mcp-protocol-version", version)
      if (session !== undefined) headers.push("mcp-session-id", session)
      return send(operation, { method: "GET", url, body: undefined, meter, onHead: reader.onResume }, headers)
    }).pipe(
      // A connection that breaks, or is not had, is one more stream that brought nothing.
      Effect.catchIf(isUnreachable, () => Effect.void)
    )
    let drops = 0
    const next = Effect.suspend(() => drops++ === 0 ? Effect.void : again).pipe(Effect.map(reader.streamEnd))
    return Effect.asVoid(Effect.repeat(next, policy.resumption))
  }

  const request = (message: Request): Effect.Effect<Reply, McpError> => {
    const { body, meter, method, operation, version } = message
    const isLegacy = ProtocolVersion.isLegacy(version)
    const carried = isLegacy ? session : undefined
    negotiated = version
    const reader = readReply(message)
    const onAnswer = (answer: HttpAnswer): Effect.Effect<Reply, McpError> => {
      const reply = reader.onEnd(answer)
      // The plain path, which is nearly every request, is no generator.
      const replied = Result.isSuccess(reply) && answer.status === 200 && method !== "initialize"
        ? Effect.succeed({ response: reply.success, text: reader.text(), status: answer.status })
        : onReply(message, carried, answer, reply)
      return reader.dropped.length === 0
        ? replied
        : Effect.andThen(note("message not for us", reader.dropped.join("; ")), replied)
    }
    const http = { method: "POST", url, body, meter, onHead: reader.onHead } as const
    const sent = send(operation, http, messageHeaders(message))
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
      const answer = yield* send(
        operation,
        { method: "POST", url, body, meter, onHead: () => "none" },
        messageHeaders(message)
      )
      if (answer.status < 200 || answer.status >= 300) {
        return yield* failed(operation, new HttpStatus({ status: answer.status }))
      }
    })

  /**
   * A session that cannot be deleted is the server's to forget: closing never fails, and has its bound. It has a meter
   * of its own, since the connection's may be used up.
   */
  const closeSession = Effect.suspend(() => {
    if (session === undefined) return Effect.void
    const headers = ["mcp-session-id", session]
    session = undefined
    if (negotiated !== undefined) headers.push("mcp-protocol-version", negotiated)
    const meter = ByteBudget.make({ limit: maxHeaderBlock }).open()
    const deleting = send("close", { method: "DELETE", url, body: undefined, meter, onHead: () => "none" }, headers)
    // On a fiber of its own, which is left behind at the bound: what signs the request may not let itself be interrupted.
    return Effect.flatMap(
      Effect.forkDetach(Effect.interruptible(deleting)),
      (fiber) =>
        Effect.flatMap(Effect.timeoutOption(Fiber.await(fiber), policy.closeTimeout), (exit) => {
          fiber.interruptUnsafe()
          if (Option.isSome(exit) && Exit.isSuccess(exit.value)) return Effect.void
          return note("session not deleted", Option.isSome(exit) ? "the request failed" : "no answer in time")
        })
    )
  })

  yield* Effect.addFinalizer(() => closeSession)
  return { server, hasHeaders: true, request, notify }
})

const isUnreachable = (error: McpError): boolean =>
  error._tag === "ConnectionFailed" && error.reason._tag === "Unreachable"

/**
 * Where a 307 or 308 leads, if that is on the server's own origin.
 */
const redirectTarget = (answer: HttpAnswer, from: URL): URL | undefined => {
  const location = header(answer.headers, "location")
  if ((answer.status !== 307 && answer.status !== 308) || location === undefined) return undefined
  const target = URL.parse(location, from)
  const parsed = target === null ? undefined : Result.getOrUndefined(ServerUrl.parse(target))
  return parsed?.origin === from.origin ? parsed : undefined
}

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
