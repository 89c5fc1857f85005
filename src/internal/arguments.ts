/**
 * The arguments of a call, as the text that is sent.
 */
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject, type JsonText, parseObject, stringify } from "../schema/Json.ts"

/**
 * Arguments that are certainly one JSON object.
 */
export interface Arguments {
  readonly text: string
  /**
   * Their value as it is sent, for what looks into them.
   */
  readonly value: () => JsonObject
}

const none: Arguments = { text: "{}", value: () => ({}) }

const notAnObject = "the arguments are not one JSON object"

/**
 * Takes arguments as a value or as text. Text is checked here once more, whatever its type promised: it goes into the
 * message as it is, and could otherwise end it early. The failure says what is wrong.
 */
export const read = (args: JsonObject | JsonText | undefined): Result.Result<Arguments, string> => {
  if (args === undefined) return Result.succeed(none)
  if (typeof args === "string") {
    const value = parseObject(args)
    return value === undefined ? Result.fail(notAnObject) : Result.succeed({ text: args, value: () => value })
  }
  if (!isJsonObject(args)) return Result.fail(notAnObject)
  const text = stringify(args)
  // `toJSON` may have made anything of it.
  return text?.startsWith("{") === true
    ? Result.succeed({ text, value: () => parseObject(text) ?? args })
    : Result.fail(text === undefined ? "the arguments have no JSON" : notAnObject)
}
