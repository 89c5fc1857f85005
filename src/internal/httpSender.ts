/**
 * Sends to one server over HTTP: the guard asked, headers checked, requests signed, redirects followed where they may be,
 * and 401 and 403 told from everything else.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Challenge from "../errors/Challenge.ts"
import {
  ConnectionFailed,
  type ConnectionFailedReason,
  InvalidInput,
  type McpError,
  Unauthorized
} from "../errors/McpError.ts"
import { Credentials } from "../services/Credentials.ts"
import { EgressGuard } from "../services/EgressGuard.ts"
import { header, type HttpAnswer, HttpExchange, type HttpRequest, isRefusal } from "../services/HttpExchange.ts"
import type { Options } from "../services/StreamableHttp.ts"
import { isHeaderName, isHeaderValue } from "./headers.ts"
import { reveal } from "./secrets.ts"
import * as ServerUrl from "./serverUrl.ts"

/**
 * A request without the headers that sign it.
 */
export interface Unsigned extends HttpRequest {
  readonly headers: Array<string>
}

/**
 * @see make
 */
export interface HttpSender {
  /**
   * The endpoint that was given.
   */
  readonly url: URL
  /**
   * What messages may show of it.
   */
  readonly server: string
  readonly failed: (operation: string, reason: ConnectionFailedReason) => ConnectionFailed
  /**
   * Signs and sends; `onSent` is called in between. Fails with `Unauthorized` at 401 and 403, and where no credential is
   * to be had.
   */
  readonly send: (
    operation: string,
    request: Unsigned,
    onSent?: () => void
  ) => Effect.Effect<HttpAnswer, McpError>
}

const maxRedirects = 3

/**
 * Headers that only the protocol, or HTTP itself, may write.
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
 * Nothing is sent yet. Fails with `InvalidInput` for a URL or a header that cannot be used, and with `ConnectionFailed`,
 * reason `EgressDenied`, for a host that the guard refuses.
 */
export const make = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<HttpSender, McpError, HttpExchange | EgressGuard> {
  const exchange = yield* HttpExchange
  const guard = yield* EgressGuard
  const credentials = options.credentials ?? (yield* Credentials)

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

  return {
    url,
    server,
    failed,
    send: (operation, request, onSent) =>
      Effect.flatMap(
        Effect.flatMap(sign(operation, request.headers), (headers) => {
          onSent?.()
          return follow(operation, { ...request, headers }, maxRedirects)
        }),
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
  }
})
