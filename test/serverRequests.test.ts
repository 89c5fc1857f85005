import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { answersById, answersTo, asking, request } from "./support/asking.ts"
import { connect } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

describe("what a legacy server asks for by itself", () => {
  it.live("is answered under its id and the session, a ping with nothing and all else with -32601", () =>
    Effect.gen(function*() {
      const events = request(7, "ping") + request("s", "sampling/createMessage")
      const server = yield* Raw.make(Raw.legacy(asking(events, 2)))
      const connection = yield* connect(server.url)
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      const answers = answersTo(server).filter(({ httpMethod }) => httpMethod === "POST")
      const byId = answersById(server)
      assert.deepStrictEqual(byId.get(7), { jsonrpc: "2.0", id: 7, result: {} })
      assert.strictEqual(byId.get("s").error.code, -32601)
      for (const { headers } of answers) {
        assert.strictEqual(headers["mcp-session-id"], "s1")
        assert.strictEqual(headers["mcp-protocol-version"], "2025-11-25")
        assert.strictEqual(headers["content-type"], "application/json")
      }
    }))

  it.live("is answered eight at a time, and refused with -32603 beyond, all of it", () =>
    Effect.gen(function*() {
      const events = Array.from({ length: 200 }, (_, id) => request(id, "roots/list")).join("")
      const server = yield* Raw.make(Raw.legacy(asking(events, 200)))
      const connection = yield* connect(server.url)
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      const codes = answersTo(server).flatMap(({ body }) => body === "" ? [] : [JSON.parse(body).error.code])
      assert.strictEqual(codes.length, 200)
      assert.strictEqual(codes.filter((code) => code === -32601).length, 8)
      assert.strictEqual(codes.filter((code) => code === -32603).length, 192)
    }))

  it.live("is left aside where its id is none", () =>
    Effect.gen(function*() {
      const infinite = request(1, "ping").replace(`"id":1`, `"id":1e400`)
      const events = request(null, "ping") + request({}, "ping") + request([1], "ping") + infinite
      const server = yield* Raw.make(Raw.legacy(asking(events, 0)))
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* connect(server.url)
        assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      }))
      assert.deepStrictEqual(answersTo(server).map(({ httpMethod }) => httpMethod), ["DELETE"])
    }))

  it.live("is answered no more once the connection is closed", () =>
    Effect.gen(function*() {
      const events = Array.from({ length: 50 }, (_, id) => request(id, "ping")).join("")
      const server = yield* Raw.make(Raw.legacy({ ...asking(events, 0), POST: () => {} }))
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* connect(server.url)
        assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      }))
      yield* server.quiet
      const answered = answersTo(server).length
      // Eight are under way when the scope closes, and one refusal.
      assert.isAtMost(answered, 10)
    }))
})

describe("what a modern server asks for by itself", () => {
  it.live("is never answered", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern(asking(request(7, "ping") + request(8, "roots/list"), 0)))
      const connection = yield* connect(server.url)
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      assert.deepStrictEqual(server.methods(), ["server/discover", "tools/call", "tools/call"])
    }))
})
