/**
 * From samples to figures, and from figures to a page.
 */
import type { Task } from "./tasks.ts"
import type { Sample } from "./worker.ts"

/**
 * The samples of one task, by client, one a round.
 */
export type Samples = ReadonlyMap<string, ReadonlyArray<Sample>>

export interface Measured {
  readonly task: Task
  readonly samples: Samples
}

/**
 * One client at one task. The ratios are to the baseline.
 */
export interface Figure {
  readonly millis: number
  readonly cpuMillis: number
  /**
   * Of the medians.
   */
  readonly ratio: number
  readonly cpuRatio: number
  /**
   * The median of each round's own ratio, which slow stretches of the machine disturb less.
   */
  readonly ratioByRound: number
}

export const baseline = "bare"
export const ours = "this"

const titles: Record<string, string> = {
  bare: "bare",
  this: "this",
  "sdk-v2": "SDK v2",
  "sdk-v1": "SDK v1",
  "effect-ai": "effect/ai"
}

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const medianOf = (samples: ReadonlyArray<Sample>, key: keyof Sample): number =>
  median(samples.map((sample) => sample[key]))

export const figureOf = (samples: Samples, client: string): Figure => {
  const own = samples.get(client)!
  const bare = samples.get(baseline)!
  const millis = medianOf(own, "millis")
  const cpuMillis = medianOf(own, "cpuMillis")
  return {
    millis,
    cpuMillis,
    ratio: millis / medianOf(bare, "millis"),
    cpuRatio: cpuMillis / medianOf(bare, "cpuMillis"),
    ratioByRound: median(own.map((sample, round) => sample.millis / bare[round]!.millis))
  }
}

const toTable = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (row: ReadonlyArray<string>): string =>
    row.map((cell, column) => column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)).join("  ")
      .trimEnd()
  const [head, ...body] = rows.map(line)
  return [head, "-".repeat(Math.max(...rows.map((row) => line(row).length))), ...body].join("\n")
}

const times = (ratio: number): string => ratio.toFixed(2)
const millis = (value: number): string => `${value.toFixed(0)} ms`

const verdict = ({ samples, task }: Measured): ReadonlyArray<string> => {
  const { ratio, ratioByRound } = figureOf(samples, ours)
  return [times(ratioByRound), `≤ ${times(task.target)}`, ratio <= task.target ? "met" : "missed"]
}

const clockTable = (measured: ReadonlyArray<Measured>, clients: ReadonlyArray<string>): string => {
  const judged = clients.includes(ours)
  const others = clients.filter((client) => client !== baseline)
  return toTable([
    [
      "by the clock, × bare undici",
      titles[baseline]!,
      ...others.map((client) => titles[client]!),
      ...(judged ? ["by round", "target", ""] : [])
    ],
    ...measured.map((each) => [
      each.task.title,
      millis(figureOf(each.samples, baseline).millis),
      ...others.map((client) => times(figureOf(each.samples, client).ratio)),
      ...(judged ? verdict(each) : [])
    ])
  ])
}

const cpuTable = (measured: ReadonlyArray<Measured>, clients: ReadonlyArray<string>): string => {
  const others = clients.filter((client) => client !== baseline)
  return toTable([
    ["by CPU time of the client", titles[baseline]!, ...others.map((client) => titles[client]!)],
    ...measured.map(({ samples, task }) => [
      task.title,
      millis(figureOf(samples, baseline).cpuMillis),
      ...others.map((client) => times(figureOf(samples, client).cpuRatio))
    ])
  ])
}

export const toText = (measured: ReadonlyArray<Measured>, clients: ReadonlyArray<string>): string =>
  [
    clockTable(measured, clients),
    "",
    cpuTable(measured, clients),
    "",
    "Ratios are of medians over all rounds; \"by round\" is the median of this client's ratios in each round."
  ].join("\n")

export const toJson = (measured: ReadonlyArray<Measured>, clients: ReadonlyArray<string>): ReadonlyArray<object> =>
  measured.map(({ samples, task }) => ({
    ...task,
    met: samples.has(ours) ? figureOf(samples, ours).ratio <= task.target : null,
    clients: Object.fromEntries(
      clients.map((client) => [client, { ...figureOf(samples, client), samples: samples.get(client)! }])
    )
  }))
