/**
 * Requests whose answers ask for input: revision 2026-07-28, basic/patterns/mrtr.
 *
 * Nobody here gives input yet, so that a round can only be one that asks for nothing and wants to be asked again.
 */
import * as Effect from "effect/Effect"
import { InputRequired, type McpError } from "../errors/McpError.ts"
import { isJsonObject, type JsonObject } from "../schema/Json.ts"
import type { InputRound, McpPolicy } from "../services/McpPolicy.ts"
import type { Outcome } from "./requester.ts"

const methodOf = (request: unknown): string => {
  const method = isJsonObject(request) ? request["method"] : undefined
  return typeof method === "string" ? method : "(no method)"
}

/**
 * Each kind of request is named once, however many there are.
 */
const methodsOf = (requests: JsonObject): ReadonlyArray<string> => [
  ...new Set(Object.values(requests).map(methodOf))
]

const toRound = ({ result, type }: Outcome): InputRound => {
  if (type === "complete") return { done: true }
  const { inputRequests, requestState } = result
  return {
    done: false,
    requests: isJsonObject(inputRequests) ? methodsOf(inputRequests) : undefined,
    requestState: typeof requestState === "string" ? requestState : undefined
  }
}

/**
 * What a round adds to `params`: the state exactly as it came, and no state where none came.
 */
const members = (round: InputRound): string => {
  if (round.done) return ""
  const responses = round.requests === undefined ? "" : `,"inputResponses":{}`
  return responses +
    (round.requestState === undefined ? "" : `,"requestState":${JSON.stringify(round.requestState)}`)
}

/**
 * Goes from the first answer that asks for input to the final result. `again` sends the request once more, under a new
 * id, with these members added to its `params`.
 */
export const run = (
  first: JsonObject,
  policy: McpPolicy,
  again: (members: string) => Effect.Effect<Outcome, McpError>
): Effect.Effect<JsonObject, McpError | InputRequired> =>
  Effect.suspend(() => {
    let latest: Outcome = { type: "input_required", result: first }
    let rounds = 0
    const round = Effect.suspend(() =>
      // The first answer is there already.
      rounds++ === 0 ? Effect.succeed(latest) : again(members(toRound(latest)))
    ).pipe(
      Effect.map((outcome) => {
        latest = outcome
        return toRound(outcome)
      })
    )
    return Effect.flatMap(Effect.repeat(round, policy.inputRounds), () => {
      if (latest.type === "complete") return Effect.succeed(latest.result)
      const unanswered = toRound(latest)
      return Effect.fail(
        new InputRequired({ rounds, requests: unanswered.done ? [] : unanswered.requests ?? [] })
      )
    })
  })
