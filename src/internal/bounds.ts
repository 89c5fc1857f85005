/**
 * Bounds that an application sets. What is none would be no bound at all, so that it is refused where it is written.
 */
import * as Duration from "effect/Duration"

/**
 * A whole number from 1 on. Throws where it is none.
 */
export const count = (value: number, what: string): number => {
  if (Number.isInteger(value) && value >= 1) return value
  throw new RangeError(`${what} is not a whole number from 1 on`)
}

/**
 * A duration from 0 on. Throws where it is none.
 */
export const duration = (value: Duration.Input, what: string): Duration.Duration => {
  const read = Duration.fromInputUnsafe(value)
  if (Duration.toMillis(read) >= 0 && !Number.isNaN(value)) return read
  throw new RangeError(`${what} is not a duration from 0 on`)
}
