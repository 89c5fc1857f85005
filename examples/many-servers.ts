/**
 * Many servers at once, from addresses that customers entered: some are good, one is silent, one sends too much, one
 * stands where nobody may go, and one wants credentials. All share one pool, one guard and one `total` of bytes, each
 * has a budget and deadlines of its own, and a bad one costs nobody but itself.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Context, Duration, Effect, Layer } from "effect"
import { ByteBudget, EgressGuard, McpConnection, type McpError, McpPolicy } from "effect-mcp-client"
import { NodeMcp } from "effect-mcp-client/node"
import { MockServer } from "effect-mcp-client/testing"
import * as Expect from "./support/expect.ts"

interface Configured {
  readonly name: string
  readonly url: string
}

interface Outcome {
  readonly name: string
  /**
   * `"ok"`, or the kind of failure.
   */
  readonly kind: string
  readonly detail: string
}

/**
 * Built once for the whole application. `limit` is what one connection may read, `total` what all that are open at the
 * same time may have read together. Addresses from outside call for `EgressGuard.publicOnly`; these are on loopback.
 */
const layerShared = Layer.mergeAll(
  NodeMcp.layerHttpExchange(),
  ByteBudget.layer({ limit: "256 KiB", total: "2 MiB" }),
  Layer.succeed(McpPolicy.McpPolicy, McpPolicy.make({ requestTimeout: Duration.seconds(1) }))
).pipe(Layer.provideMerge(EgressGuard.layer(EgressGuard.allowLoopback)))

const kindOf = (error: McpError.McpError): string => "reason" in error ? error.reason._tag : error._tag

/**
 * Never fails: what became of a server is a value, so that nothing of it reaches the others. The connection is closed,
 * and its bytes are given back, as soon as its tools are known.
 */
const survey = ({ name, url }: Configured) =>
  McpConnection.connectHttp({ url }).pipe(
    Effect.flatMap((mcp) => mcp.listTools()),
    Effect.scoped,
    Effect.match({
      onSuccess: (tools): Outcome => ({ name, kind: "ok", detail: tools.map((tool) => tool.name).join(", ") }),
      onFailure: (error): Outcome => ({ name, kind: kindOf(error), detail: error.message })
    })
  )

const program = Effect.gen(function*() {
  const servers = yield* customers
  const outcomes = yield* Effect.forEach(servers, survey, { concurrency: 4 }).pipe(Effect.provide(layerShared))

  for (const { detail, kind, name } of outcomes) {
    yield* Console.log(`${name.padEnd(9)} ${kind.padEnd(14)} ${detail}`)
    yield* Expect.that(kind === (expected[name] ?? "ok"), `${name}: ${expected[name] ?? "ok"}`)
  }
}).pipe(Effect.scoped)

// -----------------------------------------------------------------------------
// The servers of this example
// -----------------------------------------------------------------------------

const expected: Readonly<Record<string, string>> = {
  silent: "TimedOut",
  flood: "BudgetExceeded",
  metadata: "EgressDenied",
  private: "Unauthorized"
}

/**
 * A server on a loopback port for as long as the scope lasts.
 */
const start = (options: MockServer.Options) =>
  Effect.map(Layer.build(MockServer.layerHttp(options)), Context.get(MockServer.MockServer))

const customers = Effect.gen(function*() {
  const files = yield* start({ tools: { read: () => "", write: () => "" } })
  const mail = yield* start({ protocol: "2025-06-18", tools: { send: () => "" } })
  const search = yield* start({ answers: "sse", tools: { find: () => "", open: () => "" } })
  const flood = yield* start({ tools: { flood: { call: () => "", description: "x".repeat(1024 * 1024) } } })
  const silent = yield* start({})
  yield* silent.inject("server/discover", MockServer.silence)
  const secret = yield* start({})
  yield* secret.inject("server/discover", MockServer.status(401))

  return [
    { name: "files", url: files.url },
    { name: "silent", url: silent.url },
    { name: "flood", url: flood.url },
    { name: "metadata", url: "http://169.254.169.254/" },
    { name: "private", url: secret.url },
    { name: "mail", url: mail.url },
    { name: "search", url: search.url }
  ]
})

NodeRuntime.runMain(program)
