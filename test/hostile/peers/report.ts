/**
 * From findings to tables.
 */
import { MiB } from "../costly.ts"
import { rows } from "../kit/catalogue.ts"
import { type Row, toTable } from "../tables.ts"
import { clients, costlyCases, type Finding, type Verdict, verdicts } from "./compare.ts"

type Findings = ReadonlyArray<Finding>

const header = clients.map(({ title }) => title)

const count = (findings: Findings, verdict: Verdict): number =>
  findings.filter((finding) => finding.verdict === verdict).length

/**
 * `"7"` where all is well, or `"5 of 7: 1 wrong, 1 hangs"`.
 */
const summary = (findings: Findings): string => {
  const others = verdicts.slice(1).map((verdict) => [count(findings, verdict), verdict] as const)
  const said = others.filter(([times]) => times > 0).map((words) => words.join(" ")).join(", ")
  return said === "" ? String(findings.length) : `${count(findings, "survives")} of ${findings.length}: ${said}`
}

/**
 * One cell for each client.
 */
const cells = (findings: Findings, cell: (own: Findings) => string | number): Row =>
  clients.map(({ name }) => cell(findings.filter(({ client }) => client === name)))

const byRow = (findings: Findings): string =>
  toTable(
    ["row", "kind", ...header],
    Object.entries(rows).flatMap(([row, kind]) => {
      const own = findings.filter((finding) => finding.row === Number(row))
      return own.length === 0 ? [] : [[row, kind, ...cells(own, summary)]]
    })
  )

const figures = ([finding]: Findings): string => {
  if (finding === undefined) return ""
  const { grew, heldUp, verdict } = finding
  return Number.isNaN(grew) ? verdict : `${verdict} (${heldUp.toFixed(0)} ms, ${(grew / MiB).toFixed(0)} MiB)`
}

const byCost = (findings: Findings): string =>
  toTable(
    ["longest block, memory", ...header],
    costlyCases.map(({ name }) => [
      name,
      ...cells(findings.filter((finding) => finding.row === undefined && finding.name === name), figures)
    ])
  )

const inAll = (findings: Findings): string =>
  toTable(
    ["in all", ...header],
    verdicts.map((verdict) => [verdict, ...cells(findings, (own) => count(own, verdict))])
  )

export const toText = (findings: Findings): string => [byRow(findings), byCost(findings), inAll(findings)].join("\n\n")
