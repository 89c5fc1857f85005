/**
 * Runs cases: each is a server, what the client does, and what has to come of it.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { ByteBudget, EgressGuard, McpConnection, type McpError, McpPolicy } from "../../../src/index.ts"
import { NodeMcp } from "../../../src/node.ts"
import { kind } from "../../support/kind.ts"
import { timed } from "../../support/lateness.ts"
import { countingFibers, handles, moreThan } from "../../support/leftovers.ts"
import * as Raw from "../../support/rawServer.ts"
import { rows, type Section, sections } from "./catalogue.ts"

/**
 * What the client does once it is connected; `"connect"` alone ends there. Default: it calls the tool `t`.
 */
export type Act =
  | "connect"
  | "list"
  | "call"
  | ((
    connection: McpConnection.Service,
    server: Raw.RawServer
  ) => Effect.Effect<unknown, McpError.McpError, Scope.Scope>)

export interface Case {
  /**
   * Of the catalogue.
   */
  readonly row: number
  readonly name: string
  /**
   * The revision that the server speaks, and everything that it does well. Default: 2026-07-28.
   */
  readonly speaks?: "2026-07-28" | "2025-11-25" | "2025-06-18" | "2025-03-26" | "2024-11-05" | undefined
  /**
   * What it does badly instead, by JSON-RPC method, or by HTTP method where there is no message.
   */
  readonly answers?: Readonly<Record<string, Raw.Responder>> | undefined
  /**
   * What it does badly in the name of a second server, which must see no connection.
   */
  readonly lures?: ((elsewhere: Raw.RawServer) => Readonly<Record<string, Raw.Responder>>) | undefined
  /**
   * Whether a legacy server opens no session, so that there is none to end.
   */
  readonly sessionless?: boolean | undefined
  readonly act?: Act | undefined
  /**
   * `"ok"`, or the tag and reason of the error: `"ConnectionFailed/TimedOut"`.
   */
  readonly outcome: string
  /**
   * What the server saw after the handshake and before a session's end, by method; everything that it saw where the
   * case only connects. Default: one call, or one listing.
   */
  readonly sees?: ReadonlyArray<string> | undefined
  /**
   * How often the server was dialled. Default: once, since one socket serves all requests that come one by one.
   */
  readonly dials?: number | undefined
  /**
   * Whether the client answers requests of the server's while its own is under way. How many of those answers are seen,
   * when, and on how many sockets, is then left to `check`.
   */
  readonly answersServer?: boolean | undefined
  /**
   * Of the whole operation, in milliseconds: 5,000 by default.
   */
  readonly deadline?: number | undefined
  readonly policy?: McpPolicy.Options | undefined
  readonly budget?: ByteBudget.Options | undefined
  readonly options?: Partial<McpConnection.HttpOptions> | undefined
  readonly guard?: EgressGuard.Policy | undefined
  readonly pool?: NodeMcp.PoolOptions | undefined
  /**
   * Whether the server speaks TLS, with the certificate of `test/fixtures`.
   */
  readonly tls?: boolean | undefined
  /**
   * The URL to connect to, where it is not the server's own.
   */
  readonly url?: ((server: Raw.RawServer) => string) | undefined
  /**
   * What else holds of the value, or of the error.
   */
  readonly check?: ((got: any, server: Raw.RawServer) => void) | undefined
}

/**
 * What a case cannot say: a test of its own. It must leave nothing either.
 */
export interface Other {
  readonly row: number
  readonly name: string
  readonly test: Effect.Effect<unknown, unknown, Scope.Scope>
}

/**
 * A case for either era. Where its socket is closed, as by default, it takes another one to end a legacy session.
 */
export const eitherEra = (hostile: Case, legacyDials = 2): ReadonlyArray<Case> => [
  hostile,
  { ...hostile, name: `legacy: ${hostile.name}`, speaks: "2025-11-25", dials: legacyDials }
]

const limitOf = ({ deadline }: Case): number => deadline ?? 5000

const isModern = ({ speaks }: Pick<Case, "speaks">): boolean => (speaks ?? "2026-07-28") === "2026-07-28"

export const responderOf = (
  hostile: Pick<Case, "speaks" | "answers" | "lures">,
  elsewhere?: Raw.RawServer
): Raw.Responder => {
  const answers = { ...hostile.answers, ...(elsewhere && hostile.lures?.(elsewhere)) }
  return isModern(hostile) ? Raw.modern(answers) : Raw.legacy(answers, hostile.speaks)
}

const act = (
  hostile: Case,
  server: Raw.RawServer
): Effect.Effect<unknown, McpError.McpError, Scope.Scope | NodeMcpServices> =>
  Effect.gen(function*() {
    const limit = Duration.millis(limitOf(hostile))
    const policy = McpPolicy.make({ requestTimeout: limit, operationTimeout: limit, ...hostile.policy })
    const url = hostile.url?.(server) ?? server.url
    const connection = yield* McpConnection.connectHttp({ url, policy, ...hostile.options })
    switch (hostile.act) {
      case "connect":
        return connection
      case "list":
        return yield* connection.listTools()
      case "call":
      case undefined:
        return yield* connection.callTool("t")
      default:
        return yield* hostile.act(connection, server)
    }
  })

type NodeMcpServices = Layer.Success<ReturnType<typeof services>>

export const services = ({ budget, guard, pool }: Pick<Case, "budget" | "guard" | "pool">) =>
  NodeMcp.layerHttpExchange(pool).pipe(
    Layer.provideMerge(EgressGuard.layer(guard ?? EgressGuard.allowLoopback)),
    Layer.merge(ByteBudget.layer(budget))
  )

/**
 * Waits until there is nothing wrong any more; dies of what is wrong where that takes longer than two seconds.
 */
export const eventually = (what: () => string | undefined): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const startedAt = Date.now()
    const look = () => {
      const problem = what()
      if (problem === undefined) resume(Effect.void)
      else if (Date.now() - startedAt > 2000) resume(Effect.die(new Error(problem)))
      else setImmediate(look)
    }
    look()
  })

/**
 * Runs an effect to its end, and sees to it that no fiber, timer or socket is left of it.
 */
export const leavingNothing = <A, E, R>(
  effect: Effect.Effect<A, E, R | Scope.Scope>
): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.gen(function*() {
    const fibers = countingFibers()
    const before = handles()
    const exit = yield* Effect.exit(
      Effect.scoped(effect).pipe(Effect.provideService(Metric.FiberRuntimeMetrics, fibers.service))
    )
    yield* eventually(() => fibers.running() === 0 ? undefined : `${fibers.running()} fibers are left`)
    yield* eventually(() => {
      const left = moreThan(before)
      return left.length === 0 ? undefined : `left: ${left.join(", ")}`
    })
    return yield* exit
  })

/**
 * What the server sees of connecting.
 */
export const handshake = (hostile: Pick<Case, "speaks">): ReadonlyArray<string> =>
  isModern(hostile) ? ["server/discover"] : ["server/discover", "initialize", "notifications/initialized"]

const expectedRequests = (hostile: Case): ReadonlyArray<string> => {
  if (hostile.act === "connect") return hostile.sees ?? handshake(hostile)
  const seen = hostile.sees ?? [hostile.act === "list" ? "tools/list" : "tools/call"]
  const hasSession = !isModern(hostile) && hostile.sessionless !== true
  return [...handshake(hostile), ...seen, ...(hasSession ? ["DELETE"] : [])]
}

/**
 * The requests that are the same every time.
 */
const seenBy = ({ answersServer }: Case, server: Raw.RawServer): ReadonlyArray<string> =>
  answersServer === true ? server.methods().filter((method) => method !== "POST") : server.methods()

/**
 * How far a deadline may be overshot, in milliseconds.
 */
const overshoot = 100

/**
 * So many turns of the event loop. A few are time enough for what was written to be read.
 */
export const turns = (count: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const next = (left: number): void => {
      if (left === 0) resume(Effect.void)
      else setImmediate(next, left - 1)
    }
    next(count)
  })

/**
 * For what waits for nobody: in milliseconds, of which a busy machine takes most.
 */
const atOnce = 500

/**
 * Runs what must be done at once.
 */
export const takesNoTime = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const { late, millis, value } = yield* timed(effect)
    assert.isAtMost(millis, atOnce + late, "milliseconds")
    return value
  })

/**
 * Lets an effect run until something holds, and interrupts it then: it ends at once.
 */
export const interruptedWhen = <A, E, R>(effect: Effect.Effect<A, E, R>, holds: () => boolean) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect)
    yield* eventually(() => holds() ? undefined : "it never came to what would be interrupted")
    yield* turns(5)
    yield* takesNoTime(Fiber.interrupt(fiber))
    return yield* Fiber.await(fiber)
  })

/**
 * `"ok"`, or the tag and reason of the error. Anything but a typed error shows itself whole.
 */
const outcomeOf = (exit: Exit.Exit<unknown, McpError.McpError>): string => {
  if (Exit.isSuccess(exit)) return "ok"
  const error = Option.getOrUndefined(Exit.findErrorOption(exit))
  return error === undefined ? Cause.pretty(exit.cause) : kind(error)
}

/**
 * Runs one case, and checks everything that is true of every case.
 */
export const run = (hostile: Case): Effect.Effect<void> =>
  leavingNothing(Effect.gen(function*() {
    const elsewhere = hostile.lures === undefined ? undefined : yield* Raw.make(Raw.modern())
    const server = yield* Raw.make(responderOf(hostile, elsewhere), { tls: hostile.tls })
    const { late, millis, value: exit } = yield* act(hostile, server).pipe(
      Effect.exit,
      timed,
      Effect.scoped,
      Effect.provide(services(hostile))
    )
    assert.strictEqual(outcomeOf(exit), hostile.outcome)
    yield* server.quiet
    assert.deepStrictEqual(seenBy(hostile, server), expectedRequests(hostile))
    if (hostile.answersServer !== true) assert.strictEqual(server.connections(), hostile.dials ?? 1, "dials")
    if (elsewhere !== undefined) assert.strictEqual(elsewhere.connections(), 0, "dials elsewhere")
    assert.isAtMost(millis, limitOf(hostile) + overshoot + late, "milliseconds")
    hostile.check?.(Exit.isSuccess(exit) ? exit.value : Option.getOrThrow(Exit.findErrorOption(exit)), server)
  }))

/**
 * One section of the catalogue. Every row of it must have a case.
 */
export const suite = (section: Section, cases: ReadonlyArray<Case>, others: ReadonlyArray<Other> = []): void => {
  const [first, last] = sections[section]
  describe(`${section}`, () => {
    for (let row = first; row <= last; row++) {
      describe(`row ${row}: ${rows[row]}`, () => {
        for (const hostile of cases.filter((each) => each.row === row)) {
          it.live(`${hostile.name} → ${hostile.outcome}`, () => run(hostile))
        }
        for (const { name, test } of others.filter((each) => each.row === row)) {
          it.live(name, () => leavingNothing(test))
        }
      })
    }
  })
}
