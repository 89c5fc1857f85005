/**
 * JSON-RPC messages that come as events, one in each `message` event: revision 2025-11-25, basic/transports.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Meter } from "../services/ByteBudget.ts"
import * as EventStream from "./eventStream.ts"
import * as Json from "./json.ts"

/**
 * What a server writes that logs to where it should answer is passed over, and costs nothing. To find out that what looks
 * like a message is no JSON after all costs hundreds of times its length, so that it is not put up with for ever.
 */
const maxBroken = 1000

const looksLikeMessage = (text: string): boolean => {
  const trimmed = text.trim()
  const first = trimmed[0]
  const last = trimmed.at(-1)
  return (first === "{" && last === "}") || (first === "[" && last === "]")
}

const notJson = "an event that is not JSON"

/**
 * What becomes of what comes.
 */
export interface Handlers {
  /**
   * A message as JSON, and as its text.
   */
  readonly onMessage: (message: unknown, text: string) => void
  /**
   * An event that has another name.
   */
  readonly onOther: (event: EventStream.Event) => void
  readonly onDropped: (what: string) => void
  /**
   * The stream is of no use any more.
   */
  readonly onProblem: (problem: Json.Problem) => void
  /**
   * Whether nothing more is wanted.
   */
  readonly isDone: () => boolean
}

/**
 * Follows one stream, counted by a meter. A stream that was resumed starts with the id that it was resumed from.
 */
export const make = (handlers: Handlers, meter: Meter, resumedFrom?: string) => {
  let arrived: Array<string> = []
  let broken = 0
  const events = EventStream.make((event) => {
    // An event without data is a place to resume from.
    if (event.data === "") return
    if (event.type === "message") arrived.push(event.data)
    else handlers.onOther(event)
  }, resumedFrom)

  const take = (text: string, read: Result.Result<unknown, Json.Problem>): void => {
    if (Result.isSuccess(read)) return handlers.onMessage(read.success, text)
    if (typeof read.failure !== "string") return handlers.onProblem(read.failure)
    handlers.onDropped(notJson)
    if (++broken > maxBroken) handlers.onProblem(`more than ${maxBroken} messages that are not JSON`)
  }

  /**
   * Goes through what has arrived. A long message takes its time.
   */
  const takeAll = (texts: ReadonlyArray<string>, from: number): boolean | Effect.Effect<boolean> => {
    for (let at = from; at < texts.length && !handlers.isDone(); at++) {
      const text = texts[at]!
      if (Json.isShort(text)) {
        if (looksLikeMessage(text)) take(text, Json.parseShort(text))
        else handlers.onDropped(notJson)
        continue
      }
      return Effect.flatMap(Json.parseLong(text, meter), (read) => {
        take(text, read)
        const rest = takeAll(texts, at + 1)
        return typeof rest === "boolean" ? Effect.succeed(rest) : rest
      })
    }
    return handlers.isDone()
  }

  return {
    /**
     * Takes decoded text, and says whether nothing more is wanted.
     */
    feed: (text: string): boolean | Effect.Effect<boolean> => {
      events.feed(text)
      const now = arrived
      arrived = []
      return takeAll(now, 0)
    },
    lastEventId: events.lastEventId,
    retry: events.retry
  }
}
