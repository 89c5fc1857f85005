/**
 * One client in a process of its own, so that no client's garbage and no client's compiled code weighs on another. It
 * does one task at a time, when it is told to.
 */
import type { Client } from "./clients/client.ts"
import { tasks } from "./tasks.ts"

/**
 * What one turn at a task took: by the clock, and of this process's own CPU time.
 */
export interface Sample {
  readonly millis: number
  readonly cpuMillis: number
}

export type Reply = { readonly _tag: "Ready" } | { readonly _tag: "Done"; readonly sample: Sample } | {
  readonly _tag: "Failed"
  readonly message: string
}

const modules: Record<string, () => Promise<{ readonly open: (url: string) => Promise<Client> }>> = {
  bare: () => import("./clients/bare.ts"),
  this: () => import("./clients/this.ts"),
  sdk2: () => import("./clients/sdk2.ts"),
  sdk1: () => import("./clients/sdk1.ts"),
  effectAi: () => import("./clients/effectAi.ts")
}

const measure = async (client: Client, taskName: string): Promise<Sample> => {
  const { operation, times, width } = tasks.find(({ name }) => name === taskName)!
  // Nobody pays for what the turn before has left.
  globalThis.gc?.()
  const cpuBefore = process.cpuUsage()
  const before = performance.now()
  await client.run(operation, times, width)
  const millis = performance.now() - before
  const { system, user } = process.cpuUsage(cpuBefore)
  return { millis, cpuMillis: (system + user) / 1000 }
}

const reply = (message: Reply): void => {
  process.send?.(message)
}

const fail = (error: unknown): void =>
  reply({ _tag: "Failed", message: error instanceof Error ? error.stack ?? error.message : String(error) })

const [name = "", url = ""] = process.argv.slice(2)
const client = await modules[name]!().then(({ open }) => open(url))

process.on("message", (task: string | null) => {
  if (task === null) {
    client.close().then(() => process.disconnect(), fail)
  } else {
    measure(client, task).then((sample) => reply({ _tag: "Done", sample }), fail)
  }
})
reply({ _tag: "Ready" })
