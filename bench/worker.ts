/**
 * One client in a process of its own, so that no client's garbage and no client's compiled code weighs on another. It
 * takes a turn at a task when it is told to.
 */
import type { Client } from "./clients/client.ts"
import { tasks } from "./tasks.ts"

/**
 * What one turn took: by the clock, and of this process's own CPU time, which a busy machine disturbs less.
 */
export interface Sample {
  readonly millis: number
  readonly cpuMillis: number
}

export type Reply =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Done"; readonly sample: Sample }
  | { readonly _tag: "Failed"; readonly message: string }

/**
 * Told instead of a task's name.
 */
export const closeDown = "close down"

const openers: Record<string, (url: string) => Promise<Client>> = {
  bare: async (url) => (await import("./clients/bare.ts")).open(url),
  this: async (url) => (await import("./clients/thisClient.ts")).open(url),
  "sdk-v2": async (url) => (await import("./clients/sdkV2.ts")).open(url),
  "sdk-v1": async (url) => (await import("./clients/sdkV1.ts")).open(url),
  "effect-ai": async (url) => (await import("./clients/effectAi.ts")).open(url)
}

const takeTurn = async (client: Client, name: string): Promise<Sample> => {
  const { operation, times, width } = tasks.find((task) => task.name === name)!
  // Nobody pays for what the turn before has left behind. A full collection while nothing is under way also makes V8 forget
  // the shapes of what lives shortly, and the code that relies on them: half a turn brings them back.
  globalThis.gc?.()
  await client.run(operation, Math.ceil(times / 2), width)
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

const serve = (client: Client): void => {
  process.on("message", (told: string) => {
    if (told === closeDown) client.close().then(() => process.exit(0), fail)
    else takeTurn(client, told).then((sample) => reply({ _tag: "Done", sample }), fail)
  })
  reply({ _tag: "Ready" })
}

if (process.send !== undefined) {
  process.once("disconnect", () => process.exit(1))
  const [name = "", url = ""] = process.argv.slice(2)
  openers[name]!(url).then(serve, fail)
}
