/**
 * JSON-RPC messages that come one after another, each as one text.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Meter } from "../services/ByteBudget.ts"
import * as Json from "./json.ts"

/**
 * What becomes of what comes.
 */
export interface Handlers {
  /**
   * A message as JSON, and as its text.
   */
  readonly onMessage: (message: unknown, text: string) => void
  /**
   * A text that is not JSON. One that does not even look like a message cost nothing to find out; `isBroken` says of one
   * that does that it cost hundreds of times its length.
   */
  readonly onNoise: (isBroken: boolean) => void
  /**
   * What comes is of no use any more.
   */
  readonly onProblem: (problem: Json.Problem) => void
  /**
   * Whether nothing more is wanted.
   */
  readonly isDone: () => boolean
}

/**
 * So many are taken in one go. Then others have their turn.
 */
const maxAtOnce = 256

const looksLikeMessage = (text: string): boolean => {
  const trimmed = text.trim()
  const first = trimmed[0]
  const last = trimmed.at(-1)
  return (first === "{" && last === "}") || (first === "[" && last === "]")
}

/**
 * Takes texts as they come, and says whether nothing more is wanted. A long one takes its time: nothing more is to be
 * given until then.
 */
export const make = (
  handlers: Handlers,
  meter: Meter
): (texts: ReadonlyArray<string>) => boolean | Effect.Effect<boolean> => {
  const take = (text: string, read: Result.Result<unknown, Json.Problem>): void => {
    if (Result.isSuccess(read)) return handlers.onMessage(read.success, text)
    if (typeof read.failure === "string") return handlers.onNoise(true)
    handlers.onProblem(read.failure)
  }

  const takeFrom = (texts: ReadonlyArray<string>, from: number): boolean | Effect.Effect<boolean> => {
    const later = (at: number): Effect.Effect<boolean> => {
      const rest = takeFrom(texts, at)
      return typeof rest === "boolean" ? Effect.succeed(rest) : rest
    }
    for (let at = from; at < texts.length && !handlers.isDone(); at++) {
      if (at - from === maxAtOnce) return Effect.flatMap(Effect.yieldNow, () => later(at))
      const text = texts[at]!
      if (Json.isShort(text)) {
        if (looksLikeMessage(text)) take(text, Json.parseShort(text))
        else handlers.onNoise(false)
        continue
      }
      return Effect.flatMap(Json.parseLong(text, meter), (read) => {
        take(text, read)
        return later(at + 1)
      })
    }
    return handlers.isDone()
  }

  return (texts) => takeFrom(texts, 0)
}
