/**
 * Completing arguments: revision 2026-07-28, server/utilities/completion.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Completion from "../schema/Completion.ts"
import type { Service } from "../services/McpConnection.ts"
import type { McpPolicy } from "../services/McpPolicy.ts"
import { read as readArguments } from "./arguments.ts"
import * as Ask from "./ask.ts"
import type { Requester } from "./requester.ts"

/**
 * The part of a connection that is about completion.
 */
export const make = (requester: Requester, policy: McpPolicy): Pick<Service, "complete"> => {
  const ask = Ask.make(requester, policy)
  const method = "completion/complete"
  // Revision 2024-11-05 has completion without a capability for it.
  const capability = requester.negotiated.version === "2024-11-05" ? undefined : "completions"
  return {
    complete: (ref, argument, context, options) => {
      const given = { ref, argument, ...(context === undefined ? {} : { context: { arguments: context } }) }
      const params = readArguments(given)
      if (Result.isFailure(params)) return Effect.fail(requester.invalid(method, params.failure))
      const members = params.success.text.slice(1, -1)
      return ask.one(
        { title: method, capability, method, members, attributes: {}, read: Completion.resultFromWire },
        options
      )
    }
  }
}
