import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Net from "node:net"
import { McpPolicy } from "../src/index.ts"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const quick = McpPolicy.make({ resumption: McpPolicy.resumption({ minDelay: 5, delay: 5 }) })

const answerTo = (id: number | undefined) =>
  `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: Raw.textResult("resumed") })}\n\n`

/**
 * Says so much of a stream, and ends it.
 */
const say = (text: string): Raw.Responder => (socket) => {
  Raw.openStream(socket)
  Raw.sendChunk(socket, text)
  Raw.endStream(socket)
}

const gets = (server: Raw.RawServer) => server.requests.filter(({ httpMethod }) => httpMethod === "GET")

/**
 * A legacy server whose call begins with `first`, and whose streams are taken up by `resume`.
 */
const serve = (first: Raw.Responder, resume: (socket: Net.Socket, request: Raw.RawRequest, id: number) => void) => {
  let id = 0
  return Raw.make(Raw.legacy({
    "tools/call": (socket, request) => {
      id = request.message.id!
      first(socket, request)
    },
    GET: (socket, request) => resume(socket, request, id)
  }))
}

const call = (server: Raw.RawServer, policy = quick) =>
  Effect.scoped(Effect.flatMap(connect(server.url, { policy }), (connection) => connection.callTool("t")))

describe("a legacy event stream that ends before its answer", () => {
  const drops: ReadonlyArray<readonly [string, Raw.Responder]> = [
    ["ends", say("id: 7\ndata:\n\n")],
    ["ends after an id without data", say("id: 7\n\n")],
    ["breaks", (socket) => {
      Raw.openStream(socket)
      Raw.sendChunk(socket, "id: 7\ndata: {}\n\n")
      setImmediate(() => socket.destroy())
    }]
  ]
  for (const [what, first] of drops) {
    it.live(`is taken up where it ${what}`, () =>
      Effect.gen(function*() {
        const server = yield* serve(first, (socket, request, id) => say(answerTo(id))(socket, request))
        assert.strictEqual((yield* call(server)).text, "resumed")
        const [get] = gets(server)
        assert.strictEqual(get?.headers["last-event-id"], "7")
        assert.strictEqual(get?.headers["mcp-session-id"], "s1")
        assert.strictEqual(get?.headers["mcp-protocol-version"], "2025-11-25")
        assert.strictEqual(get?.headers["accept"], "text/event-stream")
        assert.strictEqual(server.methods().filter((method) => method === "tools/call").length, 1)
      }))
  }

  it.live("keeps its id across a second drop that brings none, and a refused connection", () =>
    Effect.gen(function*() {
      let resumptions = 0
      const server = yield* serve(say("id: a\ndata:\n\n"), (socket, request, id) => {
        resumptions++
        if (resumptions === 1) return say(": nothing\n\n")(socket, request)
        if (resumptions === 2) return void socket.destroy()
        say(answerTo(id))(socket, request)
      })
      assert.strictEqual((yield* call(server)).text, "resumed")
      assert.deepStrictEqual(gets(server).map(({ headers }) => headers["last-event-id"]), ["a", "a", "a"])
    }))

  const lost: ReadonlyArray<readonly [string, string]> = [
    ["has no id", "data:\n\n"],
    ["cleared its id", "id: 1\ndata:\n\nid\ndata:\n\n"],
    ["has an id that cannot stand in a header", "id: \u0001\ndata:\n\n"],
    ["has an id that is no ASCII", "id: ü\ndata:\n\n"],
    ["has an id with NUL", "id: 1\u00002\ndata:\n\n"]
  ]
  for (const [what, text] of lost) {
    it.live(`is lost at once where it ${what}`, () =>
      Effect.gen(function*() {
        const server = yield* serve(say(text), () => {})
        yield* failsWith(call(server), "ConnectionFailed/Unreachable")
        assert.deepStrictEqual(gets(server), [])
      }))
  }

  it.live("waits as long as the server asks, within bounds", () =>
    Effect.gen(function*() {
      for (
        const [retry, expected] of [["300", 300], ["0", 50], ["99999999999", 400], ["-1", 200], ["1e3", 200]] as const
      ) {
        const policy = McpPolicy.make({
          resumption: McpPolicy.resumption({ minDelay: 50, maxDelay: 400, delay: 200 })
        })
        const server = yield* serve(say(`retry: ${retry}\nid: 1\ndata:\n\n`), (socket, request, id) =>
          say(answerTo(id))(socket, request))
        const [elapsed] = yield* Effect.timed(call(server, policy))
        assert.isAtLeast(Duration.toMillis(elapsed), expected - 10)
        assert.isAtMost(Duration.toMillis(elapsed), expected + 150)
      }
    }))

  it.live("is given up after five resumptions in a row that bring nothing", () =>
    Effect.gen(function*() {
      const server = yield* serve(say("id: 1\ndata:\n\n"), say(": nothing\n\n"))
      yield* failsWith(call(server), "ConnectionFailed/Unreachable")
      assert.strictEqual(gets(server).length, 5)
    }))

  it.live("is given up after a hundred in all, whatever they bring", () =>
    Effect.gen(function*() {
      let last = 1
      const server = yield* serve(say("retry: 0\nid: 1\ndata:\n\n"), (socket, request) =>
        say(`id: ${++last}\ndata:\n\n`)(socket, request))
      yield* failsWith(call(server), "ConnectionFailed/Unreachable")
      assert.strictEqual(gets(server).length, 100)
    }))

  const refusals: ReadonlyArray<readonly [string, Raw.Responder, string]> = [
    ["404", (socket) => Raw.send(socket, 404, {}), "ConnectionFailed/HttpStatus"],
    ["405", (socket) => Raw.send(socket, 405, {}), "ConnectionFailed/HttpStatus"],
    ["401", (socket) => Raw.send(socket, 401, {}), "Unauthorized"],
    ["JSON", (socket) => Raw.sendJson(socket, {}), "ConnectionFailed/ProtocolViolation"],
    [
      "HTML",
      (socket) => Raw.send(socket, 200, { "content-type": "text/html" }, "<html>"),
      "ConnectionFailed/ProtocolViolation"
    ]
  ]
  for (const [what, respond, expected] of refusals) {
    it.live(`resumed with ${what} → ${expected}, and the call is not sent again`, () =>
      Effect.gen(function*() {
        const server = yield* serve(say("id: 1\ndata:\n\n"), respond)
        yield* failsWith(call(server), expected)
        assert.strictEqual(gets(server).length, 1)
        assert.strictEqual(server.methods().filter((method) => method === "tools/call").length, 1)
        yield* server.quiet
      }))
  }

  it.live("has its own time again for every resumption, within that of the call", () =>
    Effect.gen(function*() {
      const policy = McpPolicy.make({
        requestTimeout: 150,
        operationTimeout: 600,
        resumption: McpPolicy.resumption({ minDelay: 5, delay: 100 })
      })
      let last = 1
      const server = yield* serve(say("id: 1\ndata:\n\n"), (socket, request) =>
        say(`id: ${++last}\ndata:\n\n`)(socket, request))
      const [elapsed] = yield* Effect.timed(failsWith(call(server, policy), "ConnectionFailed/TimedOut"))
      assert.isAtLeast(Duration.toMillis(elapsed), 590)
      assert.isAtMost(Duration.toMillis(elapsed), 750)
      assert.isAtLeast(gets(server).length, 3)
    }))
})

describe("a modern event stream that ends before its answer", () => {
  it.live("is never resumed, though it has ids", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({ "tools/call": say("id: 1\ndata:\n\n") }))
      yield* failsWith(call(server), "ConnectionFailed/Unreachable")
      assert.deepStrictEqual(server.methods(), ["server/discover", "tools/call"])
    }))
})
