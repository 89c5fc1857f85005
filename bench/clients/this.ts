/**
 * This client, as an application would wire it: one guarded pool for all connections. Its guard, its deadlines and its
 * checks are on, since they cannot be switched off; the budget counts, and never ends, so that the task may go on.
 */
import { ByteBudget, EgressGuard, McpConnection } from "effect-mcp-client"
import { NodeMcp } from "effect-mcp-client/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { args, checkAnswer, checkLarge, checkTools, largeTool, tool } from "../tasks.ts"
import { type Client, fromEffects } from "./client.ts"

export const open = async (url: string): Promise<Client> => {
  const shared = Layer.provideMerge(
    NodeMcp.layerHttpExchange(),
    Layer.merge(EgressGuard.layer(EgressGuard.allowLoopback), ByteBudget.layerUnlimited)
  )
  const options: McpConnection.HttpOptions = { url }
  const runtime = ManagedRuntime.make(Layer.provideMerge(McpConnection.layerHttp(options), shared))
  const connection = await runtime.runPromise(McpConnection.McpConnection)
  const call = Effect.map(connection.callTool(tool, args), ({ text }) => checkAnswer(text))

  return fromEffects(runtime, {
    call,
    list: Effect.map(connection.listTools(), checkTools),
    large: Effect.map(connection.callTool(largeTool, args), ({ text }) => checkLarge(text)),
    workItem: Effect.scoped(
      Effect.flatMap(
        McpConnection.connectHttp(options),
        (own) => Effect.map(own.callTool(tool, args), ({ text }) => checkAnswer(text))
      )
    )
  })
}
