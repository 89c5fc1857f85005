import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { McpPolicy } from "../src/index.ts"
import { connect } from "./support/connect.ts"
import { timed } from "./support/lateness.ts"
import * as Raw from "./support/rawServer.ts"

const event = (value: object): string => `data: ${JSON.stringify({ jsonrpc: "2.0", ...value })}\n\n`

/**
 * Answers a call with the number that it was given, after as many milliseconds as it says, as JSON or on a stream.
 */
const echo: Raw.Responder = (socket, request) => {
  const { delay, number } = request.message.params.arguments
  const answer = (): void => {
    if (number % 2 === 0) return Raw.sendResult(socket, request, Raw.textResult(String(number)))
    Raw.openStream(socket)
    Raw.sendChunk(socket, event({ id: request.message.id, result: Raw.textResult(String(number)) }))
    Raw.endStream(socket)
  }
  if (delay === 0) answer()
  else setTimeout(answer, delay)
}

const servers: ReadonlyArray<readonly [string, Raw.Responder]> = [
  ["modern", Raw.modern({ "tools/call": echo })],
  ["legacy", Raw.legacy({ "tools/call": echo })]
]

describe.each(servers)("two hundred calls at once on one connection to a %s server", (_, serve) => {
  it.live("each have their own answer", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(serve)
      const connection = yield* connect(server.url)
      const numbers = Array.from({ length: 200 }, (_unused, number) => number)
      const texts = yield* Effect.forEach(
        numbers,
        (number) => Effect.map(connection.callTool("t", { number, delay: (number * 37) % 150 }), ({ text }) => text),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(texts, numbers.map(String))
    }))
})

/**
 * So much longer may a call take, in milliseconds, because something else is slow.
 */
const tolerance = 10

/**
 * The shortest of several calls, and how late anything was meanwhile.
 */
const shortest = (call: Effect.Effect<unknown, unknown>) =>
  Effect.map(
    Effect.replicateEffect(timed(Effect.orDie(call)), 20),
    (calls) => Math.min(...calls.map(({ late, millis }) => Math.max(0, millis - late)))
  )

describe("what is slow delays no other call", () => {
  it.live("a handler of what the server asks", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const server = yield* Raw.make(Raw.legacy({
        "tools/call": (socket, request) => {
          if (request.message.params.name !== "asking") return Raw.sendResult(socket, request, Raw.textResult("ok"))
          Raw.openStream(socket)
          Raw.sendChunk(socket, event({ id: 1, method: "roots/list" }))
        }
      }))
      const roots = Effect.andThen(Deferred.succeed(asked, undefined), Effect.never)
      const connection = yield* connect(server.url, { features: { roots } })
      const before = yield* shortest(connection.callTool("t"))
      yield* Effect.forkChild(connection.callTool("asking"))
      yield* Deferred.await(asked)
      assert.isAtMost(yield* shortest(connection.callTool("t")), before + tolerance)
    }))

  it.live("a retry that waits", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "tools/call": (socket, request) =>
          request.message.params.name === "busy"
            ? Raw.send(socket, 429, { "retry-after": "30" })
            : Raw.sendResult(socket, request, Raw.textResult("ok"))
      }))
      const connection = yield* connect(server.url, { policy: McpPolicy.make({ retries: McpPolicy.retries() }) })
      const before = yield* shortest(connection.callTool("t"))
      yield* Effect.forkChild(connection.callTool("busy"))
      assert.isAtMost(yield* shortest(connection.callTool("t")), before + tolerance)
    }))
})
