/**
 * Results checked against the schema that their tool declared: revision 2026-07-28, server/tools, "Output Schema".
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { type McpError, McpPolicy } from "../src/index.ts"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const answer = (result: object): Raw.Responder => (socket, request) =>
  Raw.sendResult(socket, request, { resultType: "complete", ...result })

const listing = (schemas: Readonly<Record<string, unknown>>): Raw.Responder =>
  answer({
    tools: Object.entries(schemas).map(([name, outputSchema]) => ({ name, inputSchema: {}, outputSchema }))
  })

const structured = (structuredContent: unknown, more: object = {}): Raw.Responder =>
  answer({ content: [], structuredContent, ...more })

const weather = {
  type: "object",
  properties: { temperature: { type: "number" }, tags: { type: "array", items: { enum: ["wet", "dry"] } } },
  required: ["temperature"]
}

const serverOf = (era: "modern" | "legacy", outputSchema: unknown, called: Raw.Responder) =>
  Raw.make(Raw[era]({ "tools/list": listing({ t: outputSchema }), "tools/call": called }))

const checked = { validateOutput: true } as const

const detailOf = (error: McpError.McpError): string => {
  assert.strictEqual(error._tag, "ServerAnswered")
  return ((error as McpError.ServerAnswered).reason as McpError.Unreadable).detail
}

const refuses = (era: "modern" | "legacy", outputSchema: unknown, called: Raw.Responder) =>
  Effect.gen(function*() {
    const server = yield* serverOf(era, outputSchema, called)
    const connection = yield* connect(server.url)
    const error = yield* failsWith(connection.callTool("t", {}, checked), "ServerAnswered/Unreadable")
    return { detail: detailOf(error), error, connection }
  })

for (const era of ["modern", "legacy"] as const) {
  describe(`a checked call, ${era}`, () => {
    it.live("has the result where it fits", () =>
      Effect.gen(function*() {
        const server = yield* serverOf(era, weather, structured({ temperature: 21.5, tags: ["dry"] }))
        const connection = yield* connect(server.url)
        const result = yield* connection.callTool("t", {}, checked)
        assert.deepStrictEqual(result.structuredContent, { temperature: 21.5, tags: ["dry"] })
      }))

    it.live("says what does not fit, and where, without the value", () =>
      Effect.gen(function*() {
        const { detail, error } = yield* refuses(era, weather, structured({ temperature: 1, tags: ["dry", "s3cret"] }))
        assert.strictEqual(
          detail,
          "structuredContent is not as the tool declared it: what is at /tags/1 is none of the values that are allowed"
        )
        assert.notInclude(error.message + JSON.stringify(error), "s3cret")
      }))

    it.live("fails where there is no structuredContent at all", () =>
      Effect.gen(function*() {
        const { detail } = yield* refuses(era, weather, answer({ content: [] }))
        assert.strictEqual(detail, "no structuredContent, though the tool declares an outputSchema")
      }))

    it.live("leaves a result with isError as it is", () =>
      Effect.gen(function*() {
        const server = yield* serverOf(era, weather, structured({ temperature: "?" }, { isError: true }))
        const connection = yield* connect(server.url)
        assert.isTrue((yield* connection.callTool("t", {}, checked)).isError)
      }))

    it.live("takes any value for a tool that declares nothing", () =>
      Effect.gen(function*() {
        const server = yield* serverOf(era, undefined, structured([1]))
        const connection = yield* connect(server.url)
        assert.deepStrictEqual((yield* connection.callTool("t", {}, checked)).structuredContent, [1])
      }))

    it.live("takes a value that is no object where the schema says so", () =>
      Effect.gen(function*() {
        const server = yield* serverOf(era, { type: "null" }, structured(null))
        const connection = yield* connect(server.url)
        assert.isNull((yield* connection.callTool("t", {}, checked)).structuredContent)
      }))
  })
}

describe("a schema that cannot be used", () => {
  const cases: ReadonlyArray<readonly [string, unknown, string]> = [
    ["a dangling reference", { $ref: "#/$defs/no" }, "has a reference that leads nowhere in it"],
    ["an unknown dialect", { $schema: "urn:x" }, "is of a dialect that is not known here"],
    ["a circle", { $ref: "#" }, "leads more than 512 schemas deep"]
  ]
  for (const [what, outputSchema, problem] of cases) {
    it.live(`fails the checks of its own tool: ${what}`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.modern({
          "tools/list": listing({ t: outputSchema, u: { type: "string" } }),
          "tools/call": structured("a")
        }))
        const connection = yield* connect(server.url)
        const error = yield* failsWith(connection.callTool("t", {}, checked), "ServerAnswered/Unreadable")
        assert.strictEqual(
          detailOf(error),
          `structuredContent cannot be checked: the tool's outputSchema ${problem}`
        )
        assert.strictEqual((yield* connection.callTool("u", {}, checked)).structuredContent, "a")
        assert.strictEqual((yield* connection.callTool("t")).structuredContent, "a")
      }))
  }

  it.live("fetches nothing", () =>
    Effect.gen(function*() {
      const other = yield* Raw.make(Raw.modern())
      const { detail } = yield* refuses("modern", { $id: other.url, $ref: `${other.url}/a` }, structured("a"))
      assert.include(detail, "leads nowhere")
      assert.strictEqual(other.connections(), 0)
    }))

  it.live("escapes and cuts what it quotes", () =>
    Effect.gen(function*() {
      const name = `\u001b[31m\u202e${"x".repeat(1000)}`
      const { detail, error } = yield* refuses("modern", { additionalProperties: false }, structured({ [name]: 1 }))
      assert.include(detail, "/\\u001b[31m\\u202exxx")
      assert.isBelow(error.message.length, 500)
      const lacks = yield* refuses("modern", { required: [name] }, structured({}))
      assert.include(lacks.detail, "\"\\u001b[31m\\u202exxx")
      assert.isBelow(lacks.error.message.length, 500)
    }))

  it.live("with the $id of another does not get in its way", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/list": listing({
          s: { $id: "urn:one", $ref: "#/$defs/a", $defs: { a: { type: "string" } } },
          n: { $id: "urn:one", $ref: "#/$defs/a", $defs: { a: { type: "number" } } }
        }),
        "tools/call": (socket, request) => structured(request.message.params.arguments.value)(socket, request)
      }))
      const connection = yield* connect(server.url)
      assert.strictEqual((yield* connection.callTool("s", { value: "a" }, checked)).structuredContent, "a")
      assert.strictEqual((yield* connection.callTool("n", { value: 1 }, checked)).structuredContent, 1)
      yield* failsWith(connection.callTool("s", { value: 1 }, checked), "ServerAnswered/Unreadable")
    }))
})

describe("the schemas", () => {
  const methods = (server: Raw.RawServer) => server.methods().slice(1)

  it.live("are listed once, before the first checked call, however many there are at once", () =>
    Effect.gen(function*() {
      const server = yield* serverOf("modern", weather, structured({ temperature: 1 }))
      const connection = yield* connect(server.url)
      yield* connection.callTool("t")
      yield* Effect.all(Array.from({ length: 8 }, () => connection.callTool("t", {}, checked)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(methods(server).slice(0, 3), ["tools/call", "tools/list", "tools/call"])
      assert.strictEqual(methods(server).filter((method) => method === "tools/list").length, 1)
    }))

  it.live("are those of the last listing", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/list": (socket, request) =>
          listing({ t: { type: request.nth === 0 ? "number" : "string" } })(socket, request),
        "tools/call": structured("a")
      }))
      const connection = yield* connect(server.url, { policy: McpPolicy.make(checked) })
      yield* connection.listTools()
      yield* failsWith(connection.callTool("t"), "ServerAnswered/Unreadable")
      yield* connection.listTools()
      assert.strictEqual((yield* connection.callTool("t")).structuredContent, "a")
      assert.deepStrictEqual(methods(server), ["tools/list", "tools/call", "tools/list", "tools/call"])
    }))

  it.live("are not asked for where nothing is checked, and a call may say so", () =>
    Effect.gen(function*() {
      const server = yield* serverOf("modern", weather, structured({}))
      const connection = yield* connect(server.url, { policy: McpPolicy.make(checked) })
      yield* connection.callTool("t", {}, { validateOutput: false })
      assert.deepStrictEqual(methods(server), ["tools/call"])
    }))

  it.live("that cannot be listed: the call is not sent", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/list": (socket, request) => Raw.sendError(socket, request, { code: -32603, message: "no" })
      }))
      const connection = yield* connect(server.url)
      const error = yield* failsWith(connection.callTool("t", {}, checked), "ServerAnswered/RpcError")
      assert.strictEqual(error.operation, "tools/call t")
      assert.deepStrictEqual(methods(server), ["tools/list"])
    }))

  it.live("of more tools than are kept ready are got ready again", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/list": listing(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`t${i}`, { const: i }]))),
        "tools/call": (socket, request) => structured(Number(request.message.params.name.slice(1)))(socket, request)
      }))
      const connection = yield* connect(server.url)
      for (const round of [1, 2]) {
        for (let i = 0; i < 100; i++) {
          assert.strictEqual((yield* connection.callTool(`t${i}`, {}, checked)).structuredContent, i, `round ${round}`)
        }
      }
    }))

  it.live("do not keep a call past its deadline while another lists them", () =>
    Effect.gen(function*() {
      const isListing = Deferred.makeUnsafe<void>()
      const server = yield* Raw.make(Raw.modern({
        "tools/list": () => Deferred.doneUnsafe(isListing, Effect.void)
      }))
      const connection = yield* connect(server.url)
      const first = yield* Effect.forkScoped(connection.callTool("t", {}, checked))
      yield* Deferred.await(isListing)
      yield* failsWith(
        connection.callTool("t", {}, { ...checked, timeout: "50 millis" }),
        "ConnectionFailed/TimedOut"
      )
      assert.isUndefined(first.pollUnsafe())
      assert.deepStrictEqual(methods(server), ["tools/list"])
    }))
})
