/**
 * What an effect may leave behind: fibers, and what keeps the process alive.
 */
import type * as Metric from "effect/Metric"

/**
 * Counts the fibers that run under an effect that has this service, those that it leaves behind among them.
 */
export const countingFibers = () => {
  let running = 0
  const service: Metric.FiberRuntimeMetricsService = {
    recordFiberStart: () => void running++,
    recordFiberEnd: () => void running--
  }
  return { service, running: () => running }
}

/**
 * What keeps the process alive, by kind: sockets, timers, look-ups.
 */
export const handles = (): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/**
 * The kinds of which there are more than before.
 */
export const moreThan = (before: ReadonlyMap<string, number>): ReadonlyArray<string> =>
  [...handles()].filter(([name, count]) => count > (before.get(name) ?? 0)).map(([name]) => name)
