/**
 * Runs the suites, and counts their cases by the rows of the catalogue.
 */
import { spawnSync } from "node:child_process"
import { readFileSync, rmSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { rows, sections } from "./kit/catalogue.ts"
import type { Row } from "./tables.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const vitest = fileURLToPath(new URL("vitest.mjs", import.meta.resolve("vitest/package.json")))

/**
 * What of vitest's report is read.
 */
interface Report {
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly message: string
    readonly assertionResults: ReadonlyArray<Test>
  }>
}

interface Test {
  /**
   * The section, and `row 1: …`.
   */
  readonly ancestorTitles: ReadonlyArray<string>
  readonly title: string
  readonly status: string
  readonly failureMessages: ReadonlyArray<string>
}

const runVitest = (file: string): Report => {
  rmSync(file, { force: true })
  spawnSync(process.execPath, [vitest, "run", "test/hostile", "--reporter=json", `--outputFile=${file}`], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"]
  })
  return JSON.parse(readFileSync(file, "utf8"))
}

const firstLine = (text: string): string => text.split("\n", 1)[0]!

const rowOf = ({ ancestorTitles }: Test): number => Number(/^row (\d+):/.exec(ancestorTitles[1] ?? "")?.[1])

const rowNumbers = Object.values(sections)
  .flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at))
  .toSorted((a, b) => a - b)

/**
 * One row of the table for each of the catalogue, and what is wrong.
 */
export const run = (file: string): { readonly table: ReadonlyArray<Row>; readonly problems: ReadonlyArray<string> } => {
  const { testResults } = runVitest(file)
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const problems = [
    ...testResults.filter(({ message }) => message !== "").map(({ message, name }) => `${name}: ${firstLine(message)}`),
    ...tests.filter(({ status }) => status !== "passed").map((test) =>
      `row ${rowOf(test)}: ${test.title}: ${firstLine(test.failureMessages[0] ?? test.status)}`
    )
  ]
  const table = rowNumbers.map((row): Row => {
    const own = tests.filter((test) => rowOf(test) === row)
    const passed = own.filter(({ status }) => status === "passed").length
    if (own.length === 0) problems.push(`row ${row}: no case`)
    return [row, rows[row]!, own.length, passed, own.length - passed]
  })
  return { table, problems }
}
