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

/**
 * Logs and counts something that was left aside. `kind` is one of a few words of ours; `detail` may quote a server.
 */
export const note = (kind: string, detail: string): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(Metric.withAttributes(counter, { kind }), 1),
    Effect.logDebug(`effect-mcp-client: ${kind}: ${printable(detail)}`)
  )
