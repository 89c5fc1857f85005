/**
 * HTTP headers that mirror the message: revision 2026-07-28, basic/transports/streamable-http, "Request Metadata".
 */
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject } from "../schema/Json.ts"
import { inner } from "./schemaKeywords.ts"

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/**
 * RFC 9110, section 5.1.
 */
export const isHeaderName = (name: string): boolean => token.test(name)

/**
 * Visible ASCII, spaces and tabs, none of the latter two at an end: RFC 9110, section 5.5, without its obsolete parts.
 */
export const isHeaderValue = (value: string): boolean => /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(value)

/**
 * "Value Encoding": as it is where that is safe, else base64 of its UTF-8 between the sentinels.
 */
export const encodeValue = (value: string): string =>
  isHeaderValue(value) && !(value.startsWith("=?base64?") && value.endsWith("?="))
    ? value
    : `=?base64?${Base64.encode(value)}?=`

/**
 * A parameter of a tool that is mirrored into a header.
 */
export interface MirroredParameter {
  readonly header: string
  readonly path: ReadonlyArray<string>
}

const mirrorable = new Set(["string", "integer", "boolean"])

const maxMirrored = 64

/**
 * Where in the arguments a schema applies, from the inside out; `undefined` where no chain of `properties` leads to it.
 */
type Place = { readonly property: string | undefined; readonly outer: Place } | undefined

const toPath = (place: Place): ReadonlyArray<string> => {
  const path: Array<string> = []
  for (let at = place; at?.property !== undefined; at = at.outer) path.push(at.property)
  return path.reverse()
}

const annotationProblem = (schema: JsonObject, place: Place, names: ReadonlySet<string>): string | undefined => {
  const name = schema["x-mcp-header"]
  if (typeof name !== "string" || !isHeaderName(name)) return "an x-mcp-header is not a header name"
  if (place?.property === undefined) return "an x-mcp-header stands where no argument is"
  if (!mirrorable.has(schema["type"] as string)) {
    return "an x-mcp-header is on a parameter that is no string, integer or boolean"
  }
  if (names.has(name.toLowerCase())) return "an x-mcp-header is repeated"
  return names.size < maxMirrored ? undefined : `more than ${maxMirrored} x-mcp-header annotations`
}

/**
 * Whether the text of a message may have annotations in it. Nearly none has, and to search the text costs a thousandth of
 * a walk through its schemas. In JSON a key may be spelt with escapes.
 */
export const mayMirror = (text: string | undefined): boolean =>
  text === undefined || text.includes("x-mcp-header") || text.includes("\\u")

/**
 * What an `inputSchema` wants mirrored.
 */
export interface Mirrored {
  readonly parameters: ReadonlyArray<MirroredParameter>
  /**
   * Why the annotations, and with them the tool, are invalid: "Schema Extension".
   */
  readonly problem: string | undefined
  /**
   * How many schemas were looked at.
   */
  readonly visited: number
}

/**
 * Larger schemas than anybody writes; what they annotate is not looked for.
 */
const maxSchemas = 16_384

/**
 * Finds the parameters that an `inputSchema` wants mirrored. One visit a subschema, without recursion: a schema may be as
 * deep as it likes.
 */
export const mirroredParameters = (inputSchema: JsonObject): Mirrored => {
  const found: Array<MirroredParameter> = []
  const names = new Set<string>()
  const schemas: Array<object> = [inputSchema]
  const places: Array<Place> = [{ property: undefined, outer: undefined }]
  const visit = (schema: object, place: Place): void => {
    schemas.push(schema)
    places.push(place)
  }
  let visited = 0
  const invalid = (problem: string): Mirrored => ({ parameters: [], problem, visited })
  while (schemas.length > 0) {
    if (++visited > maxSchemas) return invalid(`more than ${maxSchemas} schemas in one`)
    const schema = schemas.pop()!
    const place = places.pop()
    if (Array.isArray(schema)) {
      for (const element of schema) if (typeof element === "object" && element !== null) visit(element, undefined)
      continue
    }
    if (!isJsonObject(schema)) continue
    if (schema["x-mcp-header"] !== undefined) {
      const problem = annotationProblem(schema, place, names)
      if (problem !== undefined) return invalid(problem)
      const name = schema["x-mcp-header"] as string
      names.add(name.toLowerCase())
      found.push({ header: `Mcp-Param-${name}`, path: toPath(place) })
    }
    inner(schema, (value, keyword, name) => {
      const isReachable = keyword === "properties" && place !== undefined && name !== undefined
      visit(value, isReachable ? { property: name, outer: place } : undefined)
    })
  }
  return { parameters: found, problem: undefined, visited }
}

const valueAt = (value: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce(
    (at, property) => isJsonObject(at) && Object.hasOwn(at, property) ? at[property] : undefined,
    value
  )

/**
 * The headers of one call, names and values alternating; what is absent or null has none. The failure says why a value
 * cannot be mirrored.
 */
export const parameterHeaders = (
  mirrored: ReadonlyArray<MirroredParameter>,
  args: JsonObject
): Result.Result<ReadonlyArray<string>, string> => {
  const headers: Array<string> = []
  for (const { header, path } of mirrored) {
    const value = valueAt(args, path)
    if (value === undefined || value === null) continue
    if (typeof value === "number" ? !Number.isSafeInteger(value) : typeof value === "object") {
      return Result.fail(`an argument that goes into the header ${header} is no string, safe integer or boolean`)
    }
    headers.push(header, encodeValue(String(value)))
  }
  return Result.succeed(headers)
}
