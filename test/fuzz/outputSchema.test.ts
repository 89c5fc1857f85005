import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Pattern from "../../src/internal/outputSchema/pattern.ts"
import * as Work from "../../src/internal/outputSchema/work.ts"
import {
  all,
  array,
  connect,
  eras,
  forAll,
  join,
  json,
  list,
  map,
  mostly,
  oneOf,
  outcome,
  pick,
  quoted,
  resultOf,
  serverOf,
  timeout
} from "./support.ts"

const references = pick(
  "\"#\"",
  "\"#/$defs/a\"",
  "\"#a\"",
  "\"#/$defs/no\"",
  "\"urn:a\"",
  "\"b#/x\"",
  "\"%\"",
  "\"#%ff\"",
  "\"http://[\""
)
const texts = join(pick("a", "b", "1", " ", "_", "😀", "\ud83d", "\n", ".", "x"), 6)
const atoms = ["a", "b", ".", "[ab]", "[^a]", "[]", "[\\d\\]-]", "\\d", "\\W", "\\p{L}", "\\x61", "\\cA", "\\u{61}"]
const groups = ["(", "(", ")", "(?:", "(?:a|b)", "(?=", "(?=a)", "(?!b)", "(?<=a)", "(?<!", "(?<n>", "(?i:"]
const others = ["😀", "\\ud83d\\ude00", "\\b", "\\B", "^", "$", "|", "\\1", "\\k<n>", "[a-b", "]"]
const quantifiers = ["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"]
const patterns = join(pick(...atoms, ...groups, ...others, ...quantifiers), 8)
const counts = pick("0", "1", "2", "1.5", "-1", "1e400")

type Gen = typeof quoted

const leaf: Gen = oneOf(
  pick("true", "false", "{}", "{\"type\":\"string\"}", "{\"type\":[\"number\",\"null\"]}", "{\"const\":{\"a\":[1]}}"),
  map(references, (reference) => `{"$ref":${reference}}`),
  map(patterns, (pattern) => `{"pattern":${JSON.stringify(pattern)}}`)
)

/**
 * Something like a schema, of whatever draft.
 */
const schema = (depth: number): Gen => {
  if (depth === 0) return leaf
  const inner = oneOf(leaf, schema(depth - 1))
  const named = map(
    list(map(all([oneOf(quoted, pick("\"a\"", "\"__proto__\"", "\"^a|b*$\"")), inner]), (pair) => pair.join(":")), 3),
    (pairs) => `{${pairs.slice(1, -1)}}`
  )
  const inners = list(inner, 3)
  const keywords: Readonly<Record<string, Gen>> = {
    $schema: pick(
      "\"http://json-schema.org/draft-07/schema#\"",
      "\"https://json-schema.org/draft/2019-09/schema\"",
      "\"http://json-schema.org/draft-04/schema\"",
      "\"urn:x\""
    ),
    $id: references,
    id: references,
    $anchor: pick("\"a\""),
    $dynamicAnchor: pick("\"a\""),
    $recursiveAnchor: pick("true"),
    $ref: references,
    $dynamicRef: references,
    $recursiveRef: pick("\"#\""),
    type: oneOf(pick("\"object\"", "\"array\"", "\"string\"", "\"integer\"", "[\"object\",\"array\"]"), json(1)),
    enum: list(json(2), 3),
    const: json(2),
    multipleOf: counts,
    minimum: counts,
    exclusiveMaximum: oneOf(counts, pick("true")),
    minLength: counts,
    maxLength: counts,
    pattern: map(patterns, (pattern) => JSON.stringify(pattern)),
    maxItems: counts,
    uniqueItems: pick("true"),
    minContains: counts,
    maxContains: counts,
    minProperties: counts,
    required: list(quoted, 2),
    dependentRequired: json(2),
    dependencies: named,
    dependentSchemas: named,
    properties: named,
    patternProperties: named,
    additionalProperties: inner,
    unevaluatedProperties: inner,
    propertyNames: inner,
    prefixItems: inners,
    items: oneOf(inner, inners),
    additionalItems: inner,
    unevaluatedItems: inner,
    contains: inner,
    allOf: inners,
    anyOf: inners,
    oneOf: inners,
    not: inner,
    if: inner,
    // oxlint-disable-next-line unicorn/no-thenable
    then: inner,
    else: inner,
    $defs: map(inner, (a) => `{"a":${a}}`)
  }
  const members = Object.entries(keywords).map(([keyword, value]) =>
    map(mostly(value, json(1)), (text) => `"${keyword}":${text}`)
  )
  return map(array(oneOf(...members), { maxLength: 5 }), (chosen) => `{${chosen.join(",")}}`)
}

const cases = all([pick(...eras), schema(2), oneOf(json(3), map(texts, (value) => JSON.stringify(value)))])

describe("any schema and any value", () => {
  it.live("end in a result or in an answer that cannot be read", () =>
    forAll(cases, ([era, outputSchema, value]) => {
      const server = serverOf(era, ({ method }) =>
        resultOf(
          method === "tools/list"
            ? `{"tools":[{"name":"t","inputSchema":{},"outputSchema":${outputSchema}}]}`
            : `{"content":[],"structuredContent":${value}}`
        ))
      const call = Effect.flatMap(
        connect(server),
        (connection) => connection.callTool("t", {}, { validateOutput: true })
      )
      return Effect.map(
        outcome(Effect.tapError(call, (error) =>
          Effect.sync(() => {
            assert.strictEqual(error._tag, "ServerAnswered")
            if (error._tag === "ServerAnswered") assert.strictEqual(error.reason._tag, "Unreadable")
          }))),
        (result) => assert.isTrue(result === undefined || !result.isError)
      )
    }), timeout)
})

const isPattern = (source: string): boolean => {
  try {
    return new RegExp(source, "u") instanceof RegExp
  } catch {
    return false
  }
}

describe("any pattern", () => {
  it.live(
    "matches what the platform's own engine matches, or is refused",
    () =>
      forAll(all([patterns, texts]), ([source, text]) => {
        const pattern = Pattern.make(source)
        if (Result.isFailure(pattern)) {
          assert.isTrue(!isPattern(source) || /\\1|\\k|\(\?i:/.test(source), `${source}: ${pattern.failure}`)
          return
        }
        return Effect.map(pattern.success.test(text, Work.make()), (isMatch) =>
          assert.strictEqual(
            isMatch,
            new RegExp(source, "u").test(text),
            `${JSON.stringify(source)} on ${JSON.stringify(text)}`
          ))
      }),
    timeout
  )
})
