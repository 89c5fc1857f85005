/**
 * Starts workers, asks them, and replaces those that were lost.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Raw from "../support/rawServer.ts"
import { type ClientName, closeMillis, type Job, type Reply, type Report, type Told } from "./worker.ts"

/**
 * What a job came to. `grew` is by how many bytes the peak of memory is above that of the warm client, idle.
 */
export type Outcome =
  | (Report & { readonly _tag: "Ended"; readonly grew: number })
  | { readonly _tag: "Hung" }
  | { readonly _tag: "Died" }

export interface Worker {
  /**
   * Has a warm client do a job. It is waited for so many milliseconds, and a little more for it to close.
   */
  readonly ask: (job: Job, limit: number) => Effect.Effect<Outcome>
  /**
   * The errors that nobody caught since the last time, once the server is gone.
   */
  readonly strays: Effect.Effect<ReadonlyArray<string>>
  /**
   * Ends the process; the next job has a new one.
   */
  readonly end: Effect.Effect<void>
}

/**
 * Servers that do nothing wrong, one of each era.
 */
export const goodServers = Effect.all({
  "2026-07-28": Raw.make(Raw.modern()),
  "2025-11-25": Raw.make(Raw.legacy())
})

export type GoodServers = Effect.Success<typeof goodServers>

interface Process {
  readonly child: ChildProcess
  readonly idle: number
}

const lost = <A extends "Hung" | "Died">(_tag: A) => ({ _tag })

const tell = (
  child: ChildProcess,
  told: Told,
  limit: number
): Effect.Effect<Reply | { readonly _tag: "Hung" | "Died" }> =>
  Effect.callback((resume) => {
    const settle = (reply: Reply | { readonly _tag: "Hung" | "Died" }): void => {
      clearTimeout(timer)
      child.off("message", settle)
      child.off("exit", onExit)
      resume(Effect.succeed(reply))
    }
    const onExit = (): void => settle(lost("Died"))
    // What came while this process was busy itself is read before it is given up.
    const timer = setTimeout(() => setImmediate(() => settle(lost("Hung"))), limit)
    child.once("message", settle)
    child.once("exit", onExit)
    if (child.exitCode === null && child.signalCode === null) child.send(told)
    else onExit()
  })

/**
 * For a process to start, and for what should take no time.
 */
const patience = 30_000

const warmUps: ReadonlyArray<Job["act"]> = ["call", "list"]

/**
 * A worker of a client, with so many MiB of heap.
 */
export const make = (
  client: ClientName,
  good: GoodServers,
  heap?: number | undefined
): Effect.Effect<Worker, never, Scope.Scope> => {
  const module = fileURLToPath(new URL("./worker.ts", import.meta.url))
  const execArgv = heap === undefined ? [] : [`--max-old-space-size=${heap}`]
  let current: Process | undefined

  const start = Effect.gen(function*() {
    const child = fork(module, [client], { execArgv, stdio: ["ignore", "ignore", "ignore", "ipc"] })
    let idle = 0
    for (const [version, { url }] of Object.entries(good)) {
      for (const act of warmUps) {
        const job: Job = { url, version: version as keyof GoodServers, act, measure: "timer" }
        const reply = yield* tell(child, job, patience)
        if (!("peak" in reply) || reply.outcome !== "ok") {
          child.kill("SIGKILL")
          return yield* Effect.die(new Error(`${client} does not get on with a good server: ${JSON.stringify(reply)}`))
        }
        idle = reply.peak
      }
    }
    return current = { child, idle }
  })

  const end = Effect.sync(() => {
    current?.child.kill("SIGKILL")
    current = undefined
  })

  return Effect.acquireRelease(
    Effect.succeed({
      end,
      ask: (job, limit) =>
        Effect.gen(function*() {
          const { child, idle } = current ?? (yield* start)
          const reply = yield* tell(child, job, limit + closeMillis)
          if ("peak" in reply) return { ...reply, _tag: "Ended", grew: reply.peak - idle }
          yield* end
          return "_tag" in reply ? reply : lost("Died")
        }),
      strays: Effect.suspend(() =>
        current === undefined
          ? Effect.succeed([])
          : Effect.map(tell(current.child, "settle", patience), (reply) => "strays" in reply ? reply.strays : [])
      )
    }),
    () => end
  )
}
