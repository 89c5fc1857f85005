/**
 * `McpClient` of `effect/ai`, at its best: the modern era; the undici `HttpClient` of `@effect/platform-node`, which is
 * its quickest, without the spans of HTTP requests; one pool for all connections. It has no deadline on calls. Tools are
 * looked up once, since it wants a tool and not a name.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as McpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Scope from "effect/Scope"
import { server } from "../stdioServer.ts"
import { args, checkAnswer, checkLarge, checkTools, firstText, largeTool, tool } from "../tasks.ts"
import { type Client, fromEffects, lazily } from "./client.ts"

export const open = async (url: string): Promise<Client> => {
  const options = { name: "bench", version: "1.0.0", url, protocol: McpProtocol.v2026_07_28 }
  const http = Layer.merge(
    NodeHttpClient.layerUndici,
    Layer.succeed(HttpClient.TracerDisabledWhen, () => true)
  )
  const runtime = ManagedRuntime.make(Layer.provideMerge(McpClient.layerHttp(options), http))
  const shared = await runtime.runPromise(McpClient.McpClient)
  const listed = await runtime.runPromise(shared.listTools())
  const named = (name: string): McpSchema.Tool => listed.find((entry) => entry.name === name)!
  const tools = { call: named(tool), large: named(largeTool) }

  const callTool = (client: McpClient.McpClient, described: McpSchema.Tool) =>
    Effect.map(
      Effect.suspend(() => client.callTool({ tool: described, arguments: args })),
      ({ content }) => firstText(content)
    )

  const connect = Effect.flatMap(
    Effect.suspend(() => McpClient.http(options)),
    (transport) => Effect.provideService(McpClient.make(options), McpClient.Transport, transport)
  )

  const scope = Scope.makeUnsafe()
  const overStdio = lazily(() =>
    runtime.runPromise(
      Effect.gen(function*() {
        const transport = yield* McpClient.stdio({
          command: ChildProcess.make(server.command, server.args, { stderr: "ignore" }),
          protocol: options.protocol
        })
        const client = yield* Effect.provideService(McpClient.make(options), McpClient.Transport, transport)
        const [described] = yield* client.listTools()
        return { client, described: described! }
      }).pipe(Scope.provide(scope), Effect.provide(NodeServices.layer))
    )
  )

  return fromEffects(runtime, {
    echo: Effect.flatMap(
      Effect.promise(overStdio),
      ({ client, described }) => Effect.map(callTool(client, described), checkAnswer)
    ),
    call: Effect.map(callTool(shared, tools.call), checkAnswer),
    list: Effect.map(Effect.suspend(() => shared.listTools()), checkTools),
    large: Effect.map(callTool(shared, tools.large), checkLarge),
    workItem: Effect.scoped(
      Effect.flatMap(connect, (own) => Effect.map(callTool(own, tools.call), checkAnswer))
    )
  })
}
