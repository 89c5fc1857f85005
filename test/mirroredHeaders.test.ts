import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import {
  encodeValue,
  isHeaderName,
  isHeaderValue,
  mirroredParameters,
  parameterHeaders
} from "../src/internal/headers.ts"
import type { JsonObject } from "../src/schema/Json.ts"

// Revision 2026-07-28, basic/transports/streamable-http, "Custom Headers from Tool Parameters".

const seeded = { arbitrary: { runs: 300, seed: 20260728 } }

const string = (header: unknown): JsonObject => ({ type: "string", "x-mcp-header": header })

const object = (properties: JsonObject, more?: JsonObject): JsonObject => ({ type: "object", properties, ...more })

const json = (text: string): JsonObject => JSON.parse(text)

type Found = Readonly<Record<string, ReadonlyArray<string>>>

const found = (schema: JsonObject): Found =>
  Object.fromEntries(
    mirroredParameters(schema).parameters.map(({ header, path }) => [header, path])
  )

const valid: Readonly<Record<string, readonly [JsonObject, Found]>> = {
  "the specification's example": [
    {
      type: "object",
      properties: {
        region: { type: "string", description: "The region to execute the query in", "x-mcp-header": "Region" },
        query: { type: "string", description: "The SQL query to execute" }
      },
      required: ["region", "query"]
    },
    { "Mcp-Param-Region": ["region"] }
  ],
  "no annotation": [object({ a: { type: "string" }, b: object({ c: { type: "number" } }) }), {}],
  "no properties": [{ type: "object" }, {}],
  "every type that may be mirrored": [
    object({
      s: { type: "string", "x-mcp-header": "S" },
      i: { type: "integer", "x-mcp-header": "I" },
      b: { type: "boolean", "x-mcp-header": "B" }
    }),
    { "Mcp-Param-S": ["s"], "Mcp-Param-I": ["i"], "Mcp-Param-B": ["b"] }
  ],
  "a nested path": [
    object({ a: object({ b: object({ c: string("Deep") }), d: string("Mid") }) }),
    { "Mcp-Param-Deep": ["a", "b", "c"], "Mcp-Param-Mid": ["a", "d"] }
  ],
  "every character of a token": [
    object({ a: string("!#$%&'*+-.^_`|~09azAZ") }),
    { "Mcp-Param-!#$%&'*+-.^_`|~09azAZ": ["a"] }
  ],
  "a property named x-mcp-header": [object({ "x-mcp-header": { type: "string" } }), {}],
  "a property named x-mcp-header that is annotated": [
    object({ "x-mcp-header": string("Own") }),
    { "Mcp-Param-Own": ["x-mcp-header"] }
  ],
  "a nested property named x-mcp-header": [
    object({ a: object({ "x-mcp-header": { type: "number" } }) }),
    {}
  ],
  "properties named properties": [
    object({ properties: object({ properties: string("P"), type: { type: "string" } }) }),
    { "Mcp-Param-P": ["properties", "properties"] }
  ],
  "properties named as other keywords": [
    object({
      items: string("A"),
      anyOf: string("B"),
      $ref: string("C"),
      default: string("D"),
      required: string("E"),
      $defs: object({ not: string("F") })
    }),
    {
      "Mcp-Param-A": ["items"],
      "Mcp-Param-B": ["anyOf"],
      "Mcp-Param-C": ["$ref"],
      "Mcp-Param-D": ["default"],
      "Mcp-Param-E": ["required"],
      "Mcp-Param-F": ["$defs", "not"]
    }
  ],
  "properties named as members of Object.prototype": [
    object(
      json(`{"__proto__":{"type":"string","x-mcp-header":"A"},"constructor":{"type":"string","x-mcp-header":"B"}}`)
    ),
    { "Mcp-Param-A": ["__proto__"], "Mcp-Param-B": ["constructor"] }
  ],
  "what looks like an annotation in a value": [
    object({
      a: {
        type: "object",
        default: { "x-mcp-header": "" },
        const: { "x-mcp-header": 1 },
        enum: [{ "x-mcp-header": "a b" }],
        examples: [{ "x-mcp-header": "\n" }]
      }
    }),
    {}
  ],
  "required properties named x-mcp-header": [
    object({ "x-mcp-header": { type: "string" }, a: { type: "string" } }, {
      required: ["x-mcp-header"],
      dependentRequired: { "x-mcp-header": ["a"], a: ["x-mcp-header"] }
    }),
    {}
  ],
  "schemas named x-mcp-header": [
    object(
      { a: string("A") },
      Object.fromEntries(
        ["patternProperties", "$defs", "definitions", "dependentSchemas"].map((keyword) => [
          keyword,
          { "x-mcp-header": { type: "string" } }
        ])
      )
    ),
    { "Mcp-Param-A": ["a"] }
  ],
  "dependencies of a property named x-mcp-header": [
    object({ "x-mcp-header": { type: "string" } }, { dependencies: { "x-mcp-header": ["a"] } }),
    {}
  ],
  "other keywords without annotations": [
    object({ a: string("A"), list: { type: "array", items: { type: "string" } } }, {
      additionalProperties: false,
      allOf: [{ required: ["a"] }],
      if: { properties: { a: { const: "x" } } },
      $defs: { t: { type: "number" } }
    }),
    { "Mcp-Param-A": ["a"] }
  ]
}

const annotated = string("A")

const invalid: Readonly<Record<string, JsonObject>> = {
  ...Object.fromEntries(
    [
      "",
      " ",
      "a b",
      "a:b",
      "a,b",
      "a(b",
      "a/b",
      "a\"b",
      "é",
      "世",
      "a\r\nb",
      "a\n",
      "\r",
      "\0",
      "a\tb",
      "\u007f",
      5,
      true,
      null,
      {},
      [],
      ["A"]
    ].map((name) => [`the name ${JSON.stringify(name)}`, object({ a: string(name) })])
  ),
  ...Object.fromEntries(
    ["number", "object", "array", "null", "String", undefined, 5].map((type) => [
      `the type ${JSON.stringify(type)}`,
      object({ a: { type, "x-mcp-header": "A" } })
    ])
  ),
  "a name twice": object({ a: string("Same"), b: string("Same") }),
  "a name in two cases": object({ a: string("Same"), b: string("sAME") }),
  "a name twice at different depths": object({ a: string("Same"), b: object({ c: string("SAME") }) }),
  "the root": { ...object({}), "x-mcp-header": "A" },
  "the root, as a string": annotated,
  ...Object.fromEntries(
    [
      "items",
      "additionalProperties",
      "unevaluatedProperties",
      "unevaluatedItems",
      "propertyNames",
      "contains",
      "contentSchema",
      "not",
      "if",
      "then",
      "else"
    ].flatMap((keyword) => [
      [keyword, object({ a: { [keyword]: annotated } })],
      [`${keyword}, at the root`, object({}, { [keyword]: annotated })],
      [`properties under ${keyword}`, object({ a: { [keyword]: object({ b: annotated }) } })]
    ])
  ),
  ...Object.fromEntries(
    ["oneOf", "anyOf", "allOf", "prefixItems", "items"].flatMap((keyword) => [
      [`a list under ${keyword}`, object({ a: { [keyword]: [{ type: "null" }, annotated] } })],
      [`properties in a list under ${keyword}`, object({}, { [keyword]: [object({ a: annotated })] })]
    ])
  ),
  ...Object.fromEntries(
    ["patternProperties", "$defs", "definitions", "dependentSchemas"].flatMap((keyword) => [
      [`${keyword}`, object({}, { [keyword]: { a: annotated } })],
      [`properties under ${keyword}`, object({}, { [keyword]: { a: object({ b: annotated }) } })]
    ])
  ),
  "what a $ref leads to": object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: annotated } }),
  "a place far down": object({ a: object({ b: { anyOf: [{ not: { items: annotated } }] } }) }),
  "one bad annotation among good ones": object({ a: string("A"), b: string("B"), c: string("not a token") })
}

describe("mirroredParameters", () => {
  it.each(Object.entries(valid))("finds what is mirrored: %s", (_, [schema, expected]) => {
    assert.deepStrictEqual(found(schema), expected)
  })

  it.each(Object.entries(invalid))("refuses an annotation on %s", (_, schema) => {
    const { parameters, problem } = mirroredParameters(schema)
    assert.isString(problem)
    assert.deepStrictEqual(parameters, [])
  })

  const depth = 5_000
  const deep = (inner: unknown, wrap: (inner: unknown) => unknown): JsonObject => {
    let outer = inner
    for (let i = 0; i < depth; i++) outer = wrap(outer)
    return outer as JsonObject
  }

  it("follows a schema as deep as it likes", () => {
    const { parameters } = mirroredParameters(deep(annotated, (a) => object({ a: a as JsonObject })))
    assert.strictEqual(parameters[0]?.path.length, depth)
    const args = deep("value", (a) => ({ a }))
    assert.deepStrictEqual(Result.getOrThrow(parameterHeaders(parameters, args)), ["Mcp-Param-A", "value"])
  })

  it.each<readonly [string, (inner: unknown) => unknown]>([
    ["items", (items) => ({ items })],
    ["anyOf", (inner) => ({ anyOf: [inner] })],
    ["$defs", (a) => ({ $defs: { a } })],
    ["arrays in arrays", (inner) => ({ anyOf: [[inner]] })]
  ])("finds what is wrong as deep as it likes: %s", (_, wrap) => {
    assert.isString(mirroredParameters(deep(annotated, wrap)).problem)
    assert.isUndefined(mirroredParameters(deep({ type: "string" }, wrap)).problem)
  })

  it("gives up on a schema with more in it than anybody writes", () => {
    const { problem, visited } = mirroredParameters({ anyOf: Array.from({ length: 1_000_000 }, () => ({})) })
    assert.match(problem ?? "", /^more than 16384 schemas/)
    assert.isBelow(visited, 20_000)
  })
})

const one = (value: unknown) => parameterHeaders([{ header: "Mcp-Param-V", path: ["v"] }], { v: value })

const headerOf = (value: unknown) => Result.getOrThrow(one(value))[1]

describe("value encoding", () => {
  it.each([
    // The specification's table.
    ["us-west1", "us-west1"],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
    // Type conversion.
    [42, "42"],
    [-7, "-7"],
    [0, "0"],
    [Number.MAX_SAFE_INTEGER, "9007199254740991"],
    [Number.MIN_SAFE_INTEGER, "-9007199254740991"],
    [true, "true"],
    [false, "false"],
    // Its edges.
    ["a b\tc", "a b\tc"],
    ["~!", "~!"],
    ["42", "42"],
    ["", "=?base64??="],
    [" ", "=?base64?IA==?="],
    ["a ", "=?base64?YSA=?="],
    ["\ta", "=?base64?CWE=?="],
    ["a\r\nX-Evil: b", "=?base64?YQ0KWC1FdmlsOiBi?="],
    ["\0", "=?base64?AA==?="],
    ["\u007f", "=?base64?fw==?="],
    ["\u0080", "=?base64?woA=?="],
    ["=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="],
    ["=?base64?a", "=?base64?a"],
    ["a=?base64?b?=", "a=?base64?b?="],
    ["=?BASE64?a?=", "=?BASE64?a?="]
  ])("of %j is %j", (value, expected) => {
    assert.strictEqual(headerOf(value), expected)
    if (typeof value === "string") assert.strictEqual(encodeValue(value), expected)
  })

  it.prop("can be read back, and can stand in a header", [Schema.String], ([text]) => {
    const value = text.toWellFormed()
    const encoded = encodeValue(value)
    const inner = /^=\?base64\?(.*)\?=$/.exec(encoded)?.[1]
    assert.match(encoded, /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/)
    assert.strictEqual(inner === undefined ? encoded : Buffer.from(inner, "base64").toString("utf8"), value)
  }, seeded)
})

describe("parameterHeaders", () => {
  const nested = [{ header: "Mcp-Param-N", path: ["a", "b"] }]
  const inherited = ["constructor", "__proto__", "toString"].map((name) => ({ header: name, path: [name] }))

  it.each([
    { name: "nothing given", mirrored: nested, args: {} },
    { name: "null", mirrored: nested, args: { a: { b: null } } },
    { name: "nothing at the path", mirrored: nested, args: { a: { c: "x" }, b: "y", "a.b": "z" } },
    { name: "a null on the way", mirrored: nested, args: { a: null } },
    { name: "a string on the way", mirrored: nested, args: { a: "b" } },
    { name: "an array on the way", mirrored: [{ header: "H", path: ["a", "0"] }], args: { a: ["x"] } },
    { name: "what every object inherits", mirrored: inherited, args: {} },
    { name: "nothing mirrored", mirrored: [], args: { a: "b" } }
  ])("omits the header of $name", ({ args, mirrored }) => {
    assert.deepStrictEqual(Result.getOrThrow(parameterHeaders(mirrored, args)), [])
  })

  it("reads each value at its own path", () => {
    const args = json(`{"a":{"b":"deep","c":7},"b":"flat","__proto__":"own","d":null}`)
    const mirrored = [["a", "b"], ["a", "c"], ["b"], ["__proto__"], ["d"], ["e"]].map((path) => ({
      header: `Mcp-Param-${path.join("-")}`,
      path
    }))
    assert.deepStrictEqual(Result.getOrThrow(parameterHeaders(mirrored, args)), [
      "Mcp-Param-a-b",
      "deep",
      "Mcp-Param-a-c",
      "7",
      "Mcp-Param-b",
      "flat",
      "Mcp-Param-__proto__",
      "own"
    ])
  })

  it.each(
    [1.5, 2 ** 53, -(2 ** 53), 1e300, Number.NaN, Number.POSITIVE_INFINITY, {}, [], ["secret"], { a: "secret" }].map(
      (value) => ({ value })
    )
  )("refuses $value, and does not quote it", ({ value }) => {
    const problem = Result.getOrThrow(Result.flip(one(value)))
    assert.include(problem, "Mcp-Param-V")
    assert.notInclude(problem, "secret")
  })
})

describe("header syntax", () => {
  it.each([
    ["a", true],
    ["X-Api_Key.1", true],
    ["!#$%&'*+-.^_`|~", true],
    ["", false],
    ["a b", false],
    [
      "a:",
      false
    ],
    ["é", false],
    ["a\n", false],
    ["a\0", false],
    ["(a)", false]
  ])("the name %j: %s", (name, expected) => {
    assert.strictEqual(isHeaderName(name), expected)
  })

  it.each([
    ["a", true],
    ["a b\tc", true],
    ["~", true],
    ["", false],
    [" a", false],
    ["a ", false],
    ["a\t", false],
    ["a\r\nb", false],
    ["a\n", false],
    ["\u007f", false],
    ["é", false]
  ])("the value %j: %s", (value, expected) => {
    assert.strictEqual(isHeaderValue(value), expected)
  })

  it("a long value that ends in spaces, or begins with them", () => {
    const spaces = " ".repeat(100_000)
    assert.isFalse(isHeaderValue(`a${spaces}`))
    assert.isFalse(isHeaderValue(`${spaces}a`))
    assert.isTrue(isHeaderValue(`a${spaces}a`))
  })
})
