/**
 * What all questions to a server have in common: its capability, the deadline, rounds of input, and an answer that is
 * read or is of no use.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type McpError, type ServerAnsweredReason, Unreadable } from "../errors/McpError.ts"
import type { JsonObject } from "../schema/Json.ts"
import type { ListOptions } from "../services/McpConnection.ts"
import type { McpPolicy } from "../services/McpPolicy.ts"
import * as InputRounds from "./inputRounds.ts"
import * as Listing from "./listing.ts"
import type { Operation, OperationOptions, Outcome, Requester } from "./requester.ts"

/**
 * One question.
 */
export interface Question<A> {
  /**
   * As errors and spans name it.
   */
  readonly title: string
  readonly capability: string | undefined
  readonly method: string
  /**
   * `params.name` or `params.uri`.
   */
  readonly name?: string | undefined
  /**
   * The text between the braces of `params`.
   */
  readonly members: string
  readonly attributes: Record<string, unknown>
  /**
   * Reads the result. The failure says what is wrong.
   */
  readonly read: (result: JsonObject) => Result.Result<A, string>
  /**
   * Checks what was read, where that may take a while. The failure says what is wrong.
   */
  readonly check?: ((answer: A) => Effect.Effect<void, string>) | undefined
  /**
   * Sends it, where that takes more than sending; `more` are further members.
   */
  readonly send?: ((operation: Operation, more: string) => Effect.Effect<Outcome, McpError>) | undefined
}

/**
 * What may be answered with a request for input: revision 2026-07-28, basic/patterns/mrtr, "Supported Requests".
 */
const mayAsk: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"])

/**
 * @see make
 */
export interface Ask {
  readonly one: <A>(question: Question<A>, options: OperationOptions | undefined) => Effect.Effect<A, McpError>
  readonly list: <A>(
    kind: Listing.Kind<A>,
    capability: string,
    options: ListOptions | undefined
  ) => Effect.Effect<ReadonlyArray<A>, McpError>
}

/**
 * Asks the server at the other end of a requester.
 */
export const make = (requester: Requester, policy: McpPolicy): Ask => ({
  one: <A>(question: Question<A>, options: OperationOptions | undefined) => {
    const { attributes, capability, check, members, method, name, read, title } = question
    const { features } = requester
    const once = question.send ?? ((operation: Operation, more: string) =>
      Effect.flatMap(
        requester.send(operation, { method, members: members + more, name }),
        (reply) => requester.outcome(operation, reply)
      ))
    // Who shows no pages to the user need not look at what an error says of them.
    const attempt = features.hasUrls && requester.negotiated.version === "2025-11-25"
      ? (operation: Operation, more: string) => InputRounds.orVisit(once(operation, more))
      : once
    const answer = (operation: Operation): Effect.Effect<A, McpError> => {
      const answered = (reason: ServerAnsweredReason) => requester.answered(operation.name, reason)
      const unreadable = (detail: string): McpError => answered(new Unreadable({ detail }))
      const readResult = (result: JsonObject): Effect.Effect<A, McpError> => {
        const found = read(result)
        return Result.isSuccess(found) ? Effect.succeed(found.success) : Effect.fail(unreadable(found.failure))
      }
      const reading = Effect.flatMap(attempt(operation, ""), (first) => {
        if (first.type === "complete") return readResult(first.result)
        if (first.type === "input_required" && !mayAsk.has(method)) {
          return Effect.fail(unreadable(`${method} may not ask for input`))
        }
        const answering = InputRounds.run(first, {
          features,
          policy,
          again: (more) => attempt(operation, more),
          within: (asking) => requester.within(operation, asking),
          answered
        })
        return Effect.flatMap(answering, readResult)
      })
      return check === undefined
        ? reading
        : Effect.tap(reading, (value) => requester.within(operation, Effect.mapError(check(value), unreadable)))
    }
    return requester.missing(title, capability) ??
      requester.operation(title, { "mcp.method.name": method, ...attributes }, options, answer)
  },
  list: (kind, capability, options) =>
    requester.missing(kind.method, capability) ??
      requester.operation(kind.method, { "mcp.method.name": kind.method }, options, (operation) =>
        Effect.map(
          Listing.all(kind, requester, policy, operation, options?.onRefused),
          (listed) => [...listed.values()]
        ))
})
