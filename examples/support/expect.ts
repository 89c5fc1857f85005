/**
 * Expectations of a program that proves something: what is not as expected ends it with another code than 0.
 */
import { Data, Effect } from "effect"

/**
 * Something did not go as the program says that it goes.
 */
export class Unexpected extends Data.TaggedError("Unexpected")<{ readonly message: string }> {}

/**
 * Fails where something does not hold.
 */
export const that = (holds: boolean, what: string): Effect.Effect<void, Unexpected> =>
  holds ? Effect.void : Effect.fail(new Unexpected({ message: `expected: ${what}` }))

/**
 * For what must not succeed. Its failures stay as they are, for the handlers that follow.
 */
export const failure = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<never, E | Unexpected, R> =>
  Effect.andThen(effect, Effect.fail(new Unexpected({ message: "expected a failure, and it succeeded" })))
