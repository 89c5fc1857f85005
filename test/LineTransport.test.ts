import * as NodeSink from "@effect/platform-node/NodeSink"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import * as Net from "node:net"
import { ByteBudget, LineTransport, McpConnection, type McpError } from "../src/index.ts"
import { failsWith } from "./support/connect.ts"
import { listen } from "./support/listen.ts"
import { eventually } from "./support/stdio.ts"

const discovered = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }
const ok = { content: [{ type: "text", text: "ok" }] }

interface Message {
  readonly id: number
  readonly method: string
}

const answerTo = ({ id, method }: Message): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, result: method === "server/discover" ? discovered : ok })}\n`

const connect = (
  options: LineTransport.Options,
  budget?: ByteBudget.Options
): Effect.Effect<McpConnection.Service, McpError.McpError, Scope.Scope> =>
  Effect.map(
    Layer.build(Layer.provide(McpConnection.layer(), [LineTransport.layer(options), ByteBudget.layer(budget)])),
    (context) => Context.get(context, McpConnection.McpConnection)
  )

/**
 * A server in this process, which answers with bytes that it may cut or spoil.
 */
const inProcess = Effect.fnUntraced(function*(answer: (message: Message) => ReadonlyArray<Uint8Array>) {
  const queue = yield* Queue.unbounded<Uint8Array>()
  const decoder = new TextDecoder()
  let rest = ""
  const output = Sink.forEach((bytes: Uint8Array) =>
    Effect.sync(() => {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
      rest = lines.pop()!
      for (const line of lines) answer(JSON.parse(line)).forEach((piece) => Queue.offerUnsafe(queue, piece))
    })
  )
  return { input: Stream.fromQueue(queue), output, queue }
})

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe("over a socket", () => {
  const serve = (onConnection: (socket: Net.Socket) => void) =>
    Effect.gen(function*() {
      const sockets = new Set<Net.Socket>()
      const server = Net.createServer((socket) => {
        sockets.add(socket)
        onConnection(socket)
        socket.on("error", () => {}).on("close", () => sockets.delete(socket))
      })
      const port = yield* listen(server, () => sockets.forEach((socket) => socket.destroy()))
      const socket = Net.connect(port, "127.0.0.1")
      return {
        sockets,
        options: {
          server: `tcp://127.0.0.1:${port}`,
          input: NodeStream.fromReadable({ evaluate: () => socket }),
          output: NodeSink.fromWritable({ evaluate: () => socket, onError: (error) => error })
        }
      }
    })

  it.live("speaks as over stdio, and hangs up when the scope closes", () =>
    Effect.gen(function*() {
      let hungUp: () => void = () => {}
      const { options } = yield* serve((socket) => {
        socket.on("data", (chunk) => socket.write(answerTo(JSON.parse(chunk.toString()))))
        socket.on("end", () => hungUp())
      })
      const end = Effect.callback<void>((resume) => {
        hungUp = () => resume(Effect.void)
      })
      yield* Effect.all([
        end,
        Effect.scoped(Effect.gen(function*() {
          const connection = yield* connect(options)
          assert.strictEqual((yield* connection.callTool("t")).text, "ok")
        }))
      ], { concurrency: 2 })
    }))

  it.live("fails what is pending, and what comes later, when the server hangs up", () =>
    Effect.gen(function*() {
      const { options } = yield* serve((socket) => {
        socket.once("data", (chunk) => {
          socket.write(answerTo(JSON.parse(chunk.toString())))
          socket.once("data", () => socket.end("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"))
        })
      })
      const connection = yield* connect(options)
      const error = yield* failsWith(connection.callTool("t"), "ConnectionFailed/Unreachable")
      assert.strictEqual(
        error.message,
        `tools/call t at ${options.server}: no answer: the stream of the server ended (the request may have been delivered)`
      )
      yield* failsWith(connection.callTool("t"), "ConnectionFailed/Unreachable")
    }))
})

describe("lines", () => {
  it.live("may come a byte at a time", () =>
    Effect.gen(function*() {
      const text = "é😀".repeat(100_000)
      const server = yield* inProcess((message) => {
        const whole = message.method === "server/discover"
          ? answerTo(message)
          : answerTo(message).replace("ok", text)
        const all = bytes(whole)
        return Array.from(all, (_, at) => all.subarray(at, at + 1))
      })
      const connection = yield* connect(server)
      assert.strictEqual((yield* connection.callTool("t")).text, text)
    }))

  it.live("count against the budget, and end the connection where they pass it", () =>
    Effect.gen(function*() {
      const server = yield* inProcess((message) => [bytes(" ".repeat(1000)), bytes(answerTo(message))])
      const size = 1000 + answerTo({ id: 1, method: "server/discover" }).length
      const connection = yield* connect(server, { limit: size + 1500 })
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      yield* failsWith(connection.callTool("t"), "ConnectionFailed/BudgetExceeded")
      yield* failsWith(connection.callTool("t"), "ConnectionFailed/BudgetExceeded")
    }))

  it.live("count against a budget of each operation", () =>
    Effect.gen(function*() {
      const server = yield* inProcess((message) => [bytes(" ".repeat(1000)), bytes(answerTo(message))])
      const connection = yield* connect(server, { limit: 2000, scope: "operation" })
      for (let i = 0; i < 5; i++) assert.strictEqual((yield* connection.callTool("t")).text, "ok")
    }))

  it.live("that came between two calls count against neither", () =>
    Effect.gen(function*() {
      const server = yield* inProcess((message) => [bytes(answerTo(message))])
      const connection = yield* connect(server, { limit: 2000 })
      const announced = bytes("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n".repeat(100))
      yield* Queue.offer(server.queue, announced)
      yield* eventually("the announcements are not read", () => Queue.sizeUnsafe(server.queue) === 0)
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
    }))
})
