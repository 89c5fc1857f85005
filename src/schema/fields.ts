/**
 * Reading optional members of what a server sent: each as it is where it has the right type, and left out otherwise.
 */
import { isJsonObject, type JsonObject } from "./Json.ts"

export const isString = (value: unknown): value is string => typeof value === "string"

const isNumber = (value: unknown): value is number => typeof value === "number"

export const optional = <Key extends string, Value>(
  key: Key,
  value: unknown,
  is: (value: unknown) => value is Value
): { readonly [K in Key]?: Value } => (is(value) ? { [key]: value } : {}) as { readonly [K in Key]?: Value }

export const optionalString = <Key extends string>(key: Key, from: JsonObject): { readonly [K in Key]?: string } =>
  optional(key, from[key], isString)

export const optionalNumber = <Key extends string>(key: Key, from: JsonObject): { readonly [K in Key]?: number } =>
  optional(key, from[key], isNumber)

/**
 * `_meta`, under the name that results have it by.
 */
export const optionalMeta = (from: JsonObject): { readonly meta?: JsonObject } =>
  optional("meta", from["_meta"], isJsonObject)

/**
 * Leaves out of a copy those optional members that are not what they must be, so that the entry can stay; `_meta` becomes
 * `meta`. An entry with nothing to mend is not copied.
 */
export const mend = (
  entry: JsonObject,
  optionals: Readonly<Record<string, (value: unknown) => boolean>>
): JsonObject => {
  const wrong: Array<string> = []
  for (const key in optionals) {
    if (entry[key] !== undefined && !optionals[key]!(entry[key])) wrong.push(key)
  }
  if (wrong.length === 0 && entry["_meta"] === undefined && entry["meta"] === undefined) return entry
  const { _meta, ...rest } = entry
  const mended: Record<string, unknown> = rest
  delete mended["meta"]
  for (const key of wrong) delete mended[key]
  if (isJsonObject(_meta)) mended["meta"] = _meta
  return mended
}

/**
 * What several kinds of entries have.
 */
export const describing: Readonly<Record<string, (value: unknown) => boolean>> = {
  title: isString,
  description: isString,
  icons: Array.isArray
}
