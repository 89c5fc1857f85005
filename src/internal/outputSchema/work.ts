/**
 * How much a validation may cost. A schema of a few lines can ask for more than any machine can do, so that what is done
 * is counted; and it is done in turns, so that nobody else waits for it.
 */
import * as Effect from "effect/Effect"

/**
 * The steps of one validation. A step is a keyword that is looked at, a value, or some characters of a text: some tens of
 * nanoseconds, up to a microsecond.
 */
export interface Work {
  /**
   * Spends steps that are about to be taken. What it answers must be run first: a rest, or the failure where too many
   * are taken.
   */
  readonly spend: (steps: number) => Effect.Effect<void, string> | undefined
}

export const maxSteps = 2 ** 22

/**
 * A turn takes a few milliseconds.
 */
const turn = 2 ** 13

const exhausted = Effect.fail(`checking it takes more than ${maxSteps} steps`)

/**
 * Nothing is spent yet.
 */
export const make = (): Work => {
  let left = maxSteps
  let leftOfTurn = turn
  return {
    spend: (steps) => {
      left -= steps
      if (left < 0) return exhausted
      leftOfTurn -= steps
      if (leftOfTurn > 0) return undefined
      leftOfTurn = turn
      return Effect.yieldNow
    }
  }
}
