/**
 * This client, as an application would wire it: one guarded pool for all connections. Its guard, its deadlines and its
 * checks are on, since they cannot be switched off; the budget counts, and has no end, since the tasks read more than
 * 8 MiB over one connection.
 */
import { ByteBudget, EgressGuard, McpConnection } from "effect-mcp-client"
import { NodeMcp } from "effect-mcp-client/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Scope from "effect/Scope"
import { server } from "../stdioServer.ts"
import { args, checkAnswer, checkLarge, checkTools, largeTool, tool } from "../tasks.ts"
import { type Client, fromEffects, lazily } from "./client.ts"

export const open = async (url: string): Promise<Client> => {
  const shared = Layer.provideMerge(
    NodeMcp.layerHttpExchange(),
    Layer.merge(EgressGuard.layer(EgressGuard.allowLoopback), ByteBudget.layerUnlimited)
  )
  const runtime = ManagedRuntime.make(Layer.provideMerge(McpConnection.layerHttp({ url }), shared))
  const connection = await runtime.runPromise(McpConnection.McpConnection)

  const scope = Scope.makeUnsafe()

  // Suspended, so that each call writes its arguments anew.
  const callTool = (from: McpConnection.Service, name: string) =>
    Effect.map(Effect.suspend(() => from.callTool(name, args)), ({ text }) => text)

  const budget = { limit: "1 TiB" } as const
  const overStdio = lazily(() => runtime.runPromise(Scope.provide(NodeMcp.connectStdio({ ...server, budget }), scope)))

  return fromEffects(runtime, {
    echo: Effect.flatMap(Effect.promise(overStdio), (own) => Effect.map(callTool(own, tool), checkAnswer)),
    call: Effect.map(callTool(connection, tool), checkAnswer),
    list: Effect.map(Effect.suspend(() => connection.listTools()), checkTools),
    large: Effect.map(callTool(connection, largeTool), checkLarge),
    workItem: Effect.scoped(
      Effect.flatMap(
        Effect.suspend(() => McpConnection.connectHttp({ url })),
        (own) => Effect.map(callTool(own, tool), checkAnswer)
      )
    )
  })
}
