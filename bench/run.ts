/**
 * Compares this client and its peers with bare undici: one server, one run, and in every round every client takes its
 * turn at every task, so that whatever slows the machine down slows all of them down.
 *
 *     npm run bench -- [--quick] [--only <client>] [--task <task>] [--rounds <n>] [--profile]
 *
 * A client is one of `this`, `sdk-v2`, `sdk-v1`, `effect-ai`; the baseline always runs along. `--profile` writes a CPU
 * profile of each client beside the results. A missed target is a finding and no failure: it is reported.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { baseline, type Measured, ours, toJson, toText } from "./report.ts"
import { type Task, tasks } from "./tasks.ts"
import { closeDown, type Reply, type Sample } from "./worker.ts"

const allClients = [baseline, ours, "sdk-v2", "sdk-v1", "effect-ai"]
const folder = import.meta.dirname
const results = join(folder, "results")

// A client that hangs is a client that fails.
const turnLimitMillis = 60_000

const usage = (problem: string): never => {
  console.error(problem)
  process.exit(2)
}

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      task: { type: "string" },
      rounds: { type: "string" },
      profile: { type: "boolean", default: false }
    }
  })
  const { only, profile, quick, rounds, task } = values
  if (only !== undefined && !allClients.includes(only)) usage(`--only: one of ${allClients.join(", ")}`)
  const chosen = tasks.filter(({ name }) => task === undefined || name === task)
  if (chosen.length === 0) usage(`--task: one of ${tasks.map(({ name }) => name).join(", ")}`)
  return {
    clients: only === undefined ? allClients : [...new Set([baseline, only])],
    tasks: chosen,
    rounds: Math.max(1, Number(rounds ?? (quick ? 2 : 5)) || 1),
    profile
  }
}

const children: Array<ChildProcess> = []

const start = (module: string, args: ReadonlyArray<string>, execArgv: ReadonlyArray<string>): ChildProcess => {
  const child = fork(join(folder, module), args, { execArgv: [...execArgv] })
  children.push(child)
  return child
}

/**
 * The next message of a child; fails where the child ends instead, or says nothing for too long.
 */
const nextMessage = async <A>(child: ChildProcess): Promise<A> => {
  const settled = new AbortController()
  const signal = AbortSignal.any([settled.signal, AbortSignal.timeout(turnLimitMillis)])
  const ended = once(child, "exit", { signal }).then(() => {
    throw new Error("its process has ended")
  })
  try {
    const [message] = await Promise.race([once(child, "message", { signal }), ended])
    return message as A
  } finally {
    settled.abort()
    ended.catch(() => undefined)
  }
}

const nextReply = async (child: ChildProcess, what: string): Promise<Reply> => {
  const reply = await nextMessage<Reply>(child).catch((error: unknown): Reply => ({
    _tag: "Failed",
    message: String(error)
  }))
  if (reply._tag === "Failed") throw new Error(`${what}: ${reply.message}`)
  return reply
}

const startClient = async (client: string, url: string, profile: boolean): Promise<ChildProcess> => {
  // A profile is to show no collection but those that would come by themselves.
  const flags = profile
    ? ["--cpu-prof", `--cpu-prof-dir=${results}`, `--cpu-prof-name=${client}.cpuprofile`]
    : ["--expose-gc"]
  const child = start("worker.ts", [client, url], flags)
  await nextReply(child, `${client} could not be opened`)
  return child
}

const takeTurn = async (child: ChildProcess, client: string, task: Task): Promise<Sample | undefined> => {
  child.send(task.name)
  const reply = await nextReply(child, `${client} failed at ${task.name}`)
  return reply._tag === "Done" ? reply.sample : undefined
}

const rotated = <A>(items: ReadonlyArray<A>, by: number): ReadonlyArray<A> =>
  items.map((_, index) => items[(index + by) % items.length]!)

// Until the compiler has seen enough of everybody, a turn shows the compiler.
const warmUpRounds = 2

/**
 * Who goes first changes from turn to turn.
 */
const measure = async (
  workers: ReadonlyMap<string, ChildProcess>,
  chosen: ReadonlyArray<Task>,
  rounds: number
): Promise<ReadonlyArray<Measured>> => {
  const clients = [...workers.keys()]
  const measured = chosen.map((task) => ({
    task,
    samples: new Map(clients.map((client): [string, Array<Sample>] => [client, []]))
  }))
  let turns = 0
  for (let round = 1 - warmUpRounds; round <= rounds; round++) {
    process.stderr.write(round > 0 ? ` ${round}` : " warming up")
    for (const { samples, task } of measured) {
      for (let turn = 0; turn < task.turns; turn++) {
        for (const client of rotated(clients, turns++)) {
          const sample = await takeTurn(workers.get(client)!, client, task)
          if (round > 0 && sample !== undefined) samples.get(client)!.push(sample)
        }
      }
    }
  }
  process.stderr.write("\n")
  return measured
}

const closeAll = async (workers: ReadonlyMap<string, ChildProcess>): Promise<void> => {
  for (const child of workers.values()) {
    child.send(closeDown)
    await once(child, "exit")
  }
}

const peers = ["@modelcontextprotocol/client", "@modelcontextprotocol/sdk", "effect", "undici"]

const readVersions = (): Record<string, string> => {
  const { devDependencies } = JSON.parse(readFileSync(join(folder, "..", "package.json"), "utf8")) as {
    readonly devDependencies: Record<string, string>
  }
  return Object.fromEntries(peers.map((name) => [name, devDependencies[name] ?? "unknown"]))
}

const run = async (): Promise<void> => {
  const options = readOptions()
  mkdirSync(results, { recursive: true })
  const { url } = await nextMessage<{ readonly url: string }>(start("server.ts", [], []))
  const workers = new Map<string, ChildProcess>()
  for (const client of options.clients) workers.set(client, await startClient(client, url, options.profile))
  const measured = await measure(workers, options.tasks, options.rounds)
  await closeAll(workers)

  const versions = readVersions()
  const environment = { node: process.version, cpus: availableParallelism(), platform: process.platform, ...versions }
  console.log(`\n${Object.entries(environment).map(([name, value]) => `${name} ${value}`).join(", ")}`)
  console.log(`${options.rounds} rounds\n\n${toText(measured, options.clients)}`)
  const report = {
    date: new Date().toISOString(),
    environment,
    rounds: options.rounds,
    tasks: toJson(measured, options.clients)
  }
  writeFileSync(join(results, "latest.json"), `${JSON.stringify(report, undefined, 2)}\n`)
}

try {
  await run()
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  for (const child of children) child.kill()
}
