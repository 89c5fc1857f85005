import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { McpPolicy } from "../src/index.ts"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"
import { until } from "./support/until.ts"

const asked = (server: Raw.RawServer, method: string) =>
  server.requests.filter(({ message }) => message.method === method)

const cancelled = (server: Raw.RawServer) => asked(server, "notifications/cancelled")

const silent = {
  "tools/call": () => {},
  "notifications/cancelled": (socket: Parameters<Raw.Responder>[0]) => Raw.send(socket, 202, {})
}

describe("interrupting a call", () => {
  it.live("tells a legacy server which request nobody waits for", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.legacy(silent))
      const connection = yield* connect(server.url)
      const call = yield* Effect.forkChild(connection.callTool("t"))
      yield* until(() => asked(server, "tools/call").length === 1)
      yield* Fiber.interrupt(call)
      yield* until(() => cancelled(server).length === 1)
      const [notice] = cancelled(server)
      assert.strictEqual(notice?.message.params.requestId, asked(server, "tools/call")[0]?.message.id)
      assert.strictEqual(notice?.headers["mcp-session-id"], "s1")
    }))

  it.live("tells a modern server by the closed stream alone", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern(silent))
      const connection = yield* connect(server.url)
      const call = yield* Effect.forkChild(connection.callTool("t"))
      yield* until(() => asked(server, "tools/call").length === 1)
      yield* Fiber.interrupt(call)
      yield* server.atMost(0)
      assert.deepStrictEqual(server.methods(), ["server/discover", "tools/call"])
    }))

  it.live("is not told of an answered call, nor of initialize", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.legacy())
      const connection = yield* connect(server.url)
      yield* connection.callTool("t")
      const mute = yield* Raw.make(Raw.legacy({ initialize: () => {} }))
      const policy = McpPolicy.make({ requestTimeout: 50 })
      yield* failsWith(connect(mute.url, { policy }), "ConnectionFailed/TimedOut")
      assert.deepStrictEqual([...cancelled(server), ...cancelled(mute)], [])
    }))
})

describe("a deadline that passes", () => {
  it.live("tells a legacy server, off the caller's path: one that takes no notice costs no time", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.legacy({ ...silent, "notifications/cancelled": () => {} }))
      const scope = yield* Scope.make()
      const policy = McpPolicy.make({ closeTimeout: 100 })
      const connection = yield* Scope.provide(connect(server.url, { policy }), scope)
      yield* failsWith(connection.callTool("t", {}, { timeout: 100 }), "ConnectionFailed/TimedOut")
      yield* until(() => cancelled(server).length === 1)
      yield* Scope.close(scope, Exit.void)
      yield* server.quiet
    }))
})
