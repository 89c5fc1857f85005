/**
 * Counts what comes on one stream that several requests share.
 *
 * Until a message is whole nobody knows whose it is, and so it counts against whoever waits and has the most left. While
 * nobody waits there is an allowance: nothing of what comes then is kept, so that it need only be slow enough.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Meter } from "../services/ByteBudget.ts"

/**
 * @see make
 */
export interface SharedMeter {
  readonly meter: Meter
  /**
   * From now on there is this one to count against as well, until the answer is called. Requests may have one in common.
   */
  readonly countOn: (meter: Meter) => () => void
}

/**
 * What a server may say while nobody waits, in bytes a minute: signs of life, and what nobody asked for.
 */
export const idleLimit: number = 8 * 1024 * 1024

const minute = 60_000_000_000n

/**
 * So many bytes count against one meter before another one is looked for.
 */
const perTurn = 64 * 1024

/**
 * Nobody waits yet.
 */
export const make: Effect.Effect<SharedMeter> = Effect.map(Clock.Clock, (clock) => {
  let idleUsed = 0
  let idleSince = clock.monotonicTimeNanosUnsafe()
  const rest = (): void => {
    idleUsed = 0
    idleSince = clock.monotonicTimeNanosUnsafe()
  }
  const takeIdle = (bytes: number): boolean => {
    if (clock.monotonicTimeNanosUnsafe() - idleSince >= minute) rest()
    idleUsed += bytes
    return idleUsed <= idleLimit
  }

  // How many requests count on each.
  const open = new Map<Meter, number>()
  let current: Meter | undefined
  let turn = 0

  const roomiest = (): Meter | undefined => {
    let found: Meter | undefined
    for (const meter of open.keys()) {
      if (found === undefined || meter.remaining() > found.remaining()) found = meter
      // None has more left.
      if (found.remaining() >= found.limit) break
    }
    return found
  }

  const take = (bytes: number): boolean => {
    if (current === undefined || turn <= 0 || current.remaining() < bytes) {
      current = roomiest()
      turn = perTurn
    }
    if (current === undefined) return takeIdle(bytes)
    turn -= bytes
    let left = bytes
    if (current.remaining() < bytes) {
      for (const meter of open.keys()) {
        const some = Math.min(left, meter.remaining())
        meter.take(some)
        left -= some
      }
    }
    return left === 0 || current.take(left)
  }

  return {
    meter: {
      get limit() {
        // Those of one connection have it in common.
        return roomiest()?.limit ?? idleLimit
      },
      remaining: () =>
        open.size === 0
          ? Math.max(0, idleLimit - idleUsed)
          : Array.from(open.keys()).reduce((sum, meter) => sum + meter.remaining(), 0),
      take,
      close: () => {}
    },
    countOn: (meter) => {
      open.set(meter, (open.get(meter) ?? 0) + 1)
      return () => {
        const users = open.get(meter)
        if (users === undefined) return
        if (users > 1) return void open.set(meter, users - 1)
        open.delete(meter)
        if (current === meter) current = undefined
        if (open.size === 0) rest()
      }
    }
  }
})
