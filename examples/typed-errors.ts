/**
 * What an application makes of each failure. `Effect.catchTags` reads like the decision that it is; `catchReason` and
 * `catchReasons` look one step deeper; and a match over all of `McpError` does not compile until every case is decided,
 * so that a case which a later version adds is found by the compiler.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Duration, Effect, Match } from "effect"
import { McpConnection, type McpError } from "effect-mcp-client"
import { MockServer } from "effect-mcp-client/testing"
import * as Expect from "./support/expect.ts"

const program = Effect.gen(function*() {
  const mock = yield* MockServer.MockServer

  yield* mock.inject("tools/call search", MockServer.rpcError(-32602, "the query is too long"))
  yield* Console.log(`to the model: ${yield* searchForModel}`)

  yield* mock.inject("tools/call search", MockServer.halfBody)
  yield* Console.log(`to the model: ${yield* searchForModel}`)

  yield* mock.inject("tools/call search", MockServer.status(503, { headers: { "retry-after": "1" } }))
  yield* Console.log(`with patience: ${yield* searchWithPatience}`)

  for (const [fault, expected] of faults) {
    yield* mock.inject("tools/call search", fault)
    const decision = yield* search.pipe(Expect.failure, Effect.catchTags(decideByTag))
    yield* Console.log(`${decision.action}: ${decision.why}`)
    yield* Expect.that(decision.action === expected, expected)
  }
}).pipe(Effect.provide(MockServer.layerConnection({ tools: { search: () => "three documents" } })))

const search = Effect.gen(function*() {
  const mcp = yield* McpConnection.McpConnection
  const result = yield* mcp.callTool("search", { query: "effect" }, { timeout: "100 millis" })
  return result.text
})

// -----------------------------------------------------------------------------
// A few cases, and the rest stays typed
// -----------------------------------------------------------------------------

/**
 * What the server says is for the model to read; a connection that failed is not the model's business. What it fails
 * with afterwards is `Unauthorized | CapabilityMissing | InvalidInput`.
 */
const searchForModel = search.pipe(
  Effect.catchTags({
    ServerAnswered: (error) => Effect.succeed(`The search refused: ${error.message}`),
    ConnectionFailed: () => Effect.succeed("The search is not available.")
  })
)

/**
 * `catchReasons` handles what is handled for good, `catchReason` what is tried once more.
 */
const searchWithPatience = search.pipe(
  Effect.catchReason(
    "ConnectionFailed",
    "HttpStatus",
    ({ retryAfter = Duration.zero }) => Effect.delay(search, Duration.min(retryAfter, "50 millis"))
  ),
  Effect.catchReasons("ConnectionFailed", {
    TimedOut: ({ limit }) => Effect.succeed(`nothing within ${Duration.format(limit)}`),
    BudgetExceeded: () => Effect.succeed("more than anybody reads")
  })
)

// -----------------------------------------------------------------------------
// Every case
// -----------------------------------------------------------------------------

interface Decision {
  readonly action: "ask the operator" | "tell the model" | "retry" | "fix the program"
  readonly why: string
}

const decide = (action: Decision["action"]) => ({ message }: { readonly message: string }): Decision => ({
  action,
  why: message
})

/**
 * Leave a line out, here or below, and the program does not compile.
 */
const decision: (error: McpError.McpError) => Decision = Match.valueTags({
  Unauthorized: decide("ask the operator"),
  ServerAnswered: ({ reason }) => decideAnswer(reason),
  ConnectionFailed: ({ reason }) => decideFailure(reason),
  CapabilityMissing: decide("fix the program"),
  InvalidInput: decide("fix the program")
})

const decideAnswer: (reason: McpError.ServerAnsweredReason) => Decision = Match.valueTags({
  RpcError: decide("tell the model"),
  InputRequired: decide("tell the model"),
  PaginationLoop: decide("ask the operator"),
  Unreadable: decide("ask the operator"),
  UnknownResultType: decide("ask the operator")
})

const decideFailure: (reason: McpError.ConnectionFailedReason) => Decision = Match.valueTags({
  Unreachable: ({ delivered, message }) =>
    // What may have been delivered may have been done.
    delivered === "no" ? decide("retry")({ message }) : decide("tell the model")({ message }),
  EgressDenied: decide("ask the operator"),
  TimedOut: decide("tell the model"),
  BudgetExceeded: decide("tell the model"),
  HttpStatus: ({ message, status }) =>
    decide(status === 429 || status === 503 ? "retry" : "ask the operator")({ message }),
  ProtocolViolation: decide("ask the operator"),
  UnsupportedVersion: decide("ask the operator"),
  SessionExpired: decide("retry"),
  Closed: decide("fix the program")
})

NodeRuntime.runMain(program)
