/**
 * From the client's report to what is wrong with it, and to a page.
 */
import { type Delay, type HeapSample, overshoot, type Report, type Tally } from "./shared.ts"

const MiB = 1024 * 1024

const maxDelayMillis = 50
const maxHeapGrowth = 4 * MiB
const maxHeapRise = 2 * MiB

/**
 * Until then, what is compiled and cached for good makes the heap grow.
 */
const warmUpRounds = 4

const warmedUp = (heap: ReadonlyArray<HeapSample>): ReadonlyArray<HeapSample> => heap.slice(warmUpRounds - 1)

const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * How the heap grew after the warm-up: from the first measure to the last, and along the line that fits them all, which
 * tells what every life leaves behind from chance. In bytes.
 */
const growthOf = (heap: ReadonlyArray<HeapSample>) => {
  const samples = warmedUp(heap)
  const [first, last] = [samples[0]!, samples.at(-1)!]
  const lives = mean(samples.map((sample) => sample.lives))
  const bytes = mean(samples.map((sample) => sample.bytes))
  const aLife = mean(samples.map((sample) => (sample.lives - lives) * (sample.bytes - bytes))) /
    mean(samples.map((sample) => (sample.lives - lives) ** 2))
  return { growth: last.bytes - first.bytes, aLife, rise: aLife * (last.lives - first.lives) }
}

/**
 * What is wrong, a plain sentence each; nothing where all is well.
 */
export const problems = (
  { delay, faults, fibersLeft, handlesLeft, heap, late, latest, moreFaults }: Report
): ReadonlyArray<string> => {
  const found = [...faults]
  const { aLife, growth, rise } = growthOf(heap)
  if (moreFaults > 0) found.push(`… and ${moreFaults} more like these.`)
  if (late > 0) {
    found.push(
      `Operations that ended more than ${overshoot} ms after they had to: ${late}; the latest: ${toLatest(latest)}.`
    )
  }
  if (delay.own.p99 >= maxDelayMillis) {
    found.push(
      `The event loop's delay is ${delay.own.p99.toFixed(0)} ms at p99, and has to be under ${maxDelayMillis} ms.`
    )
  }
  if (growth >= maxHeapGrowth) found.push(`The heap grew by ${toMiB(growth)} after the warm-up.`)
  if (rise >= maxHeapRise) found.push(`The heap goes on growing, by ${aLife.toFixed(0)} bytes a life.`)
  if (handlesLeft.length > 0) found.push(`These are left open: ${handlesLeft.join(", ")}.`)
  if (fibersLeft > 0) found.push(`${fibersLeft} fibers are still running.`)
  return found
}

const toMiB = (bytes: number): string => `${(bytes / MiB).toFixed(2)} MiB`
const toMillis = (millis: number): string => `${millis.toFixed(1)} ms`

const toDelays = ({ max, p50, p99 }: Delay): string => [p50, p99, max].map(toMillis).join(", ")

const toLatest = ({ millis, operation }: Report["latest"]): string => `${toMillis(millis)} (${operation})`

const mostFirst = (tally: Tally): ReadonlyArray<readonly [string, number]> =>
  Object.entries(tally).sort(([, a], [, b]) => b - a)

const total = (tally: Tally): number => Object.values(tally).reduce((sum, count) => sum + count, 0)

export const toText = (
  { delay, fibersLeft, handlesLeft, heap, latest, lives, outcomes }: Report,
  tally: Tally,
  about: Readonly<Record<string, unknown>>
): string => {
  const rows: ReadonlyArray<readonly [string, unknown]> = [
    ...Object.entries(about),
    ["lives", lives],
    ["operations", total(outcomes)],
    ...mostFirst(outcomes).map(([outcome, count]) => [`  ${outcome}`, count] as const),
    ["answers of the server", total(tally)],
    ...mostFirst(tally).map(([name, count]) => [`  ${name}`, count] as const),
    ["event-loop delay, p50, p99, longest", toDelays(delay.all)],
    ["  less what was the machine's", toDelays(delay.own)],
    ["latest end after its time", toLatest(latest)],
    ["heap after the warm-up", toMiB(warmedUp(heap)[0]!.bytes)],
    ["heap at the end", toMiB(heap.at(-1)!.bytes)],
    ["  round by round", heap.map(({ bytes }) => (bytes / MiB).toFixed(1)).join(" ")],
    ["  growth a life", `${growthOf(heap).aLife.toFixed(0)} bytes`],
    ["fibers left", fibersLeft],
    ["handles left", handlesLeft.length === 0 ? 0 : handlesLeft.join(", ")]
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n")
}
