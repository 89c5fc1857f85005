// Runs every example, one after another, under the pinned Node: each is a program that must end by itself, with 0, in a
// minute. Prints what an example printed only where it failed.
import { spawn } from "node:child_process"
import { readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const node = join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node")
const limit = 60_000
const grace = 5_000

/**
 * An example that is too slow is asked to end before it is killed, so that it can stop what it has started.
 */
const run = (name) =>
  new Promise((resolve) => {
    const startedAt = performance.now()
    const child = spawn(node, [join("examples", name)], { cwd: root, stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    const collect = (chunk) => output += chunk
    child.stdout.setEncoding("utf8").on("data", collect)
    child.stderr.setEncoding("utf8").on("data", collect)
    let late = false
    const terminate = setTimeout(() => {
      late = true
      child.kill("SIGTERM")
    }, limit)
    const kill = setTimeout(() => child.kill("SIGKILL"), limit + grace)
    const end = (problem) => {
      clearTimeout(terminate)
      clearTimeout(kill)
      resolve({
        problem: late ? `not done within ${limit / 1000} s` : problem,
        output,
        ms: performance.now() - startedAt
      })
    }
    child.on("error", (error) => end(error.message))
    child.on("close", (code, signal) => end(code === 0 ? undefined : `ended with ${signal ?? `code ${code}`}`))
  })

let failures = 0
for (const name of readdirSync(join(root, "examples")).filter((file) => file.endsWith(".ts")).sort()) {
  const { ms, output, problem } = await run(name)
  if (problem === undefined) {
    console.log(`ok ${name} (${Math.round(ms)} ms)`)
  } else {
    failures++
    console.log(`FAILED ${name} (${Math.round(ms)} ms): ${problem}\n${output}`)
  }
}
process.exit(failures === 0 ? 0 : 1)
