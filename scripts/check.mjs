// Everything that can be checked without running the library: types, lint, format, unused exports, package shape.
import { spawnSync } from "node:child_process"

const checks = [
  ["types", "tsc", ["-p", "tsconfig.json", "--noEmit"]],
  ["lint", "oxlint", ["--deny-warnings"]],
  ["format", "dprint", ["check"]],
  ["unused", "knip", []],
  ["package", "publint", ["--strict"]],
  ["package types", "attw", ["--pack", ".", "--profile", "esm-only"]]
]

const failed = checks.filter(([name, command, args]) => {
  const { status, stderr, stdout } = spawnSync(command, args, { encoding: "utf8", shell: process.platform === "win32" })
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${name}`)
  if (status !== 0) console.log(stdout + stderr)
  return status !== 0
})
process.exit(failed.length === 0 ? 0 : 1)
