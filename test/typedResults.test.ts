import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { McpConnection, McpError, Tool } from "../src/index.ts"
import { MockServer } from "../src/testing.ts"
import { failsWith, kind } from "./support/connect.ts"

const Weather = Schema.Struct({
  at: Schema.DateTimeUtcFromString,
  temperature: Schema.Finite.check(Schema.isBetween({ minimum: -90, maximum: 60 })),
  tags: Schema.Array(Schema.Literals(["wet", "dry"])),
  place: Schema.optionalKey(Schema.Struct({ name: Schema.String }))
})

const good = { at: "2026-07-28T12:00:00Z", temperature: 21.5, tags: ["dry"] }

/**
 * A connection to a tool that answers so.
 */
const over = <A, E, R>(
  result: unknown,
  use: (connection: McpConnection.Service) => Effect.Effect<A, E, R>,
  protocol?: "2025-11-25"
) =>
  Effect.flatMap(McpConnection.McpConnection, use).pipe(
    Effect.provide(MockServer.layerConnection({ protocol, tools: { weather: () => result } }))
  )

const call = (connection: Pick<McpConnection.Service, "callTool">) =>
  McpConnection.callToolAs(connection, Weather, "weather", { city: "Oslo" })

describe("callToolAs", () => {
  for (const protocol of [undefined, "2025-11-25"] as const) {
    it.effect(`decodes what fits (${protocol ?? "modern"})`, () =>
      Effect.gen(function*() {
        const weather = yield* over({ structuredContent: good }, call, protocol)
        assert.strictEqual(weather.temperature, 21.5)
        assert.strictEqual(weather.at.epochMilliseconds, Date.UTC(2026, 6, 28, 12))
      }))
  }

  const bad: ReadonlyArray<readonly [what: string, result: unknown, detail: string]> = [
    ["nothing", { content: [] }, "no structuredContent"],
    ["a text that has it", JSON.stringify(good), "no structuredContent"],
    [
      "a member that is not there",
      { structuredContent: { ...good, temperature: undefined } },
      "/temperature is missing"
    ],
    [
      "a member of another type",
      { structuredContent: { ...good, tags: "s3cret" } },
      "what is at /tags is of another type"
    ],
    [
      "an item of no kind",
      { structuredContent: { ...good, tags: ["dry", "s3cret"] } },
      "what is at /tags/1 is of no kind"
    ],
    [
      "a number that is too large",
      { structuredContent: { ...good, temperature: 987654 } },
      "what is at /temperature is not allowed"
    ],
    ["a text that is no time", { structuredContent: { ...good, at: "s3cret" } }, "what is at /at is not allowed"],
    [
      "a member far in",
      { structuredContent: { ...good, place: { name: 987654 } } },
      "what is at /place/name is of another type"
    ],
    ["another type altogether", { structuredContent: ["s3cret"] }, "what is at / is of another type"],
    ["null", { structuredContent: null }, "what is at / is of another type"]
  ]
  for (const [what, result, expected] of bad) {
    it.effect(`fails where it does not fit, with the place and without the value: ${what}`, () =>
      Effect.gen(function*() {
        const error = yield* failsWith(over(result, call), "ServerAnswered/Unreadable")
        assert.include(error.message, "tools/call weather: ")
        assert.isTrue(error.message.endsWith(expected), error.message)
        for (const shown of [error.message, JSON.stringify(error), String(error)]) {
          assert.notMatch(shown, /s3cret|987654/)
        }
      }))
  }

  it.effect("fails with the tool's verdict, and has the result", () =>
    Effect.gen(function*() {
      const verdict = {
        isError: true,
        content: [{ type: "text", text: "no such \u001b[31mcity" }],
        structuredContent: good
      }
      const error = yield* Effect.flip(over(verdict, call))
      assert.strictEqual(error._tag, "ToolFailed")
      if (error._tag !== "ToolFailed") return
      assert.isFalse(McpError.isMcpError(error))
      assert.instanceOf(error, Tool.ToolFailed)
      assert.isTrue(error.result.isError)
      assert.strictEqual(error.result.text, "no such \u001b[31mcity")
      assert.strictEqual(error.message, "the tool weather says: no such \\u001b[31mcity")
      assert.deepStrictEqual(JSON.parse(JSON.stringify(error)), {
        _tag: "ToolFailed",
        tool: "weather",
        message: error.message
      })
    }))

  it.effect("fails as the call does, and each failure is caught by its tag", () =>
    Effect.gen(function*() {
      const program = Effect.gen(function*() {
        const mock = yield* MockServer.MockServer
        yield* mock.inject("tools/call weather", MockServer.status(401))
        return yield* call(yield* McpConnection.McpConnection)
      })
      const said = yield* program.pipe(
        Effect.catchTags({
          ToolFailed: () => Effect.succeed("tool"),
          Unauthorized: ({ status }) => Effect.succeed(`unauthorized ${status}`)
        }),
        Effect.provide(MockServer.layerConnection({ tools: { weather: () => good } }))
      )
      assert.strictEqual(said, "unauthorized 401")
    }))

  it.effect("holds the server to its own schema where that is asked for", () =>
    Effect.gen(function*() {
      const outputSchema = { required: ["humidity"] }
      const layer = MockServer.layerConnection({ tools: { weather: { call: () => good, outputSchema } } })
      const outcome = Effect.gen(function*() {
        const connection = yield* McpConnection.McpConnection
        return yield* McpConnection.callToolAs(connection, Weather, "weather", {}, { validateOutput: true })
      })
      const error = yield* failsWith(Effect.provide(outcome, layer), "ServerAnswered/Unreadable")
      assert.include(error.message, "lacks the member \"humidity\"")
    }))

  it.effect("takes a stand-in, and a schema that needs a service", () =>
    Effect.gen(function*() {
      class Offset extends Context.Service<Offset, { readonly by: number }>()("test/Offset") {}
      const Shifted = Schema.Finite.pipe(Schema.decodeTo(Schema.Finite, {
        decode: SchemaGetter.transformEffect((value: number) => Effect.map(Offset, ({ by }) => value + by)),
        encode: SchemaGetter.passthrough()
      }))
      const standIn: Pick<McpConnection.Service, "callTool"> = {
        callTool: () => Effect.succeed({ content: [], isError: false, structuredContent: 5, text: "5" })
      }
      const value = yield* McpConnection.callToolAs(standIn, Shifted, "t").pipe(
        Effect.provideService(Offset, { by: 1 })
      )
      assert.strictEqual(value, 6)
    }))

  it.effect("refuses what is deeper than a recursive schema could follow", () =>
    Effect.gen(function*() {
      interface Nest {
        readonly inner?: Nest
      }
      const Nest: Schema.Codec<Nest> = Schema.Struct({
        inner: Schema.optionalKey(Schema.suspend((): Schema.Codec<Nest> => Nest))
      })
      const nested = (depth: number): unknown => {
        let value: object = {}
        for (let i = 0; i < depth; i++) value = { inner: value }
        return { structuredContent: value }
      }
      const decode = (depth: number) =>
        over(nested(depth), (connection) => McpConnection.callToolAs(connection, Nest, "weather"))
      assert.property(yield* decode(200), "inner")
      const error = yield* Effect.flip(decode(4000))
      assert.strictEqual(kind(error), "ServerAnswered/Unreadable")
      assert.include(error.message, "structuredContent is more than 256 deep")
    }))
})
