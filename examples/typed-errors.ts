/**
 * What an application makes of each failure. `Effect.catchTags` reads like the decision that it is, `catchReason` and
 * `catchReasons` look one step deeper, and a match over all of `McpError` compiles once every case is decided, so that
 * the compiler finds a case which a later version adds.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Duration, Effect, Match } from "effect"
import { JsonText, McpConnection, type McpError } from "effect-mcp-client"
import { MockServer } from "effect-mcp-client/testing"
import * as Expect from "./support/expect.ts"

/**
 * One tool of one server, with arguments as a model wrote them.
 */
const search = Effect.fnUntraced(function*(args: string): Effect.fn.Return<
  string,
  McpError.McpError,
  McpConnection.McpConnection
> {
  const mcp = yield* McpConnection.McpConnection
  const checked = yield* Effect.fromResult(JsonText.make(args))
  const result = yield* mcp.callTool("search", checked, { timeout: "250 millis" })
  return result.text
})

// -----------------------------------------------------------------------------
// Some cases, while the rest stays in the type
// -----------------------------------------------------------------------------

/**
 * What the server says is for the model to read, what became of the connection is not. What is left is in the type.
 */
const searchForModel = (args: string): Effect.Effect<
  string,
  McpError.Unauthorized | McpError.CapabilityMissing | McpError.InvalidInput,
  McpConnection.McpConnection
> =>
  search(args).pipe(
    Effect.catchTags({
      ServerAnswered: (error) => Effect.succeed(`The search refused. ${error.message}`),
      ConnectionFailed: () => Effect.succeed("The search is not available at the moment.")
    })
  )

/**
 * One reason leads to a second attempt, after what the server asked for, within reason; two others, of either attempt,
 * to an answer of our own.
 */
const searchPatiently = (args: string) =>
  search(args).pipe(
    Effect.catchReason("ConnectionFailed", "HttpStatus", ({ retryAfter = Duration.zero }) =>
      Effect.delay(search(args), Duration.min(retryAfter, Duration.millis(50)))),
    Effect.catchReasons("ConnectionFailed", {
      TimedOut: ({ limit }) =>
        Effect.succeed(`Nothing was found within ${Duration.format(limit)}.`),
      BudgetExceeded: () =>
        Effect.succeed("More was found than anybody reads.")
    })
  )

// -----------------------------------------------------------------------------
// Every case
// -----------------------------------------------------------------------------

type Action = "use it" | "ask the operator" | "tell the model" | "retry" | "fix the program"

const always = (action: Action) => (): Action => action

/**
 * Leave out a line, here or in the two below, and it does not compile.
 */
const decide: (error: McpError.McpError) => Action = Match.valueTags({
  Unauthorized: always("ask the operator"),
  ServerAnswered: ({ reason }) => decideAnswer(reason),
  ConnectionFailed: ({ reason }) => decideFailure(reason),
  CapabilityMissing: always("fix the program"),
  // The arguments are the model's here. Where they are the program's own, it has a bug.
  InvalidInput: always("tell the model")
})

const decideAnswer: (reason: McpError.ServerAnsweredReason) => Action = Match.valueTags({
  RpcError: always("tell the model"),
  InputRequired: always("ask the operator"),
  PaginationLoop: always("ask the operator"),
  Unreadable: always("ask the operator"),
  UnknownResultType: always("ask the operator"),
  TaskUnfinished: always("tell the model")
})

const decideFailure: (reason: McpError.ConnectionFailedReason) => Action = Match.valueTags({
  // What may have been delivered may have been done; the model can look before it tries again.
  Unreachable: ({ delivered }) => delivered === "no" ? "retry" : "tell the model",
  EgressDenied: always("ask the operator"),
  TimedOut: always("tell the model"),
  BudgetExceeded: always("tell the model"),
  HttpStatus: ({ status }) => status === 429 || status === 503 ? "retry" : "ask the operator",
  ProtocolViolation: always("ask the operator"),
  UnsupportedVersion: always("ask the operator"),
  SessionExpired: always("retry"),
  ProcessExited: always("ask the operator"),
  Closed: always("fix the program")
})

// -----------------------------------------------------------------------------
// The program
// -----------------------------------------------------------------------------

const good = `{"query":"effect"}`

const cases: ReadonlyArray<readonly [args: string, faults: ReadonlyArray<MockServer.Fault>, expected: Action]> = [
  [good, [], "use it"],
  [good, [MockServer.status(401)], "ask the operator"],
  [good, [MockServer.rpcError(-32602, "the query is too long")], "tell the model"],
  [good, [MockServer.result({ content: "three documents" })], "ask the operator"],
  [good, [MockServer.silence], "tell the model"],
  [good, [MockServer.status(503)], "retry"],
  [good, [MockServer.wrongId], "ask the operator"],
  [`{"query":`, [], "tell the model"]
]

const program = Effect.gen(function*() {
  const mock = yield* MockServer.MockServer

  yield* mock.inject("tools/call search", MockServer.rpcError(-32602, "the query is too long"), MockServer.halfBody)
  yield* Console.log(yield* searchForModel(good))
  yield* Console.log(yield* searchForModel(good))

  yield* mock.inject("tools/call search", MockServer.status(503, { headers: { "retry-after": "1" } }))
  yield* Console.log(yield* searchPatiently(good))
  yield* mock.inject("tools/call search", MockServer.silence)
  yield* Console.log(yield* searchPatiently(good))

  for (const [args, faults, expected] of cases) {
    yield* mock.inject("tools/call search", ...faults)
    const [action, why] = yield* search(args).pipe(
      Effect.match({
        onSuccess: (text) => ["use it", text] as const,
        onFailure: (error) => [decide(error), error.message] as const
      })
    )
    yield* Console.log(`${action}: ${why}`)
    yield* Expect.that(action === expected, expected)
  }
}).pipe(Effect.provide(MockServer.layerConnection({ tools: { search: () => "three documents" } })))

NodeRuntime.runMain(program)
