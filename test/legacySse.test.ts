import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Net from "node:net"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"
import { eventually } from "./support/stdio.ts"

/**
 * A server of 2024-11-05: one stream that begins with `first`, and messages posted to where it says.
 */
const serve = (first: string, answers: Readonly<Record<string, (id: number, stream: Net.Socket) => void>> = {}) => {
  let stream: Net.Socket | undefined
  const event = (value: unknown): void => Raw.sendChunk(stream!, `event: message\ndata: ${JSON.stringify(value)}\n\n`)
  const result = (id: number, value: object): void => event({ jsonrpc: "2.0", id, result: value })
  const known: typeof answers = {
    initialize: (id) => result(id, { protocolVersion: "2024-11-05", capabilities: { tools: {} } }),
    "tools/call": (id) => result(id, Raw.textResult(`answer ${id}`)),
    ...answers
  }
  return Raw.make((socket, { httpMethod, message, path }) => {
    if (path === "/mcp" && httpMethod !== "GET") return Raw.send(socket, 405, {})
    if (httpMethod === "GET") {
      stream = socket
      Raw.openStream(socket)
      return Raw.sendChunk(socket, first)
    }
    Raw.send(socket, 202, {})
    if (message.id !== undefined) known[message.method ?? "response"]?.(message.id, stream!)
  })
}

const endpoint = "event: endpoint\ndata: /messages?session=1\n\n"

const connectSse = (server: Raw.RawServer, timeout = 1000) => connect(server.url, { legacySse: true, timeout })

describe("HTTP+SSE of 2024-11-05", () => {
  it.live("is spoken where it is asked for: one stream, and messages to its endpoint", () =>
    Effect.gen(function*() {
      const server = yield* serve(endpoint)
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* connectSse(server)
        assert.strictEqual(connection.protocolVersion, "2024-11-05")
        const answers = yield* Effect.forEach(
          [1, 2, 3, 4],
          () => connection.callTool("t"),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 4)
      }))
      assert.deepStrictEqual(
        server.requests.map(({ httpMethod, message, path }) => `${message.method ?? httpMethod} ${path}`),
        [
          "server/discover /mcp",
          "initialize /mcp",
          "GET /mcp",
          "initialize /messages?session=1",
          "notifications/initialized /messages?session=1",
          ...Array.from({ length: 4 }, () => "tools/call /messages?session=1")
        ]
      )
      yield* server.quiet
    }))

  it.live("is not tried where nobody asked for it", () =>
    Effect.gen(function*() {
      const server = yield* serve(endpoint)
      yield* failsWith(connect(server.url), "ConnectionFailed/HttpStatus")
      assert.deepStrictEqual(server.methods(), ["server/discover", "initialize"])
    }))

  it.live("fails what is pending, and what comes later, when its stream ends", () =>
    Effect.gen(function*() {
      const server = yield* serve(endpoint, { "tools/call": (_, stream) => Raw.endStream(stream) })
      const connection = yield* connectSse(server)
      yield* failsWith(connection.callTool("t"), "ConnectionFailed/Unreachable")
      yield* failsWith(connection.callTool("t"), "ConnectionFailed/Unreachable")
      assert.strictEqual(server.methods().filter((method) => method === "tools/call").length, 1)
    }))

  it.live("answers what the server asks", () =>
    Effect.gen(function*() {
      let called = 0
      const server = yield* serve(endpoint, {
        "tools/call": (id, stream) => {
          called = id
          Raw.sendChunk(stream, `data: {"jsonrpc":"2.0","id":9,"method":"ping"}\n\n`)
        },
        response: (_, stream) =>
          Raw.sendChunk(stream, `data: {"jsonrpc":"2.0","id":${called},"result":{"content":[]}}\n\n`)
      })
      const connection = yield* connectSse(server)
      yield* connection.callTool("t")
      assert.strictEqual(server.requests.at(-1)?.body, `{"jsonrpc":"2.0","id":9,"result":{}}`)
    }))

  it.live("gives an error that names no request to the only one, once no notification can be meant", () =>
    Effect.gen(function*() {
      let calls = 0
      const server = yield* serve(endpoint, {
        "tools/call": (id, stream) => {
          const none = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,\"message\":\"no\"}}"
          Raw.sendChunk(stream, `data: ${none}\n\n`)
          if (++calls > 1) return
          // What came before may be the answer to `notifications/initialized`.
          Raw.sendChunk(stream, `data: {"jsonrpc":"2.0","id":${id},"result":{"content":[]}}\n\n`)
        }
      })
      const connection = yield* connectSse(server)
      assert.deepStrictEqual((yield* connection.callTool("t")).content, [])
      yield* failsWith(connection.callTool("t"), "ServerAnswered/RpcError")
    }))

  it.live("lives on signs of life, between two calls", () =>
    Effect.gen(function*() {
      let alive: () => void = () => {}
      const isAlive = Effect.callback<void>((resume) => {
        alive = () => resume(Effect.void)
      })
      const server = yield* serve(endpoint, {
        "tools/call": (id, stream) => {
          Raw.sendChunk(stream, `data: {"jsonrpc":"2.0","id":${id},"result":{"content":[]}}\n\n`)
          for (let i = 0; i < 5000; i++) Raw.sendChunk(stream, ": ping - 2026-01-01 00:00:00\n\n")
          Raw.sendChunk(stream, `data: {"jsonrpc":"2.0","id":9,"method":"ping"}\n\n`)
        },
        response: () => alive()
      })
      const connection = yield* connect(server.url, {
        legacySse: true,
        budget: { limit: "100 KiB", scope: "operation" }
      })
      const waiting = yield* Effect.forkChild(isAlive, { startImmediately: true })
      yield* connection.callTool("t")
      yield* Fiber.join(waiting)
      const again = yield* Effect.forkChild(isAlive, { startImmediately: true })
      yield* connection.callTool("t")
      yield* Fiber.join(again)
    }))

  it.live("outlives a call that came and went, where every operation has its own budget", () =>
    Effect.gen(function*() {
      let slow = 0
      const server = yield* serve(endpoint, {
        "tools/call": (id, stream) => {
          if (slow === 0) return void (slow = id)
          for (const each of id === slow + 1 ? [id] : [id, slow]) {
            Raw.sendChunk(stream, `data: {"jsonrpc":"2.0","id":${each},"result":{"content":[]}}\n\n`)
          }
        }
      })
      const connection = yield* connect(server.url, { legacySse: true, budget: { scope: "operation" } })
      const call = yield* Effect.forkChild(connection.callTool("slow"), { startImmediately: true })
      yield* eventually("the slow call is not there", () => slow > 0)
      yield* connection.callTool("quick")
      yield* connection.callTool("last")
      assert.deepStrictEqual((yield* Fiber.join(call)).content, [])
    }))

  it.live("reads no event without end, whatever the budget", () =>
    Effect.gen(function*() {
      const server = yield* serve(endpoint, {
        "tools/call": (_, stream) => {
          for (let i = 0; i < 9; i++) Raw.sendChunk(stream, `data: ${"x".repeat(1024 * 1024)}\n`)
        }
      })
      const connection = yield* connect(server.url, { legacySse: true, budget: { limit: "1 GiB" } })
      const error = yield* failsWith(connection.callTool("t"), "ConnectionFailed/BudgetExceeded")
      assert.include(error.message, "more than 8 MiB of bytes of one event")
    }))
})
