/**
 * How long the event loop was held up at most.
 *
 * Two measures that check each other. A chain of `setImmediate` sees each turn of the loop as it is, and keeps the loop
 * from ever waiting, as nothing in an application does; of a turn it counts what this thread did, and not the time for
 * which the machine had it wait. A timer of one millisecond, which is what `monitorEventLoopDelay` has at that
 * resolution, leaves the loop as it is, and is late by what held it up, the machine included. (Its `samplePerIteration`
 * leaves out what is done on behalf of sockets, which is nearly all that a client does.)
 */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setTimeout as delay } from "node:timers/promises"

/**
 * In milliseconds.
 */
const resolution = 1

export interface LoopWatch {
  /**
   * The longest time in milliseconds.
   */
  readonly stop: () => Promise<number>
}

const withTimer = (): LoopWatch => {
  const histogram = monitorEventLoopDelay({ resolution })
  histogram.enable()
  return {
    stop: async () => {
      // What comes last is seen once the timer has gone off after it.
      await delay(3 * resolution)
      histogram.disable()
      return Math.max(0, histogram.max / 1e6 - resolution)
    }
  }
}

const withChain = (): LoopWatch => {
  let longest = 0
  let last = performance.now()
  let cpu = process.threadCpuUsage()
  let next = setImmediate(function turn() {
    const now = performance.now()
    const { system, user } = process.threadCpuUsage(cpu)
    longest = Math.max(longest, Math.min(now - last, (system + user) / 1000))
    last = now
    cpu = process.threadCpuUsage()
    next = setImmediate(turn)
  })
  return {
    stop: async () => {
      await new Promise(setImmediate)
      clearImmediate(next)
      return longest
    }
  }
}

export const measures = { timer: withTimer, chain: withChain }

export type Measure = keyof typeof measures
