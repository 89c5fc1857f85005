/**
 * One client in a process of its own. It does what it is told, one thing after another, and says what came of it and
 * what it cost.
 */
import { createHash } from "node:crypto"
import { setTimeout as delay } from "node:timers/promises"
import { type Measure, measures } from "./loopWatch.ts"
import type { Attempt, Open, Session, Value } from "./peers/client.ts"

export interface Job extends Attempt {
  readonly act: "connect" | "list" | "call"
  /**
   * By which measure the event loop is watched.
   */
  readonly measure: Measure
  /**
   * For how many milliseconds it holds the event loop up itself in the end, to see whether that is seen.
   */
  readonly busy?: number | undefined
}

/**
 * A job, or to say what came up after the last one: its server is gone by now.
 */
export type Told = Job | "settle"

export interface Report {
  /**
   * `"ok"`, or what the error calls itself.
   */
  readonly outcome: string
  /**
   * The beginning of what the error says.
   */
  readonly message: string
  /**
   * The digest of what was had, where something was.
   */
  readonly value: string | undefined
  readonly millis: number
  /**
   * CPU time of this process, which a busy machine disturbs less than the clock.
   */
  readonly cpuMillis: number
  /**
   * The longest time for which the event loop was held up, in milliseconds.
   */
  readonly heldUp: number
  /**
   * The most memory that this process has had so far, in bytes.
   */
  readonly peak: number
}

/**
 * A report, or the errors that nobody caught.
 */
export type Reply = Report | { readonly strays: ReadonlyArray<string> }

/**
 * A session that does not let itself be closed is left to itself after this.
 */
export const closeMillis = 500

const openers = {
  this: async () => (await import("./peers/thisClient.ts")).open,
  "sdk-v2": async () => (await import("./peers/sdkV2.ts")).open,
  "effect-ai": async () => (await import("./peers/effectAi.ts")).open
} satisfies Record<string, () => Promise<Open>>

export type ClientName = keyof typeof openers

/**
 * `"ConnectionFailed/TimedOut"`, or the error's name and code.
 */
const kindOf = (error: unknown): string => {
  const { _tag, code, name, reason } = Object(error) as Record<string, any>
  return [_tag ?? name, reason?._tag ?? code].filter((part) => part !== undefined).join("/")
}

const digest = (value: Value): string => createHash("sha256").update(value()).digest("hex")

const nothing: Value = () => ""

/**
 * Works for so long, whatever else the machine does meanwhile.
 */
const work = (millis: number): void => {
  const before = process.threadCpuUsage()
  for (let done = 0; done < millis;) {
    const { system, user } = process.threadCpuUsage(before)
    done = (system + user) / 1000
  }
}

const attempt = async (open: Open, job: Job): Promise<Report> => {
  let session: Session | undefined
  const act = async (): Promise<Value> => {
    session = await open(job)
    return job.act === "connect" ? nothing : session[job.act]()
  }
  const loop = measures[job.measure]()
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const done = await act().then(
    (value) => ({ outcome: "ok", message: "", value }),
    (error: unknown) => ({ outcome: kindOf(error), message: String(error).slice(0, 300), value: undefined })
  )
  if (job.busy !== undefined) work(job.busy)
  const millis = performance.now() - startedAt
  const { system, user } = process.cpuUsage(cpuBefore)
  const heldUp = await loop.stop()
  const peak = process.resourceUsage().maxRSS * 1024
  const value = done.value === undefined ? undefined : digest(done.value)
  await Promise.race([session?.close().catch(() => undefined), delay(closeMillis)])
  return { ...done, value, millis, cpuMillis: (system + user) / 1000, heldUp, peak }
}

const serve = (open: Open): void => {
  let strays: Array<string> = []
  const stray = (error: unknown): void => void strays.push(kindOf(error))
  process.on("uncaughtException", stray)
  process.on("unhandledRejection", stray)

  const settle = async (): Promise<Reply> => {
    await delay(10)
    const reply = { strays }
    strays = []
    return reply
  }
  process.on("message", async (told: Told) => {
    const reply: Reply = told === "settle" ? await settle() : await attempt(open, told)
    process.send?.(reply)
  })
}

if (process.send !== undefined) {
  process.once("disconnect", () => process.exit(1))
  serve(await openers[process.argv[2] as ClientName]())
}
