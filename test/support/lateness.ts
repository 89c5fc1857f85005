/**
 * Times against deadlines, on a machine that has other things to do as well.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

const beat = 5

/**
 * What an effect came to, how long it took, and by how much a timer beside it was late at most: so late may anything be
 * that waits for a timer. In milliseconds.
 */
export interface Timed<A> {
  readonly value: A
  readonly millis: number
  readonly late: number
}

export const timed = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Timed<A>, E, R> =>
  Effect.map(withLateness(Effect.timed(effect)), ([[elapsed, value], late]) => ({
    value,
    millis: Duration.toMillis(elapsed),
    late
  }))

const withLateness = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<readonly [A, number], E, R> =>
  Effect.suspend(() => {
    let lateness = 0
    let last = performance.now()
    const look = (): void => {
      const now = performance.now()
      lateness = Math.max(lateness, now - last - beat)
      last = now
    }
    const timer = setInterval(look, beat)
    return Effect.ensuring(
      Effect.map(effect, (value) => {
        look()
        return [value, lateness] as const
      }),
      Effect.sync(() => clearInterval(timer))
    )
  })
