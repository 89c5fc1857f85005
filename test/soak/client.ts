/**
 * The client, in a process of its own: lives many lives, several at once, and reports what came of them.
 *
 * They are lived in rounds. After each, when all have ended, the heap is measured; one connection to a server that does
 * no wrong stays open throughout, so that the pool that they share is the same from the first life to the last, and must
 * serve it still.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import { setImmediate as nextTurn } from "node:timers/promises"
import { NodeMcp } from "../../src/node.ts"
import { countingFibers, handles, moreThan } from "../support/leftovers.ts"
import * as Ledger from "./ledger.ts"
import { guard, live } from "./life.ts"
import * as Pulse from "./pulse.ts"
import { type ClientOptions, goodPath, type HeapSample, type Report } from "./shared.ts"

/**
 * So many at once, and each of them one after the other until the round is over: there are 240 lives at least.
 */
const width = 20
const rounds = 12

/**
 * Twice, since what is freed in one collection may have held what the next one frees.
 */
const heapInUse = async (): Promise<number> => {
  for (let i = 0; i < 2; i++) {
    globalThis.gc?.()
    await nextTurn()
  }
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}

const soak = async (options: ClientOptions): Promise<Report> => {
  const pulse = Pulse.make()
  const ledger = Ledger.make(pulse)
  for (const event of ["uncaughtException", "unhandledRejection", "warning"]) {
    process.on(event, (error: unknown) => ledger.fault(`${event}: ${error instanceof Error ? error.stack : error}`))
  }
  const fibers = countingFibers()
  const run = <A>(effect: Effect.Effect<A>): Promise<A> =>
    Effect.runPromise(effect.pipe(
      Effect.provideService(Metric.FiberRuntimeMetrics, fibers.service),
      // Refused tools are warned of, by the thousand.
      Effect.provideService(References.MinimumLogLevel, "None")
    ))

  const before = handles()
  const scope = await run(Scope.make())
  const patient = { limit: 5000 }
  const witness = Option.getOrThrow(
    await run(ledger.operation(
      "connecting to the good server",
      patient,
      Scope.provide(NodeMcp.connectHttp({ url: options.origin + goodPath, guard }), scope)
    ))
  )

  let lives = 0
  const round = (endsAt: number): Effect.Effect<void> => {
    const inTurn = Effect.repeat(Effect.suspend(() => live(++lives, options, ledger)), {
      while: () => performance.now() < endsAt
    })
    return Effect.all(Array.from({ length: width }, () => inTurn), { concurrency: width, discard: true })
  }

  const heap: Array<HeapSample> = []
  const startedAt = performance.now()
  for (let i = 1; i <= rounds; i++) {
    await pulse.during(() => run(round(startedAt + options.seconds * 1000 * i / rounds)))
    const answer = await run(
      ledger.operation("a call of the good server", patient, witness.callTool("t", { echo: "still" }))
    )
    if (Option.getOrUndefined(answer)?.text !== "still") ledger.fault("the good server was not answered well any more")
    heap.push({ lives, bytes: await heapInUse() })
  }

  await run(ledger.operation("closing the good connection", patient, Scope.close(scope, Exit.void)))
  const quietBy = performance.now() + 2000
  while (performance.now() < quietBy && (fibers.running() > 0 || moreThan(before).length > 0)) await nextTurn()
  return {
    lives,
    ...ledger.entries(),
    delay: pulse.figures(),
    heap,
    handlesLeft: moreThan(before),
    fibersLeft: fibers.running()
  }
}

const tell = (report: Report): void => {
  process.removeAllListeners("disconnect")
  // Nothing else may keep the process alive: it is to end by itself.
  process.send?.(report, () => process.disconnect?.())
}

if (process.send !== undefined) {
  process.once("disconnect", () => process.exit(1))
  soak(JSON.parse(process.argv[2]!) as ClientOptions).then(tell, (error: unknown) => {
    console.error(error)
    process.exit(1)
  })
}
