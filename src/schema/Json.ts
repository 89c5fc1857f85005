/**
 * JSON objects, as values and as text that is sent unaltered.
 *
 * @since 0.1.0
 */
import type * as Brand from "effect/Brand"
import * as Result from "effect/Result"
import { InvalidInput } from "../errors/McpError.ts"

/**
 * @category models
 * @since 0.1.0
 */
export type JsonObject = { readonly [key: string]: unknown }

/**
 * @category guards
 * @since 0.1.0
 */
export const isJsonObject = (u: unknown): u is JsonObject => typeof u === "object" && u !== null && !Array.isArray(u)

/**
 * The text of exactly one JSON object. Its bytes go out as they are: key order, `1e3`, `12345678901234567890`, `1.0`
 * and duplicate keys survive, which no `JSON.parse` and `JSON.stringify` could promise.
 *
 * @category models
 * @since 0.1.0
 */
export type JsonText = Brand.Branded<string, "~effect-mcp-client/JsonText">

/**
 * Reads a text that must be one JSON object; `undefined` where it is anything else.
 */
export const parseObject = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Serialises; `undefined` where a value has no JSON, or is nested too deeply for the stack.
 */
export const stringify = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/**
 * Checks that a text is exactly one JSON object. Fails with `InvalidInput`, which does not quote the text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (text: string): Result.Result<JsonText, InvalidInput> =>
  parseObject(text) === undefined
    ? Result.fail(
      new InvalidInput({ operation: "JsonText.make", server: undefined, detail: "the text is not one JSON object" })
    )
    : Result.succeed(text as JsonText)

/**
 * As `make`, and throws the `InvalidInput`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeUnsafe = (text: string): JsonText => Result.getOrThrow(make(text))
