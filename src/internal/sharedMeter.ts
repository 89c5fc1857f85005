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

  // How many requests count on each. The last of all stays, with none, since it is most often the next one as well.
  const open = new Map<Meter, number>()
  let waiting = 0
  let current: Meter | undefined
  let turn = 0

  const roomiest = (): Meter | undefined => {
    let found: Meter | undefined
    if (waiting === 0) return found
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
        waiting === 0
          ? Math.max(0, idleLimit - idleUsed)
          : Array.from(open.keys()).reduce((sum, meter) => sum + meter.remaining(), 0),
      take,
      close: () => {}
    },
    countOn: (meter) => {
      const others = open.get(meter)
      if (waiting === 0 && others === undefined) open.clear()
      open.set(meter, (others ?? 0) + 1)
      waiting++
      let isCounted = true
      return () => {
        if (!isCounted) return
        isCounted = false
        waiting--
        const left = open.get(meter)! - 1
        if (left > 0 || waiting === 0) open.set(meter, left)
        else open.delete(meter)
        if (left === 0 && current === meter) current = undefined
        if (waiting === 0) rest()
      }
    }
  }
})
