/**
 * Shows how this client fares against hostile servers: the catalogue with its cases, and what hostile answers cost.
 *
 *     npm run hostile -- [--measured] [--peers]
 *
 * `--measured` leaves the suites out, `--peers` compares this client with its peers instead. The exit code is 1 where a
 * row has no case, a case fails, or a bound is broken; what peers do is a finding.
 */
import * as Effect from "effect/Effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as Measured from "./measured.ts"
import * as Compare from "./peers/compare.ts"
import * as Report from "./peers/report.ts"
import * as Suites from "./suites.ts"
import { type Row, toTable } from "./tables.ts"
import * as Workers from "./workers.ts"

const results = join(import.meta.dirname, "results")

const show = (header: Row, rows: ReadonlyArray<Row>, problems: ReadonlyArray<string>): void => {
  console.log(`\n${toTable(header, rows)}`)
  for (const problem of problems) console.log(`FAILED ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}

const showSuites = (): void => {
  const { problems, table } = Suites.run(join(results, "suites.json"))
  show(["row", "kind", "cases", "passed", "failed"], table, problems)
}

const showFigures = (header: Row, measured: ReadonlyArray<Measured.Measured>): void =>
  show(
    header,
    measured.map(({ figures, name, problems }) => [name, ...figures, problems.length === 0 ? "kept" : "BROKEN"]),
    measured.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`))
  )

const showMeasured = Effect.gen(function*() {
  const good = yield* Workers.goodServers
  showFigures(["memory over the idle client", "peak", "bound", ""], yield* Measured.memory(good))
  showFigures(
    ["time of the event loop", "in all", "longest block", "by the clock", "for twice the input", ""],
    yield* Measured.cpu(good)
  )
})

/**
 * Every finding is kept, for those who want to know which cases a number stands for.
 */
const showPeers = Effect.gen(function*() {
  const findings = yield* Compare.findings(yield* Workers.goodServers)
  writeFileSync(join(results, "peers.json"), `${JSON.stringify(findings, undefined, 2)}\n`)
  console.log(Report.toText(findings))
})

const { values } = parseArgs({
  options: { measured: { type: "boolean", default: false }, peers: { type: "boolean", default: false } }
})
mkdirSync(results, { recursive: true })
if (!values.measured && !values.peers) showSuites()
await Effect.runPromise(Effect.scoped(values.peers ? showPeers : showMeasured))
