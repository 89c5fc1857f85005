import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Net from "node:net"
import { ByteBudget, type McpError } from "../src/index.ts"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const MiB = 1024 * 1024

/**
 * Answers a call with exactly so many bytes, head and body together, and says how many of them are head.
 */
type Shape = (socket: Net.Socket, request: Raw.RawRequest, total: number) => void

const bodyOf = (request: Raw.RawRequest, length: number): string => {
  const empty = JSON.stringify({ jsonrpc: "2.0", id: request.message.id, result: Raw.textResult("") })
  return JSON.stringify({
    jsonrpc: "2.0",
    id: request.message.id,
    result: Raw.textResult("x".repeat(length - empty.length))
  })
}

const withLength: Shape = (socket, request, total) => {
  const head = (length: number) =>
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${String(length).padStart(10, "0")}\r\n\r\n`
  const length = total - head(0).length
  socket.write(head(length) + bodyOf(request, length))
}

const chunked: Shape = (socket, request, total) => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
  socket.write(head)
  const body = bodyOf(request, total - head.length)
  for (let at = 0; at < body.length; at += 50_000) Raw.sendChunk(socket, body.slice(at, at + 50_000))
  Raw.endStream(socket)
}

const stream: Shape = (socket, request, total) => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
  socket.write(head)
  const comment = ": a comment counts as well\n"
  const frame = "data: \n\n"
  const body = bodyOf(request, total - head.length - comment.length - frame.length)
  Raw.sendChunk(socket, comment)
  Raw.sendChunk(socket, "data: ")
  for (let at = 0; at < body.length; at += 50_000) Raw.sendChunk(socket, body.slice(at, at + 50_000))
  Raw.sendChunk(socket, "\n\n")
  Raw.endStream(socket)
}

const discover = (socket: Net.Socket, request: Raw.RawRequest): number => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: request.message.id, result: Raw.discoverResult })
  const response = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  socket.write(response)
  return response.length
}

const callOnce = (shape: Shape, over: number, budget: ByteBudget.Options = {}) =>
  Effect.gen(function*() {
    const limit = budget.limit === undefined ? 8 * MiB : Number(budget.limit)
    let spent = 0
    const server = yield* Raw.make(Raw.modern({
      "server/discover": (socket, request) => {
        spent = discover(socket, request)
      },
      "tools/call": (socket, request) => shape(socket, request, limit - spent + over)
    }))
    const connection = yield* connect(server.url, { budget })
    return yield* connection.callTool("t")
  })

const shapes: ReadonlyArray<readonly [string, Shape]> = [
  ["with a content length", withLength],
  ["chunked", chunked],
  ["as an event stream", stream]
]

describe("8 MiB", () => {
  for (const [what, shape] of shapes) {
    it.live(`${what}: exactly so much passes, connecting and headers included`, () =>
      Effect.map(callOnce(shape, 0), ({ text }) => assert.isAbove(text.length, 8 * MiB - 2000)))

    it.live(`${what}: one byte more fails`, () =>
      Effect.gen(function*() {
        const error = yield* failsWith(callOnce(shape, 1), "ConnectionFailed/BudgetExceeded")
        const reason = (error as McpError.ConnectionFailed).reason as McpError.BudgetExceeded
        assert.deepStrictEqual({ ...reason }, { _tag: "BudgetExceeded", what: "response bytes", limit: 8 * MiB })
      }))
  }
})

describe("the scope of a budget", () => {
  const calls = (budget: ByteBudget.Options, count: number) =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/call": (socket, request) => Raw.sendResult(socket, request, Raw.textResult("x".repeat(400)))
      }))
      const connection = yield* connect(server.url, { budget })
      return yield* Effect.all(Array.from({ length: count }, () => connection.callTool("t")))
    })

  it.live("is a connection: all its responses count together", () =>
    Effect.gen(function*() {
      yield* calls({ limit: 2000 }, 2)
      yield* failsWith(calls({ limit: 2000 }, 5), "ConnectionFailed/BudgetExceeded")
    }))

  it.live("where it is used up, nothing more is sent", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/call": (socket) => {
          Raw.openStream(socket)
          Raw.sendChunk(socket, ": hi\n".repeat(1000))
          Raw.endStream(socket)
        }
      }))
      const connection = yield* connect(server.url, { budget: { limit: 2000 } })
      for (let i = 0; i < 3; i++) yield* failsWith(connection.callTool("t"), "ConnectionFailed/BudgetExceeded")
      yield* failsWith(connection.listTools(), "ConnectionFailed/BudgetExceeded")
      assert.strictEqual(server.requests.length, 2)
      yield* failsWith(connect(server.url, { budget: { limit: 0 } }), "ConnectionFailed/BudgetExceeded")
      assert.strictEqual(server.requests.length, 2)
    }))

  it.live("or an operation: each starts anew", () => calls({ limit: 2000, scope: "operation" }, 20))

  it("total caps all open meters together, and gets back what a closed one took", () => {
    const budget = ByteBudget.make({ limit: 100, total: 150 })
    const [a, b] = [budget.open(), budget.open()]
    assert.isTrue(a.take(100))
    assert.strictEqual(b.remaining(), 50)
    assert.isTrue(b.take(50))
    assert.isFalse(b.take(1))
    a.close()
    a.close()
    b.close()
    const c = budget.open()
    assert.strictEqual(c.remaining(), 100)
    assert.isTrue(c.take(100))
    assert.isFalse(c.take(1))
  })

  it("has no bound where there is to be none", () => {
    const meter = ByteBudget.make({ limit: Number.MAX_SAFE_INTEGER }).open()
    assert.isTrue(meter.take(1e12))
  })
})

const refusing = (respond: Raw.Responder, what: McpError.BudgetExceeded["what"]) =>
  Effect.gen(function*() {
    const server = yield* Raw.make(Raw.modern({ "tools/call": respond }))
    yield* Effect.scoped(Effect.gen(function*() {
      const connection = yield* connect(server.url, { budget: { limit: MiB } })
      const error = yield* failsWith(connection.callTool("t"), "ConnectionFailed/BudgetExceeded")
      const reason = (error as McpError.ConnectionFailed).reason as McpError.BudgetExceeded
      assert.strictEqual(reason.what, what)
      yield* server.atMost(1)
    }))
    yield* server.quiet
  })

/**
 * Writes a piece over and over until the other side has closed.
 */
const flood = (socket: Net.Socket, piece: string | Uint8Array): void => {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on("drain", more)
  more()
}

describe("the header block", () => {
  const head = (request: Raw.RawRequest, size: number) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: request.message.id, result: Raw.textResult("ok") })
    const bare = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nx: \r\n\r\n`
    return `${bare.slice(0, -4)}${"y".repeat(size - bare.length)}\r\n\r\n${body}`
  }

  it.live("of 64 KiB passes", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/call": (socket, request) => socket.write(head(request, 64 * 1024))
      }))
      const connection = yield* connect(server.url)
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
    }))

  it.live("of one byte more fails", () =>
    refusing((socket, request) => socket.write(head(request, 64 * 1024 + 1)), "header block"))

  it.live("padded with 200 KB of spaces fails", () =>
    refusing(
      (socket, request) => socket.write(head(request, 500).replace("x: ", `x: ${" ".repeat(200_000)}`)),
      "header block"
    ))

  it.live("that never ends fails", () =>
    refusing((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n")
      flood(socket, "x: y\r\n".repeat(100))
    }, "header block"))

  it.live("of 401 is a 401, though it is a megabyte of challenge", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/call": (socket) => Raw.send(socket, 401, { "www-authenticate": `Bearer x="${"y".repeat(MiB)}"` })
      }))
      const connection = yield* connect(server.url)
      yield* failsWith(connection.callTool("t"), "Unauthorized")
    }))

  it.live("of 403 is a 403, though its body breaks the budget", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/call": (socket) => {
          socket.write("HTTP/1.1 403 No\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
          flood(socket, "1000\r\n" + "x".repeat(4096) + "\r\n")
        }
      }))
      const connection = yield* connect(server.url)
      yield* failsWith(connection.callTool("t"), "Unauthorized")
      yield* server.atMost(1)
    }))
})

describe("what is not content", () => {
  it.live("500 informational responses fail", () =>
    refusing(
      (socket) => socket.write("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n".repeat(500)),
      "informational responses"
    ))

  it.live("16 informational responses pass", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/call": (socket, request) => {
          socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(16))
          Raw.sendResult(socket, request, Raw.textResult("ok"))
        }
      }))
      const connection = yield* connect(server.url)
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
    }))

  it.live("a chunk extension of a megabyte fails", () =>
    refusing((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
      socket.write(`5;${"x".repeat(MiB)}\r\nhello\r\n`)
    }, "bytes without content"))
})

describe("chunk extensions", () => {
  it.live("on every chunk fail", () =>
    refusing((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
      flood(socket, `1;a=${"x".repeat(60_000)}\r\n[\r\n`)
    }, "bytes without content"))
})

describe("a body without end", () => {
  const endless = (type: string, piece: string): Raw.Responder => (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`)
    flood(socket, `${piece.length.toString(16)}\r\n${piece}\r\n`.repeat(Math.ceil(4096 / piece.length)))
  }
  const bodies: ReadonlyArray<readonly [string, Raw.Responder]> = [
    ["of JSON", endless("application/json", "[".repeat(4096))],
    ["of comments", endless("text/event-stream", ": hi\n".repeat(800))],
    ["of newlines", endless("text/event-stream", "\n".repeat(4096))],
    ["of one line", endless("text/event-stream", "x".repeat(4096))],
    ["of data without a blank line", endless("text/event-stream", "data: x\n".repeat(500))],
    [
      "that says it is a terabyte",
      (socket) =>
        socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000000000000\r\n\r\n{")
    ],
    ["in pieces of one byte", endless("application/json", "x")]
  ]
  for (const [what, respond] of bodies) {
    it.live(`${what} fails`, () => refusing(respond, "response bytes"))
  }
})
