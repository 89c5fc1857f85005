/**
 * Deadlines of operations that may take several requests.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
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
 * Starts the clock.
 */
export const start = (total: Duration.Duration, each: Duration.Duration): Effect.Effect<Deadline> =>
  Effect.map(Clock.currentTimeMillis, (startedAt) => ({ total, each, startedAt }))

/**
 * Runs one request of an operation: it may take what it may by itself, or what is left of the whole, whichever is less.
 * Fails with the limit that was met.
 */
export const limit = <A, E, E2>(
  deadline: Deadline,
  effect: Effect.Effect<A, E>,
  closed: Effect.Effect<never, E2>
): Effect.Effect<A, E | E2 | TimedOut> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const left = Duration.millis(Math.max(0, Duration.toMillis(deadline.total) - (now - deadline.startedAt)))
    const isTotal = Duration.isLessThan(left, deadline.each)
    const timedOut = Effect.suspend(() =>
      Effect.fail(new TimedOut({ limit: isTotal ? deadline.total : deadline.each }))
    )
    if (Duration.isZero(left)) return timedOut
    const expiry = Effect.andThen(Effect.sleep(isTotal ? left : deadline.each), timedOut)
    return Effect.raceAllFirst([effect, expiry, closed])
  })

/**
 * Whether the operation as a whole has had its time.
 */
export const isOver = (deadline: Deadline): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (now) => now - deadline.startedAt >= Duration.toMillis(deadline.total))
