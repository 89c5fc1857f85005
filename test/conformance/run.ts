/**
 * Runs the official conformance suite against `client.ts`: `npm run conformance [name…]`, where a name is a part of a
 * scenario's.
 *
 * One `--scenario` at a time, since the suite's other modes ignore how the client ended. Three things are judged in each
 * run, since each alone can be fooled: the exit code of the suite (0 too where the version does not apply, or where the
 * scenario puts up with whatever ended the client), that of the client, and the checks (a client that sends nothing
 * fails none in some scenarios).
 */
import { execFile } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

type Version = "2025-06-18" | "2025-11-25" | "2026-07-28"

interface Plan {
  readonly scenario: string
  readonly versions: ReadonlyArray<Version>
  /**
   * The scenario is passed by a client that stops with an error, too.
   */
  readonly clientMayFail?: true
  /**
   * Names of checks that must have been passed, for scenarios that skip what the client does not do.
   */
  readonly mustPass?: ReadonlyArray<string>
}

const plans: ReadonlyArray<Plan> = [
  { scenario: "initialize", versions: ["2025-06-18", "2025-11-25"] },
  { scenario: "tools_call", versions: ["2025-06-18", "2025-11-25", "2026-07-28"] },
  { scenario: "elicitation-sep1034-client-defaults", versions: ["2025-11-25"] },
  { scenario: "sse-retry", versions: ["2025-11-25"] },
  {
    scenario: "request-metadata",
    versions: ["2026-07-28"],
    mustPass: [
      "ClientDeclaresRootsCapability",
      "ClientDeclaresSamplingCapability",
      "ClientDeclaresElicitationCapability"
    ]
  },
  { scenario: "sep-2322-client-request-state", versions: ["2026-07-28"] },
  {
    scenario: "http-standard-headers",
    versions: ["2026-07-28"],
    // All checks of this scenario have one id (sep-2243-client-includes-standard-headers), so that names tell them
    // apart. There is no `initialize` at this revision: its two are skipped.
    mustPass: [
      "ClientMcpMethodHeader_tools_list",
      "ClientMcpMethodHeader_tools_call",
      "ClientMcpNameHeader_tools_call",
      "ClientMcpMethodHeader_resources_list",
      "ClientMcpMethodHeader_resources_read",
      "ClientMcpNameHeader_resources_read",
      "ClientMcpMethodHeader_prompts_list",
      "ClientMcpMethodHeader_prompts_get",
      "ClientMcpNameHeader_prompts_get"
    ]
  },
  { scenario: "http-custom-headers", versions: ["2026-07-28"] },
  { scenario: "http-invalid-tool-headers", versions: ["2026-07-28"], clientMayFail: true },
  { scenario: "json-schema-ref-no-deref", versions: ["2026-07-28"] },
  { scenario: "json-schema-2020-12-preservation", versions: ["2025-11-25", "2026-07-28"] }
]

interface Run extends Plan {
  readonly version: Version
  readonly folder: string
}

interface Check {
  readonly id: string
  readonly name: string
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO"
  readonly errorMessage?: string
}

interface Outcome {
  readonly run: Run
  /**
   * `undefined` where a signal ended it.
   */
  readonly suiteExit: number | undefined
  readonly log: string
  /**
   * As the client wrote it on its way out; `undefined` where it had none.
   */
  readonly clientExit: number | undefined
  readonly checks: ReadonlyArray<Check>
}

const root = fileURLToPath(new URL("../..", import.meta.url))
const results = join(root, "test", "conformance", "results")
const suite = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"))

// The suite hands this to a shell, the URL appended.
const clientCommand = `"${process.execPath}" test/conformance/client.ts`

// The client's watchdog comes first (15 s), then the suite's time-out (30 s), and this where the suite itself hangs.
const suiteTimeoutMillis = 40_000

const runSuite = (run: Run, clientExitFile: string): Promise<Pick<Outcome, "suiteExit" | "log">> =>
  new Promise((resolve) => {
    const args = [suite, "client", "--command", clientCommand, "--scenario", run.scenario]
    execFile(
      process.execPath,
      [...args, "--spec-version", run.version, "--timeout", "30000", "--output-dir", run.folder],
      { cwd: root, env: { ...process.env, CLIENT_EXIT_FILE: clientExitFile }, timeout: suiteTimeoutMillis },
      (error, stdout, stderr) => {
        const suiteExit = error === null ? 0 : typeof error.code === "number" ? error.code : undefined
        resolve({ suiteExit, log: stdout + stderr })
      }
    )
  })

const readIfThere = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return undefined
  }
}

const readExit = (file: string): number | undefined => {
  const text = readIfThere(file)
  return text === undefined ? undefined : Number(text)
}

/**
 * The suite adds a folder of its own, named after the scenario and the time.
 */
const readChecks = (folder: string): ReadonlyArray<Check> => {
  const file = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((path) => path.endsWith("checks.json"))
  return file === undefined ? [] : JSON.parse(readFileSync(join(folder, file), "utf8"))
}

const execute = async (run: Run): Promise<Outcome> => {
  rmSync(run.folder, { recursive: true, force: true })
  mkdirSync(run.folder, { recursive: true })
  const clientExitFile = join(run.folder, "client-exit.txt")
  const { log, suiteExit } = await runSuite(run, clientExitFile)
  writeFileSync(join(run.folder, "suite.log"), log)
  return { run, suiteExit, log, clientExit: readExit(clientExitFile), checks: readChecks(run.folder) }
}

const count = ({ checks }: Outcome, status: Check["status"]): number =>
  checks.filter((check) => check.status === status).length

/**
 * What is wrong with an outcome; nothing where it is passed.
 */
const problems = (outcome: Outcome): ReadonlyArray<string> => {
  const { checks, clientExit, run, suiteExit } = outcome
  const found: Array<string> = []
  if (suiteExit !== 0) found.push(`the suite ended with ${suiteExit ?? "a signal"}`)
  // 1 is the client's own error; its watchdog (124) or a crash is never right.
  if (clientExit !== 0 && !(run.clientMayFail === true && clientExit === 1)) {
    found.push(`the client ended with ${clientExit ?? "no exit code"}`)
  }
  for (const check of checks) {
    // The suite's exit code is 1 for a warning too.
    if (check.status === "FAILURE" || check.status === "WARNING") {
      found.push(`${check.name} (${check.id}): ${check.errorMessage ?? "failed"}`)
    }
  }
  if (count(outcome, "SUCCESS") === 0) found.push("no check was passed")
  for (const name of run.mustPass ?? []) {
    if (!checks.some((check) => check.name === name && check.status === "SUCCESS")) found.push(`${name} was not passed`)
  }
  return found
}

const printTable = (rows: ReadonlyArray<ReadonlyArray<string>>): void => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ").trimEnd())
}

const toRow = (outcome: Outcome): ReadonlyArray<string> => [
  outcome.run.scenario,
  outcome.run.version,
  problems(outcome).length === 0 ? "pass" : "FAIL",
  ...(["SUCCESS", "FAILURE", "SKIPPED"] as const).map((status) => String(count(outcome, status)))
]

const report = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<Outcome> => {
  printTable([["scenario", "version", "result", "passed", "failed", "skipped"], ...outcomes.map(toRow)])
  const failed = outcomes.filter((outcome) => problems(outcome).length > 0)
  for (const outcome of failed) {
    console.log(`\n${outcome.run.scenario} at ${outcome.run.version}:`)
    for (const problem of problems(outcome)) console.log(`- ${problem}`)
    console.log(outcome.log.trim().split("\n").slice(-40).map((line) => `  | ${line}`).join("\n"))
  }
  console.log(`\n${outcomes.length - failed.length} of ${outcomes.length} runs passed`)
  return failed
}

/**
 * Two at a time: each run has its own processes and ports, and the machine has better things to do with more.
 */
const executeAll = async (runs: ReadonlyArray<Run>): Promise<ReadonlyArray<Outcome>> => {
  const outcomes: Array<Outcome> = []
  const queue = runs.entries()
  const work = async (): Promise<void> => {
    for (const [index, run] of queue) outcomes[index] = await execute(run)
  }
  await Promise.all([work(), work()])
  return outcomes
}

const filters = process.argv.slice(2)
const chosen = plans
  .filter(({ scenario }) => filters.length === 0 || filters.some((filter) => scenario.includes(filter)))
  .flatMap((plan) =>
    plan.versions.map((version): Run => ({ ...plan, version, folder: join(results, plan.scenario, version) }))
  )

if (chosen.length === 0) {
  console.error(`no scenario has a name with ${filters.join(" or ")}`)
  process.exit(1)
}
process.exitCode = report(await executeAll(chosen)).length === 0 ? 0 : 1
