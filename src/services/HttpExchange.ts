/**
 * The lower seam: one HTTP request out; status, headers and body back.
 *
 * Everything of the protocol stands above it and everything of sockets below. An exchange is mechanical: it counts what
 * it reads, asks `onHead` what to do with the body once the head is there, and ends. It follows no redirect, keeps no
 * cookie, decodes no `Content-Encoding` and retries nothing. Interrupting it closes its socket.
 *
 * `NodeMcp.layerHttpExchange` provides the guarded one; `layerHttpClient` stands on any Effect `HttpClient`.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as Http from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { BudgetExceeded, type ConnectionFailedReason, Unreachable } from "../errors/McpError.ts"
import type { Meter } from "./ByteBudget.ts"

/**
 * Response headers by lower-case name; what was repeated is an array. The record has no prototype.
 *
 * @category models
 * @since 0.1.0
 */
export type ResponseHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/**
 * @category models
 * @since 0.1.0
 */
export interface Head {
  readonly status: number
  readonly headers: ResponseHeaders
}

/**
 * What to do with a body:
 *
 * - `"text"`: gather it, and decode it as UTF-8;
 * - `"none"`: end the exchange now and leave the body unread; the connection is used again only where little is left;
 * - a function: give it each piece of decoded text as it comes; it answers `true` when it has all that it wants, and
 *   the exchange ends. Where it needs time to find out, it answers an Effect, and is given nothing more until then;
 * - a reason: fail with it, and close the connection.
 *
 * @category models
 * @since 0.1.0
 */
export type BodyPlan =
  | "text"
  | "none"
  | ((text: string) => boolean | Effect.Effect<boolean>)
  | ConnectionFailedReason

/**
 * @category models
 * @since 0.1.0
 */
export interface HttpRequest {
  readonly method: "POST" | "GET" | "DELETE"
  readonly url: URL
  /**
   * Names and values, alternating.
   */
  readonly headers: ReadonlyArray<string>
  readonly body: string | undefined
  readonly meter: Meter
  readonly onHead: (head: Head) => BodyPlan
}

/**
 * @category models
 * @since 0.1.0
 */
export interface HttpAnswer extends Head {
  /**
   * The gathered body where the plan was `"text"`, and empty otherwise.
   */
  readonly text: string
}

/**
 * @category services
 * @since 0.1.0
 */
export class HttpExchange extends Context.Service<HttpExchange, {
  /**
   * Fails with `Unreachable`, `EgressDenied`, `BudgetExceeded` or `ProtocolViolation`, or with what `onHead` gave. A
   * response of status 401 or 403 is never a failure, however it goes on: the status has said it all.
   */
  readonly send: (request: HttpRequest) => Effect.Effect<HttpAnswer, ConnectionFailedReason>
}>()("effect-mcp-client/HttpExchange") {}

/**
 * The longest header block that is read, in bytes, before anything parses it.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxHeaderBlock: number = 64 * 1024

/**
 * One header as a single string, without blanks around it; repeated ones are joined as RFC 9110, section 5.3 says.
 *
 * @category accessors
 * @since 0.1.0
 */
export const header = (headers: ResponseHeaders, name: string): string | undefined => {
  const value = headers[name]
  const text = value === undefined || typeof value === "string" ? value : value.join(", ")
  return text?.trim()
}

/**
 * Whether the status alone decides: revision 2026-07-28, basic/authorization.
 */
export const isRefusal = (status: number | undefined): status is 401 | 403 => status === 401 || status === 403

/**
 * The failure of a response that is larger than its meter allows.
 */
export const overBudget = (meter: Meter): BudgetExceeded =>
  new BudgetExceeded({ what: "response bytes", limit: meter.limit })

/**
 * What a response's `Content-Length` says; `undefined` where it says nothing that can be trusted.
 */
export const contentLength = (headers: ResponseHeaders): number | undefined => {
  const value = header(headers, "content-length")
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}

/**
 * An exchange over whatever `HttpClient` is in the context: other platforms, a caller's own client, tests.
 *
 * **Gotchas**
 *
 * An `HttpClient` hides its sockets. What is given up: the guard at the dial (URLs are still vetted, names and redirects
 * that the client follows by itself are not), the 64 KiB cap of a header block and the count of informational
 * responses, and the redirect rule. What is kept: the byte budget for bodies and for the headers that are shown, and
 * every deadline. Trace headers are written by this library alone.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttpClient: Layer.Layer<HttpExchange, never, Http.HttpClient> = Layer.effect(
  HttpExchange,
  Effect.map(Http.HttpClient, (client) => ({ send: (request) => sendWith(Http.withScope(client), request) }))
)

const sendWith = (
  client: Http.HttpClient.With<HttpClientError, Scope.Scope>,
  request: HttpRequest
): Effect.Effect<HttpAnswer, ConnectionFailedReason> =>
  Effect.gen(function*() {
    const response = yield* client.execute(toClientRequest(request)).pipe(
      // A caller's client may fail on statuses (`filterStatusOk`); the response is there all the same.
      Effect.catch((error) =>
        error.reason._tag === "StatusCodeError"
          ? Effect.succeed(error.reason.response)
          : Effect.fail(unreachable(error))
      )
    )
    const head: Head = { status: response.status, headers: response.headers }
    const { meter } = request
    const affordable = meter.take(shownHeaderBytes(response.headers))
    const plan = request.onHead(head)
    if (isRefusal(head.status) || plan === "none") return { ...head, text: "" }
    if (!affordable) return yield* overBudget(meter)
    if (typeof plan === "object") return yield* plan
    if (plan === "text" && (contentLength(head.headers) ?? 0) > meter.remaining()) return yield* overBudget(meter)
    const decoder = new TextDecoder()
    const pieces: Array<string> = []
    const feed = plan === "text"
      ? (text: string) => {
        pieces.push(text)
        return false
      }
      : plan
    yield* response.stream.pipe(
      Stream.mapError(unreachable),
      Stream.mapEffect((chunk) => {
        if (!meter.take(chunk.byteLength)) return Effect.fail(overBudget(meter))
        const enough = feed(decoder.decode(chunk, { stream: true }))
        return typeof enough === "boolean" ? Effect.succeed(enough) : enough
      }),
      Stream.takeUntil((enough) => enough),
      Stream.runDrain
    )
    pieces.push(decoder.decode())
    return { ...head, text: pieces.join("") }
  }).pipe(
    Effect.scoped,
    Effect.provideService(Http.TracerPropagationEnabled, false),
    Effect.provideService(Http.TracerDisabledWhen, () => true)
  )

const toClientRequest = (request: HttpRequest): HttpClientRequest.HttpClientRequest => {
  // Some clients ask for compressed bodies by themselves, which would count for less than they are.
  const headers: Record<string, string> = { "accept-encoding": "identity" }
  let contentType = "application/json"
  for (let i = 0; i + 1 < request.headers.length; i += 2) {
    const name = request.headers[i]!
    if (name === "content-type") contentType = request.headers[i + 1]!
    else headers[name] = request.headers[i + 1]!
  }
  return HttpClientRequest.make(request.method)(request.url, {
    headers,
    ...(request.body === undefined ? {} : { body: HttpBody.text(request.body, contentType) })
  })
}

const shownHeaderBytes = (headers: Readonly<Record<string, string>>): number =>
  Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)

/**
 * The client's own description may quote the URL or a header, so that its tag is all that is passed on. Nothing tells
 * whether the request had left.
 */
const unreachable = (error: HttpClientError): Unreachable =>
  new Unreachable({ delivered: "unknown", detail: error.reason._tag })
