/**
 * `McpClient` of `effect/ai`, over the undici `HttpClient` of `@effect/platform-node`.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { McpClient, McpProtocol } from "effect/ai"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { args, checkAnswer, checkLarge, checkTools, firstText, largeTool, tool } from "../tasks.ts"
import { type Client, fromEffects } from "./client.ts"

export const open = async (url: string): Promise<Client> => {
  const options = { name: "bench", version: "1.0.0", url, protocol: McpProtocol.v2026_07_28 }
  const http = Layer.merge(
    NodeHttpClient.layerUndici,
    Layer.succeed(HttpClient.TracerDisabledWhen, () => true)
  )
  const runtime = ManagedRuntime.make(Layer.provideMerge(McpClient.layerHttp(options), http))
  const shared = await runtime.runPromise(McpClient.McpClient)
  const tools = await runtime.runPromise(shared.listTools())
  const named = (name: string) => tools.find((entry) => entry.name === name)!

  const callTool = (client: McpClient.McpClient, name: string) => {
    const described = named(name)
    return Effect.map(
      Effect.suspend(() => client.callTool({ tool: described, arguments: args })),
      ({ content }) => firstText(content)
    )
  }

  const connect = Effect.flatMap(
    McpClient.http(options),
    (transport) => Effect.provideService(McpClient.make(options), McpClient.Transport, transport)
  )

  return fromEffects(runtime, {
    call: Effect.map(callTool(shared, tool), checkAnswer),
    list: Effect.map(shared.listTools(), checkTools),
    large: Effect.map(callTool(shared, largeTool), checkLarge),
    workItem: Effect.scoped(
      Effect.flatMap(connect, (own) => Effect.map(callTool(own, tool), checkAnswer))
    )
  })
}
