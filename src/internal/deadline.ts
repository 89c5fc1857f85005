/**
 * Deadlines: of single requests, and of operations that may take several.
 *
 * A connection has one timer for all of its requests. Racing each with a sleep and with the end of the connection, as one
 * would write it first, takes three fibers a call, and as much time as the rest of the client together.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Closed, TimedOut } from "../errors/McpError.ts"

/**
 * What an operation may take as a whole, and what each of its requests may take.
 */
export interface Deadline {
  readonly total: Duration.Duration
  readonly each: Duration.Duration
  readonly startedAt: number
}

/**
 * The clock of a fiber, read in passing.
 */
const clockOf = (fiber: Fiber.Fiber<unknown, unknown>): Clock.Clock => fiber.getRef(Clock.Clock)

/**
 * In milliseconds, on the clock that nobody sets: a deadline is no time of day.
 */
const nowOn = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/**
 * Starts the clock for an operation.
 */
export const start = <A, E>(
  total: Duration.Duration,
  each: Duration.Duration,
  run: (deadline: Deadline) => Effect.Effect<A, E>
): Effect.Effect<A, E> => Effect.withFiber((fiber) => run({ total, each, startedAt: nowOn(clockOf(fiber)) }))

/**
 * Whether the operation as a whole has had its time.
 */
export const isOver = (deadline: Deadline): Effect.Effect<boolean> =>
  Effect.withFiber((fiber) =>
    Effect.succeed(nowOn(clockOf(fiber)) - deadline.startedAt >= Duration.toMillis(deadline.total))
  )

/**
 * What the operation as a whole has left: zero where it has had its time.
 */
export const timeLeft = (deadline: Deadline): Effect.Effect<Duration.Duration> =>
  Effect.withFiber((fiber) =>
    Effect.succeed(
      Duration.millis(Math.max(0, deadline.startedAt + Duration.toMillis(deadline.total) - nowOn(clockOf(fiber))))
    )
  )

/**
 * The time of one request, within that of its operation.
 */
export interface OwnTime {
  /**
   * Stops it: that of the operation alone goes on.
   */
  readonly hold: () => void
  /**
   * Gives the request its own time once more.
   */
  readonly restart: () => void
}

interface Pending extends OwnTime {
  expiresAt: number
  limit: Duration.Duration
  readonly fail: (reason: TimedOut | Closed) => void
}

/**
 * The requests of one connection that are under way.
 */
export interface Watch {
  /**
   * Runs one request of an operation: it may take what it may by itself, or what is left of the whole, whichever is
   * less. Fails with the limit that was met, or with `Closed`.
   */
  readonly limit: <A, E>(
    deadline: Deadline,
    run: (own: OwnTime) => Effect.Effect<A, E>,
    toError: (reason: TimedOut | Closed) => E
  ) => Effect.Effect<A, E>
  /**
   * Fails what is under way, and what comes later.
   */
  readonly close: () => void
}

/**
 * A watch over nothing yet.
 */
export const watch = (): Watch => {
  const pending = new Set<Pending>()
  let isClosed = false
  let sleeper: Fiber.Fiber<void> | undefined
  let wakesAt = Number.POSITIVE_INFINITY

  /**
   * Sees to it that the timer goes off by then. Most requests expire later than those before them, and leave it be.
   */
  const wakeBy = (at: number, clock: Clock.Clock): void => {
    if (at >= wakesAt) return
    sleeper?.interruptUnsafe()
    wakesAt = at
    const left = Duration.millis(at - nowOn(clock))
    sleeper = Effect.runFork(Effect.andThen(clock.sleep(left), Effect.sync(() => expire(clock))))
  }

  const expire = (clock: Clock.Clock): void => {
    sleeper = undefined
    wakesAt = Number.POSITIVE_INFINITY
    const now = nowOn(clock)
    let next = Number.POSITIVE_INFINITY
    for (const request of pending) {
      if (request.expiresAt <= now) request.fail(new TimedOut({ limit: request.limit }))
      else next = Math.min(next, request.expiresAt)
    }
    if (next < Number.POSITIVE_INFINITY) wakeBy(next, clock)
  }

  return {
    close: () => {
      isClosed = true
      sleeper?.interruptUnsafe()
      for (const request of pending) request.fail(new Closed())
    },
    limit: <A, E>(
      { each, startedAt, total }: Deadline,
      run: (own: OwnTime) => Effect.Effect<A, E>,
      toError: (reason: TimedOut | Closed) => E
    ) =>
      Effect.withFiber<A, E>((fiber) => {
        if (isClosed) return Effect.fail(toError(new Closed()))
        const clock = clockOf(fiber)
        const endsAt = startedAt + Duration.toMillis(total)
        const now = nowOn(clock)
        if (now >= endsAt) return Effect.fail(toError(new TimedOut({ limit: total })))
        const runFork = Effect.runForkWith(fiber.context)
        return Effect.callback((resume) => {
          let running: Fiber.Fiber<A, E> | undefined
          const request: Pending = {
            expiresAt: endsAt,
            limit: total,
            fail: (reason) => {
              pending.delete(request)
              resume(Effect.fail(toError(reason)))
              running?.interruptUnsafe()
            },
            hold: () => expireAt(endsAt, total),
            restart: () => {
              startAt(nowOn(clock))
              wakeBy(request.expiresAt, clock)
            }
          }
          const expireAt = (at: number, limit: Duration.Duration): void => {
            request.expiresAt = at
            request.limit = limit
          }
          const startAt = (begin: number): void => {
            const at = begin + Duration.toMillis(each)
            if (at > endsAt) expireAt(endsAt, total)
            else expireAt(at, each)
          }
          startAt(now)
          pending.add(request)
          running = runFork(run(request))
          running.addObserver((exit) => {
            pending.delete(request)
            resume(exit)
          })
          // It may have ended, or the connection been closed, before it came back here.
          if (pending.has(request)) wakeBy(request.expiresAt, clock)
          else running.interruptUnsafe()
          const started = running
          return Effect.suspend(() => {
            pending.delete(request)
            return Fiber.interrupt(started)
          })
        })
      })
  }
}
