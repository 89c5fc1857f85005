import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { McpPolicy } from "../src/index.ts"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const sessions = (server: Raw.RawServer) => server.requests.map(({ headers }) => headers["mcp-session-id"])

describe("a legacy session", () => {
  it.live("is captured, echoed, and deleted when the scope closes", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.legacy())
      yield* Effect.scoped(Effect.flatMap(connect(server.url), (connection) => connection.callTool("t")))
      assert.deepStrictEqual(server.methods(), [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/call",
        "DELETE"
      ])
      assert.deepStrictEqual(sessions(server), [undefined, undefined, "s1", "s1", "s1"])
      yield* server.quiet
    }))

  const forgotten: ReadonlyArray<readonly [string, Raw.Responder]> = [
    ["404", (socket) => Raw.send(socket, 404, { "content-type": "text/plain" }, "Session not found")],
    [
      "404 with a JSON-RPC error",
      (socket, request) => Raw.sendError(socket, request, { code: -32001, message: "Session not found" }, 404)
    ],
    [
      "400 with an error that names no request",
      (socket) =>
        Raw.sendJson(socket, { jsonrpc: "2.0", id: null, error: { code: -32000, message: "no session" } }, 400)
    ]
  ]
  for (const [what, forget] of forgotten) {
    it.live(`forgotten (${what}): a new one is opened without the old id, and the request sent once more`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.legacy({
          "tools/call": (socket, request) =>
            request.nth === 0 ? forget(socket, request) : Raw.sendResult(socket, request, Raw.textResult("again"))
        }))
        const connection = yield* connect(server.url)
        assert.strictEqual((yield* connection.callTool("t")).text, "again")
        assert.deepStrictEqual(server.methods().slice(3), [
          "tools/call",
          "initialize",
          "notifications/initialized",
          "tools/call"
        ])
        assert.deepStrictEqual(sessions(server).slice(3), ["s1", undefined, "s2", "s2"])
      }))

    it.live(`forgotten for ever (${what}): SessionExpired after the second time`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.legacy({ "tools/call": forget }))
        const connection = yield* connect(server.url)
        yield* failsWith(connection.callTool("t"), "ConnectionFailed/SessionExpired")
        assert.strictEqual(server.methods().filter((method) => method === "tools/call").length, 2)
      }))
  }

  it.live("forgotten under many calls at once: one new session between them", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.legacy({
        "tools/call": (socket, request) =>
          request.headers["mcp-session-id"] === "s1"
            ? Raw.send(socket, 404, {})
            : Raw.sendResult(socket, request, Raw.textResult("ok"))
      }))
      const connection = yield* connect(server.url)
      const results = yield* Effect.all(Array.from({ length: 20 }, () => connection.callTool("t")), {
        concurrency: "unbounded"
      })
      assert.isTrue(results.every(({ text }) => text === "ok"))
      assert.strictEqual(server.methods().filter((method) => method === "initialize").length, 2)
    }))

  it.live("is opened anew to its end, though the call that found it gone has given up", () =>
    Effect.gen(function*() {
      let isSlow = true
      const initialized = new Set<string | undefined>()
      const server = yield* Raw.make(Raw.legacy({
        "notifications/initialized": (socket, request) => {
          const accept = () => {
            initialized.add(request.headers["mcp-session-id"])
            Raw.send(socket, 202, {})
          }
          if (request.nth === 1 && isSlow) setTimeout(accept, 150)
          else accept()
        },
        "tools/call": (socket, request) => {
          const id = request.headers["mcp-session-id"]
          if (id === "s1") Raw.send(socket, 404, {})
          else if (initialized.has(id)) Raw.sendResult(socket, request, Raw.textResult("ok"))
          else Raw.sendError(socket, request, { code: -32002, message: "not initialized" })
        }
      }))
      const connection = yield* connect(server.url)
      yield* failsWith(connection.callTool("t", {}, { timeout: 50 }), "ConnectionFailed/TimedOut")
      isSlow = false
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      assert.strictEqual(server.methods().filter((method) => method === "initialize").length, 2)
    }))

  it.live("that cannot be opened anew fails all that wait for it, and is tried again by the next call", () =>
    Effect.gen(function*() {
      let isDown = false
      const plain = Raw.legacy()
      const server = yield* Raw.make(Raw.legacy({
        initialize: (socket, request) => isDown ? Raw.send(socket, 503, {}) : plain(socket, request),
        "tools/call": (socket, request) =>
          request.headers["mcp-session-id"] === "s1"
            ? Raw.send(socket, 404, {})
            : Raw.sendResult(socket, request, Raw.textResult("ok"))
      }))
      const connection = yield* connect(server.url)
      isDown = true
      const failures = Array.from(
        { length: 10 },
        () => failsWith(connection.callTool("t"), "ConnectionFailed/HttpStatus")
      )
      yield* Effect.all(failures, { concurrency: "unbounded" })
      assert.strictEqual(server.methods().filter((method) => method === "initialize").length, 2)
      isDown = false
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
    }))

  for (const id of ["with space", "\u0001", "ü", "x".repeat(8192)]) {
    it.live(`with an id that cannot stand in a header (${JSON.stringify(id.slice(0, 12))}) is a violation`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.legacy({
          initialize: (socket, request) => {
            const result = { protocolVersion: "2025-11-25", capabilities: {} }
            const body = JSON.stringify({ jsonrpc: "2.0", id: request.message.id, result })
            Raw.send(socket, 200, { "content-type": "application/json", "mcp-session-id": id }, body)
          }
        }))
        yield* failsWith(connect(server.url), "ConnectionFailed/ProtocolViolation")
        yield* server.quiet
      }))
  }

  const endings: ReadonlyArray<readonly [string, Raw.Responder]> = [
    ["405", (socket) => Raw.send(socket, 405, {})],
    ["401", (socket) => Raw.send(socket, 401, {})],
    ["500", (socket) => Raw.send(socket, 500, { "content-type": "text/html" }, "<html>")],
    ["a closed connection", (socket) => socket.destroy()]
  ]
  for (const [what, respond] of endings) {
    it.live(`whose DELETE is answered with ${what} closes all the same`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.legacy({ DELETE: respond }))
        yield* Effect.scoped(connect(server.url))
        assert.strictEqual(server.methods().at(-1), "DELETE")
        yield* server.quiet
      }))
  }

  it.live("whose DELETE is never answered closes within its bound", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.legacy({ DELETE: () => {} }))
      const policy = McpPolicy.make({ closeTimeout: Duration.millis(200) })
      const [elapsed] = yield* Effect.timed(Effect.scoped(connect(server.url, { policy })))
      assert.isAtLeast(Duration.toMillis(elapsed), 190)
      assert.isAtMost(Duration.toMillis(elapsed), 400)
      yield* server.quiet
    }))

  it.live("is not opened by a modern server's header, and there is none to delete", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "server/discover": (socket, request) => {
          const body = JSON.stringify({ jsonrpc: "2.0", id: request.message.id, result: Raw.discoverResult })
          Raw.send(socket, 200, { "content-type": "application/json", "mcp-session-id": "s1" }, body)
        }
      }))
      yield* Effect.scoped(Effect.flatMap(connect(server.url), (connection) => connection.callTool("t")))
      assert.deepStrictEqual(server.methods(), ["server/discover", "tools/call"])
      assert.deepStrictEqual(sessions(server), [undefined, undefined])
    }))

  const notified: ReadonlyArray<readonly [string, Raw.Responder]> = [
    ["JSON", (socket) => Raw.sendJson(socket, null)],
    ["text", (socket) => Raw.send(socket, 200, { "content-type": "text/plain" }, "ok")],
    ["an event stream without end", (socket) => {
      Raw.openStream(socket)
      const timer = setInterval(() => Raw.sendChunk(socket, ": hi\n\n"), 5)
      socket.on("close", () => clearInterval(timer))
    }]
  ]
  for (const [what, respond] of notified) {
    it.live(`opens where the notification is answered with ${what}, and that is not read on`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.legacy({ "notifications/initialized": respond }))
        yield* Effect.scoped(Effect.gen(function*() {
          const connection = yield* connect(server.url)
          assert.strictEqual((yield* connection.callTool("t")).text, "ok")
        }))
        yield* server.quiet
      }))
  }
})
