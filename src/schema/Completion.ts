/**
 * Completions of arguments: revision 2026-07-28, server/utilities/completion.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { isString, optional, optionalNumber } from "./fields.ts"
import { isJsonObject, type JsonObject } from "./Json.ts"

/**
 * What is being filled in: a prompt by its name, or the template of a resource.
 *
 * @category models
 * @since 0.1.0
 */
export type Reference =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string }

/**
 * The argument whose value is being typed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Argument {
  readonly name: string
  readonly value: string
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Completion {
  readonly values: ReadonlyArray<string>
  /**
   * How many there are, which may be more than `values` has.
   */
  readonly total?: number | undefined
  readonly hasMore?: boolean | undefined
}

/**
 * A hundred is what the specification allows.
 */
const maxValues = 100

/**
 * Reads the result of `completion/complete`. The failure says what is wrong.
 *
 * @category decoding
 * @since 0.1.0
 */
export const resultFromWire = (result: JsonObject): Result.Result<Completion, string> => {
  const { completion } = result
  if (!isJsonObject(completion)) return Result.fail("completion is not an object")
  const { hasMore, values } = completion
  if (!Array.isArray(values) || !values.every(isString)) return Result.fail("values is not an array of strings")
  return Result.succeed({
    values: values.slice(0, maxValues),
    ...optionalNumber("total", completion),
    ...optional("hasMore", hasMore, (value): value is boolean => typeof value === "boolean")
  })
}
