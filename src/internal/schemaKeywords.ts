/**
 * Where in a JSON Schema there are further schemas: of every draft, since a keyword never changed its place.
 */
import { isJsonObject, type JsonObject } from "../schema/Json.ts"

/**
 * Keywords whose value maps names to schemas.
 */
export const schemaMaps: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies"
])

/**
 * Keywords whose value is no schema at all.
 */
export const data: ReadonlySet<string> = new Set([
  "default",
  "const",
  "enum",
  "examples",
  "required",
  "dependentRequired",
  "x-mcp-header"
])

/**
 * What stands in a schema where another one may: values of keywords that nobody knows among them, and lists of schemas
 * as they are. `keyword` has it, under `name` where the keyword maps names.
 */
export const inner = (
  schema: JsonObject,
  visit: (value: object, keyword: string, name: string | undefined) => void
): void => {
  for (const keyword in schema) {
    const value = schema[keyword]
    if (typeof value !== "object" || value === null || data.has(keyword)) continue
    if (!schemaMaps.has(keyword) || !isJsonObject(value)) {
      visit(value, keyword, undefined)
      continue
    }
    for (const name in value) {
      const member = value[name]
      if (typeof member === "object" && member !== null) visit(member, keyword, name)
    }
  }
}
