/**
 * The upper seam: one JSON-RPC request out, its answer back.
 *
 * `StreamableHttp` is one transport. Anything that can carry a request and bring its answer is another: provide it as
 * `Transport` and connect with `McpConnection.layer`.
 *
 * **Example** (A transport to a server in the same process)
 *
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { Transport } from "effect-mcp-client"
 *
 * const results: Record<string, (params: any) => Record<string, unknown>> = {
 *   "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }),
 *   "tools/list": () => ({ tools: [{ name: "hello", inputSchema: { type: "object" } }] }),
 *   "tools/call": ({ name }) => ({ content: [{ type: "text", text: `${name}, you` }] })
 * }
 *
 * const InProcess = Layer.succeed(Transport.Transport, {
 *   server: undefined,
 *   hasHeaders: false,
 *   request: ({ body, method }) =>
 *     Effect.sync(() => ({
 *       response: { result: results[method]!(JSON.parse(body).params) },
 *       text: undefined,
 *       status: undefined
 *     })),
 *   notify: () => Effect.void
 * })
 * ```
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { McpError } from "../errors/McpError.ts"
import type { Response, ServerMessage } from "../schema/JsonRpc.ts"
import type { ProtocolVersion } from "../schema/ProtocolVersion.ts"
import type { Meter } from "./ByteBudget.ts"

/**
 * A JSON-RPC response whose envelope is checked: a result, or an error; and what a server says without having been asked.
 *
 * @category models
 * @since 0.1.0
 */
export type { RawNotification, Response, ServerMessage, ServerRequest } from "../schema/JsonRpc.ts"

/**
 * A message to the server, already written.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outgoing {
  /**
   * For errors and spans: `"connect"`, `"tools/call add"`.
   */
  readonly operation: string
  readonly method: string
  /**
   * The whole JSON-RPC message. It is sent as it is.
   */
  readonly body: string
  /**
   * The revision in force; `undefined` during an `initialize` handshake.
   */
  readonly version: ProtocolVersion | undefined
  /**
   * What the response is counted against.
   */
  readonly meter: Meter
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Request extends Outgoing {
  readonly id: number
  /**
   * `params.name`, `params.uri` or `params.taskId`, where the method has one.
   */
  readonly name?: string | undefined
  /**
   * `Mcp-Param-*` headers, names and values alternating, for transports that have headers.
   */
  readonly parameterHeaders?: ReadonlyArray<string> | undefined
  /**
   * The time that the request has by itself, within that of its operation: for transports that make a further exchange
   * for it, such as the resumption of an event stream, and may have to wait before that.
   */
  readonly ownTime: { readonly hold: () => void; readonly restart: () => void }
  /**
   * To be called when the message leaves: from then on the server may have to be told that nobody waits for it.
   */
  readonly onSent: () => void
  /**
   * W3C `traceparent`, where a span is active.
   */
  readonly traceparent?: string | undefined
}

/**
 * The answer to a request, its envelope checked.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reply {
  readonly response: Response
  /**
   * The message as it came, where the transport has it as one text: what is read of it may be searched before it is
   * walked through.
   */
  readonly text: string | undefined
  /**
   * The HTTP status that carried it, where there was one.
   */
  readonly status: number | undefined
}

/**
 * @category services
 * @since 0.1.0
 */
export class Transport extends Context.Service<Transport, {
  /**
   * Scheme and host, for messages.
   */
  readonly server: string | undefined
  /**
   * Whether `x-mcp-header` annotations count: revision 2026-07-28, basic/transports/streamable-http.
   */
  readonly hasHeaders: boolean
  /**
   * Sends a request and waits for its answer; a JSON-RPC error is an answer. Interrupting it gives the request up.
   *
   * Fails with `Unauthorized`, `ConnectionFailed` or `InvalidInput`. `SessionExpired` says that the server has forgotten
   * who we are, and that the request may be sent again after a new handshake.
   */
  readonly request: (request: Request) => Effect.Effect<Reply, McpError>
  /**
   * Sends a notification, or the answer to a request of the server.
   */
  readonly notify: (notification: Outgoing) => Effect.Effect<void, McpError>
  /**
   * Says who takes what the server says without having been asked: its notifications, and the requests of a legacy
   * server. The receiver never waits. Called once, before the first request. A transport that brings no such thing leaves
   * it out.
   */
  readonly listen?: ((receive: (message: ServerMessage) => void) => void) | undefined
  /**
   * Opens the stream on which a legacy server says what belongs to no request, and follows it until it ends for good; at
   * once where there is none. `onOpen` is called when it is open; `again` says that it has been open before, in another
   * session, so that there is one. Fails where it was open and is lost for good: with `SessionExpired` where the session
   * that it belonged to is forgotten. A transport that brings all that anyhow leaves it out.
   */
  readonly follow?:
    | ((
      message: Pick<Outgoing, "operation" | "version" | "meter"> & {
        readonly again: boolean
        readonly onOpen: () => void
      }
    ) => Effect.Effect<void, McpError>)
    | undefined
  /**
   * How long `server/discover` may stay unanswered until the server is taken for a legacy one, which it is as well where
   * its process exits instead: revision 2026-07-28, basic/transports/stdio, "Backward Compatibility". A transport that
   * says so starts such a process once more for `initialize`. Left out where every server answers something.
   */
  readonly probeTimeout?: Duration.Duration | undefined
}>()("effect-mcp-client/Transport") {}
