/**
 * The stream of a legacy server on which it says what belongs to no request of ours: revision 2025-11-25,
 * basic/transports, "Listening for Messages from the Server".
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { McpError } from "../errors/McpError.ts"
import { warn } from "./dropped.ts"

/**
 * What a server says before the stream is open is lost with most of them. Some do not say that it is open before they
 * have something to say.
 */
const maxWait = Duration.seconds(1)

/**
 * One stream, however many want it.
 */
export interface OwnStream {
  /**
   * Has it followed for as long as the scope lives. Goes on once it is open, or is not to be had.
   */
  readonly wanted: Effect.Effect<void, never, Scope.Scope>
  /**
   * Begins it anew where it is wanted: it belongs to a session, and there is another one now.
   */
  readonly renew: Effect.Effect<void>
}

/**
 * `follow` follows the stream to its end, and tells when it is open. Nothing is followed longer than the connection lives.
 */
export const make = (
  connection: Scope.Scope,
  follow: (onOpen: () => void) => Effect.Effect<void, McpError>
): OwnStream => {
  let followers = 0
  let following: { readonly fiber: Fiber.Fiber<void>; readonly open: Deferred.Deferred<void> } | undefined

  const begin = Effect.suspend(() => {
    const open = Deferred.makeUnsafe<void>()
    const onOpen = (): void => {
      Deferred.doneUnsafe(open, Effect.void)
    }
    const followed = Effect.matchEffect(follow(onOpen), {
      onFailure: (error) => warn("stream of the server's own ended", error.message),
      onSuccess: () => Effect.void
    })
    return Effect.map(Effect.forkIn(Effect.ensuring(followed, Effect.sync(onOpen)), connection), (fiber) => {
      following = { fiber, open }
    })
  })
  const end = Effect.suspend(() => following === undefined ? Effect.void : Fiber.interrupt(following.fiber))
  const opened = Effect.suspend(() =>
    following === undefined ? Effect.void : Effect.timeoutOption(Deferred.await(following.open), maxWait)
  )
  return {
    wanted: Effect.acquireRelease(
      Effect.suspend(() => followers++ > 0 ? Effect.void : begin),
      () => Effect.suspend(() => --followers > 0 ? Effect.void : end)
    ).pipe(Effect.andThen(opened), Effect.asVoid),
    renew: Effect.suspend(() => followers > 0 ? Effect.andThen(end, begin) : Effect.void)
  }
}

/**
 * For a transport that brings all of it anyhow.
 */
export const none: OwnStream = { wanted: Effect.void, renew: Effect.void }
