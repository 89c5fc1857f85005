import * as Effect from "effect/Effect"

/**
 * Waits for something that the server will have seen.
 */
export const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const timer = setInterval(() => {
      if (!condition()) return
      clearInterval(timer)
      resume(Effect.void)
    }, 1)
    return Effect.sync(() => clearInterval(timer))
  })
