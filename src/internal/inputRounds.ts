/**
 * Requests that are not answered before the server has had input. It asks for it in its answer (revision 2026-07-28,
 * basic/patterns/mrtr), or refuses with error -32042 until the user has visited some pages (revision 2025-11-25,
 * client/elicitation, "URL Elicitation Required Error"). The application's handlers are asked, and the request is sent
 * once more.
 */
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import {
  InputRequired,
  type McpError,
  type ServerAnswered,
  type ServerAnsweredReason,
  Unreadable
} from "../errors/McpError.ts"
import { isJsonObject, type JsonObject } from "../schema/Json.ts"
import { errorCodes } from "../schema/JsonRpc.ts"
import type { InputRound, McpPolicy } from "../services/McpPolicy.ts"
import type { Arguments } from "./arguments.ts"
import { type Features, maxAtOnce, type Refusal } from "./features.ts"
import type { Outcome } from "./requester.ts"

/**
 * What a server may ask for in one round. More is no question, but a flood.
 */
const maxRequests = 100

/**
 * What came of sending a request.
 */
export type Attempt = Outcome | {
  readonly type: "visit_required"
  readonly error: ServerAnswered
  readonly elicitations: ReadonlyArray<unknown>
}

const elicitation = "elicitation/create"

/**
 * Tells an error that wants pages to be visited from others, which stay what they are.
 */
export const orVisit = (sending: Effect.Effect<Outcome, McpError>): Effect.Effect<Attempt, McpError> =>
  Effect.matchEffect(sending, {
    onFailure: (error) => {
      if (error._tag !== "ServerAnswered" || error.reason._tag !== "RpcError") return Effect.fail(error)
      const { code, data } = error.reason
      const elicitations = isJsonObject(data) ? data["elicitations"] : undefined
      return code === errorCodes.urlElicitationRequired && Array.isArray(elicitations) && elicitations.length > 0
        ? Effect.succeed<Attempt>({ type: "visit_required", error, elicitations })
        : Effect.fail(error)
    },
    onSuccess: Effect.succeed
  })

const methodOf = (request: unknown): string => {
  const method = isJsonObject(request) ? request["method"] : undefined
  return typeof method === "string" ? method : "(no method)"
}

const paramsOf = (request: unknown): JsonObject => {
  const params = isJsonObject(request) ? request["params"] : undefined
  return isJsonObject(params) ? params : {}
}

/**
 * Each kind of request is named once, however many there are.
 */
const methodsOf = (requests: ReadonlyArray<unknown>): ReadonlyArray<string> => [...new Set(requests.map(methodOf))]

const toRound = (attempt: Attempt, { undeclared }: Features): InputRound => {
  if (attempt.type === "visit_required") {
    return { done: false, requests: [elicitation], unanswerable: [], requestState: undefined }
  }
  if (attempt.type !== "input_required") return { done: true }
  const { inputRequests, requestState } = attempt.result
  const requests = isJsonObject(inputRequests) ? Object.values(inputRequests) : undefined
  const nobodys = requests?.filter((request) => undeclared(methodOf(request), paramsOf(request)) !== undefined)
  return {
    done: false,
    requests: requests && methodsOf(requests),
    unanswerable: methodsOf(nobodys ?? []),
    requestState: typeof requestState === "string" ? requestState : undefined
  }
}

/**
 * How the rounds of one request go on.
 */
export interface Options {
  readonly features: Features
  readonly policy: McpPolicy
  /**
   * Sends the request once more, under a new id, with these members added to its `params`.
   */
  readonly again: (members: string) => Effect.Effect<Attempt, McpError>
  /**
   * Runs handlers in what is left of the operation's time.
   */
  readonly within: (asking: Effect.Effect<string, McpError>) => Effect.Effect<string, McpError>
  readonly answered: (reason: ServerAnsweredReason) => ServerAnswered
}

const askAll = <A>(asks: ReadonlyArray<Effect.Effect<A, McpError>>): Effect.Effect<Array<A>, McpError> =>
  Effect.all(asks, { concurrency: maxAtOnce })

/**
 * The answers to all that a server asks for in one round, as the text of `inputResponses`. Where one is not to be had, the
 * others are of no use.
 */
const inputResponses = (
  inputRequests: JsonObject,
  rounds: number,
  { answered, features }: Pick<Options, "answered" | "features">
): Effect.Effect<string, McpError> => {
  const requests = Object.entries(inputRequests)
  if (requests.length > maxRequests) {
    return Effect.fail(answered(new Unreadable({ detail: `more than ${maxRequests} requests for input` })))
  }
  const asks: Array<Effect.Effect<string, McpError>> = []
  for (const [key, request] of requests) {
    const method = methodOf(request)
    const ask = features.prepare(method, paramsOf(request))
    if (Result.isFailure(ask)) return Effect.fail(answered(new Unreadable({ detail: `${method}: ${ask.failure}` })))
    asks.push(Effect.matchEffect(ask.success, {
      onFailure: () => Effect.fail(answered(new InputRequired({ rounds, requests: [method] }))),
      onSuccess: ({ text }) => Effect.succeed(`${JSON.stringify(key)}:${text}`)
    }))
  }
  return Effect.map(askAll(asks), (members) => `{${members.join(",")}}`)
}

/**
 * Goes from the first answer that asks for input to the final result.
 */
export const run = (first: Attempt, options: Options): Effect.Effect<JsonObject, McpError> =>
  Effect.suspend(() => {
    const { again, answered, features, policy, within } = options
    let latest = first
    let rounds = 0

    /**
     * Has the user visit all pages. Where they do not, the error stays.
     */
    const visits = (elicitations: ReadonlyArray<unknown>, error: ServerAnswered): Effect.Effect<string, McpError> => {
      if (elicitations.length > maxRequests) return Effect.fail(error)
      const asks: Array<Effect.Effect<Arguments, Refusal>> = []
      for (const params of elicitations) {
        const ask = isJsonObject(params) && params["mode"] === "url" ? features.prepare(elicitation, params) : undefined
        if (ask === undefined || Result.isFailure(ask)) return Effect.fail(error)
        asks.push(ask.success)
      }
      const accepted = (ask: Effect.Effect<Arguments, Refusal>) =>
        Effect.matchEffect(ask, {
          onFailure: () => Effect.fail(error),
          onSuccess: ({ value }) => value()["action"] === "accept" ? Effect.void : Effect.fail(error)
        })
      return Effect.as(askAll(asks.map(accepted)), "")
    }

    /**
     * What the next round adds to `params`: the state exactly as it came, and no state where none came.
     */
    const members = (attempt: Attempt): Effect.Effect<string, McpError> => {
      if (attempt.type === "complete") return Effect.succeed("")
      if (attempt.type === "visit_required") return within(visits(attempt.elicitations, attempt.error))
      const { inputRequests, requestState } = attempt.result
      const state = typeof requestState === "string" ? `,"requestState":${JSON.stringify(requestState)}` : ""
      return isJsonObject(inputRequests)
        ? Effect.map(within(inputResponses(inputRequests, rounds, options)), (responses) =>
          `,"inputResponses":${responses}${state}`)
        : Effect.succeed(state)
    }

    const round = Effect.suspend(() =>
      // The first answer is there already.
      rounds === 0 ? Effect.succeed(latest) : Effect.flatMap(members(latest), again)
    ).pipe(
      Effect.map((attempt) => {
        rounds++
        latest = attempt
        return toRound(attempt, features)
      })
    )
    const refused = (reason: InputRequired): McpError =>
      latest.type === "visit_required" ? latest.error : answered(reason)
    return Effect.repeat(round, policy.inputRounds).pipe(
      Effect.mapError((error) =>
        error instanceof InputRequired ? refused(error) : error
      ),
      Effect.flatMap(() => {
        if (latest.type === "complete") return Effect.succeed(latest.result)
        const unanswered = toRound(latest, features)
        return Effect.fail(refused(
          new InputRequired({ rounds, requests: unanswered.done ? [] : unanswered.requests ?? [] })
        ))
      })
    )
  })

/**
 * Input for a task, which asks for it while it goes on. Each time is a round of `policy.inputRounds`; what comes of it is
 * the text of `inputResponses`.
 */
export const forTask = (
  options: Pick<Options, "answered" | "features" | "policy">
): Effect.Effect<(inputRequests: unknown) => Effect.Effect<string, McpError>> =>
  Effect.map(Schedule.toStepWithSleep(options.policy.inputRounds), (step) => {
    const { answered, features } = options
    let rounds = 0
    return (inputRequests) => {
      rounds++
      const round = toRound({ type: "input_required", result: { inputRequests } }, features)
      const requests = round.done ? [] : round.requests ?? []
      return step(round).pipe(
        Pull.catchDone(() => Effect.fail(new InputRequired({ rounds, requests }))),
        Effect.mapError((error) => error instanceof InputRequired ? answered(error) : error),
        Effect.flatMap(() =>
          isJsonObject(inputRequests) ? inputResponses(inputRequests, rounds, options) : Effect.succeed("{}")
        )
      )
    }
  })
