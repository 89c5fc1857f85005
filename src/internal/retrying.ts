/**
 * Sends a request again, where that is asked for and cannot do anything twice.
 */
import * as Effect from "effect/Effect"
import type { McpError } from "../errors/McpError.ts"
import type { McpPolicy, Refusal } from "../services/McpPolicy.ts"
import type { Reply } from "../services/Transport.ts"

/**
 * Statuses that say that a request was not acted on.
 */
const isBusy = (status: number | undefined): boolean => status === 429 || status === 503

/**
 * An attempt that came to nothing: an error, or the JSON-RPC error that a busy server wrote.
 */
interface Attempt extends Refusal {
  readonly outcome: Effect.Effect<Reply, McpError>
}

const refusalOf = (error: McpError): Refusal | undefined => {
  if (error._tag !== "ConnectionFailed") return undefined
  const { reason } = error
  if (reason._tag === "HttpStatus" && isBusy(reason.status)) return { retryAfter: reason.retryAfter }
  return reason._tag === "Unreachable" && reason.delivered === "no" ? { retryAfter: undefined } : undefined
}

/**
 * Runs attempts until one is no refusal, or the schedule has had enough: the last one counts.
 */
export const run = (
  attempt: Effect.Effect<Reply, McpError>,
  retries: NonNullable<McpPolicy["retries"]>
): Effect.Effect<Reply, McpError> =>
  attempt.pipe(
    Effect.matchEffect({
      onFailure: (error): Effect.Effect<Effect.Effect<Reply, McpError>, Attempt> => {
        const refusal = refusalOf(error)
        const outcome = Effect.fail(error)
        return refusal === undefined ? Effect.succeed(outcome) : Effect.fail({ ...refusal, outcome })
      },
      onSuccess: (reply) => {
        const outcome = Effect.succeed(reply)
        return isBusy(reply.status) ? Effect.fail({ retryAfter: undefined, outcome }) : Effect.succeed(outcome)
      }
    }),
    Effect.retry(retries),
    Effect.matchEffect({ onFailure: ({ outcome }) => outcome, onSuccess: (outcome) => outcome })
  )
