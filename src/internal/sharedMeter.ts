/**
 * Counts what comes on one stream that several requests share: against whoever asked last, and, while nobody asks,
 * against an allowance of its own.
 */
import type { Meter } from "../services/ByteBudget.ts"

/**
 * @see make
 */
export interface SharedMeter {
  readonly meter: Meter
  /**
   * From now on it counts against this one.
   */
  readonly countOn: (meter: Meter) => void
  /**
   * Nobody asks any more.
   */
  readonly rest: () => void
}

/**
 * What a server may say between two requests, `idleLimit` in bytes: signs of life, and what nobody asked for.
 */
export const make = (idleLimit: number): SharedMeter => {
  let idleUsed = 0
  const idle: Meter = {
    limit: idleLimit,
    remaining: () => Math.max(0, idleLimit - idleUsed),
    take: (bytes) => {
      idleUsed += bytes
      return idleUsed <= idleLimit
    },
    close: () => {}
  }
  let meter = idle
  return {
    meter: {
      get limit() {
        return meter.limit
      },
      remaining: () => meter.remaining(),
      take: (bytes) => meter.take(bytes),
      close: () => {}
    },
    countOn: (next) => {
      meter = next
    },
    rest: () => {
      meter = idle
      idleUsed = 0
    }
  }
}
