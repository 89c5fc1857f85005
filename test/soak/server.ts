/**
 * The server, in a process of its own: answers well most often, and otherwise in any of the ways of `misdeeds`. Every
 * life has its own chance, drawn from the seed and its path, so that one life alone meets the same server again.
 */
import * as Effect from "effect/Effect"
import { script } from "../hostile/kit/wire.ts"
import * as Raw from "../support/rawServer.ts"
import { eras, good, type Life } from "./answers.ts"
import { misdeeds } from "./misdeeds.ts"
import * as Random from "./random.ts"
import { askTally, goodPath, type ServerOptions } from "./shared.ts"

interface Behaving extends Life {
  /**
   * How likely a misdeed is: to a handshake, and to what comes after it.
   */
  readonly misbehaves: { readonly connecting: number; readonly connected: number }
}

const serve = ({ misdeeds: names, seed }: ServerOptions): void => {
  const tally: Record<string, number> = { good: 0 }
  const lives = new Map<string, Behaving>()

  const newLife = (path: string): Behaving => {
    const random = Random.make(`${seed} server ${path}`)
    const shared = { random, asked: new Map(), sessions: 0 }
    if (path === goodPath) return { ...shared, era: "2026-07-28", misbehaves: { connecting: 0, connected: 0 } }
    // With some, nobody ever succeeds.
    const misbehaves = random.chance(0.1) ? { connecting: 1, connected: 1 } : { connecting: 0.1, connected: 0.4 }
    return { ...shared, era: random.pick(eras), misbehaves }
  }

  const lifeOf = (request: Raw.RawRequest): Behaving => {
    const path = request.path.split("?", 1)[0]!
    const life = lives.get(path) ?? newLife(path)
    lives.set(path, life)
    if (request.message.id !== undefined) life.asked.set(request.message.id, request)
    return life
  }

  const respond: Raw.Responder = (socket, request) => {
    const life = lifeOf(request)
    const { misbehaves, random } = life
    const isConnected = request.message.method?.startsWith("tools/") === true || request.httpMethod !== "POST"
    const name = random.chance(isConnected ? misbehaves.connected : misbehaves.connecting) ? random.pick(names) : "good"
    tally[name] = (tally[name] ?? 0) + 1
    script(...(misdeeds[name]?.(life, request) ?? [good(life, request)]))(socket, request)
  }

  process.once("disconnect", () => process.exit(1))
  process.on("message", (message) => {
    if (message === askTally) process.send?.(tally)
  })
  Effect.runFork(Effect.scoped(Effect.gen(function*() {
    const { port } = yield* Raw.make(respond)
    process.send?.({ origin: `http://127.0.0.1:${port}` })
    return yield* Effect.never
  })))
}

if (process.send !== undefined) serve(JSON.parse(process.argv[2]!) as ServerOptions)
