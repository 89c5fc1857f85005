/**
 * What a server announces, and who listens: revision 2026-07-28, basic/patterns/progress and
 * basic/patterns/subscriptions.
 */
import * as Effect from "effect/Effect"
import type { RawNotification } from "../services/Transport.ts"
import type { Dropped } from "./dropped.ts"

/**
 * Everybody who listens to one server.
 */
export interface Announcements {
  /**
   * Takes what has come. Never waits.
   */
  readonly take: (notification: RawNotification) => void
  /**
   * Has a listener called with what comes, until the answer is called. It says whether it wanted it, and neither waits
   * nor throws.
   */
  readonly listen: (listener: Listener) => () => void
  /**
   * Has a listener called for as long as an effect takes.
   */
  readonly during: <A, E>(effect: Effect.Effect<A, E>, listener: Listener) => Effect.Effect<A, E>
}

/**
 * The announcements behind a stream of them, for whoever must have heard before anybody else goes on.
 */
const behind = new WeakMap<object, Announcements>()

/**
 * Remembers what is behind a stream.
 */
export const withSource = <S extends object>(stream: S, announcements: Announcements): S => {
  behind.set(stream, announcements)
  return stream
}

/**
 * What is behind a stream, as long as nobody has made another one of it.
 */
export const sourceOf = (stream: object): Announcements | undefined => behind.get(stream)

/**
 * Says whether it wanted what came.
 */
export type Listener = (notification: RawNotification) => boolean

/**
 * Nobody listens yet. What nobody wants is dropped.
 */
export const make = (dropped: Dropped): Announcements => {
  const listeners = new Set<Listener>()
  const listen = (listener: Listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    take: (notification) => {
      let isWanted = false
      for (const listener of listeners) if (listener(notification)) isWanted = true
      if (!isWanted) dropped.add(notification.method)
    },
    listen,
    during: (effect, listener) =>
      Effect.suspend(() => {
        const stop = listen(listener)
        return Effect.ensuring(effect, Effect.sync(stop))
      })
  }
}
