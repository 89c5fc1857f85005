import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { JsonText, McpConnection } from "../src/index.ts"
import { MockServer } from "../src/testing.ts"
import { connect, failsWith } from "./support/connect.ts"

const options: MockServer.Options = {
  name: "mock",
  instructions: "be kind",
  pageSize: 2,
  tools: {
    add: ({ a, b }) => String(Number(a) + Number(b)),
    later: () => Effect.succeed({ content: [{ type: "text", text: "later" }] }),
    throws: () => {
      throw new Error("broken")
    },
    fails: () => Effect.fail("no luck"),
    bytes: () => new Uint8Array([1, 2, 3]),
    value: { description: "a value", inputSchema: { type: "object", title: "v" }, call: () => ({ n: 1 }) }
  }
}

const behaviour = (connection: McpConnection.Service, mock: MockServer.MockServer["Service"]) =>
  Effect.gen(function*() {
    assert.strictEqual(connection.serverInfo?.name, "mock")
    assert.strictEqual(connection.instructions, "be kind")
    const tools = yield* connection.listTools()
    assert.deepStrictEqual(tools.map(({ name }) => name), Object.keys(options.tools!))
    assert.deepStrictEqual(tools.at(-1), {
      name: "value",
      description: "a value",
      inputSchema: { type: "object", title: "v" }
    })

    assert.strictEqual((yield* connection.callTool("add", { a: 2, b: 3 })).text, "5")
    assert.strictEqual((yield* connection.callTool("later")).text, "later")
    const thrown = yield* connection.callTool("throws")
    assert.deepStrictEqual([thrown.isError, thrown.text], [true, "broken"])
    assert.deepStrictEqual([(yield* connection.callTool("fails")).text], ["no luck"])
    const [block] = (yield* connection.callTool("bytes")).content
    assert.deepStrictEqual(block?.type === "image" ? [...block.data] : [], [1, 2, 3])
    assert.deepStrictEqual((yield* connection.callTool("value")).structuredContent, { n: 1 })
    yield* failsWith(connection.callTool("nobody"), "ServerAnswered/RpcError")

    yield* connection.callTool("add", JsonText.makeUnsafe(`{"a":1.0,"b":1e3}`))
    assert.deepStrictEqual(yield* mock.calls("add"), [{ a: 2, b: 3 }, { a: 1, b: 1000 }])
    assert.include((yield* mock.received).at(-1)?.text, `{"a":1.0,"b":1e3}`)

    const faults: ReadonlyArray<readonly [MockServer.Fault, string]> = [
      [MockServer.status(500), "ConnectionFailed/HttpStatus"],
      [MockServer.status(401), "Unauthorized"],
      [MockServer.halfBody, "ConnectionFailed/Unreachable"],
      [MockServer.wrongId, "ConnectionFailed/ProtocolViolation"],
      [MockServer.rpcError(-32000, "no"), "ServerAnswered/RpcError"],
      [MockServer.result({ content: "?" }), "ServerAnswered/Unreadable"]
    ]
    yield* mock.inject("tools/call add", ...faults.map(([fault]) => fault))
    for (const [, expected] of faults) yield* failsWith(connection.callTool("add"), expected)
    assert.strictEqual((yield* connection.callTool("add", { a: 1, b: 1 })).text, "2")

    yield* mock.inject("tools/call add", MockServer.silence, MockServer.delay("1 day"))
    for (let i = 0; i < 2; i++) {
      yield* failsWith(connection.callTool("add", {}, { timeout: 50 }), "ConnectionFailed/TimedOut")
    }
    yield* mock.inject("tools/call add", MockServer.delay("10 millis"))
    assert.strictEqual((yield* connection.callTool("add", { a: 4, b: 4 })).text, "8")
  })

for (const protocol of ["2026-07-28", "2025-11-25", "2024-11-05"] as const) {
  for (const answers of ["json", "sse"] as const) {
    describe(`a mock server of ${protocol} that answers with ${answers}`, () => {
      it.live("in memory", () =>
        Effect.gen(function*() {
          const connection = yield* McpConnection.McpConnection
          assert.strictEqual(connection.protocolVersion, protocol)
          yield* behaviour(connection, yield* MockServer.MockServer)
        }).pipe(Effect.provide(MockServer.layerConnection({ ...options, protocol, answers }))))

      it.live("over loopback", () =>
        Effect.gen(function*() {
          const mock = yield* MockServer.MockServer
          yield* Effect.scoped(Effect.gen(function*() {
            const connection = yield* connect(mock.url)
            assert.strictEqual(connection.protocolVersion, protocol)
            yield* behaviour(connection, mock)
          }))
          const asked = (yield* mock.received).map(({ operation }) => operation)
          assert.strictEqual(asked.includes("DELETE"), protocol !== "2026-07-28")
        }).pipe(Effect.provide(MockServer.layerHttp({ ...options, protocol, answers }))))
    })
  }
}
