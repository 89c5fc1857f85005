/**
 * JSON-RPC messages that come as events, one in each `message` event: revision 2025-11-25, basic/transports.
 */
import type * as Effect from "effect/Effect"
import type { Meter } from "../services/ByteBudget.ts"
import * as EventStream from "./eventStream.ts"
import * as MessageTexts from "./messageTexts.ts"

/**
 * What a server writes that logs to where it should answer is passed over, and costs nothing. To find out that what looks
 * like a message is no JSON after all costs hundreds of times its length, so that it is not put up with for ever.
 */
const maxBroken = 1000

/**
 * What becomes of what comes.
 */
export interface Handlers extends Omit<MessageTexts.Handlers, "onNoise"> {
  /**
   * An event that has another name.
   */
  readonly onOther: (event: EventStream.Event) => void
  readonly onDropped: (what: string) => void
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

  const takeAll = MessageTexts.make({
    ...handlers,
    onNoise: (isBroken) => {
      handlers.onDropped("an event that is not JSON")
      if (isBroken && ++broken > maxBroken) {
        handlers.onProblem(`more than ${maxBroken} messages that are not JSON`)
      }
    }
  }, meter)

  return {
    /**
     * Takes decoded text, and says whether nothing more is wanted.
     */
    feed: (text: string): boolean | Effect.Effect<boolean> => {
      events.feed(text)
      const now = arrived
      arrived = []
      return takeAll(now)
    },
    gathered: events.gathered,
    lastEventId: events.lastEventId,
    retry: events.retry
  }
}
