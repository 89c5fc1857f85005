import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Credentials, McpPolicy } from "../src/index.ts"
import { connect, failsWith, kind } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const secret = Redacted.make

describe("credentials", () => {
  const sent = (credentials: Credentials.Credentials, name: string) =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.legacy())
      yield* Effect.scoped(
        Effect.flatMap(connect(server.url, { credentials }), (connection) => connection.callTool("t"))
      )
      assert.strictEqual(server.methods().at(-1), "DELETE")
      return server.requests.map(({ headers }) => headers[name])
    })

  it.live("anonymous proves nothing", () =>
    Effect.map(
      sent(Credentials.anonymous, "authorization"),
      (values) => assert.deepStrictEqual([...new Set(values)], [undefined])
    ))

  it.live("bearer signs every request", () =>
    Effect.map(
      sent(Credentials.bearer(secret("abc")), "authorization"),
      (values) => assert.deepStrictEqual([...new Set(values)], ["Bearer abc"])
    ))

  it.live("header signs every request", () =>
    Effect.map(
      sent(Credentials.header("X-Api-Key", secret("abc")), "x-api-key"),
      (values) => assert.deepStrictEqual([...new Set(values)], ["abc"])
    ))

  it.live("a provider is asked for every request: tokens, or headers", () =>
    Effect.gen(function*() {
      let asked = 0
      const tokens = Credentials.provider(Effect.sync(() => secret(`t${++asked}`)))
      assert.deepStrictEqual(yield* sent(tokens, "authorization"), [1, 2, 3, 4, 5].map((n) => `Bearer t${n}`))
      const headers = Credentials.provider(Effect.sync(() => ({ "X-Key": secret(`k${++asked}`) })))
      assert.deepStrictEqual(yield* sent(headers, "x-key"), [6, 7, 8, 9, 10].map((n) => `k${n}`))
    }))

  it.live("come from the context where no options say otherwise", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern())
      const inContext = Effect.provideService(Credentials.Credentials, Credentials.bearer(secret("context")))
      yield* inContext(connect(server.url))
      yield* inContext(connect(server.url, { credentials: Credentials.bearer(secret("options")) }))
      assert.deepStrictEqual(
        server.requests.map(({ headers }) => headers["authorization"]),
        ["Bearer context", "Bearer options"]
      )
    }))

  const bad: ReadonlyArray<readonly [string, Parameters<typeof connect>[1]]> = [
    ["a token with a line break", { credentials: Credentials.bearer(secret("a\r\nx: y")) }],
    ["a token that is no ASCII", { credentials: Credentials.bearer(secret("tökén")) }],
    ["a header name that is no token", { credentials: Credentials.header("a b", secret("c")) }],
    ["a header of the protocol", { credentials: Credentials.header("Mcp-Session-Id", secret("c")) }],
    ["an extra header of HTTP", { headers: { Host: "elsewhere" } }],
    ["an extra header with a line break", { headers: { "x-a": "b\nc" } }],
    ["an empty value", { headers: { "x-a": "" } }]
  ]
  for (const [what, options] of bad) {
    it.live(`${what} is refused before anything is sent, and not quoted`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.modern())
        const error = yield* failsWith(connect(server.url, options), "InvalidInput")
        assert.strictEqual(server.connections(), 0)
        assert.notMatch(error.message, /tökén|x: y|elsewhere|b\nc/)
      }))
  }

  it.live("a provider that gives a bad value fails that request alone", () =>
    Effect.gen(function*() {
      let asked = 0
      const credentials = Credentials.provider(Effect.sync(() => secret(asked++ === 1 ? "a\nb" : "ok")))
      const server = yield* Raw.make(Raw.modern())
      const connection = yield* connect(server.url, { credentials })
      yield* failsWith(connection.callTool("t"), "InvalidInput")
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      assert.strictEqual(server.requests.length, 2)
    }))

  const atClose: ReadonlyArray<readonly [string, Effect.Effect<never, string>]> = [
    ["fails", Effect.fail("no")],
    ["dies", Effect.die("no")],
    ["interrupts itself", Effect.interrupt],
    ["never comes back", Effect.never],
    ["never comes back, and cannot be interrupted", Effect.uninterruptible(Effect.never)]
  ]
  for (const [what, ending] of atClose) {
    it.live(`a provider that ${what} fails a call as Unauthorized or in time, and closing not at all`, () =>
      Effect.gen(function*() {
        let asked = 0
        const credentials = Credentials.provider(Effect.suspend(() => asked++ < 3 ? Effect.succeed({}) : ending))
        const server = yield* Raw.make(Raw.legacy())
        const policy = McpPolicy.make({ closeTimeout: 100 })
        const [elapsed] = yield* Effect.timed(Effect.scoped(Effect.gen(function*() {
          const connection = yield* connect(server.url, { credentials, policy })
          const error = yield* Effect.flip(connection.callTool("t", {}, { timeout: 100 }))
          assert.include(["Unauthorized", "ConnectionFailed/TimedOut"], kind(error))
        })))
        assert.isAtMost(Duration.toMillis(elapsed), 500)
      }))
  }

  it.live("extra headers go with every request", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern())
      const connection = yield* connect(server.url, { headers: { "X-Tenant": "7", "x-key": secret("s") } })
      yield* connection.callTool("t")
      assert.deepStrictEqual(server.requests.map(({ headers }) => [headers["x-tenant"], headers["x-key"]]), [
        ["7", "s"],
        ["7", "s"]
      ])
    }))

  it.live("what has no JSON fails as InvalidInput, and reserved keys stay out however they are spelt", () =>
    Effect.gen(function*() {
      const cyclic: Record<string, unknown> = {}
      cyclic["self"] = cyclic
      const server = yield* Raw.make(Raw.modern())
      yield* failsWith(connect(server.url, { clientInfo: { name: "a", version: "1", cyclic } }), "InvalidInput")
      yield* failsWith(connect(undefined as never), "InvalidInput")
      const connection = yield* connect(server.url)
      yield* failsWith(connection.callTool("t", {}, { meta: cyclic }), "InvalidInput")
      const sly = { toJSON: () => ({ "io.modelcontextprotocol/protocolVersion": "x", mine: 1 }) }
      yield* connection.callTool("t", {}, { meta: sly })
      const { _meta } = server.requests.at(-1)!.message.params
      assert.strictEqual(_meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28")
      assert.strictEqual(_meta.mine, 1)
      assert.strictEqual(server.requests.length, 2)
    }))

  it.live("bad options fail as InvalidInput", () =>
    Effect.gen(function*() {
      yield* failsWith(connect("http://127.0.0.1:1/", { budget: { limit: -1 } }), "InvalidInput")
      yield* failsWith(connect("http://127.0.0.1:1/", { timeout: "soon" as "1 second" }), "InvalidInput")
    }))
})
