/**
 * What the keywords of JSON Schema hold, and those that say something about a value by itself: JSON Schema 2020-12,
 * validation, section 6, and the drafts before it where they do not contradict it.
 */
import { isJsonObject, type JsonObject } from "../../schema/Json.ts"

const isString = (value: unknown): value is string => typeof value === "string"
const isNumber = (value: unknown): value is number => typeof value === "number"
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean"
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0
const isSchema = (value: unknown): boolean => isBoolean(value) || isJsonObject(value)

/**
 * Longer than any list that somebody writes into a schema.
 */
const maxList = 2 ** 14
const isList = (value: unknown): boolean => Array.isArray(value) && value.length <= maxList

type Type = "array" | "boolean" | "integer" | "null" | "number" | "object" | "string"

const is: Readonly<Record<Type, (value: unknown) => boolean>> = {
  array: Array.isArray,
  boolean: isBoolean,
  integer: Number.isInteger,
  null: (value) => value === null,
  number: isNumber,
  object: isJsonObject,
  string: isString
}

const maxTypes = Object.keys(is).length

const isType = (value: unknown): value is Type => isString(value) && Object.hasOwn(is, value)

/**
 * What each keyword must hold, as far as can be said without looking far.
 */
const shapes: Readonly<Record<string, (value: unknown) => boolean>> = {
  $ref: isString,
  $dynamicRef: isString,
  $recursiveRef: isString,
  type: (value) =>
    isType(value) || (Array.isArray(value) && value.length > 0 && value.length <= maxTypes && value.every(isType)),
  enum: isList,
  multipleOf: (value) => isNumber(value) && value > 0,
  maximum: isNumber,
  minimum: isNumber,
  // Draft-04, and the many who still write it.
  exclusiveMaximum: (value) => isNumber(value) || isBoolean(value),
  exclusiveMinimum: (value) => isNumber(value) || isBoolean(value),
  maxLength: isCount,
  minLength: isCount,
  pattern: isString,
  maxItems: isCount,
  minItems: isCount,
  uniqueItems: isBoolean,
  maxContains: isCount,
  minContains: isCount,
  maxProperties: isCount,
  minProperties: isCount,
  required: isList,
  dependentRequired: isJsonObject,
  dependencies: isJsonObject,
  dependentSchemas: isJsonObject,
  properties: isJsonObject,
  patternProperties: isJsonObject,
  additionalProperties: isSchema,
  unevaluatedProperties: isSchema,
  propertyNames: isSchema,
  prefixItems: isList,
  items: (value) => isSchema(value) || isList(value),
  additionalItems: isSchema,
  unevaluatedItems: isSchema,
  contains: isSchema,
  allOf: isList,
  anyOf: isList,
  oneOf: isList,
  not: isSchema,
  if: isSchema,
  // oxlint-disable-next-line unicorn/no-thenable
  then: isSchema,
  else: isSchema
}

/**
 * A keyword that does not hold what it must, or too much of it. Keywords that nobody knows hold what they like.
 */
export const malformed = (schema: JsonObject): string | undefined => {
  for (const keyword in shapes) {
    if (schema[keyword] !== undefined && !shapes[keyword]!(schema[keyword])) return keyword
  }
  return undefined
}

/**
 * Keywords that can be checked at once, whatever they are given. All others take more than a look.
 */
const immediate = new Set([
  "type",
  "multipleOf",
  "maximum",
  "minimum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "maxItems",
  "minItems"
])

/**
 * Whether `check` says all that there is to say about a schema.
 */
export const isImmediate = (schema: JsonObject): boolean => {
  for (const keyword in shapes) if (schema[keyword] !== undefined && !immediate.has(keyword)) return false
  return !Object.hasOwn(schema, "const")
}

const checkType = (type: unknown, value: unknown): string | undefined => {
  const types = (Array.isArray(type) ? type : [type]) as ReadonlyArray<Type>
  return types.some((one) => is[one](value)) ? undefined : `is not of type ${types.join(" or ")}`
}

/**
 * A few units in the last place are forgiven: 0.3 is a multiple of 0.1.
 */
const isMultiple = (value: number, of: number): boolean => {
  const times = value / of
  return Number.isFinite(times) && Math.abs(times - Math.round(times)) <= Math.abs(times) * 2 ** -50
}

const checkNumber = (schema: JsonObject, value: number): string | undefined => {
  const { exclusiveMaximum, exclusiveMinimum, maximum, minimum, multipleOf } = schema
  if (isNumber(minimum) && (exclusiveMinimum === true ? value <= minimum : value < minimum)) return "is too small"
  if (isNumber(maximum) && (exclusiveMaximum === true ? value >= maximum : value > maximum)) return "is too large"
  if (isNumber(exclusiveMinimum) && value <= exclusiveMinimum) return "is too small"
  if (isNumber(exclusiveMaximum) && value >= exclusiveMaximum) return "is too large"
  return isNumber(multipleOf) && !isMultiple(value, multipleOf) ? "is no multiple of what it must be" : undefined
}

const checkSize = (items: ReadonlyArray<unknown>, min: unknown, max: unknown): string | undefined => {
  if (isNumber(min) && items.length < min) return "has too few items"
  return isNumber(max) && items.length > max ? "has too many items" : undefined
}

/**
 * What is wrong with a value by the keywords that can be checked at once.
 */
export const check = (schema: JsonObject, value: unknown): string | undefined => {
  const { type } = schema
  const mistyped = type === undefined ? undefined : checkType(type, value)
  if (mistyped !== undefined) return mistyped
  if (isNumber(value)) return checkNumber(schema, value)
  return Array.isArray(value) ? checkSize(value, schema["minItems"], schema["maxItems"]) : undefined
}
