/**
 * Asks this client and its peers the same of the same hostile servers, and judges what comes of it.
 */
import * as Effect from "effect/Effect"
import * as Raw from "../../support/rawServer.ts"
import { cases } from "../cases/index.ts"
import { type Costly, cpuCases, memoryCases, MiB } from "../costly.ts"
import { type Case, responderOf } from "../kit/suite.ts"
import { attempts, jobOf, longestBlock, serve } from "../measured.ts"
import type { ClientName, Job } from "../worker.ts"
import * as Workers from "../workers.ts"
import { speaks } from "./effectAi.ts"

/**
 * `wrong` took what is to be refused, refused what is to be taken, or read something else from it. What is worse comes
 * later; `blocks` and `balloons` may have come to the right end.
 */
export const verdicts = ["survives", "wrong", "blocks", "balloons", "hangs", "crashes"] as const

export type Verdict = (typeof verdicts)[number]

/**
 * One client at one case. What is about costs has no row.
 */
export interface Finding {
  readonly row: number | undefined
  readonly name: string
  readonly client: ClientName
  readonly wanted: string
  readonly verdict: Verdict
  readonly outcome: string
  readonly message: string
  readonly heldUp: number
  readonly grew: number
}

interface Client {
  readonly name: ClientName
  readonly title: string
  readonly speaks: (version: Job["version"]) => boolean
}

export const clients: ReadonlyArray<Client> = [
  { name: "this", title: "this client", speaks: () => true },
  { name: "sdk-v2", title: "official SDK v2", speaks: () => true },
  { name: "effect-ai", title: "`effect/ai`", speaks }
]

/**
 * In MiB: enough for all that is asked, and soon used up by what does not end.
 */
const heap = 512

/**
 * Over the idle client, in bytes.
 */
const mostMemory = 96 * MiB

/**
 * How long after its deadline a client must have ended, in milliseconds.
 */
const patience = 1000

/**
 * Of a case that is not about time, in milliseconds. There are many, and some clients hang at many.
 */
const usualDeadline = 1000

/**
 * What a case may say that peers are asked too. All else is about options of this client, or about what only it has.
 */
const forAll: ReadonlySet<string> = new Set<keyof Case>(
  ["row", "name", "speaks", "answers", "lures", "act", "outcome", "sees", "dials", "deadline", "check"]
)

const isForAll = (hostile: Case): boolean =>
  typeof hostile.act !== "function" &&
  Object.entries(hostile).every(([key, value]) => value === undefined || forAll.has(key))

const versionOf = ({ speaks: version }: Case): Job["version"] => version ?? "2026-07-28"

const judge = (
  { deadline, value, wanted }: {
    readonly wanted: string
    readonly deadline: number
    /**
     * The digest of what this client had, where there is something to be had.
     */
    readonly value?: string | undefined
  },
  got: Workers.Outcome,
  strays: ReadonlyArray<string>
): Verdict => {
  if (got._tag === "Died" || strays.length > 0) return "crashes"
  if (got._tag === "Hung" || got.millis > deadline + patience) return "hangs"
  if (got.grew > mostMemory) return "balloons"
  if (got.heldUp > longestBlock) return "blocks"
  if ((wanted === "ok") !== (got.outcome === "ok")) return "wrong"
  return wanted === "ok" && value !== undefined && got.value !== value ? "wrong" : "survives"
}

/**
 * Whether it is up to the machine too.
 */
const isMeasured = ({ verdict }: Pick<Finding, "verdict">): boolean =>
  verdict === "blocks" || verdict === "balloons" || verdict === "hangs"

interface Tried {
  readonly verdict: Verdict
  readonly got: Workers.Outcome
  /**
   * What else was seen: errors that nobody caught, and where it was led.
   */
  readonly beside: ReadonlyArray<string>
}

const toFinding = (
  base: Pick<Finding, "row" | "name" | "client" | "wanted">,
  { beside, got, verdict }: Tried
): Finding => {
  const { grew, heldUp, message, outcome } = got._tag === "Ended"
    ? got
    : { grew: NaN, heldUp: NaN, message: "", outcome: got._tag }
  return { ...base, verdict, outcome: [outcome, ...beside].join(", "), message, heldUp, grew }
}

/**
 * An id as it is written, in JSON and in the texts that cases put together: this client's are numbers, a peer's may be
 * strings.
 */
const writable = (id: unknown): unknown =>
  typeof id === "string" ? { toString: () => JSON.stringify(id), toJSON: () => id } : id

/**
 * Servers are written for what this client sends: `lose` is told where a peer sends something that one cannot read.
 */
const orLose = (respond: Raw.Responder, lose: () => void): Raw.Responder => (socket, request) => {
  const message = { ...request.message, id: writable(request.message.id) } as Raw.RawRequest["message"]
  try {
    respond(socket, { ...request, message })
  } catch {
    lose()
    socket.destroy()
  }
}

/**
 * The row of content encodings, which peers ask for, and this client does not.
 */
const encodings = 11

/**
 * Whether a peer was right to take what is to be refused: it never asked what is answered badly, or asked for it so.
 */
const isRightToTake = ({ answers, outcome, row }: Case, requests: ReadonlyArray<Raw.RawRequest>): boolean => {
  if (outcome === "ok") return false
  const asked = requests.filter(({ httpMethod, message }) => Object.hasOwn(answers ?? {}, message.method ?? httpMethod))
  return asked.length === 0 || (row === encodings && asked.some(({ headers }) => "accept-encoding" in headers))
}

/**
 * One case and one client; `undefined` where nothing can be said.
 */
const tryOnce = (hostile: Case, worker: Workers.Worker, value: string | undefined) =>
  Effect.gen(function*() {
    const deadline = hostile.deadline ?? usualDeadline
    let isLost = false
    const served = Effect.gen(function*() {
      const elsewhere = yield* Raw.make(Raw.modern())
      const server = yield* Raw.make(orLose(responderOf(hostile, elsewhere), () => isLost = true))
      const act = typeof hostile.act === "string" ? hostile.act : "call"
      const job: Job = { url: server.url, version: versionOf(hostile), act, deadline, measure: "timer" }
      const got = yield* worker.ask(job, deadline + patience)
      return { got, requests: server.requests, wasLed: elsewhere.connections() > 0 }
    })
    const { got, requests, wasLed } = yield* Effect.scoped(served)
    const strays = yield* worker.strays
    const judged = judge({ wanted: hostile.outcome, deadline, value }, got, strays)
    const verdict: Verdict = judged === "survives" && wasLed ? "wrong" : judged
    // The next one starts with a clean slate. What grows little by little is put down to nobody: it is asked again.
    if (verdict === "balloons" || verdict === "crashes") yield* worker.end
    if (isLost || (verdict === "wrong" && !wasLed && isRightToTake(hostile, requests))) return undefined
    const tried: Tried = { verdict, got, beside: wasLed ? [...strays, "led elsewhere"] : strays }
    return tried
  })

/**
 * One case and one client, with the digest of what this client had.
 */
interface Asked extends Tried {
  readonly hostile: Case
  readonly client: ClientName
  readonly value: string | undefined
}

type Workforce = ReadonlyMap<ClientName, Workers.Worker>

const startAll = (good: Workers.GoodServers) =>
  Effect.map(
    Effect.forEach(clients, ({ name }) =>
      Effect.map(Workers.make(name, good, heap), (worker) => [name, worker] as const)),
    (workers): Workforce =>
      new Map(workers)
  )

const askAll = (hostile: Case, workers: Workforce) =>
  Effect.gen(function*() {
    const asked: Array<Asked> = []
    let value: string | undefined
    for (const client of clients.filter((each) => each.speaks(versionOf(hostile)))) {
      const tried = yield* tryOnce(hostile, workers.get(client.name)!, value)
      if (tried === undefined) continue
      if (client.name === "this" && tried.got._tag === "Ended") value = tried.got.value
      asked.push({ ...tried, hostile, client: client.name, value })
    }
    return asked
  })

/**
 * What is measured is measured again. A block may be the machine's, a few times over; to hang twice, or to balloon twice
 * from a fresh start, is enough.
 */
const askAgain = (first: Asked, workers: Workforce) =>
  Effect.gen(function*() {
    const worker = workers.get(first.client)!
    if (first.verdict === "balloons") yield* worker.end
    let last: Tried = first
    let isSettled = false
    for (let left = attempts; left > 0 && isMeasured(last) && !isSettled; left--) {
      const { verdict } = last
      last = (yield* tryOnce(first.hostile, worker, first.value)) ?? last
      isSettled = last.verdict === verdict && verdict !== "blocks"
    }
    return { ...first, ...last }
  })

/**
 * So many cases at once, since most of the time is spent on waiting.
 */
const lanes = 4

/**
 * All cases, side by side; then those once more, one by one, where that may have been what was measured.
 */
const ofRows = (good: Workers.GoodServers): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.gen(function*() {
    const queue = Object.values(cases).flat().filter(isForAll).values()
    const asked: Array<Asked> = []
    const lane = Effect.scoped(Effect.gen(function*() {
      const workers = yield* startAll(good)
      for (const hostile of queue) asked.push(...yield* askAll(hostile, workers))
    }))
    yield* Effect.replicateEffect(lane, lanes, { concurrency: "unbounded" })
    return yield* Effect.scoped(Effect.gen(function*() {
      const workers = yield* startAll(good)
      const settled = yield* Effect.forEach(asked, (each) => askAgain(each, workers))
      return settled.map(({ client, hostile: { name, outcome, row }, ...tried }) =>
        toFinding({ row, name, client, wanted: outcome }, tried)
      )
    }))
  })

/**
 * Of a costly case, in milliseconds.
 */
const costlyDeadline = 4000

/**
 * As often as it takes to be warm, or not to be disturbed: the shortest of the longest blocks counts.
 */
const tryCostly = (costly: Costly, client: ClientName, good: Workers.GoodServers): Effect.Effect<Finding> =>
  Effect.scoped(Effect.gen(function*() {
    const { name, outcome: wanted } = costly
    const worker = yield* Workers.make(client, good, heap)
    const server = yield* serve(costly, costly.size)
    const job: Job = { ...jobOf(costly, server, "timer"), deadline: costlyDeadline }
    const once = Effect.gen(function*() {
      const got = yield* worker.ask(job, costlyDeadline + patience)
      const beside = yield* worker.strays
      return { got, beside, verdict: judge({ wanted, deadline: costlyDeadline }, got, beside) }
    })
    let best: Tried = yield* once
    for (let left = attempts - 1; left > 0 && best.got._tag === "Ended" && best.got.heldUp > longestBlock; left--) {
      const tried = yield* once
      if (tried.got._tag !== "Ended" || tried.got.heldUp < best.got.heldUp) best = tried
    }
    return toFinding({ row: undefined, name, client, wanted }, best)
  }))

export const costlyCases = [...memoryCases, ...cpuCases].filter(({ isOverBudget }) => isOverBudget === undefined)

const ofCosts = (good: Workers.GoodServers): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.forEach(
    costlyCases.flatMap((costly) => clients.map(({ name }) => [costly, name] as const)),
    ([costly, client]) => tryCostly(costly, client, good)
  )

export const findings = (good: Workers.GoodServers): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.zipWith(ofRows(good), ofCosts(good), (rows, costs) => [...rows, ...costs])
