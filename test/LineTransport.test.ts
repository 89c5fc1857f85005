import * as NodeSink from "@effect/platform-node/NodeSink"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Net from "node:net"
import { ByteBudget, LineTransport, McpConnection, type McpError } from "../src/index.ts"
import * as SharedMeter from "../src/internal/sharedMeter.ts"
import { failsWith } from "./support/connect.ts"
import { listen } from "./support/listen.ts"
import { eventually } from "./support/stdio.ts"

const discovered = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }
const ok = { content: [{ type: "text", text: "ok" }] }

interface Message {
  readonly id: number
  readonly method: string
}

const answerTo = ({ id, method }: Message): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, result: method === "server/discover" ? discovered : ok })}\n`

const connect = (
  options: LineTransport.Options,
  budget?: ByteBudget.Options
): Effect.Effect<McpConnection.Service, McpError.McpError, Scope.Scope> =>
  Effect.map(
    Layer.build(Layer.provide(McpConnection.layer(), [LineTransport.layer(options), ByteBudget.layer(budget)])),
    (context) => Context.get(context, McpConnection.McpConnection)
  )

/**
 * A server in this process, which answers with bytes that it may cut or spoil.
 */
const inProcess = Effect.fnUntraced(function*(answer: (message: Message) => ReadonlyArray<Uint8Array>) {
  const queue = yield* Queue.unbounded<Uint8Array>()
  const decoder = new TextDecoder()
  let rest = ""
  const output = Sink.forEach((bytes: Uint8Array) =>
    Effect.sync(() => {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
      rest = lines.pop()!
      for (const line of lines) answer(JSON.parse(line)).forEach((piece) => Queue.offerUnsafe(queue, piece))
    })
  )
  return { input: Stream.fromQueue(queue), output, queue }
})

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe("over a socket", () => {
  const serve = (onConnection: (socket: Net.Socket) => void) =>
    Effect.gen(function*() {
      const sockets = new Set<Net.Socket>()
      const server = Net.createServer((socket) => {
        sockets.add(socket)
        onConnection(socket)
        socket.on("error", () => {}).on("close", () => sockets.delete(socket))
      })
      const port = yield* listen(server, () => sockets.forEach((socket) => socket.destroy()))
      const socket = Net.connect(port, "127.0.0.1")
      return {
        sockets,
        options: {
          server: `tcp://127.0.0.1:${port}`,
          input: NodeStream.fromReadable({ evaluate: () => socket }),
          output: NodeSink.fromWritable({ evaluate: () => socket, onError: (error) => error })
        }
      }
    })

  it.live("speaks as over stdio, and hangs up when the scope closes", () =>
    Effect.gen(function*() {
      let hungUp: () => void = () => {}
      const { options } = yield* serve((socket) => {
        socket.on("data", (chunk) => socket.write(answerTo(JSON.parse(chunk.toString()))))
        socket.on("end", () => hungUp())
      })
      const end = Effect.callback<void>((resume) => {
        hungUp = () => resume(Effect.void)
      })
      yield* Effect.all([
        end,
        Effect.scoped(Effect.gen(function*() {
          const connection = yield* connect(options)
          assert.strictEqual((yield* connection.callTool("t")).text, "ok")
        }))
      ], { concurrency: 2 })
    }))

  it.live("fails what is pending, and what comes later, when the server hangs up", () =>
    Effect.gen(function*() {
      const { options } = yield* serve((socket) => {
        socket.once("data", (chunk) => {
          socket.write(answerTo(JSON.parse(chunk.toString())))
          socket.once("data", () => socket.end("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"))
        })
      })
      const connection = yield* connect(options)
      const error = yield* failsWith(connection.callTool("t"), "ConnectionFailed/Unreachable")
      assert.strictEqual(
        error.message,
        `tools/call t at ${options.server}: no answer: the stream of the server ended (the request may have been delivered)`
      )
      yield* failsWith(connection.callTool("t"), "ConnectionFailed/Unreachable")
    }))
})

describe("the streams", () => {
  const ending = [
    ["ends", Stream.empty],
    ["fails", Stream.fail("broken")],
    ["dies", Stream.die("broken")],
    ["is interrupted", Stream.fromEffect(Effect.interrupt)]
  ] as const
  it.live.each(ending)(
    "where the input %s, what is pending and what comes later is unreachable",
    ([, end]) =>
      Effect.gen(function*() {
        const server = yield* inProcess(({ id, method }) =>
          method === "server/discover" ? [bytes(answerTo({ id, method }))] : [bytes("the end")]
        )
        const isLast = (piece: Uint8Array): boolean => new TextDecoder().decode(piece) === "the end"
        const input = Stream.concat(Stream.takeWhile(server.input, (piece) => !isLast(piece)), end)
        const connection = yield* connect({ ...server, input })
        for (let i = 0; i < 2; i++) yield* failsWith(connection.callTool("t"), "ConnectionFailed/Unreachable")
      })
  )

  it.live("are given their end when the scope closes, after all that was to be written", () =>
    Effect.gen(function*() {
      const server = yield* inProcess((message) => [bytes(answerTo(message))])
      const seen: Array<string> = []
      const output = Sink.make<Uint8Array>()(
        (stream: Stream.Stream<Uint8Array>) => Stream.run(stream, server.output),
        Effect.tap(() => Effect.sync(() => seen.push("the end")))
      )
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* connect({ ...server, output })
        assert.strictEqual((yield* connection.callTool("t")).text, "ok")
        assert.deepStrictEqual(seen, [])
      }))
      assert.deepStrictEqual(seen, ["the end"])
    }))
})

describe("lines", () => {
  it.live("may come a byte at a time", () =>
    Effect.gen(function*() {
      const text = "é😀".repeat(100_000)
      const server = yield* inProcess((message) => {
        const whole = message.method === "server/discover"
          ? answerTo(message)
          : answerTo(message).replace("ok", text)
        const all = bytes(whole)
        return Array.from(all, (_, at) => all.subarray(at, at + 1))
      })
      const connection = yield* connect(server)
      assert.strictEqual((yield* connection.callTool("t")).text, text)
    }))

  it.live("count against the budget, and end the connection where they pass it", () =>
    Effect.gen(function*() {
      const server = yield* inProcess((message) => [bytes(" ".repeat(1000)), bytes(answerTo(message))])
      const size = 1000 + answerTo({ id: 1, method: "server/discover" }).length
      const connection = yield* connect(server, { limit: size + 1500 })
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      yield* failsWith(connection.callTool("t"), "ConnectionFailed/BudgetExceeded")
      yield* failsWith(connection.callTool("t"), "ConnectionFailed/BudgetExceeded")
    }))

  it.live("count against a budget of each operation", () =>
    Effect.gen(function*() {
      const server = yield* inProcess((message) => [bytes(" ".repeat(1000)), bytes(answerTo(message))])
      const connection = yield* connect(server, { limit: 2000, scope: "operation" })
      for (let i = 0; i < 5; i++) assert.strictEqual((yield* connection.callTool("t")).text, "ok")
    }))

  it.live("that came between two calls count against neither", () =>
    Effect.gen(function*() {
      const server = yield* inProcess((message) => [bytes(answerTo(message))])
      const connection = yield* connect(server, { limit: 2000 })
      const announced = bytes("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n".repeat(100))
      yield* Queue.offer(server.queue, announced)
      yield* eventually("the announcements are not read", () => Queue.sizeUnsafe(server.queue) === 0)
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
    }))

  it.live("that are being written are taken back with a notice", () =>
    Effect.gen(function*() {
      const written: Array<string> = []
      const hold = yield* Deferred.make<void>()
      const isHeld = yield* Deferred.make<void>()
      const last = yield* Deferred.make<void>()
      const queue = yield* Queue.unbounded<Uint8Array>()
      const output = Sink.forEach((piece: Uint8Array) =>
        Effect.gen(function*() {
          for (const line of new TextDecoder().decode(piece).trim().split("\n")) {
            const message = JSON.parse(line)
            written.push(message.method)
            if (message.method === "server/discover") yield* Queue.offer(queue, bytes(answerTo(message)))
            if (message.method === "notifications/cancelled") yield* Deferred.succeed(last, undefined)
            if (message.method !== "tools/call") continue
            yield* Deferred.succeed(isHeld, undefined)
            yield* Deferred.await(hold)
          }
        })
      )
      const connection = yield* connect({ input: Stream.fromQueue(queue), output })
      const call = yield* Effect.forkChild(connection.callTool("t"))
      yield* Deferred.await(isHeld)
      yield* Fiber.interrupt(call)
      yield* Deferred.succeed(hold, undefined)
      yield* Deferred.await(last)
      assert.deepStrictEqual(written, ["server/discover", "tools/call", "notifications/cancelled"])
    }))

  it.live("that wait to be written are taken back without a word", () =>
    Effect.gen(function*() {
      const server = yield* inProcess((message) => [bytes(answerTo(message))])
      const written: Array<string> = []
      const hold = yield* Deferred.make<void>()
      const isHeld = yield* Deferred.make<void>()
      const output = Sink.forEach((piece: Uint8Array) =>
        Effect.gen(function*() {
          const text = new TextDecoder().decode(piece)
          written.push(...text.trim().split("\n").map((line) => JSON.parse(line).params.name ?? "connect"))
          yield* Stream.run(Stream.make(piece), server.output)
          if (written.length !== 2) return
          yield* Deferred.succeed(isHeld, undefined)
          yield* Deferred.await(hold)
        })
      )
      const connection = yield* connect({ ...server, output })
      const first = yield* Effect.forkChild(connection.callTool("first"))
      yield* Deferred.await(isHeld)
      const second = yield* Effect.forkChild(connection.callTool("second"))
      const third = yield* Effect.forkChild(connection.callTool("third"))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(second)
      yield* Deferred.succeed(hold, undefined)
      assert.strictEqual((yield* Fiber.join(first)).text, "ok")
      assert.strictEqual((yield* Fiber.join(third)).text, "ok")
      assert.strictEqual((yield* connection.callTool("last")).text, "ok")
      assert.deepStrictEqual(written, ["connect", "first", "third", "last"])
    }))

  it.live("count no more on a call that was given up", () =>
    Effect.gen(function*() {
      const server = yield* inProcess((message) =>
        message.method === "server/discover" ? [bytes(answerTo(message))] : []
      )
      const connection = yield* connect(server, { limit: 2000, scope: "operation" })
      const calls = yield* Effect.forEach([1, 2], () => Effect.forkChild(connection.callTool("t")))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(calls[0]!)
      // More than what one has, and less than what two have.
      yield* Queue.offer(server.queue, bytes(" ".repeat(2001)))
      yield* failsWith(Fiber.join(calls[1]!), "ConnectionFailed/BudgetExceeded")
    }))

  it.live("that answer nobody by id are for the only call that has not been given up", () =>
    Effect.gen(function*() {
      const queue = yield* Queue.unbounded<Uint8Array>()
      const isHeld = yield* Deferred.make<void>()
      const output = Sink.forEach((piece: Uint8Array) =>
        Effect.gen(function*() {
          const message = JSON.parse(new TextDecoder().decode(piece))
          if (message.method === "server/discover") yield* Queue.offer(queue, bytes(answerTo(message)))
          else yield* Effect.andThen(Deferred.succeed(isHeld, undefined), Effect.never)
        })
      )
      const connection = yield* connect({ input: Stream.fromQueue(queue), output })
      const first = yield* Effect.forkChild(connection.callTool("first"))
      yield* Deferred.await(isHeld)
      const second = yield* Effect.forkChild(connection.callTool("second"))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(second)
      yield* Queue.offer(
        queue,
        bytes("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,\"message\":\"no\"}}\n")
      )
      yield* failsWith(Fiber.join(first), "ServerAnswered/RpcError")
    }))

  it.live("leave others their turn, be it that few of them come in each piece", () =>
    Effect.gen(function*() {
      const notice = (filler: string) => ({ jsonrpc: "2.0", method: "notifications/message", params: { filler } })
      const flood = bytes(`${JSON.stringify(notice("x".repeat(4000)))}\n`.repeat(16))
      let hadTurn = false
      const server = yield* inProcess((message) => {
        if (message.method === "server/discover") return [bytes(answerTo(message))]
        setImmediate(() => {
          hadTurn = true
        })
        return [...Array.from({ length: 16 }, () => flood), bytes(answerTo(message))]
      })
      const connection = yield* connect(server)
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      assert.isTrue(hadTurn)
    }))

  it.live.each([["in one piece", 1_000_000], ["in pieces", 1000]] as const)(
    "of more values than may be are too much, though nothing comes after them: %s",
    ([, size]) =>
      Effect.gen(function*() {
        const server = yield* inProcess((message) => {
          if (message.method === "server/discover") return [bytes(answerTo(message))]
          const line = bytes(`[${"0,".repeat(200_000)}0]\n`)
          return Array.from(
            { length: Math.ceil(line.length / size) },
            (_, i) => line.subarray(i * size, (i + 1) * size)
          )
        })
        const connection = yield* connect(server, { limit: "1 MiB" })
        yield* failsWith(connection.callTool("t"), "ConnectionFailed/BudgetExceeded")
      })
  )
})

describe("the meter of a shared stream", () => {
  const open = (limit: number) => ByteBudget.make({ limit, scope: "operation" }).open()

  it.effect("draws on all that wait, and on no other", () =>
    Effect.gen(function*() {
      const { countOn, meter } = yield* SharedMeter.make
      const [one, two] = [open(1000), open(1000)]
      const off = countOn(one)
      const offTwo = countOn(two)
      assert.isTrue(meter.take(1800))
      assert.deepStrictEqual([one.remaining() + two.remaining(), meter.limit], [200, 1000])
      offTwo()
      two.close()
      const left = one.remaining()
      assert.isTrue(meter.take(left))
      assert.isFalse(meter.take(1))
      off()
      assert.isTrue(meter.take(1))
    }))

  it.effect("prefers those that have the most left", () =>
    Effect.gen(function*() {
      const { countOn, meter } = yield* SharedMeter.make
      const long = open(1000)
      countOn(long)
      for (let i = 0; i < 100; i++) {
        const quick = open(1000)
        const off = countOn(quick)
        assert.isTrue(meter.take(900))
        off()
        quick.close()
      }
      assert.isAtLeast(long.remaining(), 100)
    }))

  it.effect("counts once where requests have one in common, until the last of them is done", () =>
    Effect.gen(function*() {
      const { countOn, meter } = yield* SharedMeter.make
      const common = open(1000)
      const off = countOn(common)
      countOn(common)
      assert.isTrue(meter.take(600))
      off()
      assert.isTrue(meter.take(400))
      assert.strictEqual(common.remaining(), 0)
      assert.isFalse(meter.take(1))
    }))

  it.effect("begins anew with each who has waited", () =>
    Effect.gen(function*() {
      const { countOn, meter } = yield* SharedMeter.make
      assert.isTrue(meter.take(SharedMeter.idleLimit))
      assert.strictEqual(meter.remaining(), 0)
      countOn(open(1000))()
      assert.strictEqual(meter.remaining(), SharedMeter.idleLimit)
      assert.isTrue(meter.take(1))
    }))

  it.effect("allows 8 MiB a minute while nobody waits", () =>
    Effect.gen(function*() {
      const { meter } = yield* SharedMeter.make
      for (let i = 0; i < 3; i++) {
        assert.isTrue(meter.take(SharedMeter.idleLimit))
        yield* TestClock.adjust("1 minute")
      }
      assert.isTrue(meter.take(SharedMeter.idleLimit))
      assert.isFalse(meter.take(1))
    }))
})
