/**
 * Lifetimes: calls that are interrupted, and connecting that fails half-way. The rest of row 39 is in `closing.ts`; row
 * 40 is in `versions.ts`.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { Credentials } from "../../../src/index.ts"
import { inTurn } from "../kit/streams.ts"
import { type Case, eventually, handshake, interruptedWhen, turns } from "../kit/suite.ts"
import {
  chunk,
  chunkedHead,
  end,
  flood,
  json,
  jsonType,
  lastChunk,
  okAnswer,
  openStream,
  pause,
  reset,
  script,
  type Step,
  whole
} from "../kit/wire.ts"
import { versions } from "./versions.ts"
import { aHead, announcing, discovering, initializing, waitings } from "./waiting.ts"

/**
 * Gives a call up where it waits; the connection is as good as before.
 */
const interruptedCalls = waitings().map(({ act, afterwards, idle, isWaiting, notices, sees, ...given }): Case => ({
  ...given,
  row: 39,
  name: `a call is interrupted: ${given.name}`,
  act: (connection, server) =>
    Effect.gen(function*() {
      const exit = yield* interruptedWhen(act(connection), () => isWaiting(server))
      assert.isTrue(Exit.hasInterrupts(exit), "it had ended before")
      const told = [...handshake(given), ...sees, ...notices].length
      yield* eventually(() => server.requests.length >= told ? undefined : "no notice came")
      yield* turns(5)
      yield* server.atMost(idle)
      return yield* connection.callTool("t")
    }),
  sees: [...sees, ...notices, ...afterwards],
  outcome: "ok",
  check: ({ text }) => assert.strictEqual(text, "ok")
}))

const interruptedBeside: ReadonlyArray<Case> = [
  {
    row: 39,
    name: "a call is interrupted, the one beside it is not",
    answers: { "tools/call": inTurn(script(pause(50), json(okAnswer)), () => {}) },
    act: (connection, server) =>
      Effect.gen(function*() {
        const beside = yield* Effect.forkChild(connection.callTool("t"))
        yield* interruptedWhen(connection.callTool("t"), () => server.requests.length === 3)
        yield* server.atMost(1)
        return yield* Fiber.join(beside)
      }),
    sees: ["tools/call", "tools/call"],
    dials: 2,
    outcome: "ok",
    check: ({ text }) => assert.strictEqual(text, "ok")
  },
  {
    row: 39,
    name: "20 calls are interrupted at once",
    answers: {
      "tools/call": (socket, request) => request.nth < 20 ? undefined : script(json(okAnswer))(socket, request)
    },
    act: (connection, server) =>
      Effect.gen(function*() {
        const twenty = Array.from({ length: 20 }, () => connection.callTool("t"))
        const calls = Effect.all(twenty, { concurrency: "unbounded" })
        yield* interruptedWhen(calls, () => server.requests.length === 21)
        yield* server.quiet
        return yield* connection.callTool("t")
      }),
    sees: Array.from({ length: 21 }, () => "tools/call"),
    dials: 21,
    outcome: "ok"
  }
]

const unreachable = "ConnectionFailed/Unreachable"
const timedOut = "ConnectionFailed/TimedOut"

/**
 * How a message of the handshake may be answered with nothing of use.
 */
const endings: ReadonlyArray<readonly [name: string, steps: ReadonlyArray<Step>, outcome: string]> = [
  ["the end", [end], unreachable],
  ["a reset", [reset], unreachable],
  ["half a head and the end", ["HTTP/1.1 200 OK\r\n", end], unreachable],
  ["no HTTP", ["hello\r\n\r\n"], "ConnectionFailed/ProtocolViolation"],
  ["silence", [], timedOut],
  ["half a head and silence", ["HTTP/1.1 200 OK\r\n"], timedOut],
  ["401", [whole(401, undefined)], "Unauthorized"],
  ["403", [whole(403, undefined)], "Unauthorized"],
  ["503", [whole(503, undefined)], "ConnectionFailed/HttpStatus"]
]

/**
 * The same, where the body is read.
 */
const bodyEndings: typeof endings = [
  ["half a body and a reset", [aHead, "{", pause(1), reset], unreachable],
  ["half a body and the end", [aHead, "{", end], unreachable],
  ["half a body and silence", [aHead, "{"], timedOut],
  ["an event stream that ends", [openStream, lastChunk], unreachable],
  ["an event stream that is silent", [openStream], timedOut],
  ["HTML", [whole(200, "text/html", "<html>")], "ConnectionFailed/ProtocolViolation"],
  ["an endless body", [chunkedHead(jsonType), flood(chunk("[".repeat(65_536)))], "ConnectionFailed/BudgetExceeded"]
]

/**
 * The last of these messages is answered so; with a session, that is ended.
 */
const failing = (
  sees: ReadonlyArray<string>,
  [name, steps, outcome]: (typeof endings)[number],
  given: Partial<Case> = {}
): Case => ({
  row: 39,
  name: `${sees.at(-1)} is answered with ${name}`,
  speaks: "2025-11-25",
  answers: { [sees.at(-1)!]: script(...steps) },
  act: "connect",
  sees,
  deadline: outcome === timedOut ? 150 : undefined,
  outcome,
  ...given
})

const withoutCredentials = (sees: ReadonlyArray<string>, afterwards: ReadonlyArray<string> = []): Case => {
  let asked = 0
  const credentials = Credentials.provider(
    Effect.suspend(() => asked++ === sees.length ? Effect.fail("none") : Effect.succeed({}))
  )
  return {
    row: 39,
    name: `credentials for request ${sees.length + 1} cannot be had`,
    speaks: "2025-11-25",
    options: { credentials },
    act: "connect",
    sees: [...sees, ...afterwards],
    dials: Math.min(sees.length, 1),
    outcome: "Unauthorized",
    check: (error) => assert.isUndefined(error.status)
  }
}

const halfWay: ReadonlyArray<Case> = [
  ...[...endings, ...bodyEndings].flatMap((ending) => [failing(discovering, ending), failing(initializing, ending)]),
  ...endings.map((ending) => {
    const isKept = ending[2] === "Unauthorized" || ending[2] === "ConnectionFailed/HttpStatus"
    return failing(announcing, ending, { sees: [...announcing, "DELETE"], dials: isKept ? 1 : 2 })
  }),
  failing(
    announcing,
    ["503, and the session cannot be ended", [whole(503, undefined)], "ConnectionFailed/HttpStatus"],
    {
      answers: { "notifications/initialized": script(whole(503, undefined)), DELETE: () => {} },
      policy: { closeTimeout: 50 },
      sees: [...announcing, "DELETE"]
    }
  ),
  withoutCredentials([]),
  withoutCredentials(discovering),
  withoutCredentials(initializing, ["DELETE"])
]

export const lifetimes: ReadonlyArray<Case> = [
  ...interruptedCalls,
  ...interruptedBeside,
  ...halfWay,
  ...versions
]
