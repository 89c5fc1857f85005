import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/**
 * What this process holds on to, in bytes.
 */
export const retained = (): number => {
  collect()
  const { arrayBuffers, external, heapUsed } = process.memoryUsage()
  return heapUsed + external + arrayBuffers
}
