// Turns the changesets into a version and a changelog, and tells the client its new version.
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"

const { status } = spawnSync("changeset", ["version"], { stdio: "inherit", shell: process.platform === "win32" })
if (status !== 0) process.exit(status ?? 1)

const { version } = JSON.parse(readFileSync("package.json", "utf8"))
const file = "src/internal/packageVersion.ts"
writeFileSync(file, readFileSync(file, "utf8").replace(/"[^"]*"/, JSON.stringify(version)))
