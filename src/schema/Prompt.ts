/**
 * Prompts: revision 2026-07-28, server/prompts.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Content from "./Content.ts"
import { describing, isString, mend, optionalMeta, optionalString } from "./fields.ts"
import { isJsonObject, type JsonObject } from "./Json.ts"

/**
 * A prompt as the server describes it. Fields that are not named here are kept.
 *
 * @category models
 * @since 0.1.0
 */
export interface Prompt {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly arguments?: ReadonlyArray<PromptArgument> | undefined
  readonly icons?: ReadonlyArray<unknown> | undefined
  readonly meta?: JsonObject | undefined
  readonly [key: string]: unknown
}

/**
 * @category models
 * @since 0.1.0
 */
export interface PromptArgument {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly required?: boolean | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface PromptMessage {
  readonly role: "user" | "assistant"
  readonly content: Content.Content
}

/**
 * A prompt that was filled in.
 *
 * @category models
 * @since 0.1.0
 */
export interface PromptResult {
  readonly description?: string | undefined
  readonly messages: ReadonlyArray<PromptMessage>
  readonly meta?: JsonObject | undefined
}

const isArguments = (value: unknown): boolean =>
  Array.isArray(value) && value.every((argument) => isJsonObject(argument) && isString(argument["name"]))

const optionals = { ...describing, arguments: isArguments }

/**
 * Reads one entry of a listing. The failure says why it cannot be offered.
 *
 * @category decoding
 * @since 0.1.0
 */
export const fromWire = (entry: unknown): Result.Result<Prompt, string> => {
  if (!isJsonObject(entry)) return Result.fail("not an object")
  if (!isString(entry["name"])) return Result.fail("the name is not a string")
  if (entry["name"] === "") return Result.fail("the name is empty")
  return Result.succeed(mend(entry, optionals) as Prompt)
}

/**
 * Messages of one prompt that may be read at once.
 */
const maxMessages = 16_384

/**
 * Reads the result of `prompts/get`. The failure says what is wrong.
 *
 * @category decoding
 * @since 0.1.0
 */
export const resultFromWire = (result: JsonObject): Result.Result<PromptResult, string> => {
  const { messages: given } = result
  if (!Array.isArray(given)) return Result.fail("messages is not an array")
  if (given.length > maxMessages) return Result.fail(`more than ${maxMessages} messages`)
  const messages: Array<PromptMessage> = []
  for (const message of given) {
    const role: unknown = isJsonObject(message) ? message["role"] : undefined
    if (role !== "user" && role !== "assistant") return Result.fail("a message of neither a user nor an assistant")
    messages.push({ role, content: Content.fromWire(message.content) })
  }
  return Result.succeed({ messages, ...optionalString("description", result), ...optionalMeta(result) })
}
