// Runs a command with everything that it needs: installs the dependencies if they are missing or older than the lock
// file, builds if the sources are newer than the build, and puts the pinned Node first on the PATH.
//
// Plain JavaScript without dependencies, since it is the first thing to run on a fresh clone, under any Node from 20 on.
import { spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const bin = join(root, "node_modules", ".bin")
const isWindows = process.platform === "win32"
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` }

const run = (command, args) => {
  const { status } = spawnSync(command, args, { cwd: root, env, stdio: ["ignore", 2, 2], shell: isWindows })
  if (status !== 0) process.exit(status ?? 1)
}

const hashOf = (...paths) => {
  const hash = createHash("sha256")
  for (const path of paths) hash.update(path).update(readFileSync(join(root, path)))
  return hash.digest("hex")
}

const filesBelow = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
    .sort()

/**
 * Does a step where what it depends on has changed since it was last done.
 */
const once = (marker, stamp, result, step) => {
  const file = join(root, marker)
  if (existsSync(join(root, result)) && existsSync(file) && readFileSync(file, "utf8") === stamp) return
  step()
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, stamp)
}

once("node_modules/.effect-mcp-client/installed", hashOf("package-lock.json"), "node_modules", () => {
  console.error("Installing dependencies (once)…")
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"])
  // Where install scripts were not run, the pinned Node is still missing.
  if (!existsSync(join(bin, isWindows ? "node.cmd" : "node"))) run("npm", ["rebuild", "node"])
})
once(
  "node_modules/.effect-mcp-client/built",
  hashOf("package.json", "tsconfig.json", "tsconfig.build.json", ...filesBelow("src")),
  "dist",
  () => {
    run(process.execPath, ["scripts/build.mjs"])
  }
)

const [command, ...args] = process.argv.slice(2)
const child = spawn(command, args, { cwd: root, env, stdio: "inherit", shell: isWindows })
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal))
child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)))
