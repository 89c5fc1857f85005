/**
 * Watches the event loop of this process: how late it is, and whose doing that is. A turn that takes long with the CPU
 * is this process's own; one that takes long without it is the machine's, which had other things to do.
 *
 * A timer of its own, as `monitorEventLoopDelay` has one: that one cannot leave out what the soak does between rounds.
 */
import { createHistogram, type RecordableHistogram } from "node:perf_hooks"
import type { Delay } from "./shared.ts"

const beatMillis = 10

/**
 * From one beat to the next. `machine` is how much of it is more than a beat, and no CPU time of this thread.
 */
interface Gap {
  readonly from: number
  readonly to: number
  readonly machine: number
}

/**
 * What is older is no operation's any more.
 */
const keptMillis = 10_000

export interface Pulse {
  /**
   * Watches while this runs.
   */
  readonly during: (run: () => Promise<void>) => Promise<void>
  /**
   * How many milliseconds between two moments the machine kept this process waiting.
   */
  readonly machineDelay: (from: number, to: number) => number
  /**
   * From beat to beat: as it was, and less what was the machine's.
   */
  readonly figures: () => { readonly all: Delay; readonly own: Delay }
}

const figuresOf = (histogram: RecordableHistogram): Delay => ({
  p50: histogram.percentile(50) / 1e6,
  p99: histogram.percentile(99) / 1e6,
  max: histogram.max / 1e6
})

const recordMillis = (histogram: RecordableHistogram, millis: number): void =>
  histogram.record(Math.max(1, Math.round(millis * 1e6)))

export const make = (): Pulse => {
  const all = createHistogram()
  const own = createHistogram()
  let late: Array<Gap> = []
  let beatAt = performance.now()
  let cpu = process.threadCpuUsage()

  const sinceBeat = (now: number): Gap => {
    const { system, user } = process.threadCpuUsage(cpu)
    return { from: beatAt, to: now, machine: Math.max(0, now - beatAt - beatMillis - (system + user) / 1000) }
  }

  const restart = (now: number): void => {
    beatAt = now
    cpu = process.threadCpuUsage()
  }

  const beat = (): void => {
    const now = performance.now()
    const gap = sinceBeat(now)
    recordMillis(all, now - beatAt)
    recordMillis(own, now - beatAt - gap.machine)
    if (gap.machine > 0) {
      late = late.filter(({ to }) => to > now - keptMillis)
      late.push(gap)
    }
    restart(now)
  }

  return {
    during: async (run) => {
      restart(performance.now())
      const timer = setInterval(beat, beatMillis)
      await run()
      clearInterval(timer)
    },
    machineDelay: (from, to) =>
      [...late, sinceBeat(performance.now())].reduce(
        (sum, gap) => sum + Math.max(0, Math.min(gap.machine, Math.min(to, gap.to) - Math.max(from, gap.from))),
        0
      ),
    figures: () => ({ all: figuresOf(all), own: figuresOf(own) })
  }
}
