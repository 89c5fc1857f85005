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
 * Who wants the stream.
 */
export interface Follower {
  /**
   * Hears that the stream was there and is lost for good.
   */
  readonly lose: (error: McpError) => void
  /**
   * How long to wait until it is open, where that is less than is usual.
   */
  readonly wait?: Duration.Duration | undefined
}

/**
 * One stream, however many want it.
 */
export interface OwnStream {
  /**
   * Has it followed for as long as the scope lives. Goes on once it is open, or is not to be had. Where it has ended, it
   * is begun again.
   */
  readonly wanted: (follower: Follower) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Begins it anew where it is wanted: it belongs to a session, and there is another one now.
   */
  readonly renew: Effect.Effect<void>
}

/**
 * What one run of following is told, and tells.
 */
export interface Following {
  /**
   * Whether there has been such a stream: a server that refuses it now fails, rather than has none.
   */
  readonly again: boolean
  readonly onOpen: () => void
}

/**
 * `follow` follows the stream to its end. Nothing is followed longer than the connection lives.
 */
export const make = (
  connection: Scope.Scope,
  follow: (following: Following) => Effect.Effect<void, McpError>
): OwnStream => {
  const followers = new Set<Follower>()
  let current: { readonly fiber: Fiber.Fiber<void>; readonly open: Deferred.Deferred<void> } | undefined
  let wasOpen = false

  const lost = (error: McpError): Effect.Effect<void> =>
    Effect.suspend(() => {
      // Where it never was open, there is none, however the server says so.
      if (wasOpen) { for (const { lose } of followers) lose(error) }
      return warn("stream of the server's own ended", error.message)
    })

  const begin = Effect.suspend(() => {
    const open = Deferred.makeUnsafe<void>()
    const goOn = (): void => {
      Deferred.doneUnsafe(open, Effect.void)
    }
    const onOpen = (): void => {
      wasOpen = true
      goOn()
    }
    const followed = follow({ again: wasOpen, onOpen }).pipe(Effect.catch(lost), Effect.ensuring(Effect.sync(goOn)))
    return Effect.map(Effect.forkIn(followed, connection), (fiber) => {
      current = { fiber, open }
    })
  })
  const beginWhereWanted = Effect.suspend(() =>
    followers.size === 0 || (current !== undefined && current.fiber.pollUnsafe() === undefined) ? Effect.void : begin
  )
  const end = Effect.suspend(() => {
    const ending = current
    current = undefined
    return ending === undefined ? Effect.void : Fiber.interrupt(ending.fiber)
  })
  const opened = (wait: Duration.Duration) =>
    Effect.suspend(() =>
      current === undefined
        ? Effect.void
        : Effect.timeoutOption(Deferred.await(current.open), Duration.min(wait, maxWait))
    )
  return {
    wanted: (follower) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          followers.add(follower)
          return beginWhereWanted
        }),
        () =>
          Effect.suspend(() => {
            followers.delete(follower)
            return followers.size > 0 ? Effect.void : end
          })
      ).pipe(Effect.andThen(opened(follower.wait ?? maxWait)), Effect.asVoid),
    renew: Effect.andThen(end, beginWhereWanted)
  }
}

/**
 * For a transport that brings all of it anyhow.
 */
export const none: OwnStream = { wanted: () => Effect.void, renew: Effect.void }
