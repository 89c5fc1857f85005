/**
 * The soak: connection after connection to a server that misbehaves at random, for a minute, and what is left at the end.
 *
 *     npm run soak -- [--seconds <n>] [--seed <n>] [--only <misdeed>]… [--without <misdeed>]…
 *
 * Ends with 1, and says why, where an operation ended with anything but a value or one of the five tags, or later than
 * it had to; where the client kept its event loop from others; and where anything is left: sockets, fibers, timers, heap.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { misdeeds } from "./misdeeds.ts"
import { problems, toText } from "./report.ts"
import { askTally, type ClientOptions, type Listening, type Report, type ServerOptions, type Tally } from "./shared.ts"

const usage = (problem: string): never => {
  console.error(problem)
  process.exit(2)
}

const wholeNumber = (name: string, text: string): number =>
  /^[1-9]\d{0,8}$/.test(text) ? Number(text) : usage(`--${name}: a whole number from 1 on`)

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      seconds: { type: "string", default: "60" },
      seed: { type: "string", default: String(1 + Math.floor(Math.random() * 1e6)) },
      only: { type: "string", multiple: true, default: Object.keys(misdeeds) },
      without: { type: "string", multiple: true, default: [] }
    }
  })
  const { only, without } = values
  const unknown = [...only, ...without].find((name) => !Object.hasOwn(misdeeds, name))
  if (unknown !== undefined) usage(`${unknown}: one of ${Object.keys(misdeeds).join(", ")}`)
  return {
    seconds: wholeNumber("seconds", values.seconds),
    seed: wholeNumber("seed", values.seed),
    misdeeds: only.filter((name) => !without.includes(name))
  }
}

const children: Array<ChildProcess> = []

const start = (
  module: string,
  options: ServerOptions | ClientOptions,
  execArgv: ReadonlyArray<string>
): ChildProcess => {
  const child = fork(join(import.meta.dirname, module), [JSON.stringify(options)], { execArgv: [...execArgv] })
  children.push(child)
  return child
}

/**
 * The next message of a child; fails where it ends instead, or says nothing for too long.
 */
const nextMessage = async <A>(child: ChildProcess, seconds: number): Promise<A> => {
  const signal = AbortSignal.timeout(seconds * 1000)
  const ended = once(child, "exit", { signal }).then(([code]) => {
    throw new Error(`${child.spawnargs.at(-2)} ended with ${code}`)
  })
  try {
    const [message] = await Promise.race([once(child, "message", { signal }), ended])
    return message as A
  } catch (error) {
    throw signal.aborted ? new Error(`${child.spawnargs.at(-2)} said nothing for ${seconds} s`) : error
  }
}

/**
 * How a child ended by itself; `undefined` where it does not.
 */
const exitOf = (child: ChildProcess): Promise<number | undefined> =>
  once(child, "exit", { signal: AbortSignal.timeout(5000) }).then(([code]) => code, () => undefined)

const readVersions = (): Record<string, string> => {
  const { devDependencies } = JSON.parse(
    readFileSync(join(import.meta.dirname, "..", "..", "package.json"), "utf8")
  ) as { readonly devDependencies: Record<string, string> }
  return { node: process.version, effect: devDependencies["effect"]!, undici: devDependencies["undici"]! }
}

const run = async (): Promise<number> => {
  const { misdeeds: done, seconds, seed } = readOptions()
  console.log(`seed ${seed}, ${seconds} seconds`)
  const server = start("server.ts", { seed, misdeeds: done }, [])
  const { origin } = await nextMessage<Listening>(server, 10)
  const client = start("client.ts", { origin, seconds, seed }, ["--expose-gc", "--no-flush-bytecode"])
  const report = await nextMessage<Report>(client, 2 * seconds + 60)
  const exit = await exitOf(client)
  server.send(askTally)
  const tally = await nextMessage<Tally>(server, 10)

  console.log(`\n${toText(report, tally, { seed, ...readVersions() })}\n`)
  const found = [
    ...problems(report),
    ...(exit === 0 ? [] : [exit === undefined ? "The client did not end by itself." : `The client ended with ${exit}.`])
  ]
  for (const problem of found) console.log(`FAILED ${problem}`)
  return found.length === 0 ? 0 : 1
}

try {
  process.exitCode = await run()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
} finally {
  for (const child of children) child.kill()
}
