/**
 * Subscriptions at legacy servers: what a server is told of them, and the stream of its own that brings the changes.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import type * as Net from "node:net"
import type { McpConnection } from "../src/index.ts"
import { capabilities, counted, event, legacyWith, quick } from "./support/announcing.ts"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"
import { until } from "./support/until.ts"

describe("subscribe, legacy", () => {
  it.live("subscribes, follows the server's own stream once for all, and unsubscribes", () =>
    Effect.gen(function*() {
      let stream: Net.Socket | undefined
      const server = yield* legacyWith({
        GET: (socket) => {
          stream = socket
          Raw.openStream(socket)
        }
      })
      const connection = yield* connect(server.url)
      const first = yield* Effect.forkChild(
        Stream.runCollect(Stream.take(connection.subscribe({ resourceSubscriptions: ["a:1"] }), 1))
      )
      const second = yield* Effect.forkChild(
        Stream.runCollect(Stream.take(connection.subscribe({ toolsListChanged: true }), 1))
      )
      yield* until(() => stream !== undefined && counted(server, "resources/subscribe") === 1)
      Raw.sendChunk(stream!, event({ method: "notifications/resources/updated", params: { uri: "b:1" } }))
      Raw.sendChunk(stream!, event({ method: "notifications/resources/updated", params: { uri: "a:1" } }))
      assert.deepStrictEqual(yield* Fiber.join(first), [{ _tag: "ResourceUpdated", uri: "a:1" }])
      Raw.sendChunk(stream!, event({ method: "notifications/tools/list_changed" }))
      assert.deepStrictEqual(yield* Fiber.join(second), [{ _tag: "ToolListChanged" }])
      yield* until(() => counted(server, "resources/unsubscribe") === 1)
      assert.strictEqual(counted(server, "GET"), 1)
    }))

  /**
   * Subscribes to one resource, and goes on once the server has been asked.
   */
  const subscribed = (connection: McpConnection.Service, uri: string) =>
    Effect.forkChild(Stream.runCollect(Stream.take(connection.subscribe({ resourceSubscriptions: [uri] }), 1)))

  it.live("one who leaves does not call off what another waits for, and the last one does", () =>
    Effect.gen(function*() {
      const server = yield* legacyWith({})
      const connection = yield* connect(server.url)
      const first = yield* subscribed(connection, "a:1")
      const second = yield* subscribed(connection, "a:1")
      const other = yield* subscribed(connection, "b:1")
      yield* until(() => counted(server, "resources/subscribe") === 2)
      yield* Fiber.interrupt(first)
      yield* Fiber.interrupt(other)
      yield* until(() => counted(server, "resources/unsubscribe") === 1)
      assert.deepStrictEqual(server.requests.at(-1)?.message.params, { uri: "b:1" })
      yield* Fiber.interrupt(second)
      yield* until(() => counted(server, "resources/unsubscribe") === 2)
      assert.deepStrictEqual(server.requests.at(-1)?.message.params, { uri: "a:1" })
      assert.strictEqual(counted(server, "resources/subscribe"), 2)
    }))

  it.live("who comes while the server is told that nobody waits is subscribed after that", () =>
    Effect.gen(function*() {
      let answer = (): void => {}
      const server = yield* legacyWith({
        "resources/unsubscribe": (socket, request) => {
          answer = () => Raw.sendResult(socket, request, {})
        }
      })
      const connection = yield* connect(server.url)
      const first = yield* subscribed(connection, "a:1")
      yield* until(() => counted(server, "resources/subscribe") === 1)
      yield* Fiber.interrupt(first)
      yield* until(() => counted(server, "resources/unsubscribe") === 1)
      yield* subscribed(connection, "a:1")
      yield* connection.setLogLevel("error")
      assert.strictEqual(counted(server, "resources/subscribe"), 1)
      answer()
      yield* until(() => counted(server, "resources/subscribe") === 2)
    }))

  it.live("what the server refuses is not called off", () =>
    Effect.gen(function*() {
      const server = yield* legacyWith({
        "resources/subscribe": (socket, request) => Raw.sendError(socket, request, { code: -32002, message: "none" })
      })
      const connection = yield* connect(server.url)
      yield* failsWith(
        Stream.runDrain(connection.subscribe({ resourceSubscriptions: ["a:1"] })),
        "ServerAnswered/RpcError"
      )
      yield* connection.setLogLevel("error")
      assert.strictEqual(counted(server, "resources/unsubscribe"), 0)
    }))

  const uris = ["a:1", "a:2", "a:3", "a:4", "a:5"]

  it.live("leaving takes no time where the server answers nothing, and it is told all the same", () =>
    Effect.gen(function*() {
      const server = yield* legacyWith({ "resources/unsubscribe": () => {} })
      const connection = yield* connect(server.url)
      const fiber = yield* Effect.forkChild(Stream.runDrain(connection.subscribe({ resourceSubscriptions: uris })))
      yield* until(() => counted(server, "resources/subscribe") === uris.length)
      const [elapsed] = yield* Effect.timed(Fiber.interrupt(fiber))
      assert.isBelow(Duration.toMillis(elapsed), 1000)
      yield* until(() => counted(server, "resources/unsubscribe") === uris.length)
    }))

  it.live("leaving before the server has answered takes no time, and what it may have heard is called off", () =>
    Effect.gen(function*() {
      const server = yield* legacyWith({ "resources/subscribe": () => {} })
      const connection = yield* connect(server.url)
      const fiber = yield* Effect.forkChild(Stream.runDrain(connection.subscribe({ resourceSubscriptions: uris })))
      yield* until(() => counted(server, "resources/subscribe") === 1)
      const [elapsed] = yield* Effect.timed(Fiber.interrupt(fiber))
      assert.isBelow(Duration.toMillis(elapsed), 1000)
      yield* until(() => counted(server, "resources/unsubscribe") === 1)
      assert.strictEqual(counted(server, "resources/subscribe"), 1)
    }))

  const inSession: Raw.Responder = (socket, { message, nth }) =>
    Raw.send(
      socket,
      200,
      { "content-type": "application/json", "mcp-session-id": `s${nth + 1}` },
      JSON.stringify({
        jsonrpc: "2.0",
        id: message.id,
        result: { protocolVersion: "2025-11-25", capabilities, serverInfo: {} }
      })
    )

  const forgettingOnce: Raw.Responder = (socket, request) =>
    request.headers["mcp-session-id"] === "s1"
      ? Raw.send(socket, 404, {})
      : Raw.sendResult(socket, request, Raw.textResult("ok"))

  it.live("a new session is told of the subscriptions and of the level of the log", () =>
    Effect.gen(function*() {
      let stream: Net.Socket | undefined
      const server = yield* legacyWith({
        initialize: inSession,
        GET: (socket) => {
          stream = socket
          Raw.openStream(socket)
        },
        "tools/call": forgettingOnce
      })
      const connection = yield* connect(server.url)
      yield* connection.setLogLevel("debug")
      const changes = yield* subscribed(connection, "a:1")
      yield* until(() => counted(server, "resources/subscribe") === 1)
      yield* connection.callTool("t")
      const told = (method: string) =>
        server.requests.filter(({ message }) => message.method === method)
          .map(({ headers, message }) => [headers["mcp-session-id"], message.params])
      yield* until(() => told("resources/subscribe").length + told("logging/setLevel").length === 4)
      assert.deepStrictEqual(told("resources/subscribe"), [["s1", { uri: "a:1" }], ["s2", { uri: "a:1" }]])
      assert.deepStrictEqual(told("logging/setLevel"), [["s1", { level: "debug" }], ["s2", { level: "debug" }]])
      yield* until(() => counted(server, "GET") === 2)
      Raw.sendChunk(stream!, event({ method: "notifications/resources/updated", params: { uri: "a:1" } }))
      assert.deepStrictEqual(yield* Fiber.join(changes), [{ _tag: "ResourceUpdated", uri: "a:1" }])
    }))

  it.live("a subscription that a new session refuses fails, and opens no third one", () =>
    Effect.gen(function*() {
      const server = yield* legacyWith({
        initialize: inSession,
        "resources/subscribe": (socket, request) =>
          request.nth === 0 ? Raw.sendResult(socket, request, {}) : Raw.send(socket, 404, {}),
        "tools/call": forgettingOnce
      })
      const connection = yield* connect(server.url)
      const changes = yield* subscribed(connection, "a:1")
      yield* until(() => counted(server, "resources/subscribe") === 1)
      yield* connection.callTool("t")
      yield* failsWith(Fiber.join(changes), "ConnectionFailed/SessionExpired")
      assert.strictEqual(counted(server, "initialize"), 2)
    }))

  /**
   * Opens the stream, and ends it.
   */
  const openOnce: Raw.Responder = (socket) => {
    Raw.openStream(socket)
    Raw.endStream(socket)
  }

  const opens: Raw.Responder = (socket) => {
    Raw.openStream(socket)
    Raw.sendChunk(socket, event({ method: "notifications/tools/list_changed" }))
  }

  /**
   * A server that answers one `GET` after the other so, and the rest as the last one.
   */
  const following = (...answers: ReadonlyArray<Raw.Responder>) => {
    let gets = 0
    return legacyWith({
      initialize: inSession,
      GET: (socket, request) => answers[Math.min(gets++, answers.length - 1)]!(socket, request)
    })
  }

  const answering = (code: number): Raw.Responder => (socket) => Raw.send(socket, code, {})

  const firstChange = (connection: McpConnection.Service) =>
    Stream.runCollect(Stream.take(connection.subscribe({ toolsListChanged: true }), 1))

  it.live.each([429, 500, 503])(
    "the server's own stream, once open, is tried again after %d",
    (code) =>
      Effect.gen(function*() {
        const server = yield* following(openOnce, answering(code), opens)
        const connection = yield* connect(server.url, { policy: quick })
        assert.deepStrictEqual(yield* firstChange(connection), [{ _tag: "ToolListChanged" }])
        assert.strictEqual(counted(server, "GET"), 3)
      })
  )

  it.live("a stream that is lost for good fails those who subscribed, and the next one begins it again", () =>
    Effect.gen(function*() {
      const lost: ReadonlyArray<readonly [Raw.Responder, string]> = [
        [openOnce, "ConnectionFailed/Unreachable"],
        [answering(503), "ConnectionFailed/HttpStatus"],
        [answering(405), "ConnectionFailed/HttpStatus"],
        [(socket, request) => Raw.sendResult(socket, request, {}), "ConnectionFailed/ProtocolViolation"]
      ]
      for (const [respond, expected] of lost) {
        let isBack = false
        const server = yield* following(
          openOnce,
          (socket, request) => isBack ? opens(socket, request) : respond(socket, request)
        )
        const connection = yield* connect(server.url, { policy: quick })
        yield* failsWith(firstChange(connection), expected)
        isBack = true
        assert.deepStrictEqual(yield* firstChange(connection), [{ _tag: "ToolListChanged" }])
      }
    }))

  it.live("a stream whose session is forgotten is followed in a new one", () =>
    Effect.gen(function*() {
      const server = yield* following(openOnce, answering(404), opens)
      const connection = yield* connect(server.url, { policy: quick })
      assert.deepStrictEqual(yield* firstChange(connection), [{ _tag: "ToolListChanged" }])
      const gets = server.requests.filter(({ httpMethod }) => httpMethod === "GET")
      assert.deepStrictEqual(gets.map(({ headers }) => headers["mcp-session-id"]), ["s1", "s1", "s2"])
    }))

  it.live("a stream that a new session refuses too is lost", () =>
    Effect.gen(function*() {
      const server = yield* following(openOnce, answering(404))
      const connection = yield* connect(server.url, { policy: quick })
      yield* failsWith(firstChange(connection), "ConnectionFailed/HttpStatus")
      assert.strictEqual(counted(server, "initialize"), 2)
    }))

  it.live("a server whose stream ends in a forgotten session every time has an end of it", () =>
    Effect.gen(function*() {
      let gets = 0
      const server = yield* legacyWith({
        initialize: inSession,
        GET: (socket, request) => gets++ % 2 === 0 ? openOnce(socket, request) : Raw.send(socket, 404, {})
      })
      const connection = yield* connect(server.url, { policy: quick })
      yield* failsWith(firstChange(connection), "ConnectionFailed/SessionExpired")
      assert.strictEqual(counted(server, "initialize"), 101)
    }))

  it.live("takes the server's own stream up where it ended", () =>
    Effect.gen(function*() {
      const server = yield* legacyWith({
        GET: (socket, request) => {
          Raw.openStream(socket)
          const isFirst = request.headers["last-event-id"] === undefined
          Raw.sendChunk(
            socket,
            isFirst ? "id: 7\nretry: 10\ndata:\n\n" : event({ method: "notifications/tools/list_changed" })
          )
          if (isFirst) Raw.endStream(socket)
        }
      })
      const connection = yield* connect(server.url)
      const changes = yield* Stream.runCollect(Stream.take(connection.subscribe({ toolsListChanged: true }), 1))
      assert.deepStrictEqual(changes, [{ _tag: "ToolListChanged" }])
      const [, again] = server.requests.filter(({ httpMethod }) => httpMethod === "GET")
      assert.strictEqual(again?.headers["last-event-id"], "7")
    }))

  it.live.each([404, 405, 406])("does without the stream where GET is answered %d", (status) =>
    Effect.gen(function*() {
      const server = yield* legacyWith({
        GET: (socket) => Raw.send(socket, status, {}),
        "tools/call": (socket, request) => {
          Raw.openStream(socket)
          Raw.sendChunk(
            socket,
            event({ method: "notifications/tools/list_changed" }) +
              event({ id: request.message.id, result: Raw.textResult("ok") })
          )
        }
      })
      const connection = yield* connect(server.url)
      const changes = yield* Effect.forkChild(
        Stream.runCollect(Stream.take(connection.subscribe({ toolsListChanged: true }), 1))
      )
      yield* until(() => counted(server, "GET") === 1)
      yield* connection.callTool("t")
      assert.deepStrictEqual(yield* Fiber.join(changes), [{ _tag: "ToolListChanged" }])
    }))

  it.live("opens no stream where nobody subscribes", () =>
    Effect.gen(function*() {
      const server = yield* legacyWith({})
      const connection = yield* connect(server.url)
      yield* connection.callTool("t")
      assert.strictEqual(counted(server, "GET"), 0)
    }))
})
