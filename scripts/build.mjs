// Builds into an empty folder, so that nothing of a file that is gone stays.
import { spawnSync } from "node:child_process"
import { rmSync } from "node:fs"

rmSync("dist", { recursive: true, force: true })
const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], {
  stdio: ["ignore", 2, 2],
  shell: process.platform === "win32"
})
process.exit(status ?? 1)
