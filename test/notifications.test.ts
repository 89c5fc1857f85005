import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Net from "node:net"
import { McpConnection } from "../src/index.ts"
import { counted, event, legacyWith, modernWith, quick } from "./support/announcing.ts"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"
import { until } from "./support/until.ts"

const ofSubscription = (id: unknown, method: string, params: object = {}): string =>
  event({ method, params: { ...params, _meta: { "io.modelcontextprotocol/subscriptionId": id } } })

const acknowledged = (id: unknown, notifications: object): string =>
  ofSubscription(id, "notifications/subscriptions/acknowledged", { notifications })

/**
 * Answers `subscriptions/listen` with these events, made of its id, and keeps the stream open.
 */
const listening = (text: (id: number) => string): Raw.Responder => (socket, { message }) => {
  Raw.openStream(socket)
  Raw.sendChunk(socket, text(message.id!))
}

describe("subscribe, modern", () => {
  it.live("tells of what was asked for, once it is acknowledged, and of nothing else", () =>
    Effect.gen(function*() {
      const server = yield* modernWith({
        "subscriptions/listen": listening((id) =>
          ofSubscription(id, "notifications/tools/list_changed") + acknowledged(id, { toolsListChanged: true }) +
          ofSubscription(id, "notifications/resources/updated", { uri: "a:1" }) +
          ofSubscription(id + 1, "notifications/tools/list_changed") +
          ofSubscription(id, "notifications/resources/updated", { uri: "b:1" }) +
          ofSubscription(id, "notifications/prompts/list_changed") +
          ofSubscription(id, "notifications/tools/list_changed")
        )
      })
      const connection = yield* connect(server.url)
      const filter = { toolsListChanged: true, resourceSubscriptions: ["a:"] }
      const changes = yield* Stream.runCollect(Stream.take(connection.subscribe(filter), 2))
      assert.deepStrictEqual(changes, [{ _tag: "ResourceUpdated", uri: "a:1" }, { _tag: "ToolListChanged" }])
      assert.deepStrictEqual(server.requests[1]?.message.params.notifications, filter)
      yield* server.quiet
    }))

  it.live("ends where the server ends it, with an answer or with a notice", () =>
    Effect.gen(function*() {
      const ends: ReadonlyArray<(id: number) => string> = [
        (id) => event({ id, result: { resultType: "complete" } }),
        (id) => event({ method: "notifications/cancelled", params: { requestId: id } })
      ]
      for (const end of ends) {
        const server = yield* modernWith({
          "subscriptions/listen": listening((id) => acknowledged(id, { toolsListChanged: true }) + end(id))
        })
        const connection = yield* connect(server.url)
        assert.deepStrictEqual(yield* Stream.runCollect(connection.subscribe({ toolsListChanged: true })), [])
        assert.strictEqual(counted(server, "subscriptions/listen"), 1)
      }
    }))

  it.live("listens again where the stream is lost, and gives up where nothing comes of it", () =>
    Effect.gen(function*() {
      let listens = 0
      const server = yield* modernWith({
        "subscriptions/listen": (socket, { message }) => {
          Raw.openStream(socket)
          if (++listens === 1) {
            Raw.sendChunk(
              socket,
              acknowledged(message.id, { toolsListChanged: true }) +
                ofSubscription(message.id, "notifications/tools/list_changed")
            )
          }
          Raw.endStream(socket)
        }
      })
      const connection = yield* connect(server.url, { policy: quick })
      const seen: Array<string> = []
      yield* failsWith(
        Stream.runForEach(
          connection.subscribe({ toolsListChanged: true }),
          ({ _tag }) => Effect.sync(() => void seen.push(_tag))
        ),
        "ConnectionFailed/Unreachable"
      )
      assert.deepStrictEqual(seen, ["ToolListChanged"])
      assert.strictEqual(listens, 4)
    }))

  it.live("fails where it is not acknowledged in time, refused, or honoured in nothing", () =>
    Effect.gen(function*() {
      const answers: ReadonlyArray<readonly [Raw.Responder, string]> = [
        [(socket) => Raw.openStream(socket), "ConnectionFailed/TimedOut"],
        [listening((id) => acknowledged(id, {})), "ServerAnswered/Unreadable"],
        [
          (socket, request) => Raw.sendError(socket, request, { code: -32603, message: "no" }),
          "ServerAnswered/RpcError"
        ]
      ]
      for (const [respond, expected] of answers) {
        const server = yield* modernWith({ "subscriptions/listen": respond })
        const connection = yield* connect(server.url, { policy: quick })
        yield* failsWith(Stream.runDrain(connection.subscribe({ toolsListChanged: true })), expected)
        yield* server.atMost(1)
      }
    }))

  it.live("sends nothing where the server did not declare it", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern())
      const connection = yield* connect(server.url)
      for (
        const filter of [{ toolsListChanged: true }, { promptsListChanged: true }, { resourceSubscriptions: ["a"] }]
      ) {
        yield* failsWith(Stream.runDrain(connection.subscribe(filter)), "CapabilityMissing")
      }
      assert.deepStrictEqual(server.methods(), ["server/discover"])
    }))

  it.live("a storm does not hold the reader up, and a change that waits is told of once", () =>
    Effect.gen(function*() {
      const storm = 20_000
      let stream: Net.Socket | undefined
      const server = yield* modernWith({
        "subscriptions/listen": (socket, { message }) => {
          stream = socket
          Raw.openStream(socket)
          const one = ofSubscription(message.id, "notifications/tools/list_changed")
          Raw.sendChunk(socket, acknowledged(message.id, { toolsListChanged: true }) + one.repeat(storm))
        }
      })
      const connection = yield* connect(server.url)
      let told = 0
      const fiber = yield* Effect.forkChild(
        Stream.runForEach(connection.subscribe({ toolsListChanged: true }), () =>
          Effect.andThen(Effect.sleep(5), Effect.sync(() => void told++)))
      )
      yield* until(() =>
        told > 0
      )
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      assert.isBelow(told, 100)
      assert.isFalse(stream?.destroyed)
      yield* Fiber.interrupt(fiber)
      yield* server.atMost(1)
    }))

  it.live("ends with the connection", () =>
    Effect.gen(function*() {
      const server = yield* modernWith({
        "subscriptions/listen": listening((id) => acknowledged(id, { toolsListChanged: true }))
      })
      const scope = yield* Scope.make()
      const connection = yield* Scope.provide(connect(server.url), scope)
      const fiber = yield* Effect.forkChild(
        Effect.exit(Stream.runDrain(connection.subscribe({ toolsListChanged: true })))
      )
      const heard = yield* Effect.forkChild(Stream.runDrain(connection.notifications))
      yield* until(() => counted(server, "subscriptions/listen") === 1)
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(fiber)
      yield* Fiber.join(heard)
      yield* server.quiet
    }))
})

describe("the server's log", () => {
  const logging = (level: unknown): string =>
    event({ method: "notifications/message", params: { level, logger: "db", data: { a: 1 } } })

  it.live("has its level set once at a legacy server, and with every request at a modern one", () =>
    Effect.gen(function*() {
      const legacy = yield* legacyWith({})
      yield* (yield* connect(legacy.url)).setLogLevel("warning")
      assert.deepStrictEqual(legacy.requests.at(-1)?.message.params, { level: "warning" })
      const modern = yield* modernWith({})
      const connection = yield* connect(modern.url)
      yield* connection.setLogLevel("warning")
      yield* connection.callTool("t")
      yield* connection.callTool("t", {}, { logLevel: "debug" })
      assert.deepStrictEqual(
        modern.requests.map(({ message }) => message.params._meta["io.modelcontextprotocol/logLevel"]),
        [undefined, "warning", "debug"]
      )
    }))

  it.live("needs a server that has one, and a level that is one", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern())
      const connection = yield* connect(server.url)
      yield* failsWith(connection.setLogLevel("error"), "CapabilityMissing")
      yield* failsWith(connection.setLogLevel("loud" as never), "InvalidInput")
      assert.deepStrictEqual(server.methods(), ["server/discover"])
    }))

  it.live("comes as notifications; what is none is kept as it came", () =>
    Effect.gen(function*() {
      const server = yield* modernWith({
        "tools/call": (socket, request) => {
          Raw.openStream(socket)
          Raw.sendChunk(
            socket,
            logging("error") + logging("loud") + event({ method: "notifications/odd" }) +
              event({ id: request.message.id, result: Raw.textResult("ok") })
          )
        }
      })
      const connection = yield* connect(server.url)
      const heard = yield* Effect.forkChild(Stream.runCollect(Stream.take(connection.notifications, 3)))
      yield* Effect.yieldNow
      yield* connection.callTool("t")
      assert.deepStrictEqual(yield* Fiber.join(heard), [
        { _tag: "LoggingMessage", level: "error", data: { a: 1 }, logger: "db" },
        {
          _tag: "Unknown",
          method: "notifications/message",
          params: { level: "loud", logger: "db", data: { a: 1 } }
        },
        { _tag: "Unknown", method: "notifications/odd", params: {} }
      ])
    }))

  it.live("is written into Effect's own where that is asked for, escaped, cut, and at its level", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => {
        lines.push(`${logLevel} ${String(message)}`)
      })
      const messages: ReadonlyArray<object> = [
        { level: "debug", data: "\u001b[31mred" },
        { level: "notice", data: { a: [1] } },
        { level: "emergency", data: "x".repeat(5000) },
        { level: "error", data: Array.from({ length: 5000 }, () => 0) }
      ]
      const server = yield* modernWith({
        "tools/call": (socket, request) => {
          Raw.openStream(socket)
          const all = messages.map((params) => event({ method: "notifications/message", params })).join("")
          Raw.sendChunk(socket, all + event({ id: request.message.id, result: Raw.textResult("ok") }))
        }
      })
      yield* Effect.gen(function*() {
        const connection = yield* connect(server.url)
        yield* McpConnection.forwardLogs(connection)
        yield* connection.callTool("t")
        yield* until(() => lines.length === messages.length)
      }).pipe(
        Effect.scoped,
        Effect.provideService(References.CurrentLoggers, new Set([logger])),
        Effect.provideService(References.MinimumLogLevel, "All")
      )
      assert.deepStrictEqual(lines, [
        "Debug \\u001b[31mred",
        "Info {\"a\":[1]}",
        `Fatal ${"x".repeat(4096)}…`,
        "Error (too much to be written)"
      ])
    }))
})
