/**
 * Resources, their templates and their contents: revision 2026-07-28, server/resources.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { parseTemplate } from "url-template"
import { InvalidInput } from "../errors/McpError.ts"
import { base64 } from "./base64.ts"
import { describing, isString, mend, optionalMeta, optionalString } from "./fields.ts"
import { isJsonObject, type JsonObject } from "./Json.ts"

/**
 * A resource as the server describes it. Fields that are not named here are kept.
 *
 * @category models
 * @since 0.1.0
 */
export interface Resource {
  readonly uri: string
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  /**
   * In bytes, as the server says.
   */
  readonly size?: number | undefined
  readonly annotations?: JsonObject | undefined
  readonly icons?: ReadonlyArray<unknown> | undefined
  readonly meta?: JsonObject | undefined
  readonly [key: string]: unknown
}

/**
 * A family of resources. Fields that are not named here are kept.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResourceTemplate {
  /**
   * RFC 6570; see `expand`.
   */
  readonly uriTemplate: string
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  readonly annotations?: JsonObject | undefined
  readonly icons?: ReadonlyArray<unknown> | undefined
  readonly meta?: JsonObject | undefined
  readonly [key: string]: unknown
}

/**
 * What a resource holds, as text or as bytes.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResourceContents {
  readonly uri: string
  readonly mimeType?: string | undefined
  readonly text?: string | undefined
  /**
   * The decoded bytes.
   */
  readonly blob?: Uint8Array | undefined
  readonly meta?: JsonObject | undefined
}

const optionals = {
  ...describing,
  mimeType: isString,
  size: (value: unknown) => typeof value === "number",
  annotations: isJsonObject
}

const described = <A>(locator: "uri" | "uriTemplate") => (entry: unknown): Result.Result<A, string> => {
  if (!isJsonObject(entry)) return Result.fail("not an object")
  if (!isString(entry[locator]) || entry[locator] === "") return Result.fail(`the ${locator} is not a string`)
  if (!isString(entry["name"])) return Result.fail("the name is not a string")
  return Result.succeed(mend(entry, optionals) as A)
}

/**
 * Reads one entry of a listing. The failure says why it cannot be offered.
 *
 * @category decoding
 * @since 0.1.0
 */
export const fromWire: (entry: unknown) => Result.Result<Resource, string> = described("uri")

/**
 * Reads one entry of a listing of templates. The failure says why it cannot be offered.
 *
 * @category decoding
 * @since 0.1.0
 */
export const templateFromWire: (entry: unknown) => Result.Result<ResourceTemplate, string> = described("uriTemplate")

/**
 * Reads what a resource holds; `undefined` where that is neither text nor base64.
 *
 * @category decoding
 * @since 0.1.0
 */
export const contentsFromWire = (contents: unknown): ResourceContents | undefined => {
  if (!isJsonObject(contents)) return undefined
  const { text, uri } = contents
  if (!isString(uri)) return undefined
  const base = { uri, ...optionalString("mimeType", contents), ...optionalMeta(contents) }
  if (isString(text)) return { ...base, text }
  const decode = base64(contents["blob"])
  return decode === undefined ? undefined : {
    ...base,
    get blob() {
      return decode()
    }
  }
}

/**
 * Contents of one resource that may be read at once.
 */
const maxContents = 16_384

/**
 * Reads the result of `resources/read`. The failure says what is wrong.
 *
 * @category decoding
 * @since 0.1.0
 */
export const readResultFromWire = (result: JsonObject): Result.Result<ReadonlyArray<ResourceContents>, string> => {
  const { contents } = result
  if (!Array.isArray(contents)) return Result.fail("contents is not an array")
  if (contents.length > maxContents) return Result.fail(`more than ${maxContents} contents`)
  const read = contents.map(contentsFromWire)
  return read.includes(undefined)
    ? Result.fail("contents that are neither text nor base64")
    : Result.succeed(read as ReadonlyArray<ResourceContents>)
}

/**
 * Longer templates than any server has.
 */
const maxTemplate = 8192

/**
 * The URI that a template gives with these variables: RFC 6570, all four levels. What is absent expands to nothing.
 * Fails with `InvalidInput` for a template that is none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const expand = (
  template: Pick<ResourceTemplate, "uriTemplate">,
  variables: Readonly<Record<string, string | ReadonlyArray<string> | Readonly<Record<string, string>>>>
): Result.Result<string, InvalidInput> => {
  const { uriTemplate } = template
  const invalid = (detail: string) =>
    Result.fail(new InvalidInput({ operation: "Resource.expand", server: undefined, detail }))
  if (uriTemplate.length > maxTemplate) return invalid(`the template is longer than ${maxTemplate} characters`)
  try {
    // A template may ask for any name; only what was given is there.
    const given = Object.assign(Object.create(null), variables) as Record<string, string>
    return Result.succeed(parseTemplate(uriTemplate).expand(given))
  } catch {
    return invalid("the template is none")
  }
}
