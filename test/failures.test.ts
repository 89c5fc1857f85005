/**
 * Every tag and every reason, and the input that yields it, through a real socket.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Credentials, type McpConnection, McpError } from "../src/index.ts"
import { NodeMcp } from "../src/node.ts"
import { connect, failsWith, kind } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const onCall = (respond: Raw.Responder, options?: Parameters<typeof connect>[1]) =>
  Effect.gen(function*() {
    const server = yield* Raw.make(Raw.modern({ "tools/call": respond }))
    const connection = yield* connect(server.url, options)
    return yield* connection.callTool("t")
  })

const onConnect = (url: string, options?: Parameters<typeof connect>[1]) => connect(url, options)

const html: Raw.Responder = (socket) => Raw.send(socket, 500, { "content-type": "text/html" }, "<html>")
const silent: Raw.Responder = () => {}

const call = (connection: McpConnection.Service) => connection.callTool("t")

type Yields = Effect.Effect<unknown, McpError.McpError, Scope.Scope>

const refusedPort: Yields = Effect.gen(function*() {
  const port = yield* Effect.scoped(Effect.map(Raw.make(silent), (server) => server.port))
  return yield* onConnect(`http://127.0.0.1:${port}/mcp`)
})

const expiredSession: Yields = Effect.gen(function*() {
  const server = yield* Raw.make(Raw.legacy({ "tools/call": (socket) => Raw.send(socket, 404, {}) }))
  return yield* call(yield* connect(server.url))
})

const closedConnection: Yields = Effect.gen(function*() {
  const server = yield* Raw.make(Raw.modern())
  return yield* call(yield* Effect.scoped(connect(server.url)))
})

const noTools: Yields = Effect.gen(function*() {
  const server = yield* Raw.make(Raw.modern({
    "server/discover": (socket, request) => Raw.sendResult(socket, request, { ...Raw.discoverResult, capabilities: {} })
  }))
  return yield* call(yield* connect(server.url))
})

const loop: Yields = Effect.gen(function*() {
  const server = yield* Raw.make(Raw.modern({
    "tools/list": (socket, request) => Raw.sendResult(socket, request, { tools: [], nextCursor: "c" })
  }))
  return yield* (yield* connect(server.url)).listTools()
})

const oldVersion: Yields = Effect.gen(function*() {
  const server = yield* Raw.make(Raw.legacy({}, "1999-01-01"))
  return yield* connect(server.url)
})

const cancelledTask: Yields = Effect.gen(function*() {
  const task = { taskId: "1", createdAt: "", lastUpdatedAt: "", ttlMs: null }
  const capabilities = { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } }
  const server = yield* Raw.make(Raw.modern({
    "server/discover": (socket, request) => Raw.sendResult(socket, request, { ...Raw.discoverResult, capabilities }),
    "tools/call": (socket, request) =>
      Raw.sendResult(socket, request, { ...task, resultType: "task", status: "working", pollIntervalMs: 0 }),
    "tasks/get": (socket, request) => Raw.sendResult(socket, request, { ...task, status: "cancelled" })
  }))
  return yield* (yield* connect(server.url)).callTool("t")
})

const walks: ReadonlyArray<readonly [string, string, Yields]> = [
  ["Unauthorized", "a 401", onCall((socket) => Raw.send(socket, 401, {}))],
  [
    "Unauthorized",
    "a 403 with a JSON-RPC error in it",
    onCall((socket, request) => Raw.sendError(socket, request, { code: -32000, message: "no" }, 403))
  ],
  [
    "Unauthorized",
    "a provider that has no credential",
    onConnect("http://127.0.0.1:1/mcp", { credentials: Credentials.provider(Effect.fail("no token")) })
  ],
  [
    "ServerAnswered/RpcError",
    "a JSON-RPC error",
    onCall((socket, request) => Raw.sendError(socket, request, { code: -32602, message: "no such tool" }))
  ],
  [
    "ServerAnswered/InputRequired",
    "a result that asks for input",
    onCall((socket, request) => Raw.sendResult(socket, request, { resultType: "input_required" }))
  ],
  ["ServerAnswered/PaginationLoop", "a cursor that repeats", loop],
  [
    "ServerAnswered/Unreadable",
    "a result of another shape",
    onCall((socket, request) => Raw.sendResult(socket, request, { content: 5 }))
  ],
  [
    "ServerAnswered/UnknownResultType",
    "a result of an unknown type",
    onCall((socket, request) => Raw.sendResult(socket, request, { resultType: "poem" }))
  ],
  ["ServerAnswered/TaskUnfinished", "a task that the server cancels", cancelledTask],
  ["ConnectionFailed/Unreachable", "a refused port", refusedPort],
  ["ConnectionFailed/EgressDenied", "a refused address", onConnect("http://169.254.169.254/")],
  [
    "ConnectionFailed/TimedOut",
    "a server that says nothing",
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({ "tools/call": silent }))
      return yield* (yield* connect(server.url)).callTool("t", {}, { timeout: 50 })
    })
  ],
  [
    "ConnectionFailed/BudgetExceeded",
    "an answer over the budget",
    onCall(
      (socket, request) => Raw.sendResult(socket, request, Raw.textResult("x".repeat(2000))),
      { budget: { limit: 1000 } }
    )
  ],
  ["ConnectionFailed/HttpStatus", "a 500 of HTML", onCall(html)],
  [
    "ConnectionFailed/ProtocolViolation",
    "a 200 of HTML",
    onCall((socket) => Raw.send(socket, 200, { "content-type": "text/html" }, "<html>"))
  ],
  ["ConnectionFailed/UnsupportedVersion", "no revision in common", oldVersion],
  ["ConnectionFailed/SessionExpired", "a session that is always forgotten", expiredSession],
  ["ConnectionFailed/ProcessExited", "a child that exits", NodeMcp.connectStdio({ command: "false" })],
  ["ConnectionFailed/Closed", "a connection whose scope is closed", closedConnection],
  ["CapabilityMissing", "a server without tools", noTools],
  ["InvalidInput", "a URL that is none", onConnect("not a url")]
]

describe("every reason", () => {
  for (const [expected, what, effect] of walks) {
    it.live(`${expected} comes of ${what}`, () =>
      Effect.gen(function*() {
        const error = yield* failsWith(effect, expected)
        assert.isTrue(McpError.isMcpError(error))
        assert.isAbove(error.message.length, 20)
        assert.isString(error.operation)
        assert.isString(JSON.stringify(error))
      }))
  }

  it("is among those above", () => {
    const reasons = Object.keys(McpError).filter((name) =>
      /^[A-Z]/.test(name) && name !== "ServerAnswered" && name !== "ConnectionFailed"
    )
    const walked = new Set(walks.map(([expected]) => expected.split("/").at(-1)!))
    assert.deepStrictEqual(reasons.filter((name) => !walked.has(name)), [])
  })
})

describe("a name that does not resolve", () => {
  for (const url of ["http://nosuch.invalid/mcp", "https://nosuch.invalid/mcp"]) {
    it.live(`${url}: Unreachable, and not delivered`, () =>
      Effect.gen(function*() {
        const error = yield* failsWith(connect(url), "ConnectionFailed/Unreachable")
        const reason = (error as McpError.ConnectionFailed).reason as McpError.Unreachable
        assert.strictEqual(reason.delivered, "no")
      }))
  }
})

describe("a response that cannot be used", () => {
  const at = (status: number, type: string | undefined, body = ""): Raw.Responder => (socket) =>
    Raw.send(socket, status, type === undefined ? {} : { "content-type": type }, body)
  const answers: ReadonlyArray<readonly [string, Raw.Responder, string]> = [
    ["200 without a type", at(200, undefined, "{}"), "ConnectionFailed/ProtocolViolation"],
    ["200 with nothing", at(200, "application/json"), "ConnectionFailed/ProtocolViolation"],
    ["202", at(202, undefined), "ConnectionFailed/HttpStatus"],
    ["204", at(204, undefined), "ConnectionFailed/HttpStatus"],
    ["999", at(999, "text/plain", "?"), "ConnectionFailed/HttpStatus"],
    ["half a JSON, closed", (socket) => {
      socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"jsonrpc":`)
    }, "ConnectionFailed/ProtocolViolation"],
    ["a short Content-Length", (socket) => {
      socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"jsonrpc":`)
    }, "ConnectionFailed/Unreachable"],
    ["a missing last chunk", (socket) => {
      socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n`)
    }, "ConnectionFailed/Unreachable"],
    ["what is not HTTP", (socket) => {
      socket.end("hello\r\n\r\n")
    }, "ConnectionFailed/ProtocolViolation"],
    [
      "a content encoding",
      (socket) => Raw.send(socket, 200, { "content-type": "application/json", "content-encoding": "gzip" }, "x"),
      "ConnectionFailed/ProtocolViolation"
    ],
    [
      "another id",
      (socket, request) => Raw.sendJson(socket, { jsonrpc: "2.0", id: request.message.id! + 1, result: {} }),
      "ConnectionFailed/ProtocolViolation"
    ],
    [
      "the id as a string",
      (socket, request) => Raw.sendJson(socket, { jsonrpc: "2.0", id: String(request.message.id), result: {} }),
      "ConnectionFailed/ProtocolViolation"
    ],
    [
      "a result and an error",
      (socket, request) =>
        Raw.sendJson(socket, { jsonrpc: "2.0", id: request.message.id, result: {}, error: { code: 1, message: "" } }),
      "ConnectionFailed/ProtocolViolation"
    ],
    [
      "neither",
      (socket, request) => Raw.sendJson(socket, { jsonrpc: "2.0", id: request.message.id }),
      "ConnectionFailed/ProtocolViolation"
    ],
    [
      "an error code that is no number",
      (socket, request) =>
        Raw.sendJson(socket, { jsonrpc: "2.0", id: request.message.id, error: { code: "x", message: "" } }),
      "ConnectionFailed/ProtocolViolation"
    ],
    [
      "no jsonrpc",
      (socket, request) => Raw.sendJson(socket, { id: request.message.id, result: {} }),
      "ConnectionFailed/ProtocolViolation"
    ],
    [
      "keys in another case",
      (socket, request) => Raw.sendJson(socket, { jsonrpc: "2.0", id: request.message.id, Result: {} }),
      "ConnectionFailed/ProtocolViolation"
    ],
    [
      "a batch of two",
      (socket, request) =>
        Raw.sendJson(socket, [1, 2].map(() => ({ jsonrpc: "2.0", id: request.message.id, result: {} }))),
      "ConnectionFailed/ProtocolViolation"
    ],
    [
      "an error with id null",
      (socket) => Raw.sendJson(socket, { jsonrpc: "2.0", id: null, error: { code: -1, message: "" } }),
      "ServerAnswered/RpcError"
    ],
    [
      "an error at 422",
      (socket, request) => Raw.sendError(socket, request, { code: -1, message: "" }, 422),
      "ServerAnswered/RpcError"
    ],
    ["a stream that ends with no answer", (socket) => {
      Raw.openStream(socket)
      Raw.sendChunk(socket, ": hello\n\n")
      Raw.endStream(socket)
    }, "ConnectionFailed/Unreachable"],
    ["a stream whose answer lacks its blank line", (socket, request) => {
      Raw.openStream(socket)
      Raw.sendChunk(socket, `data: ${JSON.stringify({ jsonrpc: "2.0", id: request.message.id, result: {} })}\n`)
      Raw.endStream(socket)
    }, "ConnectionFailed/Unreachable"],
    ["a stream whose answer has another event name", (socket, request) => {
      Raw.openStream(socket)
      Raw.sendChunk(
        socket,
        `event: other\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: request.message.id, result: {} })}\n\n`
      )
      Raw.endStream(socket)
    }, "ConnectionFailed/Unreachable"]
  ]
  for (const [what, respond, expected] of answers) {
    it.live(`${what} → ${expected}, asked once`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.modern({ "tools/call": respond }))
        yield* Effect.scoped(Effect.gen(function*() {
          const connection = yield* connect(server.url)
          yield* failsWith(connection.callTool("t"), expected)
        }))
        assert.deepStrictEqual(server.methods(), ["server/discover", "tools/call"])
        yield* server.quiet
      }))
  }
})

describe("a response that can be used all the same", () => {
  const envelope = (request: Raw.RawRequest) =>
    JSON.stringify({ jsonrpc: "2.0", id: request.message.id, result: Raw.textResult("ok"), extra: 1 })
  const answers: ReadonlyArray<readonly [string, Raw.Responder]> = [
    [
      "a type with parameters, in odd case",
      (socket, request) =>
        Raw.send(socket, 200, { "Content-Type": "Application/JSON; charset=utf-8" }, envelope(request))
    ],
    [
      "a byte order mark",
      (socket, request) => Raw.send(socket, 200, { "content-type": "application/json" }, `\ufeff${envelope(request)}`)
    ],
    [
      "a list of one",
      (socket, request) => Raw.send(socket, 200, { "content-type": "application/json" }, `[${envelope(request)}]`)
    ],
    ["a stream in mixed line ends, with comments, cut everywhere", (socket, request) => {
      Raw.openStream(socket)
      const text = `\ufeff: hi\r\ndata\rid: 1\n\nevent: message\r\n${
        envelope(request).replace("\"result\"", "\r\ndata: \"result\"").replace(/^/, "data:")
      }\r\n\r\n`
      for (const char of text) Raw.sendChunk(socket, char)
      Raw.endStream(socket)
    }],
    ["notifications and requests before it, a second answer after it", (socket, request) => {
      Raw.openStream(socket)
      Raw.sendChunk(socket, `data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n`)
      Raw.sendChunk(socket, `data: {"jsonrpc":"2.0","id":1,"method":"roots/list"}\n\ndata: ping\n\n`)
      Raw.sendChunk(socket, `data: ${envelope(request)}\n\ndata: ${envelope(request)}\n\n`)
      Raw.endStream(socket)
    }]
  ]
  for (const [what, respond] of answers) {
    it.live(what, () => Effect.map(onCall(respond), ({ text }) => assert.strictEqual(text, "ok")))
  }

  it.live("a batch, at 2025-03-26", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.legacy({
        "tools/call": (socket, request) =>
          Raw.sendJson(socket, [
            { jsonrpc: "2.0", method: "notifications/message" },
            { jsonrpc: "2.0", id: request.message.id, result: Raw.textResult("ok") }
          ])
      }, "2025-03-26"))
      const result = yield* call(yield* connect(server.url))
      assert.strictEqual(result.text, "ok")
    }))

  it.live("bytes after the answer, for ever: the socket is closed at once", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/call": (socket, request) => {
          Raw.openStream(socket)
          Raw.sendChunk(socket, `data: ${envelope(request)}\n\n`)
          const timer = setInterval(() => Raw.sendChunk(socket, ": more\n"), 1)
          socket.on("close", () => clearInterval(timer))
        }
      }))
      const connection = yield* connect(server.url)
      assert.strictEqual((yield* call(connection)).text, "ok")
      // What is left is the one that brought the answer to `server/discover`.
      yield* server.atMost(1)
    }))
})

describe("secrets", () => {
  it.live("stand in no message and in no JSON of an error", () =>
    Effect.gen(function*() {
      const secrets = ["s3cr3t-token", "s3cr3t-path", "s3cr3t-query", "s3cr3t-session"]
      const failing: ReadonlyArray<Raw.Responder> = [
        (socket) => Raw.send(socket, 401, { "www-authenticate": "Bearer realm=\"x\"" }),
        html,
        (socket) => socket.destroy(),
        (socket) => Raw.send(socket, 404, {}),
        (socket, request) => Raw.sendError(socket, request, { code: -1, message: "no" })
      ]
      for (const respond of failing) {
        const server = yield* Raw.make(Raw.legacy({
          initialize: (socket, request) => {
            const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} } }
            const body = JSON.stringify({ jsonrpc: "2.0", id: request.message.id, result })
            Raw.send(socket, 200, { "content-type": "application/json", "mcp-session-id": "s3cr3t-session" }, body)
          },
          "tools/call": respond
        }))
        const connection = yield* connect(`${server.url}/s3cr3t-path?key=s3cr3t-query`, {
          credentials: Credentials.bearer(Redacted.make("s3cr3t-token"))
        })
        const error = yield* Effect.flip(connection.callTool("t"))
        assert.strictEqual(server.requests.at(-1)?.headers["authorization"], "Bearer s3cr3t-token")
        const shown = [error.message, error.stack, String(error), JSON.stringify(error), String(error.cause)].join("\n")
        for (const secret of secrets) assert.notInclude(shown, secret, kind(error))
        assert.include(shown, `http://127.0.0.1:${server.port}`)
      }
    }))

  it.live("and neither does a bad URL", () =>
    Effect.gen(function*() {
      const urls = [
        "http://user:s3cr3t@127.0.0.1/",
        "ftp://s3cr3t/",
        "file:///s3cr3t",
        "s3cr3t",
        "",
        `http://127.0.0.1/${"s3cr3t".repeat(200_000)}`
      ]
      for (const url of urls) {
        const error = yield* failsWith(connect(url), "InvalidInput")
        assert.notInclude(error.message + JSON.stringify(error), "s3cr3t")
      }
    }))

  it.live("control and direction characters of a server are escaped in messages, and kept in results", () =>
    Effect.gen(function*() {
      const odd = "\u001b[31mred\u202e"
      const error = yield* failsWith(
        onCall((socket, request) => Raw.sendError(socket, request, { code: 1, message: odd })),
        "ServerAnswered/RpcError"
      )
      assert.include(error.message, "\\u001b[31mred\\u202e")
      const result = yield* onCall((socket, request) => Raw.sendResult(socket, request, Raw.textResult(odd)))
      assert.strictEqual(result.text, odd)
    }))
})

describe("what an error says", () => {
  it.live("a challenge, parsed", () =>
    Effect.gen(function*() {
      const header = `Bearer error="invalid_token", scope="a b", Basic realm="x, y"`
      const error = yield* failsWith(
        onCall((socket) => Raw.send(socket, 401, { "www-authenticate": header })),
        "Unauthorized"
      ) as Effect.Effect<McpError.Unauthorized, never, Scope.Scope>
      assert.strictEqual(error.status, 401)
      assert.strictEqual(error.challenge?.scheme, "bearer")
      assert.deepStrictEqual({ ...error.challenge?.parameters }, { error: "invalid_token", scope: "a b" })
      assert.deepStrictEqual(error.challenges.map(({ scheme }) => scheme), ["bearer", "basic"])
    }))

  for (
    const [value, expected] of [
      ["7", Duration.seconds(7)],
      ["1000000000", Duration.seconds(30)],
      ["-1", undefined],
      ["12abc", undefined],
      ["Thu, 01 Jan 1970 00:00:00 GMT", undefined]
    ] as const
  ) {
    it.live(`Retry-After: ${value}`, () =>
      Effect.gen(function*() {
        const error = yield* failsWith(
          onCall((socket) => Raw.send(socket, 429, { "retry-after": value })),
          "ConnectionFailed/HttpStatus"
        )
        assert.deepStrictEqual(
          (error as McpError.ConnectionFailed).reason,
          new McpError.HttpStatus({ status: 429, retryAfter: expected })
        )
      }))
  }
})
