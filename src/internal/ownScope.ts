import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"

/**
 * Whoever is told of a failure waits no longer for what was opened to close, so that no deadline is overshot by it;
 * closing goes on by itself, within its own bound.
 */
const grace = "20 millis"

/**
 * Gives an acquisition a scope inside the caller's, and closes it at once where the acquisition fails: a connection that
 * failed half-way leaves nothing behind, though its scope lives on.
 */
export const inOwnScope = <A, E, R>(
  acquire: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Scope.Scope> | Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const scope = yield* Scope.fork(yield* Effect.scope)
      return yield* restore(Scope.provide(acquire, scope)).pipe(
        Effect.onExit((exit) =>
          Exit.isSuccess(exit)
            ? Effect.void
            : Effect.flatMap(
              Effect.forkDetach(Scope.close(scope, exit)),
              (closing) => Effect.timeoutOption(Fiber.await(closing), grace)
            )
        )
      )
    })
  )
