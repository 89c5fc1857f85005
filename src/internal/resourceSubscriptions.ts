/**
 * What a legacy server has been asked to tell of: revision 2025-11-25, server/resources, "Subscriptions".
 *
 * A server knows of one subscription a resource and session, however many wait for its changes here: the first one asks
 * for it, and the last one calls it off.
 */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { McpError } from "../errors/McpError.ts"
import { warn } from "./dropped.ts"

/**
 * How the server is told.
 */
export interface Requests {
  readonly subscribe: (uri: string) => Effect.Effect<void, McpError>
  /**
   * As `subscribe`, and fails where the session is forgotten, rather than have another one opened.
   */
  readonly subscribeAgain: (uri: string) => Effect.Effect<void, McpError>
  readonly unsubscribe: (uri: string) => Effect.Effect<void, McpError>
}

/**
 * Tells a subscriber that it will hear no more.
 */
export type Lose = (error: McpError) => void

/**
 * @see make
 */
export interface ResourceSubscriptions {
  /**
   * Has the server tell of a resource for as long as the scope lives. It may be interrupted at any time, and leaving takes
   * none: the server is told on a fiber of the connection.
   */
  readonly hold: (uri: string, lose: Lose) => Effect.Effect<void, McpError, Scope.Scope>
  /**
   * Asks for all of it once more, in a new session. Subscribers of what is refused now lose it.
   */
  readonly renew: Effect.Effect<void>
}

/**
 * One resource. `isTold` is `undefined` where nobody knows whether the server has heard.
 */
interface Entry {
  readonly uri: string
  readonly subscribers: Set<Lose>
  /**
   * One request at a time, so that none overtakes another.
   */
  readonly turn: Semaphore.Semaphore
  isTold: boolean | undefined
}

/**
 * Nobody has subscribed to anything yet.
 */
export const make = (connection: Scope.Scope, requests: Requests): ResourceSubscriptions => {
  const entries = new Map<string, Entry>()

  const entryOf = (uri: string): Entry => {
    const known = entries.get(uri)
    if (known !== undefined) return known
    const entry = { uri, subscribers: new Set<Lose>(), turn: Semaphore.makeUnsafe(1), isTold: false }
    entries.set(uri, entry)
    return entry
  }

  /**
   * Tells the server what it does not know yet.
   */
  const settle = (entry: Entry): Effect.Effect<void, McpError> => entry.turn.withPermit(tell(entry, requests.subscribe))
  const tell = (entry: Entry, subscribe: Requests["subscribe"]): Effect.Effect<void, McpError> =>
    Effect.suspend(() => {
      const isWanted = entry.subscribers.size > 0
      if (entry.isTold === isWanted) return Effect.void
      entry.isTold = undefined
      const request = isWanted ? subscribe(entry.uri) : requests.unsubscribe(entry.uri)
      return Effect.mapBoth(request, {
        onSuccess: () => {
          entry.isTold = isWanted
        },
        onFailure: (error) => {
          // Refused, or never sent.
          if (error._tag !== "ConnectionFailed") entry.isTold = false
          return error
        }
      })
    })

  const forget = (entry: Entry): void => {
    // Who has come meanwhile goes on with it.
    if (entry.subscribers.size === 0 && entries.get(entry.uri) === entry) entries.delete(entry.uri)
  }

  const leave = (entry: Entry, lose: Lose): Effect.Effect<void> =>
    Effect.suspend(() => {
      entry.subscribers.delete(lose)
      if (entry.subscribers.size > 0) return Effect.void
      const leaving = Effect.ensuring(
        Effect.ignore(settle(entry)),
        Effect.sync(() => forget(entry))
      )
      return Effect.asVoid(Effect.forkIn(leaving, connection))
    })

  const again = (entry: Entry): Effect.Effect<void> =>
    entry.turn.withPermit(Effect.suspend(() => {
      // What is answered before this turn may have been of the old session.
      entry.isTold = false
      return tell(entry, requests.subscribeAgain)
    })).pipe(Effect.catch((error) => {
      for (const lose of entry.subscribers) lose(error)
      return warn("subscription not renewed", error.message)
    }))

  return {
    hold: (uri, lose) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const entry = entryOf(uri)
          entry.subscribers.add(lose)
          return entry
        }),
        (entry) => leave(entry, lose)
      ).pipe(Effect.flatMap((entry) => settle(entry))),
    renew: Effect.suspend(() => Effect.forEach([...entries.values()], again, { concurrency: 8, discard: true }))
  }
}
