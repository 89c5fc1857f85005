/**
 * From samples to figures, and from figures to a page.
 */
import type { Task } from "./tasks.ts"
import type { Sample } from "./worker.ts"

/**
 * The samples of one task, by client, one a turn.
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
  /**
   * The median turn, times the turns of the task.
   */
  readonly millis: number
  readonly cpuMillis: number
  /**
   * Of the medians.
   */
  readonly ratio: number
  readonly cpuRatio: number
  /**
   * The median of each turn's own ratio, which slow stretches of the machine disturb less.
   */
  readonly ratioByTurn: number
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

export const figureOf = ({ samples, task }: Measured, client: string): Figure => {
  const own = samples.get(client)!
  const bare = samples.get(baseline)!
  const millis = medianOf(own, "millis")
  const cpuMillis = medianOf(own, "cpuMillis")
  return {
    millis: millis * task.turns,
    cpuMillis: cpuMillis * task.turns,
    ratio: millis / medianOf(bare, "millis"),
    cpuRatio: cpuMillis / medianOf(bare, "cpuMillis"),
    ratioByTurn: median(own.map((sample, turn) => sample.millis / bare[turn]!.millis))
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

const isMet = (measured: Measured): boolean => figureOf(measured, ours).ratio <= measured.task.target

const verdict = (measured: Measured): ReadonlyArray<string> => [
  times(figureOf(measured, ours).ratioByTurn),
  `≤ ${times(measured.task.target)}`,
  isMet(measured) ? "met" : "missed"
]

const clockTable = (measured: ReadonlyArray<Measured>, clients: ReadonlyArray<string>): string => {
  const judged = clients.includes(ours)
  const others = clients.filter((client) => client !== baseline)
  return toTable([
    [
      "by the clock, × bare undici",
      titles[baseline]!,
      ...others.map((client) => titles[client]!),
      ...(judged ? ["by turn", "target", ""] : [])
    ],
    ...measured.map((each) => [
      each.task.title,
      millis(figureOf(each, baseline).millis),
      ...others.map((client) => times(figureOf(each, client).ratio)),
      ...(judged ? verdict(each) : [])
    ])
  ])
}

const cpuTable = (measured: ReadonlyArray<Measured>, clients: ReadonlyArray<string>): string => {
  const others = clients.filter((client) => client !== baseline)
  return toTable([
    ["by CPU time of the client", titles[baseline]!, ...others.map((client) => titles[client]!)],
    ...measured.map((each) => [
      each.task.title,
      millis(figureOf(each, baseline).cpuMillis),
      ...others.map((client) => times(figureOf(each, client).cpuRatio))
    ])
  ])
}

export const toText = (measured: ReadonlyArray<Measured>, clients: ReadonlyArray<string>): string =>
  [
    clockTable(measured, clients),
    "",
    cpuTable(measured, clients),
    "",
    "Ratios are of medians over all turns; \"by turn\" is the median of this client's ratios in each turn."
  ].join("\n")

export const toJson = (measured: ReadonlyArray<Measured>, clients: ReadonlyArray<string>): ReadonlyArray<object> =>
  measured.map((each) => ({
    ...each.task,
    met: clients.includes(ours) ? isMet(each) : null,
    clients: Object.fromEntries(
      clients.map((client) => [client, { ...figureOf(each, client), samples: each.samples.get(client)! }])
    )
  }))
