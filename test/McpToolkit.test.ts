/**
 * Tools of real servers, called by a model that follows a script.
 */
import { assert, describe, it } from "@effect/vitest"
import * as AiTool from "effect/ai/Tool"
import * as AiToolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { McpToolkit } from "../src/ai.ts"
import type { Tool } from "../src/index.ts"
import type { JsonObject } from "../src/schema/Json.ts"
import { MockServer } from "../src/testing.ts"
import { connect } from "./support/connect.ts"
import * as RawServer from "./support/rawServer.ts"
import * as ScriptedModel from "./support/scriptedModel.ts"

const addSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { a: { $ref: "#/$defs/n" }, b: { $ref: "https://example.com/nowhere.json" } },
  required: ["a", "b"],
  $defs: { n: { type: "number" } }
}

const calculator = {
  add: {
    call: ({ a, b }: JsonObject) => `${Number(a) + Number(b)}`,
    description: "Adds  two\nnumbers",
    inputSchema: addSchema
  },
  "files.read": () => "read",
  divide: () => {
    throw new Error("by zero")
  }
}

const start = (options: MockServer.Options, toolkit?: McpToolkit.Options) =>
  Effect.gen(function*() {
    const server = yield* MockServer.makeHttp(options)
    const connection = yield* connect(server.url)
    return { server, connection, toolkit: yield* McpToolkit.make(connection, toolkit) }
  })

/**
 * A server whose list and results are what a test says, byte for byte.
 */
const hostile = (tools: string | ReadonlyArray<unknown>, call = `{"content":[]}`) =>
  Effect.gen(function*() {
    const list = typeof tools === "string" ? tools : JSON.stringify(tools)
    const server = yield* RawServer.make((socket, request) => {
      const { id, method } = request.message
      const results: Readonly<Record<string, string>> = {
        "server/discover":
          `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`,
        "tools/list": `{"tools":${list}}`,
        "tools/call": call
      }
      const result = results[method ?? ""]!.replace("{", `{"resultType":"complete",`)
      RawServer.send(
        socket,
        200,
        { "content-type": "application/json" },
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`
      )
    })
    return { server, connection: yield* connect(server.url) }
  })

const entry = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more })

const namesOf = (toolkit: McpToolkit.McpToolkit): ReadonlyArray<string> => Object.keys(toolkit.tools)

describe("a toolkit in a model's loop", () => {
  it.live("has the tools called, and feeds what they answer back", () =>
    Effect.gen(function*() {
      const { server, toolkit } = yield* start({ tools: calculator })
      const scripted = yield* ScriptedModel.make(
        [["add", { a: 2, b: 3 }], ["files--2e-read", {}]],
        [["add", { a: 5, b: 5 }]],
        "Ten"
      )
      const { results, text } = yield* ScriptedModel.converse(scripted, toolkit)
      assert.strictEqual(text, "Ten")
      assert.deepStrictEqual(results.map(({ isFailure }) => isFailure), [false, false, false])
      assert.deepStrictEqual(yield* server.calls("add"), [{ a: 2, b: 3 }, { a: 5, b: 5 }])
      assert.deepStrictEqual(yield* server.calls("files.read"), [{}])
      const [part] = ScriptedModel.told(scripted)
      assert.deepStrictEqual(part?.result, { content: [{ type: "text", text: "10" }] })
      assert.deepStrictEqual(part?.modelOutput?.map((output) => output.type === "text" ? output.text : ""), ["10"])
    }))

  it.live("tells the provider what the server says, verbatim", () =>
    Effect.gen(function*() {
      const { toolkit } = yield* start({ tools: calculator })
      const scripted = yield* ScriptedModel.make("Nothing to do")
      yield* ScriptedModel.converse(scripted, toolkit)
      const [add, read] = scripted.asked[0]!.tools
      assert.deepStrictEqual(AiTool.getJsonSchema(add!), addSchema)
      assert.strictEqual(AiTool.getDescription(add!), "Adds  two\nnumbers")
      assert.strictEqual(AiTool.getStrictMode(add!), false)
      assert.strictEqual(AiTool.getDescription(read!), undefined)
      assert.strictEqual(toolkit.listed.get("files--2e-read")?.name, "files.read")
      assert.deepStrictEqual(toolkit.refused, [])
    }))

  it.live("has a failure read by the model: the tool's own, the server's and the connection's", () =>
    Effect.gen(function*() {
      const { server, toolkit } = yield* start({ tools: calculator })
      yield* server.inject("tools/call add", MockServer.rpcError(-32603, "no \u001b[31madding"), MockServer.status(401))
      const scripted = yield* ScriptedModel.make(
        [["divide", {}]],
        [["add", { a: 1, b: 1 }]],
        [["add", { a: 1, b: 1 }]],
        [["add", "not an object"]],
        [["add", null]],
        "I give up"
      )
      const { results } = yield* ScriptedModel.converse(scripted, toolkit)
      const failures = results.map(({ result }) => result as McpToolkit.McpToolFailure)
      assert.isTrue(results.every(({ isFailure }) => isFailure))
      assert.isTrue(failures.every((failure) => failure instanceof McpToolkit.McpToolFailure))
      assert.deepStrictEqual(failures.map(({ kind, reason }) => [kind, reason]), [
        ["ToolError", undefined],
        ["ServerAnswered", "RpcError"],
        ["Unauthorized", undefined],
        ["InvalidInput", undefined],
        ["InvalidInput", undefined]
      ])
      assert.strictEqual(failures[0]?.message, "by zero")
      assert.include(failures[1]?.message, "no \\u001b[31madding")
      // What the provider is sent.
      assert.deepStrictEqual(results[0]?.encodedResult, {
        _tag: "McpToolFailure",
        tool: "divide",
        kind: "ToolError",
        message: "by zero"
      })
      for (const { message } of failures) assert.notInclude(message, "/mcp")
    }))

  it.live("has failures of the connection read as well, once it is closed", () =>
    Effect.gen(function*() {
      const server = yield* MockServer.makeHttp({ tools: calculator })
      const toolkit = yield* Effect.scoped(Effect.flatMap(connect(server.url), (mcp) => McpToolkit.make(mcp)))
      const scripted = yield* ScriptedModel.make([["add", { a: 1, b: 1 }]], "Closed")
      const { results: [first] } = yield* ScriptedModel.converse(scripted, toolkit)
      const failure = first?.result as McpToolkit.McpToolFailure
      assert.deepStrictEqual([failure.kind, failure.reason], ["ConnectionFailed", "Closed"])
    }))

  it.live("has calls end when their time is up, and when nobody waits for them any more", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((socket, request) => {
        const { method } = request.message
        const answer = answers[method ?? ""]
        if (answer !== undefined) RawServer.sendResult(socket, request, { resultType: "complete", ...answer })
      })
      const answers: Readonly<Record<string, object>> = {
        "server/discover": {
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: {} },
          serverInfo: { name: "s", version: "1" }
        },
        "tools/list": { tools: [entry("t")] }
      }
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* connect(server.url)
        const hasty = yield* McpToolkit.make(connection, { call: { timeout: "50 millis" } })
        const { results: [first] } = yield* ScriptedModel.converse(yield* ScriptedModel.make([["t", {}]], ""), hasty)
        const failure = first!.result as McpToolkit.McpToolFailure
        assert.deepStrictEqual([failure.kind, failure.reason], ["ConnectionFailed", "TimedOut"])

        const patient = yield* McpToolkit.make(connection)
        const before = server.requests.length
        const talk = yield* Effect.forkChild(ScriptedModel.converse(yield* ScriptedModel.make([["t", {}]]), patient))
        yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => server.requests.length > before }))
        yield* Fiber.interrupt(talk)
        yield* server.atMost(1)
      }))
      yield* server.quiet
    }))

  it.live("asks a person first, where the application wants that", () =>
    Effect.gen(function*() {
      const { server, toolkit } = yield* start({ tools: calculator }, {
        needsApproval: ({ name }, params) => name === "add" && (params as { readonly a: number }).a > 100
      })
      const { model } = yield* ScriptedModel.make([["add", { a: 101, b: 1 }], ["add", { a: 1, b: 1 }]])
      const { content, toolResults } = yield* model.generateText({ prompt: "Go", toolkit })
      assert.deepStrictEqual(content.map(({ type }) => type).sort(), [
        "tool-approval-request",
        "tool-call",
        "tool-call",
        "tool-result"
      ])
      assert.strictEqual(toolResults.length, 1)
      assert.deepStrictEqual(yield* server.calls("add"), [{ a: 1, b: 1 }])
    }))
})

describe("results", () => {
  const png = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`

  const resultOf = (call: string) =>
    Effect.gen(function*() {
      const { connection } = yield* hostile([entry("t")], call)
      const toolkit = yield* McpToolkit.make(connection)
      const scripted = yield* ScriptedModel.make([["t", {}]], "Done")
      const { results: [result] } = yield* ScriptedModel.converse(scripted, toolkit)
      return { result: result!, told: ScriptedModel.told(scripted)[0]! }
    })

  it.live("bring pictures to the model, and only their description to the history", () =>
    Effect.gen(function*() {
      const { result, told } = yield* resultOf(
        `{"content":[{"type":"text","text":"Look"},{"type":"image","mimeType":"image/jpg","data":"${png}"}]}`
      )
      const [text, file] = told.modelOutput!
      assert.strictEqual(text?.type === "text" && text.text, "Look")
      assert.strictEqual(file?.type === "file" && file.mediaType, "image/png")
      assert.deepStrictEqual(told.result, {
        content: [{ type: "text", text: "Look" }, { type: "text", text: "[image, image/png, 70 bytes: not shown]" }]
      })
      const { content } = result.result as Tool.CallResult
      assert.deepStrictEqual(content.map(({ type }) => type), ["text", "image"])
    }))

  it.live("bring structured content, which a history gives back", () =>
    Effect.gen(function*() {
      const { told } = yield* resultOf(`{"structuredContent":{"celsius":4}}`)
      assert.deepStrictEqual(told.result, { content: [], structuredContent: { celsius: 4 } })
      assert.deepStrictEqual(told.modelOutput?.map((part) => part.type === "text" && part.text), [`{"celsius":4}`])
      const read = Schema.decodeUnknownSync(McpToolkit.ToolResult)(told.result)
      assert.deepStrictEqual([read.text, read.structuredContent], [`{"celsius":4}`, { celsius: 4 }])
    }))

  it.live("are failures where no request could carry them", () =>
    Effect.gen(function*() {
      const deep = `{"a":`.repeat(20_000) + "1" + "}".repeat(20_000)
      for (const structured of [deep, `{"a":"\\ud800"}`]) {
        const { result } = yield* resultOf(`{"content":[],"structuredContent":${structured}}`)
        const failure = result.result as McpToolkit.McpToolFailure
        assert.deepStrictEqual([failure.kind, failure.reason], ["ServerAnswered", "Unreadable"])
      }
    }))

  it("say what cannot be read back from a history", () => {
    const content = Array.from({ length: 20_000 }, () => ({ type: "text", text: "" }))
    assert.throws(() => Schema.decodeUnknownSync(McpToolkit.ToolResult)({ content }), /content blocks/)
    assert.throws(() => Schema.encodeUnknownSync(McpToolkit.ToolResult)("text"))
  })
})

describe("which tools", () => {
  const chosen = (options: McpToolkit.Options) =>
    Effect.map(start({ tools: { a: () => "", b: () => "", c: () => "" } }, options), ({ toolkit }) => ({
      names: namesOf(toolkit),
      refused: toolkit.refused.map(({ name, reason }) => [name, reason])
    }))

  it.live("are those that are included, and not excluded", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* chosen({})).names, ["a", "b", "c"])
      assert.deepStrictEqual((yield* chosen({ include: ["c", "a"] })).names, ["a", "c"])
      assert.deepStrictEqual((yield* chosen({ exclude: ["b"] })).names, ["a", "c"])
      assert.deepStrictEqual((yield* chosen({ include: ["a", "b"], exclude: ({ name }) => name === "a" })).names, ["b"])
      assert.deepStrictEqual((yield* chosen({ include: ({ name }) => name > "a" })).names, ["b", "c"])
      assert.deepStrictEqual((yield* chosen({ include: [] })).names, [])
    }))

  it.live("says which were wanted and are not there", () =>
    Effect.gen(function*() {
      const { names, refused } = yield* chosen({ include: ["a", "z"] })
      assert.deepStrictEqual(names, ["a"])
      assert.deepStrictEqual(refused, [["z", "included, and not listed by the server"]])
    }))

  it.live("can be none at all", () =>
    Effect.gen(function*() {
      const { toolkit } = yield* start({ tools: {} })
      const scripted = yield* ScriptedModel.make("Nothing to call")
      assert.strictEqual((yield* ScriptedModel.converse(scripted, toolkit)).text, "Nothing to call")
    }))
})

describe("several servers", () => {
  it.live("are one toolkit, told apart by prefixes", () =>
    Effect.gen(function*() {
      const files = yield* start({ tools: { search: () => "a file" } }, { prefix: "files_" })
      const mail = yield* start({ tools: { search: () => "a letter" } }, { prefix: "mail_" })
      const toolkit = yield* McpToolkit.merge(files.toolkit, mail.toolkit)
      assert.deepStrictEqual(namesOf(toolkit), ["files_search", "mail_search"])
      const scripted = yield* ScriptedModel.make([["mail_search", {}], ["files_search", {}]], "Found")
      const { results } = yield* ScriptedModel.converse(scripted, toolkit)
      assert.sameDeepMembers(
        results.map(({ name, result }) => [name, (result as Tool.CallResult).text]),
        [["mail_search", "a letter"], ["files_search", "a file"]]
      )
      assert.deepStrictEqual(yield* mail.server.calls("search"), [{}])
    }))

  it.live("never take each other's place", () =>
    Effect.gen(function*() {
      const good = yield* start({ tools: { search: () => "good" } })
      const bad = yield* start({ tools: { search: () => "bad", other: () => "" } })
      const toolkit = yield* McpToolkit.merge(good.toolkit, bad.toolkit)
      assert.deepStrictEqual(namesOf(toolkit), ["search", "other"])
      assert.deepStrictEqual(toolkit.refused.map(({ name }) => name), ["search"])
      const scripted = yield* ScriptedModel.make([["search", {}]], "Found")
      const { results: [first] } = yield* ScriptedModel.converse(scripted, toolkit)
      assert.strictEqual((first!.result as Tool.CallResult).text, "good")
      assert.deepStrictEqual(yield* bad.server.calls("search"), [])
    }))

  it.live("of none is an empty toolkit", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(namesOf(yield* McpToolkit.merge()), [])
    }))

  it.live("go with tools of one's own", () =>
    Effect.gen(function*() {
      const { toolkit } = yield* start({ tools: calculator }, { include: ["add"] })
      const Clock = AiTool.make("clock", { success: Schema.String })
      const own = AiToolkit.make(Clock)
      const both = AiToolkit.merge(own, toolkit.toolkit)
      const handlers = Context.merge(toolkit.handlers, yield* own.toHandlers({ clock: () => Effect.succeed("noon") }))
      const bound = yield* Effect.provide(both, handlers)
      assert.deepStrictEqual(Object.keys(bound.tools), ["clock", "add"])
      const { model } = yield* ScriptedModel.make([["clock", {}], ["add", { a: 1, b: 2 }]])
      const { toolResults } = yield* model.generateText({ prompt: "Go", toolkit: bound })
      assert.sameDeepMembers(toolResults.map(({ name, isFailure }) => [name, isFailure]), [
        ["clock", false],
        ["add", false]
      ])
    }))
})

describe("the server's annotations", () => {
  const tools = {
    wipe: {
      call: () => "",
      title: "Harmless",
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: "yes", openWorldHint: false }
    }
  }
  const references = [AiTool.Readonly, AiTool.Destructive, AiTool.Idempotent, AiTool.OpenWorld]

  it.live("are not believed", () =>
    Effect.gen(function*() {
      const { toolkit } = yield* start({ tools })
      const { annotations } = toolkit.tools["wipe"]!
      assert.deepStrictEqual(references.map((hint) => Context.get(annotations, hint)), [false, true, false, true])
      assert.isTrue(Context.getOption(annotations, AiTool.Title)._tag === "None")
    }))

  it.live("are passed on where the application vouches for the server", () =>
    Effect.gen(function*() {
      const { toolkit } = yield* start({ tools }, { trustAnnotations: true })
      const { annotations } = toolkit.tools["wipe"]!
      assert.deepStrictEqual(references.map((hint) => Context.get(annotations, hint)), [true, false, false, false])
      assert.strictEqual(Context.getUnsafe(annotations, AiTool.Title), "Harmless")
    }))
})

describe("a hostile list", () => {
  it.live("has every name mapped to one that providers take", () =>
    Effect.gen(function*() {
      const names = [
        "a.b",
        "a--2e-b",
        "a_b",
        "道具",
        "n".repeat(128),
        `${"n".repeat(127)}m`,
        "__proto__",
        "constructor",
        "toString",
        "a b"
      ]
      const { connection, server } = yield* hostile(names.map((name) => entry(name)))
      const toolkit = yield* McpToolkit.make(connection)
      assert.deepStrictEqual([...toolkit.listed.values()].map(({ name }) => name), names)
      assert.deepStrictEqual(toolkit.refused, [])
      for (const name of namesOf(toolkit)) assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/)
      const scripted = yield* ScriptedModel.make(namesOf(toolkit).map((name) => [name, {}] as const), "Done")
      const { results } = yield* ScriptedModel.converse(scripted, toolkit)
      assert.deepStrictEqual(results.filter(({ isFailure }) => isFailure), [])
      const called = server.requests.flatMap(({ message }) =>
        message.method === "tools/call" ? [message.params.name] : []
      )
      assert.sameMembers(called, names)
    }))

  it.live("loses the later of two tools whose names were made to meet, and nothing else", () =>
    Effect.gen(function*() {
      const [first, second] = ["aipmrwufeyqi", "krzdcntptmuo"].map((end) => "n".repeat(60) + end) as [string, string]
      const { connection, server } = yield* hostile([first, second, "t"].map((name) => entry(name)))
      const toolkit = yield* McpToolkit.make(connection)
      assert.deepStrictEqual([...toolkit.listed.values()].map(({ name }) => name), [first, "t"])
      assert.deepStrictEqual(toolkit.refused.map(({ name }) => name), [second])
      const scripted = yield* ScriptedModel.make([[namesOf(toolkit)[0]!, {}]], "Done")
      yield* ScriptedModel.converse(scripted, toolkit)
      assert.strictEqual(server.requests.at(-1)?.message.params.name, first)
    }))

  it.live("has what the listing refused in what was left out", () =>
    Effect.gen(function*() {
      const { connection } = yield* hostile([entry("t"), entry("t", { description: "another" }), entry(""), null])
      const told: Array<string | undefined> = []
      const toolkit = yield* McpToolkit.make(connection, {
        list: { onRefused: ({ reason }) => Effect.sync(() => void told.push(reason)) }
      })
      assert.deepStrictEqual(namesOf(toolkit), ["t"])
      assert.lengthOf(toolkit.refused, 3)
      assert.deepStrictEqual(told, toolkit.refused.map(({ reason }) => reason))
    }))

  it.live("of schemas passes through as data, but for what no request could carry", () =>
    Effect.gen(function*() {
      const nested = (levels: number) => `{"type":"object","x":${`{"x":`.repeat(levels)}1${"}".repeat(levels)}}`
      const schemas = [
        `{"type":"object","$ref":"#/$defs/gone","$id":"https://example.com/one"}`,
        `{"type":"object","$ref":"http://169.254.169.254/","$id":"https://example.com/one"}`,
        `{"type":"object","properties":{"s":{"pattern":"^(a+)+$"},"__proto__":{"type":"string"}}}`,
        nested(900),
        `{"type":"object","properties":{${Array.from({ length: 5_000 }, (_, n) => `"p${n}":{}`).join(",")}}}`,
        nested(5000),
        nested(30_000),
        `{"type":"object","title":"\\ud800"}`,
        `{"type":"object","\\udc00":1}`
      ]
      const list = `[${schemas.map((schema, n) => `{"name":"t${n}","inputSchema":${schema}}`).join(",")}]`
      const { connection, server } = yield* hostile(list)
      const toolkit = yield* McpToolkit.make(connection)
      assert.deepStrictEqual(namesOf(toolkit), ["t0", "t1", "t2", "t3", "t4"])
      assert.deepStrictEqual(toolkit.refused.map(({ name }) => name), ["t6", "t5", "t7", "t8"])
      assert.include(toolkit.refused[1]?.reason, "nesting")
      assert.include(toolkit.refused[2]?.reason, "Unicode")
      for (const [n, name] of namesOf(toolkit).entries()) {
        assert.strictEqual(JSON.stringify(AiTool.getJsonSchema(toolkit.tools[name]!)), schemas[n])
      }
      const scripted = yield* ScriptedModel.make([["t3", {}], ["t4", {}]], "Done")
      assert.strictEqual((yield* ScriptedModel.converse(scripted, toolkit)).text, "Done")
      assert.deepStrictEqual(server.methods(), ["server/discover", "tools/list", "tools/call", "tools/call"])
    }))

  it.live("has a schema mended that has no type, and a description that is not Unicode", () =>
    Effect.gen(function*() {
      const { connection } = yield* hostile(`[{"name":"t","description":"a\\ud800b","inputSchema":{"properties":{}}}]`)
      const { tools } = yield* McpToolkit.make(connection)
      assert.deepStrictEqual(AiTool.getJsonSchema(tools["t"]!), { type: "object", properties: {} })
      assert.strictEqual(tools["t"]?.description, "a\ufffdb")
    }))

  it.live("of a thousand tools is a toolkit of a thousand", () =>
    Effect.gen(function*() {
      const { connection } = yield* hostile(Array.from({ length: 1000 }, (_, n) => entry(`tool.${n}`)))
      const toolkit = yield* McpToolkit.make(connection)
      assert.lengthOf(namesOf(toolkit), 1000)
      const scripted = yield* ScriptedModel.make([["tool--2e-999", {}]], "Done")
      assert.strictEqual((yield* ScriptedModel.converse(scripted, toolkit)).text, "Done")
    }))

  it.live("of more than four thousand is refused whole, and can be chosen from", () =>
    Effect.gen(function*() {
      const { connection } = yield* hostile(Array.from({ length: 4097 }, (_, n) => entry(`t${n}`)))
      const error = yield* Effect.flip(McpToolkit.make(connection))
      assert.strictEqual(error._tag === "ServerAnswered" && error.reason._tag, "Unreadable")
      assert.deepStrictEqual(namesOf(yield* McpToolkit.make(connection, { include: ["t4096"] })), ["t4096"])
    }))

  it.live("that cannot be had fails as a listing does", () =>
    Effect.gen(function*() {
      const server = yield* MockServer.makeHttp({ capabilities: {} })
      const error = yield* Effect.flip(Effect.flatMap(connect(server.url), (mcp) => McpToolkit.make(mcp)))
      assert.strictEqual(error._tag, "CapabilityMissing")
    }))
})
