/**
 * Run as a process of its own: calls the tool `t` of the server at `argv[2]` and prints its text, then fetches
 * `argv[3]` with what Node has built in.
 */
import * as Effect from "effect/Effect"
import { EgressGuard } from "../../../src/index.ts"
import { NodeMcp } from "../../../src/node.ts"

const [, , url, elsewhere] = process.argv

const program = Effect.gen(function*() {
  const connection = yield* NodeMcp.connectHttp({ url: url!, guard: EgressGuard.allowLoopback })
  return (yield* connection.callTool("t")).text
})

process.stdout.write(await Effect.runPromise(Effect.scoped(program)))
await fetch(elsewhere!)
