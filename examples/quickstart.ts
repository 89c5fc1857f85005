/**
 * Visits two servers of different eras, and then meets five ways to fail, each handled as an application would.
 *
 * `npm run demo`. It starts its servers on loopback and stops them; it needs no network, takes seconds, and ends with
 * another code than 0 where anything is not as expected.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Duration, Effect } from "effect"
import { EgressGuard } from "effect-mcp-client"
import { NodeMcp } from "effect-mcp-client/node"
import { MockServer } from "effect-mcp-client/testing"
import * as Expect from "./support/expect.ts"
import * as Print from "./support/print.ts"
import * as Servers from "./support/servers.ts"

const program = Effect.gen(function*() {
  const [everything, modern] = yield* Effect.all([Servers.everything, Servers.modern], { concurrency: "unbounded" })

  yield* Print.heading("The official reference server, which has sessions")
  const older = yield* visit(everything)

  yield* Print.heading("A server of the newest revision, which has none")
  const newest = yield* visit(modern)

  yield* Print.heading("Five ways to fail")
  yield* refusedEgress
  yield* Effect.all([unauthorized, repeatedCursor, overBudget, deadline], { discard: true }).pipe(
    Effect.provide(misbehaving)
  )

  yield* Expect.that(older === "2025-11-25", "the newest revision that has sessions")
  yield* Expect.that(newest === "2026-07-28", "the newest revision of all")
}).pipe(
  Effect.scoped,
  Effect.timeout("1 minute"),
  Effect.provide(NodeServices.layer)
)

// -----------------------------------------------------------------------------
// Connecting, listing, calling
// -----------------------------------------------------------------------------

/**
 * The servers of this demo are on this machine, where the standard guard lets nobody go.
 */
const connect = (url: string, options?: Partial<NodeMcp.HttpOptions>) =>
  NodeMcp.connectHttp({ url, guard: EgressGuard.allowLoopback, ...options })

/**
 * The connection lasts as long as the scope: `Effect.scoped` closes it, and ends its session, when the visit is over.
 */
const visit = Effect.fnUntraced(function*(server: Servers.Server) {
  const mcp = yield* connect(server.url)
  yield* Print.fact("revision", mcp.protocolVersion)
  yield* Print.fact("server", `${mcp.serverInfo?.name} ${mcp.serverInfo?.version}`)

  yield* Print.tools(yield* mcp.listTools())

  const echo = yield* mcp.callTool("echo", { message: "hello" })
  yield* Print.fact("echo", echo.text)

  const sum = yield* mcp.callTool(server.sumTool, { a: 2, b: 40 })
  yield* Print.fact(server.sumTool, sum.text)

  const picture = yield* mcp.callTool(server.imageTool)
  const image = picture.content.find((block) => block.type === "image")
  yield* Print.fact("image", `${image?.mimeType}, ${image?.data.length} bytes`)

  yield* Expect.that(echo.text === "Echo: hello", "echo answers what it was sent")
  yield* Expect.that(sum.text.includes("42"), "2 and 40 make 42")
  yield* Expect.that(image?.mimeType === "image/png", "a picture")
  return mcp.protocolVersion
}, Effect.scoped)

// -----------------------------------------------------------------------------
// Five ways to fail
//
// Whatever is not handled here stays in the error channel, in its type, and would end the program.
// -----------------------------------------------------------------------------

/**
 * Somebody enters an address. This one is where a cloud keeps the credentials of the machine.
 */
const refusedEgress = NodeMcp.connectHttp({ url: "http://169.254.169.254/" }).pipe(
  Expect.failure,
  Effect.catchReason(
    "ConnectionFailed",
    "EgressDenied",
    ({ host }, error) =>
      Print.failure("An address where nobody may go", error, `Tell whoever entered ${host}. Nothing was sent.`)
  ),
  Effect.scoped
)

const unauthorized = Effect.gen(function*() {
  const mock = yield* MockServer.MockServer
  const challenge = { "www-authenticate": `Bearer realm="reports", scope="read"` }
  yield* mock.inject("server/discover", MockServer.status(401, { headers: challenge }))
  yield* connect(mock.url)
}).pipe(
  Expect.failure,
  Effect.catchTag("Unauthorized", (error) =>
    Print.failure(
      "A server that wants to know who we are",
      error,
      `Ask the operator for a ${error.challenge?.scheme} token with scope "${error.challenge?.parameters["scope"]}".`
    )),
  Effect.scoped
)

/**
 * Its second page leads to its second page.
 */
const repeatedCursor = Effect.gen(function*() {
  const mock = yield* MockServer.MockServer
  const page = MockServer.result({ tools: [], nextCursor: "page-2" })
  yield* mock.inject("tools/list", page, page)
  const mcp = yield* connect(mock.url)
  yield* mcp.listTools()
}).pipe(
  Expect.failure,
  Effect.catchReason(
    "ServerAnswered",
    "PaginationLoop",
    (_, error) =>
      Print.failure("A listing that goes in circles", error, "Go on without its tools, and report the server.")
  ),
  Effect.scoped
)

const overBudget = Effect.gen(function*() {
  const mock = yield* MockServer.MockServer
  const mcp = yield* connect(mock.url, { budget: { limit: "64 KiB" } })
  yield* mcp.callTool("export")
}).pipe(
  Expect.failure,
  Effect.catchReason(
    "ConnectionFailed",
    "BudgetExceeded",
    (_, error) =>
      Print.failure("A megabyte, where 64 KiB are allowed", error, "Export less, or allow this server more.")
  ),
  Effect.scoped
)

const deadline = Effect.gen(function*() {
  const mock = yield* MockServer.MockServer
  yield* mock.inject("tools/call export", MockServer.silence)
  const mcp = yield* connect(mock.url)
  yield* mcp.callTool("export", {}, { timeout: "200 millis" })
}).pipe(
  Expect.failure,
  Effect.catchReason(
    "ConnectionFailed",
    "TimedOut",
    ({ limit }, error) =>
      Print.failure("A server that never answers", error, `Try again later, with more than ${Duration.format(limit)}.`)
  ),
  Effect.scoped
)

/**
 * A server that answers well until it is told not to, apart from one tool that answers too much.
 */
const misbehaving = MockServer.layerHttp({ tools: { export: () => "x".repeat(1024 * 1024) } })

NodeRuntime.runMain(program)
