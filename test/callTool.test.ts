import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { JsonText, type McpError } from "../src/index.ts"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const answer = (result: unknown): Raw.Responder => (socket, request) => Raw.sendResult(socket, request, result)

describe("arguments", () => {
  const exact = `{"zebra":1e3,"alpha":12345678901234567890,"x":1.0}`
  for (
    const [what, args, sent] of [
      ["JsonText, byte for byte", JsonText.makeUnsafe(exact), exact],
      ["JsonText with duplicate keys and space", JsonText.makeUnsafe(` {"a":1,\n"a":2} `), ` {"a":1,\n"a":2} `],
      ["a value", { b: [1, "two", null], a: { c: true } }, `{"b":[1,"two",null],"a":{"c":true}}`],
      ["none", undefined, "{}"]
    ] as const
  ) {
    it.live(`are sent: ${what}`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.modern())
        const connection = yield* connect(server.url)
        const result = yield* connection.callTool("t", args)
        assert.strictEqual(result.text, "ok")
        assert.include(server.requests.at(-1)?.body, `"arguments":${sent},"_meta"`)
      }))
  }

  const cyclic: Record<string, unknown> = {}
  cyclic["self"] = cyclic
  const bad: ReadonlyArray<readonly [string, unknown]> = [
    ["[]", []],
    ["null", null],
    ["text []", "[]"],
    ["text {}{}", "{}{}"],
    [`text 1}, "method":"x"`, `1}, "method":"x"`],
    ["empty text", ""],
    ["text 5", "5"],
    ["text with a byte order mark", "\ufeff{}"],
    ["a number", 5],
    ["a cycle", cyclic],
    ["a bigint inside", { a: 1n }],
    ["toJSON that makes a list of it", { toJSON: () => [] }],
    ["toJSON that makes nothing of it", { toJSON: () => undefined }]
  ]
  for (const [what, args] of bad) {
    it.live(`are refused before anything is sent: ${what}`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.modern())
        const connection = yield* connect(server.url)
        const error = yield* failsWith(connection.callTool("t", args as never), "InvalidInput")
        assert.deepStrictEqual(server.methods(), ["server/discover"])
        assert.include(error.message, "tools/call t")
      }))
  }
})

describe("a modern call", () => {
  it.live("carries its headers and its _meta", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern())
      const connection = yield* connect(server.url, { clientInfo: { name: "app", version: "7" } })
      yield* connection.callTool("grüße", {}, {
        meta: { mine: 1, "io.modelcontextprotocol/protocolVersion": "1999-01-01" }
      })
      const { headers, message } = server.requests.at(-1)!
      assert.strictEqual(headers["mcp-protocol-version"], "2026-07-28")
      assert.strictEqual(headers["mcp-method"], "tools/call")
      assert.strictEqual(headers["mcp-name"], "=?base64?Z3LDvMOfZQ==?=")
      assert.strictEqual(headers["accept"], "application/json, text/event-stream")
      assert.strictEqual(headers["content-type"], "application/json")
      for (const absent of ["accept-encoding", "traceparent", "b3", "mcp-session-id", "user-agent"]) {
        assert.notProperty(headers, absent)
      }
      assert.deepStrictEqual(message.params._meta, {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "app", version: "7" },
        "io.modelcontextprotocol/clientCapabilities": {},
        mine: 1
      })
    }))

  it.live("carries the trace context of its span, and none outside of one", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern())
      const connection = yield* connect(server.url)
      const trace = yield* Effect.flatMap(
        Effect.currentSpan,
        (span) => Effect.as(connection.callTool("t"), span.traceId)
      ).pipe(Effect.withSpan("outer"))
      const { headers, message } = server.requests.at(-1)!
      assert.match(headers["traceparent"]!, new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`))
      assert.strictEqual(message.params._meta.traceparent, headers["traceparent"])
      assert.notProperty(headers, "b3")
      yield* connection.callTool("t")
      assert.notProperty(server.requests.at(-1)!.headers, "traceparent")
    }))
})

const annotated = (schema: unknown) => ({
  resultType: "complete",
  tools: [{ name: "t", inputSchema: { type: "object", properties: { region: schema } } }]
})

describe("mirrored parameters", () => {
  const region = { type: "string", "x-mcp-header": "Region" }

  it.live("go into headers after a listing", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({ "tools/list": answer(annotated(region)) }))
      const connection = yield* connect(server.url)
      yield* connection.listTools()
      yield* connection.callTool("t", { region: "us-west1" })
      assert.strictEqual(server.requests.at(-1)?.headers["mcp-param-region"], "us-west1")
      yield* connection.callTool("t", JsonText.makeUnsafe(`{"region":"Zürich"}`))
      assert.strictEqual(server.requests.at(-1)?.headers["mcp-param-region"], "=?base64?WsO8cmljaA==?=")
      yield* connection.callTool("t", { region: null })
      assert.notProperty(server.requests.at(-1)?.headers, "mcp-param-region")
      const sent = server.requests.length
      yield* failsWith(connection.callTool("t", { region: ["a"] }), "InvalidInput")
      assert.strictEqual(server.requests.length, sent)
    }))

  const mismatch: Raw.Responder = (socket, request) =>
    Raw.sendError(socket, request, { code: -32020, message: "mismatch" }, 400)

  it.live("are found where their annotations are spelt with escapes", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/list": (socket, request) => {
          const body = JSON.stringify({ jsonrpc: "2.0", id: request.message.id, result: annotated(region) })
          const escaped = body.replace("x-mcp-header", "x\\u002dmcp-header")
          Raw.send(socket, 200, { "content-type": "application/json" }, escaped)
        }
      }))
      const connection = yield* connect(server.url)
      yield* connection.listTools()
      yield* connection.callTool("t", { region: "eu" })
      assert.strictEqual(server.requests.at(-1)?.headers["mcp-param-region"], "eu")
    }))

  it.live("that were never listed: -32020 is answered by one listing and one retry", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/list": answer(annotated(region)),
        "tools/call": (socket, request) =>
          request.headers["mcp-param-region"] === "eu"
            ? Raw.sendResult(socket, request, Raw.textResult("routed"))
            : mismatch(socket, request)
      }))
      const connection = yield* connect(server.url)
      const result = yield* connection.callTool("t", { region: "eu" })
      assert.strictEqual(result.text, "routed")
      assert.deepStrictEqual(server.methods(), ["server/discover", "tools/call", "tools/list", "tools/call"])
    }))

  it.live("-32020 again is the answer", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({ "tools/call": mismatch }))
      const connection = yield* connect(server.url)
      yield* failsWith(connection.callTool("t"), "ServerAnswered/RpcError")
      assert.deepStrictEqual(server.methods(), ["server/discover", "tools/call", "tools/list", "tools/call"])
    }))
})

describe("results", () => {
  it.live("keep isError a value, and give text", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/call": answer({
          resultType: "complete",
          isError: true,
          content: [{ type: "text", text: "a" }, { type: "hologram", x: 1 }, { type: "text", text: "b" }],
          structuredContent: { __proto__: null, n: 1 },
          _meta: { k: "v" }
        })
      }))
      const connection = yield* connect(server.url)
      const result = yield* connection.callTool("t")
      assert.isTrue(result.isError)
      assert.strictEqual(result.text, "a\nb")
      assert.deepStrictEqual(result.content[1], {
        type: "unknown",
        wireType: "hologram",
        raw: { type: "hologram", x: 1 }
      })
      assert.deepStrictEqual(result.structuredContent, { n: 1 })
      assert.deepStrictEqual(result.meta, { k: "v" })
    }))

  it.live("text is the JSON of structuredContent where there is no content", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/call": answer({ content: [], structuredContent: { sum: 3 } })
      }))
      const connection = yield* connect(server.url)
      assert.strictEqual((yield* connection.callTool("t")).text, `{"sum":3}`)
    }))

  for (
    const [what, result, expected] of [
      ["of an unknown type", { resultType: "hologram", content: [] }, "ServerAnswered/UnknownResultType"],
      ["of a type that is no string", { resultType: 5, content: [] }, "ServerAnswered/Unreadable"],
      ["with content that is no list", { content: "text" }, "ServerAnswered/Unreadable"],
      ["with nothing in them", {}, "ServerAnswered/Unreadable"],
      ["null", null, "ConnectionFailed/ProtocolViolation"],
      ["a list", [], "ConnectionFailed/ProtocolViolation"]
    ] as const
  ) {
    it.live(`${what} → ${expected}`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.modern({ "tools/call": answer(result) }))
        const connection = yield* connect(server.url)
        yield* failsWith(connection.callTool("t"), expected)
      }))
  }
})

describe("input_required", () => {
  const asking = (result: object) => answer({ resultType: "input_required", ...result })
  const cases: ReadonlyArray<readonly [string, object, number, number, ReadonlyArray<string>]> = [
    [
      "requests that nobody answers: refused at once",
      { inputRequests: { a: { method: "elicitation/create" }, b: { method: "sampling/createMessage" } } },
      1,
      1,
      ["elicitation/create", "sampling/createMessage"]
    ],
    ["requests without a method", { inputRequests: { x: null } }, 1, 1, ["(no method)"]],
    ["neither requests nor state: refused at once", {}, 1, 1, []],
    ["an empty map, for ever: three", { inputRequests: {} }, 3, 3, []],
    ["state alone, for ever: ten", { requestState: "s" }, 10, 10, []]
  ]
  for (const [what, result, rounds, calls, requests] of cases) {
    it.live(what, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.modern({ "tools/call": asking(result) }))
        const connection = yield* connect(server.url)
        const error = yield* failsWith(connection.callTool("t"), "ServerAnswered/InputRequired")
        const reason = (error as McpError.ServerAnswered).reason as McpError.InputRequired
        assert.strictEqual(reason.rounds, rounds)
        assert.deepStrictEqual(reason.requests, requests)
        assert.strictEqual(server.requests.length, 1 + calls)
      }))
  }

  it.live("state is echoed exactly, under a new id, and the final result is had", () =>
    Effect.gen(function*() {
      const state = "opaque \"state\" \u2028 é"
      const server = yield* Raw.make(Raw.modern({
        "tools/call": (socket, request) =>
          request.nth === 0
            ? Raw.sendResult(socket, request, { resultType: "input_required", requestState: state })
            : Raw.sendResult(socket, request, Raw.textResult("done"))
      }))
      const connection = yield* connect(server.url)
      assert.strictEqual((yield* connection.callTool("t", { a: 1 })).text, "done")
      const [first, second] = server.requests.slice(1).map(({ message }) => message)
      assert.strictEqual(second?.params.requestState, state)
      assert.notProperty(second?.params, "inputResponses")
      assert.deepStrictEqual(second?.params.arguments, { a: 1 })
      assert.notStrictEqual(first?.id, second?.id)
    }))

  it.live("on tools/list is no listing", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({ "tools/list": asking({ requestState: "s" }) }))
      const connection = yield* connect(server.url)
      yield* failsWith(connection.listTools(), "ServerAnswered/Unreadable")
      assert.strictEqual(server.requests.length, 2)
    }))
})
