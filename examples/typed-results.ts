/**
 * Tools whose answers a program works with. `McpConnection.callToolAs` decodes what a tool answers by a schema of the
 * program's own; the tool's refusal is an error beside the five of `McpError`, so that each is caught by its tag.
 * `validateOutput` holds the server to the schema that it declared itself.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Effect, Schema } from "effect"
import { McpConnection } from "effect-mcp-client"
import { MockServer } from "effect-mcp-client/testing"
import * as Expect from "./support/expect.ts"

// -----------------------------------------------------------------------------
// The application
// -----------------------------------------------------------------------------

/**
 * What the program needs of an answer, and no more: a server may say more than that.
 */
const Flight = Schema.Struct({
  number: Schema.NonEmptyString,
  departs: Schema.DateTimeUtcFromString,
  seats: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
})

/**
 * A tool as a function. Where the tool says no, that is an answer here; where its answer is of no use, it is not.
 */
const departure = Effect.fnUntraced(function*(number: string) {
  const mcp = yield* McpConnection.McpConnection
  const flight = yield* McpConnection.callToolAs(mcp, Flight, "flight", { number })
  return `${flight.number} departs at ${DateTime.formatIso(flight.departs)}, ${flight.seats} seats left`
}, Effect.catchTag("ToolFailed", ({ result }) => Effect.succeed(`no such flight: ${result.text}`)))

// -----------------------------------------------------------------------------
// A server, and what becomes of its answers
// -----------------------------------------------------------------------------

const answers: Readonly<Record<string, object>> = {
  SK123: { number: "SK123", departs: "2026-07-28T12:00:00Z", seats: 7, gate: "B4" },
  SK124: { number: "SK124", departs: "tomorrow", seats: 7 },
  SK125: { number: "SK125", departs: "2026-07-28T15:00:00Z", seats: 7, gate: 4 }
}

const flight: MockServer.ToolDefinition = {
  call: ({ number }) => answers[String(number)] ?? Effect.fail(new Error(`${number} does not fly`)),
  outputSchema: {
    type: "object",
    properties: {
      number: { type: "string", pattern: "^[A-Z]{2}\\d+$" },
      departs: { type: "string", format: "date-time" },
      seats: { type: "integer", minimum: 0 },
      gate: { type: "string" }
    },
    required: ["number", "departs", "seats"]
  }
}

const program = Effect.gen(function*() {
  const mcp = yield* McpConnection.McpConnection

  const known = yield* departure("SK123")
  yield* Expect.that(known === "SK123 departs at 2026-07-28T12:00:00.000Z, 7 seats left", "the time, decoded")
  const unknown = yield* departure("SK999")
  yield* Expect.that(unknown === "no such flight: SK999 does not fly", "the tool's own words")
  yield* Console.log(`${known}\n${unknown}`)

  // The place, and never the value, which may be anybody's.
  const unfit = yield* Effect.flip(departure("SK124"))
  yield* Expect.that(unfit.message.endsWith("what is at /departs is not allowed"), "the place that does not fit")
  yield* Console.log(unfit.message)

  // This program does not look at the gate, but the server has said what a gate is.
  const broken = yield* Effect.flip(mcp.callTool("flight", { number: "SK125" }, { validateOutput: true }))
  yield* Expect.that(broken.message.endsWith("what is at /gate is not of type string"), "what the server declared")
  yield* Console.log(broken.message)
}).pipe(Effect.provide(MockServer.layerConnection({ tools: { flight } })))

NodeRuntime.runMain(program)
