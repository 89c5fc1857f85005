/**
 * What a server asks of the user: revision 2026-07-28, client/elicitation.
 *
 * A form comes as a list of fields, so that it can be drawn without knowing JSON Schema, and so that no key of the
 * server's is ever a key of an object of ours. What the user answers is checked against the fields before it is sent.
 * Nothing of the server's schema is compiled.
 *
 * @since 0.1.0
 */
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import { isString, optional, optionalNumber, optionalString } from "./fields.ts"
import { isJsonObject, type JsonObject } from "./Json.ts"

interface Labelled {
  /**
   * The key that its value is answered under.
   */
  readonly name: string
  readonly required: boolean
  readonly title?: string | undefined
  readonly description?: string | undefined
}

/**
 * A text. Lengths are in characters (code points).
 *
 * @category models
 * @since 0.1.0
 */
export interface TextField extends Labelled {
  readonly type: "text"
  readonly minLength?: number | undefined
  readonly maxLength?: number | undefined
  readonly format?: "email" | "uri" | "date" | "date-time" | undefined
  readonly default?: string | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface NumberField extends Labelled {
  readonly type: "number" | "integer"
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly default?: number | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface BooleanField extends Labelled {
  readonly type: "boolean"
  readonly default?: boolean | undefined
}

/**
 * One of several values, and what to show for it where that is something else.
 *
 * @category models
 * @since 0.1.0
 */
export interface Choice {
  readonly value: string
  readonly title: string
}

/**
 * One value out of several.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChoiceField extends Labelled {
  readonly type: "choice"
  readonly choices: ReadonlyArray<Choice>
  readonly default?: string | undefined
}

/**
 * Some values out of several.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChoicesField extends Labelled {
  readonly type: "choices"
  readonly choices: ReadonlyArray<Choice>
  readonly minItems?: number | undefined
  readonly maxItems?: number | undefined
  readonly default?: ReadonlyArray<string> | undefined
}

/**
 * A field whose schema is none of those that the specification allows. Any value will do.
 *
 * @category models
 * @since 0.1.0
 */
export interface UnknownField extends Labelled {
  readonly type: "unknown"
  readonly schema: JsonObject
  readonly default?: Value | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export type Field = TextField | NumberField | BooleanField | ChoiceField | ChoicesField | UnknownField

/**
 * What a field may hold.
 *
 * @category models
 * @since 0.1.0
 */
export type Value = string | number | boolean | ReadonlyArray<string>

/**
 * A form to fill in. `message` and all labels are the server's words.
 *
 * @category models
 * @since 0.1.0
 */
export interface FormRequest {
  readonly message: string
  readonly fields: ReadonlyArray<Field>
}

/**
 * A page to visit. It is never opened here: show the whole URL and its host, ask, and open it where nothing of ours sees
 * what the user does there. Revision 2026-07-28, client/elicitation, "Safe URL Handling".
 *
 * @category models
 * @since 0.1.0
 */
export interface UrlRequest {
  readonly message: string
  /**
   * https, or http on loopback; without userinfo.
   */
  readonly url: URL
  /**
   * What `notifications/elicitation/complete` names: revision 2025-11-25 alone.
   */
  readonly elicitationId?: string | undefined
}

/**
 * The user has filled the form in. Fields that are left out are sent with the server's default, where there is one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Accepted {
  readonly action: "accept"
  readonly content?: { readonly [name: string]: Value | undefined } | undefined
}

/**
 * The user does not want to (`decline`), or has not chosen (`cancel`).
 *
 * @category models
 * @since 0.1.0
 */
export interface Unanswered {
  readonly action: "decline" | "cancel"
}

/**
 * What a form is answered with.
 *
 * @category models
 * @since 0.1.0
 */
export type FormAnswer = Accepted | Unanswered

/**
 * What a request to visit a page is answered with. `accept` says that the user agreed to it, not that they are done.
 *
 * @category models
 * @since 0.1.0
 */
export type UrlAnswer = { readonly action: "accept" } | Unanswered

/**
 * @category constructors
 * @since 0.1.0
 */
export const accept = (content?: Accepted["content"]): Accepted => ({ action: "accept", content })

/**
 * @category constructors
 * @since 0.1.0
 */
export const decline: Unanswered = { action: "decline" }

/**
 * @category constructors
 * @since 0.1.0
 */
export const cancel: Unanswered = { action: "cancel" }

/**
 * More is no form that a person fills in.
 */
const maxFields = 1000
const maxChoices = 10_000
/**
 * Of all texts that stand as defaults in one form together, in UTF-16 code units.
 */
const maxDefaults = 65_536
const maxUrlLength = 8192

const isBoolean = (value: unknown): value is boolean => typeof value === "boolean"

const isStrings = (value: unknown): value is ReadonlyArray<string> => Array.isArray(value) && value.every(isString)

const isValue = (value: unknown): value is Value =>
  isString(value) || isBoolean(value) || Number.isFinite(value) || isStrings(value)

/**
 * Choices as a list of values, with titles beside them at revision 2025-06-18; or as pairs.
 */
const choicesOf = (values: unknown, titles: unknown, pairs: unknown): ReadonlyArray<Choice> | undefined => {
  if (isStrings(values)) {
    return values.map((value, i) => {
      const title: unknown = Array.isArray(titles) ? titles[i] : undefined
      return { value, title: isString(title) ? title : value }
    })
  }
  if (!Array.isArray(pairs)) return undefined
  const choices: Array<Choice> = []
  for (const pair of pairs) {
    if (!isJsonObject(pair) || !isString(pair["const"])) return undefined
    choices.push({ value: pair["const"], title: isString(pair["title"]) ? pair["title"] : pair["const"] })
  }
  return choices
}

const formats = ["email", "uri", "date", "date-time"] as const
const isFormat = (value: unknown): value is (typeof formats)[number] => formats.some((format) => format === value)

const unlabelled = (schema: JsonObject) => {
  const { items } = schema
  const choice = choicesOf(schema["enum"], schema["enumNames"], schema["oneOf"])
  switch (schema["type"]) {
    case "string":
      return choice === undefined
        ? {
          type: "text",
          ...optionalNumber("minLength", schema),
          ...optionalNumber("maxLength", schema),
          ...optional("format", schema["format"], isFormat)
        } as const
        : { type: "choice", choices: choice } as const
    case "number":
    case "integer":
      return {
        type: schema["type"],
        ...optionalNumber("minimum", schema),
        ...optionalNumber("maximum", schema)
      } as const
    case "boolean":
      return { type: "boolean" } as const
    case "array": {
      const choices = isJsonObject(items) ? choicesOf(items["enum"], items["enumNames"], items["anyOf"]) : undefined
      if (choices === undefined) break
      return {
        type: "choices",
        choices,
        ...optionalNumber("minItems", schema),
        ...optionalNumber("maxItems", schema)
      } as const
    }
  }
  return { type: "unknown", schema } as const
}

const fieldOf = (name: string, schema: JsonObject, required: boolean, takesDefault: boolean): Field => {
  const field: Field = {
    name,
    required,
    ...optionalString("title", schema),
    ...optionalString("description", schema),
    ...unlabelled(schema)
  }
  // A default that is not allowed by its own schema is none.
  const given = schema["default"]
  return takesDefault && isValue(given) && problemOf(field, given) === undefined
    ? { ...field, default: given } as Field
    : field
}

const lengthOf = (value: unknown): number => Array.isArray(value) ? value.length : 0

/**
 * How much there is to walk through in the schema of a field.
 */
const choicesIn = (schema: JsonObject): number => {
  const items = isJsonObject(schema["items"]) ? schema["items"] : {}
  return [schema["enum"], schema["oneOf"], schema["default"], items["enum"], items["anyOf"]]
    .reduce<number>((sum, list) => sum + lengthOf(list), 0)
}

/**
 * Reads the parameters of a form. The failure says what is wrong.
 *
 * @category decoding
 * @since 0.1.0
 */
export const formFromWire = ({ message, requestedSchema }: JsonObject): Result.Result<FormRequest, string> => {
  if (!isString(message)) return Result.fail("the message is not a string")
  if (!isJsonObject(requestedSchema)) return Result.fail("requestedSchema is not an object")
  const { properties, required } = requestedSchema
  if (!isJsonObject(properties)) return Result.fail("requestedSchema has no properties")
  const names = Object.keys(properties)
  if (names.length > maxFields || lengthOf(required) > maxFields) return Result.fail(`more than ${maxFields} fields`)
  const mandatory = new Set<unknown>(Array.isArray(required) ? required : [])
  const fields: Array<Field> = []
  let choices = 0
  let defaults = 0
  for (const name of names) {
    const schema = properties[name]
    if (!isJsonObject(schema)) return Result.fail("the schema of a field is not an object")
    choices += choicesIn(schema)
    if (choices > maxChoices) return Result.fail(`more than ${maxChoices} choices`)
    defaults += isString(schema["default"]) ? schema["default"].length : 0
    fields.push(fieldOf(name, schema, mandatory.has(name), defaults <= maxDefaults))
  }
  return Result.succeed({ message, fields })
}

const isLoopback = (hostname: string): boolean => {
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return true
  const address = NetAddress.ipFromString(hostname.replace(/^\[|\]$/g, ""))
  return Result.isSuccess(address) && NetAddress.isLoopback(address.success)
}

/**
 * Whether a page may be shown to the user: https, or http on this machine, and no userinfo that could pass for the host.
 *
 * @category guards
 * @since 0.1.0
 */
export const isSafeUrl = ({ hostname, password, protocol, username }: URL): boolean =>
  username === "" && password === "" && (protocol === "https:" || (protocol === "http:" && isLoopback(hostname)))

/**
 * Reads the parameters of a request to visit a page. The failure says what is wrong. The page may still be one that must
 * not be shown: see `isSafeUrl`.
 *
 * @category decoding
 * @since 0.1.0
 */
export const urlFromWire = (params: JsonObject): Result.Result<UrlRequest, string> => {
  const { message, url } = params
  if (!isString(message)) return Result.fail("the message is not a string")
  if (!isString(url)) return Result.fail("the url is not a string")
  if (url.length > maxUrlLength) return Result.fail(`the url is longer than ${maxUrlLength} characters`)
  const parsed = URL.parse(url)
  if (parsed === null) return Result.fail("the url is none")
  return Result.succeed({ message, url: parsed, ...optionalString("elicitationId", params) })
}

const isDate = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) &&
  // The 30th of February would be one in March.
  new Date(Date.parse(text)).getUTCDate() === Number(text.slice(8))

const isDateTime = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.test(text) && isDate(text.slice(0, 10)) &&
  !Number.isNaN(Date.parse(text.toUpperCase()))

const isOfFormat: Readonly<Record<(typeof formats)[number], (text: string) => boolean>> = {
  // No part of a mail address has spaces or a second @, unless it is quoted: all else is the mail server's to judge.
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: URL.canParse,
  date: isDate,
  "date-time": isDateTime
}

const between = (value: number, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY): boolean =>
  value >= minimum && value <= maximum

/**
 * Code points, which may be two code units each.
 */
const characters = (text: string): number => {
  let count = 0
  for (let at = 0; at < text.length; count++) at += text.codePointAt(at)! > 0xffff ? 2 : 1
  return count
}

const problemOf = (field: Field, value: unknown): string | undefined => {
  switch (field.type) {
    case "text": {
      if (!isString(value)) return "not a text"
      const { format, maxLength, minLength } = field
      if (!between(characters(value), minLength, maxLength)) return "too short or too long"
      return format === undefined || isOfFormat[format](value) ? undefined : `not of the format ${format}`
    }
    case "number":
    case "integer": {
      if (typeof value !== "number" || !Number.isFinite(value)) return "not a number"
      if (field.type === "integer" && !Number.isInteger(value)) return "not a whole number"
      return between(value, field.minimum, field.maximum) ? undefined : "too small or too large"
    }
    case "boolean":
      return isBoolean(value) ? undefined : "neither true nor false"
    case "choice":
      return field.choices.some((choice) => choice.value === value) ? undefined : "none of the choices"
    case "choices": {
      if (!isStrings(value)) return "not a list of texts"
      const known = new Set(field.choices.map((choice) => choice.value))
      if (!value.every((chosen) => known.has(chosen))) return "not all of them are choices"
      return between(value.length, field.minItems, field.maxItems) ? undefined : "too few or too many"
    }
    case "unknown":
      return isValue(value) ? undefined : "neither a text, a number, a boolean nor a list of texts"
  }
}

/**
 * What the server is sent for an answer to a form: what was left out is filled in with the server's defaults (revision
 * 2025-11-25, client/elicitation, "Requested Schema"). The failure says which field does not fit, in our words but for
 * its name; values are not quoted.
 *
 * @category encoding
 * @since 0.1.0
 */
export const formToWire = (form: FormRequest, answer: FormAnswer): Result.Result<JsonObject, string> => {
  if (answer.action !== "accept") return Result.succeed({ action: answer.action })
  const given = answer.content ?? {}
  const content: Record<string, unknown> = Object.create(null)
  for (const field of form.fields) {
    const value = Object.hasOwn(given, field.name) ? given[field.name] ?? field.default : field.default
    if (value === undefined) {
      if (field.required) return Result.fail(`the field ${field.name} is missing`)
      continue
    }
    const problem = problemOf(field, value)
    if (problem !== undefined) return Result.fail(`the field ${field.name}: ${problem}`)
    content[field.name] = value
  }
  const foreign = Object.keys(given).find((name) => given[name] !== undefined && !(name in content))
  return foreign === undefined
    ? Result.succeed({ action: "accept", content })
    : Result.fail(`the field ${foreign} was not asked for`)
}
