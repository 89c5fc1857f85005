/**
 * Sessions that a legacy server has forgotten: revision 2025-11-25, basic/transports, "Session Management".
 *
 * One is opened anew once, for all calls that find it gone: on a fiber of the connection, so that no caller's deadline or
 * interruption leaves it half open. Where that fails, the next call tries again before it is sent.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { McpError } from "../errors/McpError.ts"

/**
 * How a session is opened anew.
 */
export interface Options {
  /**
   * That of the connection.
   */
  readonly scope: Scope.Scope
  /**
   * The handshake, once more.
   */
  readonly initialize: Effect.Effect<void, McpError>
  /**
   * What everybody who waits fails with where the connection is closed meanwhile.
   */
  readonly closed: McpError
}

/**
 * Sends with a session that is opened anew where it has to be: the request is then sent once more, and fails with
 * `SessionExpired` where the new session is forgotten too. `within` bounds the wait for it.
 */
export type Renewing = <A>(
  once: Effect.Effect<A, McpError>,
  within: (renewed: Effect.Effect<void, McpError>) => Effect.Effect<void, McpError>
) => Effect.Effect<A, McpError>

const isForgotten = (error: McpError): boolean =>
  error._tag === "ConnectionFailed" && error.reason._tag === "SessionExpired"

/**
 * The session is as good as new.
 */
export const make = ({ closed, initialize, scope }: Options): Renewing => {
  let generation = 0
  let lost: McpError | undefined
  let renewing: Deferred.Deferred<void, McpError> | undefined

  const renewed: Effect.Effect<void, McpError> = Effect.suspend(() => {
    if (renewing !== undefined) return Deferred.await(renewing)
    const outcome = renewing = Deferred.makeUnsafe<void, McpError>()
    const opening = initialize.pipe(
      Effect.onExit((exit) => {
        generation++
        renewing = undefined
        // The end of the connection interrupts it, and nobody else does.
        const told = Exit.hasInterrupts(exit) ? Exit.fail(closed) : exit
        lost = Option.getOrUndefined(Exit.findErrorOption(told))
        return Deferred.done(outcome, told)
      })
    )
    return Effect.andThen(Effect.forkIn(opening, scope), Deferred.await(outcome))
  })

  return (once, within) =>
    Effect.suspend(() => {
      const found = generation
      return Effect.catchIf(
        lost === undefined && renewing === undefined ? once : Effect.andThen(within(renewed), once),
        isForgotten,
        () => {
          if (found === generation) return Effect.andThen(within(renewed), once)
          return lost === undefined ? once : Effect.fail(lost)
        }
      )
    })
}

/**
 * How many sessions a server may have opened anew by ending its own stream: no call of the application stands behind these.
 */
const maxOfStream = 100

/**
 * As `Renewing`, for the stream of a server's own: bounded over the life of a connection. After that it fails with
 * `SessionExpired`.
 */
export const ofStream = () => {
  let found = 0
  return (renewing: Renewing, once: Effect.Effect<void, McpError>): Effect.Effect<void, McpError> => {
    if (found >= maxOfStream) return once
    const counted = Effect.tapError(once, (error) =>
      Effect.sync(() => {
        if (isForgotten(error)) found++
      }))
    return renewing(counted, (renewed) => renewed)
  }
}
