/**
 * What the properties share: generators of hostile text, a server in the same process, and what holds of any outcome.
 *
 * `FUZZ_SEED` says where to begin: the same place every time where it is not set, so that a change is not blamed for what
 * it did not do, and another one every time where it is `random`. `FUZZ_RUNS` says how often. The seed is printed; a
 * failure prints its input, shrunk.
 */
import { assert } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import {
  ByteBudget,
  Credentials,
  EgressGuard,
  HttpExchange,
  McpConnection,
  McpError,
  McpPolicy
} from "../../src/index.ts"
import { Exchange } from "../../src/internal/node/exchange.ts"

const asked = process.env["FUZZ_SEED"] ?? "20261130"
const seed = asked === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(asked)
export const runs = Number(process.env["FUZZ_RUNS"] ?? 5000)

console.log(`FUZZ_SEED=${seed} FUZZ_RUNS=${runs}`)

/**
 * Long enough for the slowest property with ten times the runs; what hangs is found by it.
 */
export const timeout = 120_000

/**
 * Checks a property of any value. It fails by an assertion, or as an Effect does.
 */
export const forAll = <A, E>(
  values: Arbitrary.Arbitrary<A>,
  property: (value: A) => void | Effect.Effect<unknown, E>,
  times = runs
): Effect.Effect<void> =>
  Arbitrary.checkEffect(
    values,
    (value) => Effect.suspend(() => property(value) ?? Effect.void).pipe(Effect.as(true), Effect.sandbox),
    { runs: times, seed, size: 16, maxShrinks: 2000 }
  ).pipe(Effect.flatMap((result) => {
    const failure = Arbitrary.formatCheckFailure(result)
    return failure === undefined ? Effect.void : Effect.die(new Error(`FUZZ_SEED=${seed}: ${failure}`))
  }))

// Generators

type Gen<A> = Arbitrary.Arbitrary<A>
export const { all, array, map } = Arbitrary

export const int = (minimum: number, maximum: number): Gen<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

/**
 * One of these values. Shrinks to the first.
 */
export const pick = <const A>(...values: ReadonlyArray<A>): Gen<A> => map(int(0, values.length - 1), (i) => values[i]!)

/**
 * A value of one of these kinds. Shrinks to the first.
 */
export const oneOf = <A>(...kinds: ReadonlyArray<Gen<A>>): Gen<A> =>
  Arbitrary.flatMap(int(0, kinds.length - 1), (i) => kinds[i]!)

/**
 * Mostly a value of the first kind. Shrinks to it.
 */
export const mostly = <A>(usual: Gen<A>, ...others: ReadonlyArray<Gen<A>>): Gen<A> =>
  oneOf(...Array<Gen<A>>(6 * others.length).fill(usual), ...others)

/**
 * So many pieces, joined.
 */
export const join = (piece: Gen<string>, maxLength = 12): Gen<string> =>
  map(array(piece, { maxLength }), (pieces) => pieces.join(""))

const odd = [
  "a",
  "",
  " ",
  "\0",
  "\n",
  "\r\n",
  "é",
  "😀",
  "\ud800",
  "\udc00",
  "\u202e",
  "\u001b[31m",
  "\ufeff",
  "\"",
  "\\",
  "__proto__",
  "constructor"
]

export const text: Gen<string> = oneOf(
  join(pick(...odd), 6),
  Arbitrary.schema(Schema.String),
  map(int(1, 200), (length) => "x".repeat(length))
)

export const bytes: Gen<Buffer> = map(array(int(0, 255), { maxLength: 64 }), (octets) => Buffer.from(octets))

/**
 * Places to cut at, whatever the length; `cutAt` takes them modulo it.
 */
export const cuts: Gen<ReadonlyArray<number>> = array(int(0, 4095), { maxLength: 6 })

export const cutAt = (whole: Buffer, offsets: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const sorted = [0, ...offsets.map((offset) => offset % (whole.length + 1))].sort((a, b) => a - b)
  return sorted.map((start, i) => whole.subarray(start, sorted[i + 1] ?? whole.length))
}

// JSON, as text: there a key may be `__proto__`, or come twice. `$ID` stands for the id.

export const deep = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`

export const quoted: Gen<string> = map(text, (value) => JSON.stringify(value))

const leaf: Gen<string> = pick(
  "null",
  "$ID",
  "true",
  "0",
  "-0",
  "1.5",
  "1e3",
  "1e400",
  "12345678901234567890",
  "\"\"",
  "\"2.0\"",
  "\"$ID\"",
  "\"object\"",
  "\"\\ud800\"",
  "[]",
  "{}",
  "[null]",
  "{\"__proto__\":{\"name\":\"t\",\"type\":\"text\",\"text\":\"x\"}}",
  deep(500)
)

const key: Gen<string> = oneOf(
  pick("name", "type", "text", "__proto__", "constructor", "toString", "toJSON", "then", "length", "x-mcp-header"),
  // Names with escapes are left out: given the same text twice, JSON.parse of Node 26.10 may mistake one for another.
  map(text, (value) => value.replace(/["\\\p{Cc}\p{Cs}]/gu, ""))
)

export const json = (depth: number): Gen<string> => {
  if (depth === 0) return leaf
  const inner = json(depth - 1)
  return oneOf(
    leaf,
    quoted,
    map(array(inner, { maxLength: 3 }), (items) => `[${items.join(",")}]`),
    map(
      array(all([key, inner]), { maxLength: 4 }),
      (members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`
    )
  )
}

const absent = Arbitrary.Constant("")

/**
 * A member that is mostly not there.
 */
export const rarely = (value: Gen<string>): Gen<string> => mostly(absent, value)

/**
 * An object with these members, each mostly as it is given here, and sometimes absent or anything else. Shrinks to what
 * is given.
 */
export const object = (members: Readonly<Record<string, Gen<string>>>): Gen<string> =>
  map(
    all([
      all(Object.values(members).map((value) => mostly(value, absent, json(1)))),
      rarely(map(all([key, json(1)]), ([name, value]) => `${JSON.stringify(name)}:${value}`))
    ]),
    ([values, more]) => {
      const names = Object.keys(members)
      const own = values.flatMap((value, i) => value === "" ? [] : [`${JSON.stringify(names[i])}:${value}`])
      return `{${[...own, ...(more === "" ? [] : [more])].join(",")}}`
    }
  )

export const list = (item: Gen<string>, maxLength = 5): Gen<string> =>
  map(array(item, { maxLength }), (items) => `[${items.join(",")}]`)

// A server

export interface Answer {
  readonly status: number
  readonly headers: HttpExchange.ResponseHeaders
  readonly body: string | Buffer
  /**
   * Where the body comes in pieces.
   */
  readonly cuts?: ReadonlyArray<number> | undefined
}

export type Server = (message: { readonly id?: number; readonly method?: string }, body: string) => Answer

export const answerJson = (body: string, status = 200): Answer => ({
  status,
  headers: { "content-type": "application/json" },
  body
})

export const resultOf = (result: string): Answer => answerJson(`{"jsonrpc":"2.0","id":$ID,"result":${result}}`)

export type Era = "2026-07-28" | "2025-11-25" | "2025-03-26"
export const eras: ReadonlyArray<Era> = ["2026-07-28", "2025-11-25", "2025-03-26"]

/**
 * A server that shakes hands as servers of its era do, and answers all else as told.
 */
export const serverOf = (era: Era, rest: Server): Server => (message, body) => {
  if (message.method === "server/discover") {
    return era === "2026-07-28"
      ? resultOf(`{"supportedVersions":["${era}"],"capabilities":{"tools":{}}}`)
      : { status: 400, headers: {}, body: "" }
  }
  if (message.method === "initialize") {
    return {
      ...resultOf(`{"protocolVersion":"${era}","capabilities":{"tools":{}}}`),
      headers: { "content-type": "application/json", "mcp-session-id": secrets[0] }
    }
  }
  return message.method === "notifications/initialized" ? { status: 202, headers: {}, body: "" } : rest(message, body)
}

/**
 * Answers as the pool would, by the same handler, without a socket.
 */
const exchangeWith = (server: Server): HttpExchange.HttpExchange["Service"] => ({
  send: (request) =>
    Effect.callback((resume) => {
      const exchange = new Exchange(
        request,
        (outcome) => resume(outcome._tag === "Answer" ? Effect.succeed(outcome.answer) : Effect.fail(outcome.reason))
      )
      let aborted = false
      const controller = {
        aborted: false,
        paused: false,
        reason: null,
        abort: () => {
          aborted = true
        },
        pause: () => {},
        resume: () => {}
      }
      const message = request.body === undefined ? {} : JSON.parse(request.body)
      const { body, cuts: offsets, headers, status } = server(message, request.body ?? "")
      const whole = typeof body === "string" ? Buffer.from(body.replaceAll("$ID", String(message.id ?? 0))) : body
      exchange.onRequestStart(controller)
      exchange.onResponseStart(controller, status, Object.assign(Object.create(null), headers))
      for (const chunk of cutAt(whole, offsets ?? [])) if (!aborted) exchange.onResponseData(controller, chunk)
      if (!aborted) exchange.onResponseEnd(controller)
    })
})

/**
 * In no error and in no log.
 */
export const secrets = ["s3cretSession", "s3cretToken", "s3cretPath", "s3cretQuery"] as const
const url = `https://mcp.example/${secrets[2]}?key=${secrets[3]}`

const policy = McpPolicy.make({
  requestTimeout: "5 seconds",
  resumption: McpPolicy.resumption({ maxIdle: 2, maxTotal: 3, minDelay: 0, maxDelay: 0, delay: 0 })
})

const standard = EgressGuard.fromPolicy(EgressGuard.standard)

export const connect = (
  server: Server,
  protocol: McpConnection.HttpOptions["protocol"] = "auto"
): Effect.Effect<McpConnection.Service, McpError.McpError, Scope.Scope> =>
  McpConnection.connectHttp({ url, protocol, policy, credentials: Credentials.bearer(secrets[1]) }).pipe(
    Effect.provideService(HttpExchange.HttpExchange, exchangeWith(server)),
    Effect.provideService(EgressGuard.EgressGuard, standard),
    Effect.provideService(ByteBudget.ByteBudget, ByteBudget.make())
  )

// Outcomes

const tags = new Set(["Unauthorized", "ServerAnswered", "ConnectionFailed", "CapabilityMissing", "InvalidInput"])

export const noSecretIn = (shown: string): void => {
  for (const secret of secrets) if (shown.includes(secret)) assert.fail(`a secret in: ${shown}`)
}

// Stacks are slow to have, and differ by their message alone.
const seen = new Set<string>()

/**
 * That a failure is one of ours and tells no secret, nor is a wait for a deadline.
 */
const assertTyped = (cause: Cause.Cause<McpError.McpError>): void => {
  if (Cause.hasDies(cause) || Cause.hasInterrupts(cause)) assert.fail(Cause.pretty(cause))
  const error = Cause.squash(cause) as McpError.McpError
  if (!McpError.isMcpError(error) || !tags.has(error._tag)) assert.fail(`not one of ours: ${error}`)
  if (error._tag === "ConnectionFailed" && error.reason._tag === "TimedOut") assert.fail("a wait for the deadline")
  noSecretIn(`${error.message}\n${error}\n${JSON.stringify(error)}`)
  if (seen.has(error.message)) return
  seen.add(error.message)
  noSecretIn(`${error.stack}\n${Cause.pretty(cause)}`)
}

/**
 * Runs to the end, and checks what is true of every end, and of what was logged on the way.
 */
export const outcome = <A>(
  effect: Effect.Effect<A, McpError.McpError, Scope.Scope>
): Effect.Effect<A | undefined> =>
  Effect.suspend(() => {
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => {
      logged.push(String(message))
    })
    return Effect.exit(Effect.scoped(effect)).pipe(
      Effect.map((exit) => {
        noSecretIn(logged.join("\n"))
        if (Exit.isSuccess(exit)) return exit.value
        assertTyped(exit.cause)
        return undefined
      }),
      Effect.provideService(References.CurrentLoggers, new Set([logger])),
      Effect.provideService(References.MinimumLogLevel, "All")
    )
  })
