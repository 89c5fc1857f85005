import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import { McpError, McpPolicy, type Tool } from "../src/index.ts"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const tool = (name: unknown, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more })

const pages = (page: (nth: number) => object): Raw.Responder => (socket, request) =>
  Raw.sendResult(socket, request, { resultType: "complete", ...page(request.nth) })

const listed = (server: Raw.RawServer): number => server.methods().filter((method) => method === "tools/list").length

describe("pages", () => {
  it.live("are all followed, and cursors sent as they came", () =>
    Effect.gen(function*() {
      const cursors = ["a", "\"b\"", "ü", undefined]
      const server = yield* Raw.make(Raw.modern({
        "tools/list": pages((nth) => ({ tools: [tool(`t${nth}`)], nextCursor: cursors[nth] }))
      }))
      const connection = yield* connect(server.url)
      const tools = yield* connection.listTools()
      assert.deepStrictEqual(tools.map(({ name }) => name), ["t0", "t1", "t2", "t3"])
      assert.deepStrictEqual(
        server.requests.slice(1).map(({ message }) => message.params.cursor),
        [undefined, "a", "\"b\"", "ü"]
      )
    }))

  const loops: ReadonlyArray<readonly [string, (nth: number) => unknown, number]> = [
    ["a constant cursor", () => "c", 2],
    ["a cursor of period two", (nth) => nth % 2 === 0 ? "a" : "b", 3],
    ["a cursor that is always new", (nth) => `c${nth}`, 100],
    ["an empty cursor for ever, at a modern server", () => "", 2]
  ]
  for (const [what, cursor, requests] of loops) {
    it.live(`${what} fails after ${requests} requests`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.modern({
          "tools/list": pages((nth) => ({ tools: [tool(`t${nth}`)], nextCursor: cursor(nth) }))
        }))
        const connection = yield* connect(server.url)
        const error = yield* failsWith(connection.listTools(), "ServerAnswered/PaginationLoop")
        assert.deepStrictEqual(
          (error as McpError.ServerAnswered).reason,
          new McpError.PaginationLoop({ pages: requests })
        )
        assert.strictEqual(listed(server), requests)
      }))
  }

  it.live("an empty cursor ends a legacy listing, and is followed once in a modern one", () =>
    Effect.gen(function*() {
      const respond = pages((nth) => ({ tools: [tool(`t${nth}`)], ...(nth === 0 ? { nextCursor: "" } : {}) }))
      const legacy = yield* Raw.make(Raw.legacy({ "tools/list": respond }))
      assert.strictEqual((yield* (yield* connect(legacy.url)).listTools()).length, 1)
      const modern = yield* Raw.make(Raw.modern({ "tools/list": respond }))
      assert.strictEqual((yield* (yield* connect(modern.url)).listTools()).length, 2)
      assert.strictEqual(modern.requests.at(-1)?.message.params.cursor, "")
    }))

  it.live("null ends a listing; a number is no cursor", () =>
    Effect.gen(function*() {
      const ending = yield* Raw.make(Raw.modern({ "tools/list": pages(() => ({ tools: [], nextCursor: null })) }))
      assert.deepStrictEqual(yield* (yield* connect(ending.url)).listTools(), [])
      const odd = yield* Raw.make(Raw.modern({ "tools/list": pages(() => ({ tools: [], nextCursor: 5 })) }))
      yield* failsWith((yield* connect(odd.url)).listTools(), "ServerAnswered/Unreadable")
    }))

  it.live("another schedule may be swapped in, and a list is never cut short by one that stops", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/list": pages((nth) => ({ tools: [tool(`t${nth}`)], ...(nth < 4 ? { nextCursor: "same" } : {}) }))
      }))
      const opaque = McpPolicy.make({ pages: McpPolicy.pages({ cursors: "opaque" }) })
      assert.strictEqual((yield* (yield* connect(server.url, { policy: opaque })).listTools()).length, 5)
      const short = McpPolicy.make({ pages: Schedule.recurs(1) })
      const endless = yield* Raw.make(Raw.modern({
        "tools/list": pages((nth) => ({ tools: [], nextCursor: `c${nth}` }))
      }))
      const error = yield* failsWith(
        (yield* connect(endless.url, { policy: short })).listTools(),
        "ServerAnswered/PaginationLoop"
      )
      assert.deepStrictEqual((error as McpError.ServerAnswered).reason, new McpError.PaginationLoop({ pages: 2 }))
    }))

  it.live("take no longer together than the listing may, and fail as timed out", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/list": (socket, request) => {
          setTimeout(
            () => pages((nth) => ({ tools: [], nextCursor: `c${nth}` }))(socket, request),
            30
          )
        }
      }))
      const [elapsed, error] = yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* connect(server.url)
        return yield* Effect.timed(failsWith(connection.listTools({ timeout: 200 }), "ConnectionFailed/TimedOut"))
      }))
      assert.isAtLeast(Duration.toMillis(elapsed), 190)
      assert.isAtMost(Duration.toMillis(elapsed), 300)
      assert.deepStrictEqual(
        (error as McpError.ConnectionFailed).reason,
        new McpError.TimedOut({ limit: Duration.millis(200) })
      )
      yield* server.quiet
    }))
})

describe("entries", () => {
  it.live("one bad entry costs nobody but itself, and is reported with its reason", () =>
    Effect.gen(function*() {
      const entries = [
        null,
        tool("good", { description: null, title: 5, extra: { kept: true }, _meta: { k: 1 } }),
        tool(""),
        tool("x".repeat(129)),
        tool("bidi\u202e"),
        tool("line\nbreak"),
        tool("good"),
        { name: "schemaless" },
        tool("listed", { inputSchema: [] }),
        tool("boolean", { inputSchema: true }),
        tool("stringly", { inputSchema: { type: "string" } }),
        tool(7),
        tool("typeless", { inputSchema: {} })
      ]
      const server = yield* Raw.make(Raw.modern({ "tools/list": pages(() => ({ tools: entries })) }))
      const connection = yield* connect(server.url)
      const refused = yield* Ref.make<ReadonlyArray<Tool.Refused>>([])
      const tools = yield* connection.listTools({
        onRefused: (entry) => Ref.update(refused, (all) => [...all, entry])
      })
      assert.deepStrictEqual(tools, [
        { name: "good", inputSchema: { type: "object" }, extra: { kept: true }, meta: { k: 1 } },
        { name: "typeless", inputSchema: {} }
      ])
      const reported = yield* Ref.get(refused)
      assert.strictEqual(reported.length, entries.length - 2)
      assert.deepStrictEqual(reported[0], { name: undefined, reason: "not an object", entry: null })
      assert.include(reported.map(({ reason }) => reason), "the name is taken by another one")
      assert.isTrue(reported.every(({ reason }) => reason.length > 0))
    }))

  it.live("whoever is told of refused ones has no longer than the listing", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({ "tools/list": pages(() => ({ tools: [null] })) }))
      const connection = yield* connect(server.url)
      const listing = connection.listTools({ timeout: 100, onRefused: () => Effect.never })
      yield* failsWith(listing, "ConnectionFailed/TimedOut")
    }))

  it.live("tools that are no list make no listing", () =>
    Effect.gen(function*() {
      for (const tools of [null, {}, "t", undefined]) {
        const server = yield* Raw.make(Raw.modern({ "tools/list": pages(() => ({ tools })) }))
        yield* failsWith((yield* connect(server.url)).listTools(), "ServerAnswered/Unreadable")
      }
    }))

  it.live("invalid x-mcp-header annotations exclude a tool at a modern server alone", () =>
    Effect.gen(function*() {
      const bad = tool("bad", {
        inputSchema: { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } }
      })
      const respond = pages(() => ({ tools: [bad, tool("good")] }))
      const modern = yield* Raw.make(Raw.modern({ "tools/list": respond }))
      assert.deepStrictEqual((yield* (yield* connect(modern.url)).listTools()).map(({ name }) => name), ["good"])
      const legacy = yield* Raw.make(Raw.legacy({ "tools/list": respond }))
      assert.strictEqual((yield* (yield* connect(legacy.url)).listTools()).length, 2)
    }))

  it.live("are not asked of a server that declared no tools", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "server/discover": (socket, request) =>
          Raw.sendResult(socket, request, { ...Raw.discoverResult, capabilities: { prompts: {} } })
      }))
      const connection = yield* connect(server.url)
      yield* failsWith(connection.listTools(), "CapabilityMissing")
      yield* failsWith(connection.callTool("t"), "CapabilityMissing")
      assert.deepStrictEqual(server.methods(), ["server/discover"])
    }))
})
