/**
 * Run as a process of its own: calls a tool of the server at `argv[2]` once to be warm and once for its answer, and
 * prints the outcome and by how many bytes the peak of resident memory grew.
 */
import * as Effect from "effect/Effect"
import { EgressGuard } from "../../src/index.ts"
import { NodeMcp } from "../../src/node.ts"
import { kind } from "./kind.ts"

const peak = Effect.sync(() => process.resourceUsage().maxRSS * 1024)

const program = Effect.gen(function*() {
  const connection = yield* NodeMcp.connectHttp({ url: process.argv[2]!, guard: EgressGuard.allowLoopback })
  yield* connection.callTool("warm")
  const before = yield* peak
  const outcome = yield* Effect.match(connection.callTool("t"), { onFailure: kind, onSuccess: () => "ok" })
  return { outcome, grew: (yield* peak) - before }
})

process.stdout.write(JSON.stringify(await Effect.runPromise(Effect.scoped(program))))
