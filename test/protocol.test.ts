/**
 * Every method at every revision that has it, over HTTP: what goes out, and what comes back. docs/protocol.md shows what
 * is exercised where; the last tests here see to it that it says so of nothing else.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type McpConnection, type McpError, ProtocolVersion } from "../src/index.ts"
import { connect } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"
import { until } from "./support/until.ts"

type Revision = ProtocolVersion.ProtocolVersion

const legacy: ReadonlyArray<Revision> = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
const revisions: ReadonlyArray<Revision> = [...legacy, "2026-07-28"]

const capabilities = {
  completions: {},
  logging: {},
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  tools: { listChanged: true }
}

/**
 * A server of one revision, and nothing but that revision.
 */
const serve = (revision: Revision, answers: Readonly<Record<string, Raw.Responder>>) =>
  Raw.make(
    ProtocolVersion.isModern(revision)
      ? Raw.modern({
        "server/discover": (socket, request) =>
          Raw.sendResult(socket, request, { resultType: "complete", supportedVersions: [revision], capabilities }),
        ...answers
      })
      : Raw.legacy({
        initialize: (socket, { message: { id } }) => {
          const result = { protocolVersion: revision, capabilities, serverInfo: { name: "raw", version: "1" } }
          const headers = { "content-type": "application/json", "mcp-session-id": "s1" }
          Raw.send(socket, 200, headers, JSON.stringify({ jsonrpc: "2.0", id, result }))
        },
        GET: (socket) => Raw.send(socket, 405, {}),
        POST: (socket) => Raw.send(socket, 202, {}),
        "notifications/cancelled": (socket) => Raw.send(socket, 202, {}),
        ...answers
      })
  )

/**
 * A method that the client asks for.
 */
interface Asked {
  readonly method: string
  readonly at: ReadonlyArray<Revision>
  readonly ask: (connection: McpConnection.Service) => Effect.Effect<unknown, McpError.McpError>
  readonly params: object
  /**
   * What modern requests name in a header.
   */
  readonly name?: string
  readonly result: object
  readonly brings: unknown
}

const tool = { name: "t", inputSchema: { type: "object" } }
const prompt = { name: "p", arguments: [{ name: "a", required: true }] }
const resource = { uri: "a:1", name: "r" }
const template = { uriTemplate: "a:{id}", name: "r" }
const completion = { values: ["typescript"], total: 1, hasMore: false }
const ref = { type: "ref/prompt", name: "p" } as const
const argument = { name: "a", value: "ty" }

const askedFor: ReadonlyArray<Asked> = [
  {
    method: "tools/list",
    at: revisions,
    ask: (connection) => connection.listTools(),
    params: {},
    result: { tools: [tool] },
    brings: [tool]
  },
  {
    method: "tools/call",
    at: revisions,
    ask: (connection) => Effect.map(connection.callTool("t", { a: 1 }), ({ isError, text }) => ({ isError, text })),
    params: { name: "t", arguments: { a: 1 } },
    name: "t",
    result: { content: [{ type: "text", text: "ok" }] },
    brings: { isError: false, text: "ok" }
  },
  {
    method: "prompts/list",
    at: revisions,
    ask: (connection) => connection.listPrompts(),
    params: {},
    result: { prompts: [prompt] },
    brings: [prompt]
  },
  {
    method: "prompts/get",
    at: revisions,
    ask: (connection) => Effect.map(connection.getPrompt("p", { a: "1" }), ({ messages }) => messages),
    params: { name: "p", arguments: { a: "1" } },
    name: "p",
    result: { messages: [{ role: "user", content: { type: "text", text: "hi" } }] },
    brings: [{ role: "user", content: { type: "text", text: "hi" } }]
  },
  {
    method: "resources/list",
    at: revisions,
    ask: (connection) => connection.listResources(),
    params: {},
    result: { resources: [resource] },
    brings: [resource]
  },
  {
    method: "resources/templates/list",
    at: revisions,
    ask: (connection) => connection.listResourceTemplates(),
    params: {},
    result: { resourceTemplates: [template] },
    brings: [template]
  },
  {
    method: "resources/read",
    at: revisions,
    ask: (connection) => connection.readResource("a:1"),
    params: { uri: "a:1" },
    name: "a:1",
    result: { contents: [{ uri: "a:1", text: "hi" }] },
    brings: [{ uri: "a:1", text: "hi" }]
  },
  {
    method: "completion/complete",
    at: revisions,
    ask: (connection) => connection.complete(ref, argument),
    params: { ref, argument },
    result: { completion },
    brings: completion
  },
  {
    method: "logging/setLevel",
    at: legacy,
    ask: (connection) => connection.setLogLevel("warning"),
    params: { level: "warning" },
    result: {},
    brings: undefined
  }
]

const onlyOne = (server: Raw.RawServer, method: string): Raw.RawRequest => {
  const found = server.requests.filter(({ message }) => message.method === method)
  assert.lengthOf(found, 1)
  return found[0]!
}

/**
 * What every request of a revision has.
 */
const assertEnvelope = (revision: Revision, { headers, httpMethod, message }: Raw.RawRequest, name?: string): void => {
  assert.strictEqual(httpMethod, "POST")
  assert.strictEqual(headers["content-type"], "application/json")
  assert.strictEqual(headers["accept"], "application/json, text/event-stream")
  assert.strictEqual(headers["mcp-protocol-version"], revision)
  const meta = message.params?._meta
  if (ProtocolVersion.isModern(revision)) {
    assert.strictEqual(headers["mcp-method"], message.method)
    assert.strictEqual(headers["mcp-name"], name)
    assert.isUndefined(headers["mcp-session-id"])
    assert.strictEqual(meta["io.modelcontextprotocol/protocolVersion"], revision)
    assert.isString(meta["io.modelcontextprotocol/clientInfo"].name)
    assert.isObject(meta["io.modelcontextprotocol/clientCapabilities"])
  } else {
    assert.isUndefined(headers["mcp-method"])
    assert.isUndefined(headers["mcp-name"])
    assert.strictEqual(headers["mcp-session-id"], "s1")
    assert.isUndefined(meta)
  }
}

const paramsOf = ({ message }: Raw.RawRequest): object => {
  const { _meta, ...params } = message.params
  return params
}

/**
 * What the tests of this file are called: for the document.
 */
const exercised = new Set<string>()

const atEach = (
  at: ReadonlyArray<Revision>,
  method: string,
  test: (revision: Revision) => Effect.Effect<void, McpError.McpError, Scope.Scope>
): void =>
  at.forEach((revision) => {
    exercised.add(`${method} at ${revision}`)
    it.live(`${method} at ${revision}`, () => test(revision))
  })

describe("what the client asks for", () => {
  for (const { ask, at, brings, method, name, params, result } of askedFor) {
    atEach(at, method, (revision) =>
      Effect.gen(function*() {
        const server = yield* serve(revision, {
          [method]: (socket, request) =>
            Raw.sendResult(
              socket,
              request,
              ProtocolVersion.isModern(revision) ? { resultType: "complete", ...result } : result
            )
        })
        const connection = yield* connect(server.url)
        assert.deepStrictEqual(yield* ask(connection), brings)
        const sent = onlyOne(server, method)
        assertEnvelope(revision, sent, name)
        assert.deepStrictEqual(paramsOf(sent), params)
      }))
  }

  atEach(["2026-07-28"], "server/discover", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, {})
      const connection = yield* connect(server.url)
      assert.strictEqual(connection.protocolVersion, revision)
      const sent = onlyOne(server, "server/discover")
      assertEnvelope("2026-07-28", sent)
      assert.deepStrictEqual(paramsOf(sent), {})
    }))

  atEach(legacy, "initialize", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, {})
      const connection = yield* connect(server.url, { protocol: revision })
      assert.deepStrictEqual(connection.serverInfo, { name: "raw", version: "1" })
      assert.deepStrictEqual(server.methods(), ["initialize", "notifications/initialized"])
      const { headers, message } = onlyOne(server, "initialize")
      assert.isUndefined(headers["mcp-session-id"])
      assert.strictEqual(message.params.protocolVersion, revision)
      assert.sameMembers(Object.keys(message.params), ["protocolVersion", "capabilities", "clientInfo"])
    }))

  atEach(legacy, "notifications/initialized", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, {})
      yield* connect(server.url)
      const sent = onlyOne(server, "notifications/initialized")
      assertEnvelope(revision, sent)
      assert.isUndefined(sent.message.id)
    }))

  atEach(revisions, "notifications/cancelled", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, { "tools/call": () => {} })
      const connection = yield* connect(server.url)
      const call = yield* Effect.forkChild(connection.callTool("t"))
      yield* until(() => server.methods().includes("tools/call"))
      yield* Fiber.interrupt(call)
      if (ProtocolVersion.isModern(revision)) {
        // Over HTTP the closed stream says it.
        yield* server.quiet
        assert.notInclude(server.methods(), "notifications/cancelled")
        return
      }
      yield* until(() => server.methods().includes("notifications/cancelled"))
      const { message } = onlyOne(server, "notifications/cancelled")
      assert.strictEqual(message.params.requestId, onlyOne(server, "tools/call").message.id)
      assert.isUndefined(message.id)
    }))
})

const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`

/**
 * Says something before the answer to a call, on its stream.
 */
const before = (message: (request: Raw.RawRequest) => object): Raw.Responder => (socket, request) => {
  Raw.openStream(socket)
  const answer = event({ id: request.message.id, result: Raw.textResult("ok") })
  Raw.sendChunk(socket, event(message(request)) + answer)
  Raw.endStream(socket)
}

describe("what the server says by itself", () => {
  const announced: ReadonlyArray<readonly [method: string, params: object, heard: object]> = [
    ["notifications/tools/list_changed", {}, { _tag: "ToolListChanged" }],
    ["notifications/prompts/list_changed", {}, { _tag: "PromptListChanged" }],
    ["notifications/resources/list_changed", {}, { _tag: "ResourceListChanged" }],
    ["notifications/resources/updated", { uri: "a:1" }, { _tag: "ResourceUpdated", uri: "a:1" }],
    ["notifications/message", { level: "info", data: 1 }, { _tag: "LoggingMessage", level: "info", data: 1 }]
  ]
  for (const [method, params, heard] of announced) {
    atEach(revisions, method, (revision) =>
      Effect.gen(function*() {
        const server = yield* serve(revision, { "tools/call": before(() => ({ method, params })) })
        const connection = yield* connect(server.url)
        const hearing = yield* Effect.forkChild(Stream.runCollect(Stream.take(connection.notifications, 1)), {
          startImmediately: true
        })
        yield* connection.callTool("t")
        assert.deepStrictEqual<unknown>(yield* Fiber.join(hearing), [heard])
      }))
  }

  atEach(revisions, "notifications/progress", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, {
        "tools/call": before(({ message }) => ({
          method: "notifications/progress",
          params: { progressToken: message.params._meta.progressToken, progress: 1, total: 2 }
        }))
      })
      const connection = yield* connect(server.url)
      const told: Array<unknown> = []
      yield* connection.callTool("t", {}, { onProgress: (progress) => Effect.sync(() => void told.push(progress)) })
      assert.deepStrictEqual(told, [{ progress: 1, total: 2 }])
    }))

  atEach(legacy, "ping", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, { "tools/call": before(() => ({ id: 7, method: "ping" })) })
      const connection = yield* connect(server.url)
      yield* connection.callTool("t")
      const answers = () => server.requests.filter(({ body, message }) => body !== "" && message.method === undefined)
      yield* until(() => answers().length === 1)
      assert.deepStrictEqual(JSON.parse(answers()[0]!.body), { jsonrpc: "2.0", id: 7, result: {} })
      assertEnvelope(revision, answers()[0]!)
    }))
})

describe("subscriptions", () => {
  for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
    atEach(legacy, method, (revision) =>
      Effect.gen(function*() {
        const empty: Raw.Responder = (socket, request) => Raw.sendResult(socket, request, {})
        const server = yield* serve(revision, {
          "resources/subscribe": empty,
          "resources/unsubscribe": empty,
          "tools/call": before(() => ({ method: "notifications/resources/updated", params: { uri: "a:1" } }))
        })
        const connection = yield* connect(server.url)
        const hearing = yield* Effect.forkChild(
          Stream.runCollect(Stream.take(connection.subscribe({ resourceSubscriptions: ["a:1"] }), 1))
        )
        yield* until(() => server.methods().includes("resources/subscribe"))
        yield* connection.callTool("t")
        assert.deepStrictEqual<unknown>(yield* Fiber.join(hearing), [{ _tag: "ResourceUpdated", uri: "a:1" }])
        const sent = onlyOne(server, method)
        assertEnvelope(revision, sent)
        assert.deepStrictEqual(paramsOf(sent), { uri: "a:1" })
      }))
  }

  atEach(["2026-07-28"], "subscriptions/listen", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, {
        "subscriptions/listen": (socket, { message: { id } }) => {
          const say = (method: string, params: object) =>
            event({ method, params: { ...params, _meta: { "io.modelcontextprotocol/subscriptionId": id } } })
          Raw.openStream(socket)
          Raw.sendChunk(
            socket,
            say("notifications/subscriptions/acknowledged", { notifications: { toolsListChanged: true } }) +
              say("notifications/tools/list_changed", {})
          )
        }
      })
      const connection = yield* connect(server.url)
      const heard = yield* Stream.runCollect(Stream.take(connection.subscribe({ toolsListChanged: true }), 1))
      assert.deepStrictEqual<unknown>(heard, [{ _tag: "ToolListChanged" }])
      const sent = onlyOne(server, "subscriptions/listen")
      assertEnvelope(revision, sent)
      assert.deepStrictEqual(paramsOf(sent), { notifications: { toolsListChanged: true } })
    }))
})

describe("docs/protocol.md", () => {
  const root = fileURLToPath(new URL("..", import.meta.url))
  const rows = readFileSync(join(root, "docs", "protocol.md"), "utf8").split("\n").filter((line) =>
    line.startsWith("|")
  )
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()))

  it("says of a method that it is exercised at a revision where a test here does that, and nowhere else", () => {
    const said = rows.filter(([, transport]) => transport === "HTTP").flatMap(([method = "", , ...cells]) =>
      revisions.filter((_, index) => cells[index]?.includes("(../test/protocol.test.ts)"))
        .map((revision) => `${method.replaceAll("`", "")} at ${revision}`)
    )
    assert.sameMembers(said, [...exercised])
  })

  it("names no test that is not there", () => {
    const named = rows.flatMap((cells) => [...cells.join("|").matchAll(/\]\(\.\.\/(test\/[^)]+)\)(?:: “([^”]+)”)?/g)])
    assert.isNotEmpty(named)
    const missing = named.filter(([, file = "", name]) => {
      const path = join(root, file)
      return !existsSync(path) || (name !== undefined && !readFileSync(path, "utf8").includes(name))
    })
    assert.deepStrictEqual(missing.map(([text]) => text), [])
  })
})
