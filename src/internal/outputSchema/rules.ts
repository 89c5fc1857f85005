/**
 * A schema, got ready piece by piece: what is known of a subschema is found out when the first value comes to it, and
 * kept. What is wrong with one part of a schema costs nobody who does not use it.
 */
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject } from "../../schema/Json.ts"
import * as Keywords from "./keywords.ts"
import * as Pattern from "./pattern.ts"
import * as References from "./references.ts"

/**
 * What is known of a subschema.
 */
export interface Rule {
  /**
   * Its keywords, those left out that say nothing.
   */
  readonly schema: JsonObject
  /**
   * Whether `Keywords.check` says all that there is to say.
   */
  readonly isImmediate: boolean
  readonly pattern: Pattern.Pattern | undefined
  /**
   * Those of `patternProperties`, with the schema of each.
   */
  readonly patterns: ReadonlyArray<readonly [pattern: Pattern.Pattern, schema: unknown]>
  /**
   * Which kinds of keywords there are: those that name values, those that refer to or combine further schemas, and those
   * that speak of what no other keyword has spoken of.
   */
  readonly allows: boolean
  readonly refers: boolean
  readonly combines: boolean
  readonly hasUnevaluated: boolean
  /**
   * The values of `enum` as canonical texts, once they were needed.
   */
  allowed: ReadonlySet<string> | undefined
}

/**
 * A schema that values can be checked against.
 */
export interface Rules {
  readonly references: References.References
  /**
   * The failure says what the subschema has that it may not have.
   */
  readonly of: (schema: JsonObject) => Result.Result<Rule, string>
}

/**
 * Of one subschema, and of all together in instructions.
 */
const maxPatternProperties = 64
const maxPatternSize = 2 ** 16

const defaultDialect = "https://json-schema.org/draft/2020-12/schema"

const dialects: ReadonlyMap<string, References.Dialect> = new Map([
  ["json-schema.org/draft-04/schema", { id: "id", refStandsAlone: true }],
  ["json-schema.org/draft-06/schema", { id: "$id", refStandsAlone: true }],
  ["json-schema.org/draft-07/schema", { id: "$id", refStandsAlone: true }],
  ["json-schema.org/draft/2019-09/schema", { id: "$id", refStandsAlone: false }],
  ["json-schema.org/draft/2020-12/schema", { id: "$id", refStandsAlone: false }]
])

const dialectOf = ({ $schema = defaultDialect }: JsonObject): References.Dialect | undefined =>
  typeof $schema === "string" ? dialects.get($schema.replace(/^https?:\/\//, "").replace(/#$/, "")) : undefined

const hasAny = (schema: JsonObject, ...keywords: ReadonlyArray<string>): boolean =>
  keywords.some((keyword) => Object.hasOwn(schema, keyword))

/**
 * Gets a schema ready. The failure says what is wrong with it, as `"has …"` or `"is …"`.
 */
export const make = (root: JsonObject): Result.Result<Rules, string> => {
  const dialect = dialectOf(root)
  if (dialect === undefined) return Result.fail("is of a dialect that is not known here")
  const rules = new Map<object, Result.Result<Rule, string>>()
  const patterns = new Map<string, Result.Result<Pattern.Pattern, string>>()
  let patternSize = 0

  const patternOf = (source: string): Result.Result<Pattern.Pattern, string> => {
    if (patternSize > maxPatternSize) return Result.fail("has patterns that are too large together")
    const pattern = patterns.get(source) ?? Pattern.make(source)
    if (!patterns.has(source) && Result.isSuccess(pattern)) patternSize += pattern.success.size
    patterns.set(source, pattern)
    return pattern
  }

  const read = (given: JsonObject): Result.Result<Rule, string> =>
    Result.gen(function*() {
      const { $ref } = given
      const schema = dialect.refStandsAlone && typeof $ref === "string" ? { $ref } : given
      const malformed = Keywords.malformed(schema)
      if (malformed !== undefined) return yield* Result.fail(`has a keyword that cannot be used: ${malformed}`)
      const { pattern, patternProperties } = schema
      const sources = isJsonObject(patternProperties) ? Object.entries(patternProperties) : []
      if (sources.length > maxPatternProperties) {
        return yield* Result.fail(`has more than ${maxPatternProperties} patternProperties in one place`)
      }
      const byPattern: Array<Rule["patterns"][number]> = []
      for (const [source, inner] of sources) byPattern.push([yield* patternOf(source), inner])
      return {
        schema,
        isImmediate: Keywords.isImmediate(schema),
        pattern: typeof pattern === "string" ? yield* patternOf(pattern) : undefined,
        patterns: byPattern,
        allows: hasAny(schema, "enum", "const"),
        refers: hasAny(schema, "$ref", "$dynamicRef", "$recursiveRef"),
        combines: hasAny(schema, "allOf", "anyOf", "oneOf", "not", "if"),
        hasUnevaluated: hasAny(schema, "unevaluatedProperties", "unevaluatedItems"),
        allowed: undefined
      }
    })

  return Result.map(References.make(root, dialect), (references) => ({
    references,
    of: (schema) => {
      const known = rules.get(schema)
      if (known !== undefined) return known
      const rule = read(schema)
      rules.set(schema, rule)
      return rule
    }
  }))
}
