/**
 * The roots of the application's work: revision 2025-11-25, client/roots.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { McpError } from "../errors/McpError.ts"
import type { Root } from "../schema/Root.ts"
import type { Roots } from "../services/ClientFeatures.ts"
import { note } from "./dropped.ts"

/**
 * Whether a server can be told of changes.
 */
export const areChanging = (
  roots: Roots | undefined
): roots is SubscriptionRef.SubscriptionRef<ReadonlyArray<Root>> => SubscriptionRef.isSubscriptionRef(roots)

/**
 * The roots as they are now.
 */
export const current = (roots: Roots): Effect.Effect<ReadonlyArray<Root>, unknown> => {
  if (Effect.isEffect(roots)) return roots
  return areChanging(roots) ? SubscriptionRef.get(roots) : Effect.succeed(roots)
}

/**
 * Begins to follow the roots, for a server that has not asked for them yet. `tell` then tells it of every change, until
 * the scope closes ("Root List Changes"); changes that come while it is being told are one.
 */
export const follow = (roots: Roots | undefined) => {
  if (!areChanging(roots)) return (): Effect.Effect<void> => Effect.void
  let known = SubscriptionRef.getUnsafe(roots)
  return (tell: Effect.Effect<void, McpError>): Effect.Effect<void, never, Scope.Scope> => {
    const telling = Effect.suspend(() => {
      const latest = SubscriptionRef.getUnsafe(roots)
      if (latest === known) return Effect.void
      known = latest
      return Effect.matchEffect(tell, {
        onFailure: (error) => note("change of roots not delivered", error.message),
        onSuccess: () => Effect.void
      })
    })
    return Effect.asVoid(Effect.forkScoped(Stream.runForEach(SubscriptionRef.changes(roots), () => telling)))
  }
}
