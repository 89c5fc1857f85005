/**
 * How long what a server answered may be kept: revision 2026-07-28, server/utilities/caching, "Cacheable Model".
 *
 * The hint stands on each page of a listing, which nobody sees but the loop that reads it. Whoever wants to know puts a
 * listener into the context of what is asked, and hears every answer that goes into it.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { McpError } from "../errors/McpError.ts"
import type { JsonObject } from "../schema/Json.ts"
import type { Reply } from "../services/Transport.ts"
import type { Outcome } from "./requester.ts"

/**
 * An answer: until when it is fresh, and how long it was, in characters.
 */
interface Heard {
  readonly freshUntil: number
  readonly size: number
}

type Listener = (heard: Heard) => void

const Listening: Context.Reference<Listener | undefined> = Context.Reference<Listener | undefined>(
  "effect-mcp-client/internal/freshness/Listening",
  { defaultValue: () => undefined }
)

/**
 * In whole milliseconds. What is no time to live is none.
 */
const timeToLiveOf = ({ ttlMs }: JsonObject): number => typeof ttlMs === "number" && ttlMs > 0 ? Math.floor(ttlMs) : 0

/**
 * So much is looked at where no text says how long an answer was. What has more in it has no bound, and is not kept.
 */
const maxVisited = 262_144

/**
 * About how long the text of an answer was. It may be of any depth, so that nothing here calls itself.
 */
const sizeOf = (result: JsonObject): number => {
  const left: Array<unknown> = [result]
  let visited = 0
  let size = 0
  while (left.length > 0) {
    const value = left.pop()
    size += typeof value === "string" ? value.length + 3 : 6
    if (typeof value !== "object" || value === null) continue
    for (const key in value) {
      if (++visited > maxVisited) return Number.POSITIVE_INFINITY
      size += key.length
      left.push((value as JsonObject)[key])
    }
  }
  return size
}

/**
 * Tells the listener, where there is one, of an answer of a modern server. What asks for input is never fresh.
 */
export const heard = (outcome: Outcome, { text }: Reply): Effect.Effect<Outcome> =>
  Effect.withFiber((fiber) => {
    const { result, type } = outcome
    fiber.getRef(Listening)?.({
      freshUntil: type === "complete"
        ? fiber.getRef(Clock.Clock).currentTimeMillisUnsafe() + timeToLiveOf(result)
        : Number.NEGATIVE_INFINITY,
      size: text?.length ?? sizeOf(result)
    })
    return Effect.succeed(outcome)
  })

/**
 * What was brought, for how many milliseconds more it is fresh, and how long the answers were that it is made of.
 */
export interface Measured<A> {
  readonly value: A
  readonly timeToLive: number
  readonly size: number
}

/**
 * Asks, and measures. What took several answers is as fresh as the stalest of them; what took none that tells is not
 * fresh at all. `maxAge` is in milliseconds, from the end.
 */
export const measured = <A>(ask: Effect.Effect<A, McpError>, maxAge: number): Effect.Effect<Measured<A>, McpError> =>
  Effect.suspend(() => {
    let freshUntil: number | undefined
    let total = 0
    const listener: Listener = (answer) => {
      freshUntil = Math.min(freshUntil ?? Number.POSITIVE_INFINITY, answer.freshUntil)
      total += answer.size
    }
    return Effect.flatMap(
      Effect.provideService(ask, Listening, listener),
      (value) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const left = (freshUntil ?? now) - now
          return { value, timeToLive: Math.max(0, Math.min(left, maxAge)), size: total }
        })
    )
  })
