/**
 * Listing prompts and filling them in: revision 2026-07-28, server/prompts.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Prompt from "../schema/Prompt.ts"
import type { Service } from "../services/McpConnection.ts"
import type { McpPolicy } from "../services/McpPolicy.ts"
import { read as readArguments } from "./arguments.ts"
import * as Ask from "./ask.ts"
import type { Requester } from "./requester.ts"

const kind = { method: "prompts/list", entries: "prompts", fromWire: Prompt.fromWire, key: "name" }

/**
 * The part of a connection that is about prompts.
 */
export const make = (requester: Requester, policy: McpPolicy): Pick<Service, "listPrompts" | "getPrompt"> => {
  const ask = Ask.make(requester, policy)
  return {
    listPrompts: (options) => ask.list(kind, "prompts", options),
    getPrompt: (name, given, options) => {
      const title = `prompts/get ${name}`
      const args = readArguments(given)
      if (Result.isFailure(args)) return Effect.fail(requester.invalid(title, args.failure))
      return ask.one({
        title,
        capability: "prompts",
        method: "prompts/get",
        name,
        members: `"name":${JSON.stringify(name)},"arguments":${args.success.text}`,
        attributes: { "gen_ai.prompt.name": name },
        read: Prompt.resultFromWire
      }, options)
    }
  }
}
