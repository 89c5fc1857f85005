import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Net from "node:net"
import { Credentials, McpPolicy } from "../src/index.ts"
import { connect, failsWith } from "./support/connect.ts"
import { listen } from "./support/listen.ts"
import * as Raw from "./support/rawServer.ts"

const retrying = (options?: McpPolicy.RetriesOptions) =>
  McpPolicy.make({ retries: McpPolicy.retries({ minDelay: 5, maxDelay: 20, ...options }) })

const calls = (server: Raw.RawServer): number => server.methods().filter((method) => method === "tools/call").length

/**
 * Refuses the first calls, and then answers.
 */
const refusing = (times: number, refuse: Raw.Responder): Readonly<Record<string, Raw.Responder>> => ({
  "tools/call": (socket, request) =>
    request.nth < times ? refuse(socket, request) : Raw.sendResult(socket, request, Raw.textResult("ok"))
})

const status = (code: number, headers = {}): Raw.Responder => (socket) => Raw.send(socket, code, headers)

describe("retries", () => {
  it.live.each([429, 503])(
    "send a request again that was refused with %d, signed anew",
    (code) =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.modern(refusing(2, status(code))))
        let signed = 0
        const credentials = Credentials.provider(Effect.sync(() => ({ "x-attempt": Redacted.make(String(++signed)) })))
        const connection = yield* connect(server.url, { policy: retrying(), credentials })
        assert.strictEqual((yield* connection.callTool("t")).text, "ok")
        const attempts = server.requests.filter(({ message }) => message.method === "tools/call")
        assert.deepStrictEqual(attempts.map(({ headers }) => headers["x-attempt"]), ["2", "3", "4"])
        assert.strictEqual(new Set(attempts.map(({ message }) => message.id)).size, 3)
      })
  )

  it.live("send a request again whose refusal is JSON-RPC", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern(refusing(1, (socket, request) =>
        Raw.sendError(socket, request, { code: -32000, message: "slow down" }, 429))))
      const connection = yield* connect(server.url, { policy: retrying() })
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
    }))

  it.live("hold while connecting", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "server/discover": (socket, request) =>
          request.nth === 0 ? Raw.send(socket, 503, {}) : Raw.sendResult(socket, request, Raw.discoverResult)
      }))
      const connection = yield* connect(server.url, { policy: retrying() })
      assert.strictEqual(connection.protocolVersion, "2026-07-28")
    }))

  it.live("send a request again that was certainly not delivered", () =>
    Effect.gen(function*() {
      const free = Net.createServer()
      const port = yield* Effect.scoped(listen(free, () => {}))
      let looked = 0
      const credentials = Credentials.provider(Effect.sync(() => {
        looked++
        return {}
      }))
      const connecting = connect(`http://127.0.0.1:${port}/mcp`, { policy: retrying({ maxRetries: 2 }), credentials })
      yield* failsWith(connecting, "ConnectionFailed/Unreachable")
      assert.strictEqual(looked, 3)
    }))

  const never: ReadonlyArray<readonly [string, Raw.Responder, string]> = [
    ["500", status(500), "ConnectionFailed/HttpStatus"],
    ["502", status(502), "ConnectionFailed/HttpStatus"],
    ["401", status(401), "Unauthorized"],
    ["a connection that breaks", (socket) => void socket.destroy(), "ConnectionFailed/Unreachable"],
    [
      "a refusal",
      (socket, request) => Raw.sendError(socket, request, { code: -1, message: "" }),
      "ServerAnswered/RpcError"
    ]
  ]
  for (const [what, respond, expected] of never) {
    it.live(`never send a request again after ${what}`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.modern({ "tools/call": respond }))
        const connection = yield* connect(server.url, { policy: retrying() })
        yield* failsWith(connection.callTool("t"), expected)
        assert.strictEqual(calls(server), 1)
      }))
  }

  it.live("end after so many, with what the last attempt brought", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({ "tools/call": status(503, { "retry-after": "0" }) }))
      const connection = yield* connect(server.url, { policy: retrying({ maxRetries: 3 }) })
      yield* failsWith(connection.callTool("t"), "ConnectionFailed/HttpStatus")
      assert.strictEqual(calls(server), 4)
    }))

  it.live("wait as long as the server asks, and never past the deadline of the call", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern(refusing(1, status(429, { "retry-after": "1" }))))
      const connection = yield* connect(server.url, { policy: retrying() })
      const [waited] = yield* Effect.timed(connection.callTool("t"))
      assert.isAtLeast(Duration.toMillis(waited), 990)
      const stubborn = yield* Raw.make(Raw.modern({ "tools/call": status(429, { "retry-after": "3600" }) }))
      const other = yield* connect(stubborn.url, { policy: retrying() })
      const [elapsed] = yield* Effect.timed(
        failsWith(other.callTool("t", {}, { timeout: 150 }), "ConnectionFailed/TimedOut")
      )
      assert.isAtMost(Duration.toMillis(elapsed), 250)
      assert.strictEqual(calls(stubborn), 1)
    }))

  it.live("of one call delay no other", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/call": (socket, request) =>
          request.message.params.name === "busy"
            ? Raw.send(socket, 429, { "retry-after": "30" })
            : Raw.sendResult(socket, request, Raw.textResult("ok"))
      }))
      const connection = yield* connect(server.url, { policy: retrying() })
      yield* Effect.forkChild(connection.callTool("busy"))
      const [elapsed] = yield* Effect.timed(connection.callTool("t"))
      assert.isBelow(Duration.toMillis(elapsed), 1000)
    }))

  it("refuse bounds that are none", () => {
    for (const options of [{ maxRetries: 0 }, { maxRetries: Number.NaN }, { minDelay: -1 }, { maxDelay: Number.NaN }]) {
      assert.throws(() => McpPolicy.retries(options), RangeError)
    }
  })
})
