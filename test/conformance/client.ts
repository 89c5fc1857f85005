/**
 * The client that the official conformance suite runs: `node client.ts <url>`, with the scenario in the environment.
 *
 * It imports the built library by its name, as an application does, and connects as an application does by default: no
 * scenario needs `protocol` to be anything but `"auto"`. The suite judges what went over the wire; what the client alone
 * can see (which era it ended up in, what a tool answered) is checked here.
 */
import {
  type ClientFeatures,
  EgressGuard,
  Elicitation,
  type McpConnection,
  type McpError,
  ProtocolVersion,
  type Tool
} from "effect-mcp-client"
import { NodeMcp } from "effect-mcp-client/node"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { writeFileSync } from "node:fs"

class Unexpected extends Data.TaggedError("Unexpected")<{ readonly message: string }> {}

type Failure = McpError.McpError | Schema.SchemaError | Unexpected

/**
 * What the suite hands to the client.
 */
interface Given {
  readonly url: string
  readonly protocolVersion: string | undefined
  /**
   * JSON, and different from scenario to scenario; absent for most.
   */
  readonly context: string | undefined
}

type Scenario = (given: Given) => Effect.Effect<unknown, Failure, Scope.Scope>

type Connection = McpConnection.Service

const unexpected = (message: string): Effect.Effect<never, Unexpected> => Effect.fail(new Unexpected({ message }))

/**
 * The modern servers of the suite speak the legacy era too: a client that fell back to it would pass for the wrong
 * reason.
 */
const inTheRightEra = (connection: Connection, asked: string | undefined): Effect.Effect<void, Unexpected> =>
  ProtocolVersion.isModern(asked) && !ProtocolVersion.isModern(connection.protocolVersion)
    ? unexpected(`the run is at ${asked}, the connection at ${connection.protocolVersion}`)
    : Effect.void

/**
 * A scenario that is one connection and what is done with it. `options` is for what has to be known on connecting:
 * features, credentials.
 */
const connected = (
  use: (connection: Connection, given: Given) => Effect.Effect<unknown, Failure>,
  options?: Omit<NodeMcp.HttpOptions, "url" | "guard">
): Scenario =>
(given) =>
  Effect.gen(function*() {
    const connection = yield* NodeMcp.connectHttp({ ...options, url: given.url, guard: EgressGuard.allowLoopback })
    yield* inTheRightEra(connection, given.protocolVersion)
    yield* use(connection, given)
  })

const toolNamed = (tools: ReadonlyArray<Tool.Tool>, name: string): Effect.Effect<Tool.Tool, Unexpected> => {
  const tool = tools.find((listed) => listed.name === name)
  return tool === undefined ? unexpected(`the tool ${name} is not listed`) : Effect.succeed(tool)
}

/**
 * Calls a tool that must say yes.
 */
const call = (connection: Connection, name: string, args: Record<string, unknown>) =>
  Effect.flatMap(
    connection.callTool(name, args),
    (result) => result.isError ? unexpected(`the tool ${name} refused: ${result.text}`) : Effect.succeed(result)
  )

/**
 * The server declares no tools: that it is not asked for any is this library's contract.
 */
const listUndeclared = (connection: Connection): Effect.Effect<void, Failure> =>
  Effect.matchEffect(connection.listTools(), {
    onFailure: (error) => error._tag === "CapabilityMissing" ? Effect.void : Effect.fail(error),
    onSuccess: () => unexpected("tools were listed that no capability was declared for")
  })

/**
 * Fills every form in with the same, and leaves the rest to the server's defaults.
 */
const formsWith = (content: Elicitation.Accepted["content"]): ClientFeatures.ClientFeatures => ({
  elicitation: { form: () => Effect.succeed(Elicitation.accept(content)) }
})

const ToolCalls = Schema.fromJsonString(Schema.Struct({
  toolCalls: Schema.Array(Schema.Struct({
    name: Schema.String,
    arguments: Schema.Record(Schema.String, Schema.Unknown)
  }))
}))

const scenarios: Readonly<Record<string, Scenario>> = {
  initialize: connected(listUndeclared),

  tools_call: connected(Effect.fnUntraced(function*(connection) {
    yield* toolNamed(yield* connection.listTools(), "add_numbers")
    const { text } = yield* call(connection, "add_numbers", { a: 5, b: 3 })
    if (!text.endsWith("8")) return yield* unexpected(`5 + 3 was answered with: ${text}`)
  })),

  "elicitation-sep1034-client-defaults": connected(
    (connection) => call(connection, "test_client_elicitation_defaults", {}),
    { features: formsWith({}) }
  ),

  // The answer comes on the stream that resumes the one that the server closes.
  "sse-retry": connected(Effect.fnUntraced(function*(connection) {
    yield* connection.listTools()
    yield* call(connection, "test_reconnection", {})
  })),

  // The first request is refused with -32022, so that connecting takes two: what they carry is the subject.
  "request-metadata": connected(listUndeclared, {
    features: {
      ...formsWith({}),
      sampling: () => Effect.succeed({ model: "none", content: "" }),
      roots: []
    }
  }),

  "http-standard-headers": connected(Effect.fnUntraced(function*(connection) {
    const [tool] = yield* connection.listTools()
    const [resource] = yield* connection.listResources()
    const [prompt] = yield* connection.listPrompts()
    if (tool === undefined || resource === undefined || prompt === undefined) {
      return yield* unexpected("something is not listed")
    }
    yield* call(connection, tool.name, {})
    yield* connection.readResource(resource.uri)
    yield* connection.getPrompt(prompt.name)
  })),

  "http-custom-headers": connected(Effect.fnUntraced(function*(connection, { context }) {
    const { toolCalls } = yield* Schema.decodeUnknownEffect(ToolCalls)(context)
    yield* connection.listTools()
    yield* Effect.forEach(toolCalls, (toolCall) => call(connection, toolCall.name, toolCall.arguments))
  })),

  "http-invalid-tool-headers": connected(Effect.fnUntraced(function*(connection) {
    const survivors = yield* connection.listTools()
    yield* toolNamed(survivors, "valid_tool")
    // Every survivor is called, since the suite knows by the calls alone which tools were refused.
    yield* Effect.forEach(survivors, ({ name }) => Effect.ignore(connection.callTool(name, { region: "us-west1" })))
  })),

  // The last one asks for input without saying so: without its type, its result is a result of no tool.
  "sep-2322-client-request-state": connected(
    Effect.fnUntraced(function*(connection) {
      yield* call(connection, "test_mrtr_echo_state", {})
      yield* call(connection, "test_mrtr_no_state", {})
      yield* call(connection, "test_mrtr_unrelated", {})
      yield* call(connection, "test_mrtr_no_result_type", {})
    }),
    { features: formsWith({ confirmed: true }) }
  ),

  "json-schema-ref-no-deref": connected((connection) => connection.listTools()),

  "json-schema-2020-12-preservation": connected(Effect.fnUntraced(function*(connection) {
    const tool = yield* toolNamed(yield* connection.listTools(), "json_schema_2020_12_tool")
    yield* call(connection, "json_schema_echo", { schema: tool.inputSchema })
  }))
}

const main = Effect.suspend(() => {
  const url = process.argv[2]
  const name = process.env["MCP_CONFORMANCE_SCENARIO"] ?? ""
  const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined
  if (scenario === undefined) return unexpected(`unknown scenario: ${name}`)
  if (url === undefined) return unexpected("usage: node client.ts <url>")
  const protocolVersion = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"]
  const context = process.env["MCP_CONFORMANCE_CONTEXT"]
  return Effect.scoped(scenario({ url, protocolVersion, context }))
})

// The suite hides how its client ended where the scenario allows an error, and where a signal ended it.
process.on("exit", (code) => {
  const file = process.env["CLIENT_EXIT_FILE"]
  if (file !== undefined) writeFileSync(file, String(code))
})

// The suite's time-out ends a shell, not this process. That the timer keeps nothing alive makes it see leaks: what is
// left open after the scope has closed keeps the process running until the timer fires.
setTimeout(() => {
  console.error("the client's watchdog: not done within 15 s")
  process.exit(124)
}, 15_000).unref()

const exit = await Effect.runPromiseExit(main)
if (Exit.isFailure(exit)) {
  console.error(Cause.pretty(exit.cause))
  process.exitCode = 1
}
