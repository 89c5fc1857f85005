/**
 * A tool that works for seconds: the official reference server makes its call a task, which it is asked about until the
 * result is there. For the program it is a call as any other, with more time, a status to show, and an end when nobody
 * wants it any more: the task is then cancelled at the server.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { EgressGuard, McpPolicy } from "effect-mcp-client"
import { NodeMcp } from "effect-mcp-client/node"
import * as Expect from "./support/expect.ts"
import * as Servers from "./support/servers.ts"

const program = Effect.gen(function*() {
  const { url } = yield* Servers.everything
  const mcp = yield* NodeMcp.connectHttp({
    url,
    guard: EgressGuard.allowLoopback,
    // The connection lives long, so that every call has a budget of its own.
    budget: { scope: "operation" },
    // Where the server names no interval, a task is looked at every two seconds.
    policy: McpPolicy.make({ taskPolling: McpPolicy.taskPolling({ delay: "2 seconds" }) })
  })

  // A call has 2 minutes unless it is given more.
  const report = yield* mcp.callTool("simulate-research-query", { topic: "tea" }, {
    timeout: "1 hour",
    onProgress: ({ message }) => Console.log(`… ${JSON.stringify(message)}`)
  })
  yield* Console.log(report.text.split("\n", 1)[0])
  yield* Expect.that(report.text.startsWith("# Research Report: tea"), "a report about tea")

  // Whoever stops waiting stops the work, too: here the deadline does, and interrupting the call would as well.
  const impatient = mcp.callTool("simulate-research-query", { topic: "coffee" }, { timeout: "1500 millis" })
  yield* Effect.catchReason(
    Expect.failure(impatient),
    "ConnectionFailed",
    "TimedOut",
    (_, error) => Console.log(error.message)
  )
}).pipe(
  Effect.scoped,
  Effect.timeout("1 minute"),
  Effect.provide(NodeServices.layer)
)

NodeRuntime.runMain(program)
