import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { McpConnection, McpPolicy, type Notification } from "../src/index.ts"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const event = (value: object): string => `data: ${JSON.stringify({ jsonrpc: "2.0", ...value })}\n\n`

const report = (progressToken: unknown, params: object): string =>
  event({ method: "notifications/progress", params: { progressToken, ...params } })

const answer = (id: number | undefined): string => event({ id, result: Raw.textResult("ok") })

const tokenOf = (request: Raw.RawRequest): unknown => request.message.params._meta?.progressToken

/**
 * A server of either era whose call is answered on a stream.
 */
const servers: ReadonlyArray<readonly [string, (respond: Raw.Responder) => Raw.Responder]> = [
  ["modern", (respond) => Raw.modern({ "tools/call": respond })],
  ["legacy", (respond) => Raw.legacy({ "tools/call": respond })]
]

describe.each(servers)("progress of a call to a %s server", (_, serve) => {
  it.live("is told in order, before the answer, and of no other call", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(serve((socket, request) => {
        Raw.openStream(socket)
        const token = tokenOf(request)
        Raw.sendChunk(
          socket,
          report(token, { progress: 1, total: 2, message: "half" }) + report("other", { progress: 7 }) +
            report(String(token), { progress: 8 }) + report(token, { progress: "x" }) +
            report(token, { progress: 2 }) + answer(request.message.id)
        )
        Raw.endStream(socket)
      }))
      const connection = yield* connect(server.url)
      const told: Array<Notification.Progress> = []
      const onProgress = (progress: Notification.Progress) => Effect.sync(() => void told.push(progress))
      assert.strictEqual((yield* connection.callTool("t", {}, { onProgress })).text, "ok")
      assert.deepStrictEqual(told, [{ progress: 1, total: 2, message: "half" }, { progress: 2 }])
    }))

  it.live("is not asked for where nobody listens, whatever the application's meta says", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(
        serve((socket, request) => Raw.sendResult(socket, request, Raw.textResult(String(tokenOf(request)))))
      )
      const connection = yield* connect(server.url)
      assert.strictEqual((yield* connection.callTool("t")).text, "undefined")
      assert.strictEqual((yield* connection.callTool("t", {}, { meta: { progressToken: "own" } })).text, "own")
      const onProgress = () => Effect.void
      const { text } = yield* connection.callTool("t", {}, { onProgress, meta: { progressToken: "own" } })
      assert.strictEqual(text, String(server.requests.at(-1)?.message.id))
    }))

  it.live("gives a request its time once more, within that of the call", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(serve((socket, request) => {
        Raw.openStream(socket)
        const timer = setInterval(() => Raw.sendChunk(socket, report(tokenOf(request), { progress: 1 })), 20)
        socket.on("close", () => clearInterval(timer))
      }))
      const policy = McpPolicy.make({ requestTimeout: 100, operationTimeout: 400 })
      const connection = yield* connect(server.url, { policy })
      const [elapsed] = yield* Effect.timed(
        failsWith(connection.callTool("t", {}, { onProgress: () => Effect.void }), "ConnectionFailed/TimedOut")
      )
      assert.isAtLeast(Duration.toMillis(elapsed), 390)
      const [unheard] = yield* Effect.timed(failsWith(connection.callTool("t"), "ConnectionFailed/TimedOut"))
      assert.isBelow(Duration.toMillis(unheard), 390)
    }))

  it.live("does not hold the reader up where the application is slow, and leaves out what is old", () =>
    Effect.gen(function*() {
      const reports = 10_000
      const server = yield* Raw.make(serve((socket, request) => {
        Raw.openStream(socket)
        const all = Array.from({ length: reports }, (_unused, i) => report(tokenOf(request), { progress: i })).join("")
        Raw.sendChunk(socket, all + answer(request.message.id))
        Raw.endStream(socket)
      }))
      const connection = yield* connect(server.url)
      const gate = yield* Deferred.make<void>()
      const told: Array<number> = []
      const onProgress = ({ progress }: Notification.Progress) =>
        Effect.andThen(Deferred.await(gate), Effect.sync(() => void told.push(progress)))
      const call = yield* Effect.forkChild(connection.callTool("t", {}, { onProgress }))
      // Another call gets through meanwhile.
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* Fiber.join(call)).text, "ok")
      assert.isBelow(told.length, reports / 10)
      assert.strictEqual(told.at(-1), reports - 1)
    }))
})

describe("a call as a stream", () => {
  it.live("brings its progress and ends with its result", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/call": (socket, request) => {
          Raw.openStream(socket)
          Raw.sendChunk(socket, report(tokenOf(request), { progress: 1 }) + answer(request.message.id))
          Raw.endStream(socket)
        }
      }))
      const connection = yield* connect(server.url)
      const events = yield* Stream.runCollect(McpConnection.callToolStream(connection, "t"))
      assert.deepStrictEqual(events.map(({ _tag }) => _tag), ["Progress", "Result"])
      const last = events.at(-1)
      assert.strictEqual(last?._tag === "Result" ? last.result.text : undefined, "ok")
    }))

  it.live("fails as the call does, and gives it up where it is left", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/call": (socket, request) => {
          if (request.message.params.name === "bad") return Raw.send(socket, 500, {})
          Raw.openStream(socket)
          Raw.sendChunk(socket, report(tokenOf(request), { progress: 1 }))
        }
      }))
      const connection = yield* connect(server.url)
      yield* failsWith(Stream.runDrain(McpConnection.callToolStream(connection, "bad")), "ConnectionFailed/HttpStatus")
      const events = yield* Stream.runCollect(Stream.take(McpConnection.callToolStream(connection, "t"), 1))
      assert.deepStrictEqual(events, [{ _tag: "Progress", progress: 1 }])
      yield* server.atMost(1)
    }))
})
