import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type * as Net from "node:net"
import { ByteBudget, Credentials, McpConnection, McpError, McpPolicy } from "../src/index.ts"
import { MockServer } from "../src/testing.ts"
import { connect, failsWith } from "./support/connect.ts"
import { timed } from "./support/lateness.ts"
import * as Raw from "./support/rawServer.ts"
import { until } from "./support/until.ts"

const every = (socket: Net.Socket, millis: number, text: string): void => {
  const timer = setInterval(() => Raw.sendChunk(socket, text), millis)
  socket.on("close", () => clearInterval(timer))
}

const silences: ReadonlyArray<readonly [string, Raw.Responder]> = [
  ["nothing at all", () => {}],
  ["half a head", (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-type: appl")],
  [
    "a head",
    (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n")
  ],
  [
    "half a body",
    (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{")
  ],
  ["an open stream", (socket) => Raw.openStream(socket)],
  ["a comment every 20 ms", (socket) => {
    Raw.openStream(socket)
    every(socket, 20, ": still here\n\n")
  }],
  ["progress every 20 ms", (socket) => {
    Raw.openStream(socket)
    every(socket, 20, `data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n`)
  }],
  ["a byte of a body every 20 ms", (socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
    every(socket, 20, "x")
  }]
]

describe("a deadline of 200 ms", () => {
  for (const [what, respond] of silences) {
    it.live(`against ${what} is met within 300, and leaves no socket`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.modern({ "tools/call": respond }))
        const connection = yield* connect(server.url)
        const { late, millis, value: error } = yield* timed(
          failsWith(connection.callTool("t", {}, { timeout: "200 millis" }), "ConnectionFailed/TimedOut")
        )
        assert.deepStrictEqual(
          (error as McpError.ConnectionFailed).reason,
          new McpError.TimedOut({ limit: Duration.millis(200) })
        )
        assert.isAtLeast(millis, 190)
        assert.isAtMost(millis, 300 + late)
        yield* server.atMost(1)
      }))
  }

  it.live("holds for a credential provider that never comes back", () =>
    Effect.gen(function*() {
      let asked = 0
      const credentials = Credentials.provider(Effect.suspend(() => asked++ === 0 ? Effect.succeed({}) : Effect.never))
      const server = yield* Raw.make(Raw.modern())
      const connection = yield* connect(server.url, { credentials })
      yield* failsWith(connection.callTool("t", {}, { timeout: 100 }), "ConnectionFailed/TimedOut")
    }))

  it.live("holds while connecting", () =>
    Effect.gen(function*() {
      for (const respond of [Raw.modern({ "server/discover": () => {} }), Raw.legacy({ initialize: () => {} })]) {
        const server = yield* Raw.make(respond)
        const policy = McpPolicy.make({ requestTimeout: Duration.millis(100) })
        yield* failsWith(connect(server.url, { policy }), "ConnectionFailed/TimedOut")
        yield* server.quiet
      }
    }))
})

describe("deadlines where none is given", () => {
  const silent = MockServer.layer({ tools: { t: () => "ok" } })

  it.effect("a request has 30 seconds", () =>
    Effect.gen(function*() {
      const connection = yield* McpConnection.connect()
      const mock = yield* MockServer.MockServer
      yield* mock.inject("tools/call t", MockServer.silence)
      const fiber = yield* Effect.forkChild(Effect.flip(connection.callTool("t")))
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const error = yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        (error as McpError.ConnectionFailed).reason,
        new McpError.TimedOut({ limit: Duration.seconds(30) })
      )
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(silent, ByteBudget.layer()))))

  it.effect("a whole listing has 2 minutes, however its pages come", () =>
    Effect.gen(function*() {
      const connection = yield* McpConnection.connect()
      const mock = yield* MockServer.MockServer
      yield* mock.inject("tools/list", ...Array.from({ length: 20 }, () => MockServer.delay("25 seconds")))
      const fiber = yield* Effect.forkChild(Effect.flip(connection.listTools()))
      yield* TestClock.adjust("119 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const error = yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        (error as McpError.ConnectionFailed).reason,
        new McpError.TimedOut({ limit: Duration.minutes(2) })
      )
      const asked = (yield* mock.received).filter(({ operation }) => operation === "tools/list")
      assert.strictEqual(asked.length, 5)
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.merge(
        MockServer.layer({
          pageSize: 1,
          tools: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`t${i}`, () => ""]))
        }),
        ByteBudget.layer()
      ))
    ))
})

describe("interrupting a call", () => {
  for (const [what, respond] of silences) {
    it.live(`after ${what} leaves no socket`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.modern({ "tools/call": respond }))
        const connection = yield* connect(server.url)
        const fiber = yield* Effect.forkChild(connection.callTool("t"))
        yield* until(() => server.requests.length === 2)
        yield* Effect.sleep(5)
        const { late, millis } = yield* timed(Fiber.interrupt(fiber))
        assert.isAtMost(millis, 100 + late)
        yield* server.atMost(1)
      }))
  }

  it.live("during the dial leaves no socket", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern())
      // A dial takes a turn of the event loop or two: every delay from none at all meets it at another step.
      for (let turns = 0; turns < 12; turns++) {
        const scope = yield* Scope.make()
        const fiber = yield* Effect.forkChild(Scope.provide(connect(server.url), scope))
        for (let turn = 0; turn < turns; turn++) yield* nextTurn
        yield* Fiber.interrupt(fiber)
        yield* Scope.close(scope, Exit.void)
        yield* server.quiet
      }
    }))

  const nextTurn = Effect.callback<void>((resume) => {
    setImmediate(() => resume(Effect.void))
  })
})

describe("closing the scope", () => {
  it.live("fails what is pending, ends within its bound against a silent server, and leaves nothing", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.legacy({ "tools/call": () => {}, DELETE: () => {} }))
      const policy = McpPolicy.make({ closeTimeout: Duration.millis(150) })
      const scope = yield* Scope.make()
      const connection = yield* Scope.provide(connect(server.url, { policy }), scope)
      const pending = yield* Effect.forkChild(
        Effect.all(Array.from({ length: 5 }, () => Effect.flip(connection.callTool("t"))), { concurrency: "unbounded" })
      )
      yield* until(() => server.methods().filter((method) => method === "tools/call").length === 5)
      const { late, millis } = yield* timed(Scope.close(scope, Exit.void))
      assert.isAtMost(millis, 300 + late)
      const errors = yield* Fiber.join(pending)
      assert.deepStrictEqual(
        errors.map((error) => (error as McpError.ConnectionFailed).reason._tag),
        ["Closed", "Closed", "Closed", "Closed", "Closed"]
      )
      yield* server.quiet
      const asked = server.requests.length
      yield* failsWith(connection.callTool("t"), "ConnectionFailed/Closed")
      yield* failsWith(connection.listTools(), "ConnectionFailed/Closed")
      assert.strictEqual(server.requests.length, asked)
    }))
})
