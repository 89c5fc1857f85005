/**
 * A server that is neither behind a URL nor a child process: one that listens on a socket of its own and speaks as stdio
 * servers do, one message a line. Any two streams of bytes will do; here they are the two halves of a TCP socket. Where
 * such a socket leads is the application's to decide: no guard is asked.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeSink from "@effect/platform-node/NodeSink"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Console, Effect, Layer } from "effect"
import { ByteBudget, LineTransport, McpConnection } from "effect-mcp-client"
import * as Net from "node:net"
import { createInterface } from "node:readline"
import * as Expect from "./support/expect.ts"

/**
 * The server: as little as a server can be.
 */
const results: Record<string, (params: any) => object> = {
  "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }),
  "tools/call": ({ arguments: { name } }) => ({ content: [{ type: "text", text: `Good day, ${name}.` }] })
}

const serve = (socket: Net.Socket): void => {
  createInterface({ input: socket }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line)
    const answer = results[method] === undefined
      ? { error: { code: -32601, message: "not here" } }
      : { result: results[method](params) }
    socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`)
  })
}

const server = Effect.acquireRelease(
  Effect.callback<Net.Server>((resume) => {
    const listening = Net.createServer(serve).listen(0, "127.0.0.1", () => resume(Effect.succeed(listening)))
  }),
  (listening) => Effect.sync(() => listening.close())
)

/**
 * The client's end of it, which is closed with its scope.
 */
const dial = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<Net.Socket, Error>((resume) => {
      const socket = Net.connect(port, "127.0.0.1")
      socket.once("connect", () => resume(Effect.succeed(socket)))
      socket.once("error", (error) => resume(Effect.fail(error)))
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

const layerOver = (socket: Net.Socket) =>
  McpConnection.layer().pipe(
    Layer.provide([
      LineTransport.layer({
        server: "tcp://127.0.0.1",
        input: NodeStream.fromReadable({ evaluate: () => socket }),
        output: NodeSink.fromWritable({ evaluate: () => socket, onError: (error) => error })
      }),
      ByteBudget.layer({ limit: "1 MiB" })
    ])
  )

const program = Effect.gen(function*() {
  const mcp = yield* McpConnection.McpConnection
  const { text } = yield* mcp.callTool("greet", { name: "Ada" })
  yield* Console.log(text)
  yield* Expect.that(text === "Good day, Ada.", "a greeting")
})

NodeRuntime.runMain(Effect.scoped(Effect.gen(function*() {
  const { port } = (yield* server).address() as Net.AddressInfo
  const socket = yield* dial(port)
  yield* Effect.provide(program, layerOver(socket))
})))
