/**
 * An MCP server that a test scripts: its tools are plain functions, its faults come on demand, and it remembers what it
 * was asked.
 *
 * **When to use**
 *
 * Use `layerConnection` where an application needs an `McpConnection`: the test swaps one layer. Use `layer` where it
 * needs a `Transport`, and `layerHttp` where the way through real sockets matters.
 *
 * **Example** (Swapping the server of an application)
 *
 * ```ts
 * import { Effect } from "effect"
 * import { McpConnection } from "effect-mcp-client"
 * import { MockServer } from "effect-mcp-client/testing"
 *
 * const program = Effect.gen(function*() {
 *   const mcp = yield* McpConnection.McpConnection
 *   const sum = yield* mcp.callTool("add", { a: 2, b: 3 })
 *   const mock = yield* MockServer.MockServer
 *   return [sum.text, yield* mock.calls("add")]
 * })
 *
 * Effect.provide(program, MockServer.layerConnection({
 *   tools: { add: ({ a, b }) => String(Number(a) + Number(b)) }
 * }))
 * ```
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Http from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { McpError } from "../errors/McpError.ts"
import type { JsonObject } from "../schema/Json.ts"
import type * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import * as ByteBudget from "../services/ByteBudget.ts"
import * as EgressGuard from "../services/EgressGuard.ts"
import * as HttpExchange from "../services/HttpExchange.ts"
import * as McpConnection from "../services/McpConnection.ts"
import * as StreamableHttp from "../services/StreamableHttp.ts"
import { Transport } from "../services/Transport.ts"
import type { Fault } from "./Fault.ts"
import * as Script from "./script.ts"

export * from "./Fault.ts"

/**
 * A tool as a plain function: of its arguments, to a text, to bytes (an image of no particular type), to any JSON value, to a whole result (an object with
 * `content` or `structuredContent`), or to an Effect of one of these. What it throws or fails with becomes a result with
 * `isError`.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolFunction = (args: JsonObject) => unknown

/**
 * A tool with what a listing shows of it. Whatever stands here is listed; `inputSchema` is an object of anything where
 * nothing else is said.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolDefinition {
  readonly call: ToolFunction
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema?: JsonObject | undefined
  readonly outputSchema?: JsonObject | undefined
  readonly annotations?: JsonObject | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The one revision that it speaks. Default: 2026-07-28.
   */
  readonly protocol?: ProtocolVersion.ProtocolVersion | undefined
  readonly tools?: Readonly<Record<string, ToolFunction | ToolDefinition>> | undefined
  /**
   * How many tools a page of a listing has. Default: all.
   */
  readonly pageSize?: number | undefined
  /**
   * How it answers: JSON (default), or an event stream.
   */
  readonly answers?: "json" | "sse" | undefined
  readonly name?: string | undefined
  readonly instructions?: string | undefined
  /**
   * Default: tools.
   */
  readonly capabilities?: JsonObject | undefined
}

/**
 * What can be made to go wrong, as errors name it.
 *
 * @category models
 * @since 0.1.0
 */
export type Operation =
  | "server/discover"
  | "initialize"
  | "notifications/initialized"
  | "tools/list"
  | `tools/call ${string}`
  | "DELETE"

/**
 * Something that the server was asked.
 *
 * @category models
 * @since 0.1.0
 */
export interface Received {
  readonly httpMethod: string
  /**
   * As errors name it: `"tools/list"`, `"tools/call add"`; the HTTP method where there was no message.
   */
  readonly operation: string
  readonly method: string | undefined
  readonly params: JsonObject
  /**
   * By lower-case name.
   */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The message as it came, byte for byte.
   */
  readonly text: string
}

/**
 * A running mock server.
 *
 * @category services
 * @since 0.1.0
 */
export class MockServer extends Context.Service<MockServer, {
  /**
   * Where it listens. In memory nothing does, and the name resolves to nothing.
   */
  readonly url: string
  /**
   * All that it was asked, in order.
   */
  readonly received: Effect.Effect<ReadonlyArray<Received>>
  /**
   * The arguments of every call of a tool, in order.
   */
  readonly calls: (tool: string) => Effect.Effect<ReadonlyArray<JsonObject>>
  /**
   * Says how the next requests of an operation go wrong, one fault each; then it answers well again.
   */
  readonly inject: (operation: Operation, ...faults: ReadonlyArray<Fault>) => Effect.Effect<void>
}>()("effect-mcp-client/testing/MockServer") {}

const toService = (script: Script.Script, url: string): MockServer["Service"] => ({
  url,
  received: Effect.sync(() => [...script.received]),
  calls: (tool) =>
    Effect.sync(() =>
      script.received.filter(({ operation }) => operation === `tools/call ${tool}`).map(({ params }) =>
        params["arguments"] as JsonObject
      )
    ),
  inject: (operation, ...faults) =>
    Effect.sync(() => {
      script.faults.set(operation, [...(script.faults.get(operation) ?? []), ...faults])
    })
})

const inMemoryUrl = "http://mock.invalid/mcp"

const bodyText = (request: HttpClientRequest.HttpClientRequest): string =>
  request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""

const halfOf = (text: string): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.subarray(0, bytes.length / 2))
      controller.error(new Error("the mock server closed the connection"))
    }
  })
}

const inMemoryClient = (script: Script.Script): Http.HttpClient =>
  Http.make((request) =>
    Effect.map(
      script.handle({ httpMethod: request.method, headers: request.headers, body: bodyText(request) }),
      ({ body, headers, isCut, status }) =>
        HttpClientResponse.fromWeb(
          request,
          new Response(body === "" ? null : isCut ? halfOf(body) : body, { status, headers })
        )
    )
  )

/**
 * A server in memory, as the `Transport` that an application connects over.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<MockServer | Transport> =>
  Layer.unwrap(Effect.sync(() => {
    const script = Script.make(options)
    const carrier = Layer.merge(
      HttpExchange.layerHttpClient.pipe(Layer.provide(Layer.succeed(Http.HttpClient, inMemoryClient(script)))),
      EgressGuard.layer(EgressGuard.unrestricted)
    )
    return Layer.merge(
      Layer.succeed(MockServer, toService(script, inMemoryUrl)),
      // The URL is ours, so that what opening a transport can fail with does not come up.
      Layer.effect(Transport, Effect.orDie(StreamableHttp.make({ url: inMemoryUrl }))).pipe(Layer.provide(carrier))
    )
  }))

/**
 * A server in memory and a connection to it: what a test of an application provides in place of the real one.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConnection = (
  options: Options,
  connection?: McpConnection.Options
): Layer.Layer<MockServer | McpConnection.McpConnection, McpError> =>
  McpConnection.layer(connection).pipe(
    Layer.provideMerge(layer(options)),
    Layer.provide(ByteBudget.layer())
  )

/**
 * The same server on a free loopback port, over real sockets, for tests that need several. For Node; it goes with its
 * scope.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeHttp = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<MockServer["Service"], never, Scope.Scope> {
  // Loaded here, so that the rest of this module works where there is no Node.
  const { listen } = yield* Effect.promise(() => import("./listen.ts"))
  const script = Script.make(options)
  const port = yield* listen(script.handle)
  return toService(script, `http://127.0.0.1:${port}/mcp`)
})

/**
 * As `makeHttp`, as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttp = (options: Options): Layer.Layer<MockServer> => Layer.effect(MockServer, makeHttp(options))
