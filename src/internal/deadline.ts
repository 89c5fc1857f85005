/**
 * Deadlines of operations that may take several requests.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { TimedOut } from "../errors/McpError.ts"

/**
 * What an operation may take as a whole, and what each of its requests may take.
 */
export interface Deadline {
  readonly total: Duration.Duration
  readonly each: Duration.Duration
  readonly startedAt: number
}

/**
 * The time on the clock of a fiber. Read in passing, since it is read twice a call.
 */
const now = (fiber: Fiber.Fiber<unknown, unknown>): number => fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()

/**
 * Starts the clock for an operation.
 */
export const start = <A, E>(
  total: Duration.Duration,
  each: Duration.Duration,
  run: (deadline: Deadline) => Effect.Effect<A, E>
): Effect.Effect<A, E> => Effect.withFiber((fiber) => run({ total, each, startedAt: now(fiber) }))

/**
 * Runs one request of an operation: it may take what it may by itself, or what is left of the whole, whichever is less.
 * Fails with the limit that was met.
 */
export const limit = <A, E, E2>(
  deadline: Deadline,
  effect: Effect.Effect<A, E>,
  closed: Effect.Effect<never, E2>
): Effect.Effect<A, E | E2 | TimedOut> =>
  Effect.withFiber((fiber) => {
    const left = Duration.toMillis(deadline.total) - (now(fiber) - deadline.startedAt)
    const isTotal = left < Duration.toMillis(deadline.each)
    const timedOut = Effect.suspend(() =>
      Effect.fail(new TimedOut({ limit: isTotal ? deadline.total : deadline.each }))
    )
    if (left <= 0) return timedOut
    const expiry = Effect.andThen(Effect.sleep(isTotal ? left : deadline.each), timedOut)
    return Effect.raceAllFirst([effect, expiry, closed])
  })

/**
 * Whether the operation as a whole has had its time.
 */
export const isOver = (deadline: Deadline): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (at) => at - deadline.startedAt >= Duration.toMillis(deadline.total))
