/**
 * What hostile answers cost this client, and the bounds of that.
 */
import * as Effect from "effect/Effect"
import * as Raw from "../support/rawServer.ts"
import { type Costly, cpuCases, memoryCases, MiB } from "./costly.ts"
import type { Measure } from "./loopWatch.ts"
import type { Job } from "./worker.ts"
import * as Workers from "./workers.ts"

/**
 * Memory over that of the idle client, for every byte of the budget: 96 MiB for 8 MiB.
 */
const mostMemoryPerByte = 12

/**
 * For how long the event loop may be held up, in milliseconds.
 */
export const longestBlock = 50

/**
 * For twice the input, twice the time, and a little.
 */
const steepest = 2.3

/**
 * A machine that others use too adds to what is measured. What is over a bound is measured again; so often in all.
 */
export const attempts = 3

/**
 * For one answer, in milliseconds: none that is to be measured takes as long.
 */
const limit = 30_000

/**
 * What was measured, and which bounds were broken.
 */
export interface Measured {
  readonly name: string
  readonly figures: ReadonlyArray<string>
  readonly problems: ReadonlyArray<string>
}

export const serve = ({ act, answer }: Costly, size: number) =>
  Raw.make(Raw.modern({ [act === "list" ? "tools/list" : "tools/call"]: answer(size) }))

export const jobOf = ({ act, budget }: Costly, { url }: Raw.RawServer, measure: Measure): Job => ({
  url,
  version: "2026-07-28",
  act,
  measure,
  budget
})

const ask = (worker: Workers.Worker, costly: Costly, server: Raw.RawServer, measure: Measure) =>
  Effect.flatMap(
    worker.ask(jobOf(costly, server, measure), limit),
    (outcome) =>
      outcome._tag === "Ended"
        ? Effect.succeed(outcome)
        : Effect.die(new Error(`${costly.name}: the client has ${outcome._tag === "Hung" ? "not ended" : "died"}`))
  )

type Ended = Effect.Success<ReturnType<typeof ask>>

const outcomeProblem = ({ outcome }: Costly, got: Ended): ReadonlyArray<string> =>
  got.outcome === outcome ? [] : [`${got.outcome} instead of ${outcome}`]

const memoryOf = (costly: Costly, good: Workers.GoodServers): Effect.Effect<Measured> =>
  Effect.scoped(Effect.gen(function*() {
    const worker = yield* Workers.make("this", good)
    const got = yield* ask(worker, costly, yield* serve(costly, costly.size), "timer")
    const most = mostMemoryPerByte * (costly.budget ?? 8 * MiB)
    return {
      name: costly.name,
      figures: [inMiB(got.grew), `< ${inMiB(most)}`],
      problems: [...outcomeProblem(costly, got), ...(got.grew < most ? [] : ["too much memory"])]
    }
  }))

const inMiB = (bytes: number): string => `${(bytes / MiB).toFixed(0)} MiB`
const inMillis = (millis: number): string => `${millis.toFixed(millis < 10 ? 1 : 0)} ms`

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

/**
 * The least of a few attempts, of which the first that is within the bound is the last.
 */
const least = (first: number, again: Effect.Effect<number>, bound: number): Effect.Effect<number> =>
  Effect.gen(function*() {
    let lowest = first
    for (let attempt = 1; attempt < attempts && lowest >= bound; attempt++) lowest = Math.min(lowest, yield* again)
    return lowest
  })

/**
 * The same answer in two sizes, several times in turn.
 */
interface Samples {
  readonly single: ReadonlyArray<Ended>
  readonly double: ReadonlyArray<Ended>
}

const rounds = 5

const medianOf = (samples: ReadonlyArray<Ended>, key: "millis" | "cpuMillis"): number =>
  median(samples.map((sample) => sample[key]))

/**
 * By the clock, which other processes disturb, and by CPU time, which the helpers of the garbage collector do. What is
 * steeper than linear is so by both.
 */
const growth = ({ double, single }: Samples): number =>
  Math.min(
    medianOf(double, "millis") / medianOf(single, "millis"),
    medianOf(double, "cpuMillis") / medianOf(single, "cpuMillis")
  )

const cpuOf = (costly: Costly, good: Workers.GoodServers): Effect.Effect<Measured> =>
  Effect.scoped(Effect.gen(function*() {
    const worker = yield* Workers.make("this", good)
    const half = yield* serve(costly, costly.size / 2)
    const whole = yield* serve(costly, costly.size)
    const inTurn = Effect.zip(ask(worker, costly, half, "timer"), ask(worker, costly, whole, "timer"))
    yield* Effect.replicateEffect(inTurn, 2)
    const sample = Effect.map(Effect.replicateEffect(inTurn, rounds), (pairs): Samples => ({
      single: pairs.map(([single]) => single),
      double: pairs.map(([, double]) => double)
    }))
    const samples = yield* sample
    const ratio = yield* least(growth(samples), Effect.map(sample, growth), steepest)
    const heldUp = (measure: Measure) => Effect.map(ask(worker, costly, whole, measure), (each) => each.heldUp)
    const block = yield* least(yield* heldUp("chain"), heldUp("chain"), longestBlock)
    const byTheClock = yield* heldUp("timer")
    return {
      name: costly.name,
      figures: [inMillis(medianOf(samples.double, "millis")), inMillis(block), inMillis(byTheClock), ratio.toFixed(2)],
      problems: [
        ...outcomeProblem(costly, samples.double[0]!),
        ...(block < longestBlock ? [] : ["the event loop is held up"]),
        ...(ratio < steepest ? [] : ["steeper than linear"])
      ]
    }
  }))

/**
 * A measure that sees nothing would be content with everything: both are shown a block of known length.
 */
const measureOf = (measure: Measure, good: Workers.GoodServers): Effect.Effect<Measured> =>
  Effect.scoped(Effect.gen(function*() {
    const worker = yield* Workers.make("this", good)
    const busy = 2 * longestBlock
    const job: Job = { url: good["2026-07-28"].url, version: "2026-07-28", act: "call", measure, busy }
    const got = yield* worker.ask(job, limit)
    const seen = got._tag === "Ended" ? got.heldUp : 0
    return {
      name: `${busy} ms of work, by the ${measure}`,
      figures: [
        inMillis(busy),
        measure === "chain" ? inMillis(seen) : "",
        measure === "timer" ? inMillis(seen) : "",
        ""
      ],
      problems: seen >= busy - 1 ? [] : ["not seen"]
    }
  }))

export const memory = (good: Workers.GoodServers) => Effect.forEach(memoryCases, (costly) => memoryOf(costly, good))

export const cpu = (good: Workers.GoodServers) =>
  Effect.all([measureOf("timer", good), measureOf("chain", good), ...cpuCases.map((costly) => cpuOf(costly, good))])
