/**
 * `Transport` over any two streams of bytes, one JSON-RPC message a line: Unix sockets, TCP, pipes, or whatever else
 * carries bytes both ways in order. Revision 2026-07-28, basic/transports/stdio; `Stdio` is the same over a child process.
 *
 * Whoever makes the streams decides where they lead: the egress guard is not asked. The byte budget, the deadlines and
 * the longest line (8 MiB) hold.
 *
 * **Example** (A server behind a socket)
 *
 * ```ts
 * import * as NodeSink from "@effect/platform-node/NodeSink"
 * import * as NodeStream from "@effect/platform-node/NodeStream"
 * import { Layer } from "effect"
 * import { ByteBudget, LineTransport, McpConnection } from "effect-mcp-client"
 * import type { Socket } from "node:net"
 *
 * const layerOver = (socket: Socket) =>
 *   McpConnection.layer().pipe(Layer.provide([
 *     LineTransport.layer({
 *       input: NodeStream.fromReadable({ evaluate: () => socket }),
 *       output: NodeSink.fromWritable({ evaluate: () => socket, onError: (error) => error })
 *     }),
 *     ByteBudget.layer()
 *   ]))
 * ```
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Sink from "effect/Sink"
import type * as Stream from "effect/Stream"
import { Unreachable } from "../errors/McpError.ts"
import * as LineConnection from "../internal/lineConnection.ts"
import * as Wire from "../internal/wire.ts"
import type { ServerMessage } from "../schema/JsonRpc.ts"
import { McpPolicy } from "./McpPolicy.ts"
import { Transport } from "./Transport.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * What the server says. Its end, and any failure, ends the connection.
   */
  readonly input: Stream.Stream<Uint8Array, unknown>
  /**
   * Where messages are written. It is given its end when the scope closes.
   */
  readonly output: Sink.Sink<unknown, Uint8Array, unknown, unknown>
  /**
   * Names the server in messages.
   */
  readonly server?: string | undefined
}

/**
 * Talks over two streams until the scope closes. What ends the connection fails everything that is pending and that comes
 * later: `Unreachable` where a stream ended or failed, `BudgetExceeded`, or `ProtocolViolation` after 100 lines in a row
 * that are not JSON.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  { input, output, server }: Options
): Effect.fn.Return<Transport["Service"], never, Scope.Scope> {
  const { probeTimeout } = yield* McpPolicy
  let receive: (message: ServerMessage) => void = () => {}
  const { end, notify, request } = yield* LineConnection.make({
    wire: Wire.ofStreams(input, output),
    receive: (message) => receive(message),
    gone: Effect.never,
    whyEnded: Effect.succeed(new Unreachable({ delivered: "unknown", detail: "the stream of the server ended" })),
    server
  })
  yield* Effect.addFinalizer(() => Effect.sync(end))
  return {
    server,
    hasHeaders: false,
    probeTimeout,
    request,
    notify,
    listen: (receiver) => {
      receive = receiver
    }
  }
})

/**
 * As `make`, as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Transport> => Layer.effect(Transport, make(options))
