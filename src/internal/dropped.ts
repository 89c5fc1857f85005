/**
 * Nothing is dropped in silence: what is left aside on purpose is logged at debug and counted.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { printable } from "../errors/Printable.ts"

const counter = Metric.counter("effect_mcp_client_dropped", {
  description:
    "What servers sent and was left aside: refused list entries, foreign or late messages, failures to close",
  incremental: true
})

const line = (kind: string, detail: string): string => `effect-mcp-client: ${kind}: ${printable(detail)}`

const count = (kind: string, times: number): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(counter, { kind }), times)

/**
 * Logs and counts something that was left aside. `kind` is one of a few words of ours; `detail` may quote a server.
 */
export const note = (kind: string, detail: string, times = 1): Effect.Effect<void> =>
  Effect.andThen(count(kind, times), Effect.logDebug(line(kind, detail)))

/**
 * As `note`, for what the application would have wanted to have.
 */
export const warn = (kind: string, detail: string, times = 1): Effect.Effect<void> =>
  Effect.andThen(count(kind, times), Effect.logWarning(line(kind, detail)))

/**
 * Messages for nobody, gathered until there is a fiber to tell of them.
 */
export interface Dropped {
  readonly add: (what: string) => void
  readonly isEmpty: () => boolean
  readonly note: Effect.Effect<void>
}

/**
 * More than so many are told of by the first few.
 */
const maxGathered = 8

/**
 * Nothing has been dropped yet.
 */
export const make = (): Dropped => {
  let gathered: Array<string> = []
  let dropped = 0
  return {
    add: (what) => {
      dropped++
      if (gathered.length < maxGathered) gathered.push(what)
    },
    isEmpty: () => dropped === 0,
    note: Effect.suspend(() => {
      if (dropped === 0) return Effect.void
      const more = dropped > gathered.length ? `; ${dropped - gathered.length} more` : ""
      const noting = note("message not for us", `${gathered.join("; ")}${more}`, dropped)
      gathered = []
      dropped = 0
      return noting
    })
  }
}
