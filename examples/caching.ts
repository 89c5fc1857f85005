/**
 * An agent that looks at its tools before every step. The server says for how long their list may be kept, and
 * `McpCache` keeps it: one layer between the agent and its connection, and nothing else changes.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer } from "effect"
import { McpCache, McpConnection } from "effect-mcp-client"
import { MockServer } from "effect-mcp-client/testing"
import * as Expect from "./support/expect.ts"

/**
 * What is kept lives as long as the connection below. Over a real server: `Layer.provide(NodeMcp.layerHttp({ url }))`.
 */
const Server = McpCache.layer({ maxAge: "10 minutes" }).pipe(
  Layer.provideMerge(MockServer.layerConnection({ tools: { look: () => "a door", open: () => "it is open" } }))
)

const step = Effect.fnUntraced(function*(name: string) {
  const mcp = yield* McpConnection.McpConnection
  const tools = yield* mcp.listTools()
  const { text } = yield* mcp.callTool(name)
  yield* Console.log(`${tools.length} tools; ${name}: ${text}`)
})

const program = Effect.gen(function*() {
  const server = yield* MockServer.MockServer
  const inputSchema = { type: "object" }
  yield* server.inject(
    "tools/list",
    MockServer.result({
      resultType: "complete",
      tools: [{ name: "look", inputSchema }, { name: "open", inputSchema }],
      ttlMs: 60_000,
      cacheScope: "private"
    })
  )

  yield* step("look")
  yield* step("open")
  yield* step("look")

  const received = yield* server.received
  const listings = received.filter(({ method }) => method === "tools/list").length
  yield* Console.log(`three steps, ${listings} listing`)
  yield* Expect.that(listings === 1, "one listing for three steps")
}).pipe(Effect.provide(Server))

NodeRuntime.runMain(program)
