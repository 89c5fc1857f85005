/**
 * The validator by itself: what schemas mean in each dialect, and what it does with those that mean harm.
 */
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Canonical from "../src/internal/outputSchema/canonical.ts"
import * as Pattern from "../src/internal/outputSchema/pattern.ts"
import * as Validator from "../src/internal/outputSchema/validator.ts"
import * as Work from "../src/internal/outputSchema/work.ts"
import type { JsonObject } from "../src/schema/Json.ts"

const check = (schema: JsonObject, value: unknown): Effect.Effect<Validator.Mismatch | undefined, string> =>
  Effect.flatMap(Effect.fromResult(Validator.make(schema)), (validator) => validator.check(value))

const pathOf = (place: Validator.Place): ReadonlyArray<string | number> =>
  place === undefined ? [] : [...pathOf(place.outer), place.key]

/**
 * Where the mismatch is and what it is, `"ok"`, or why it cannot be said.
 */
const verdict = (schema: JsonObject, value: unknown): Effect.Effect<string> =>
  Effect.match(check(schema, value), {
    onFailure: (problem) => `refused: ${problem}`,
    onSuccess: (mismatch) => mismatch === undefined ? "ok" : `/${pathOf(mismatch.place).join("/")} ${mismatch.what}`
  })

const draft7 = "http://json-schema.org/draft-07/schema#"
const draft4 = "http://json-schema.org/draft-04/schema#"
const draft2019 = "https://json-schema.org/draft/2019-09/schema"

const json = (text: string): any => JSON.parse(text)

type Row = readonly [schema: JsonObject, value: unknown, expected: string]

const rows: Readonly<Record<string, ReadonlyArray<Row>>> = {
  "types, and numbers that are integers": [
    [{ type: "integer" }, 1.0, "ok"],
    [{ type: "integer" }, 1.5, "/ is not of type integer"],
    [{ type: ["string", "null"] }, null, "ok"],
    [{ type: ["string", "null"] }, 5, "/ is not of type string or null"],
    [{ type: "object" }, [], "/ is not of type object"]
  ],
  "numbers, and multiples of what has no exact form": [
    [{ minimum: 1, maximum: 2 }, 1, "ok"],
    [{ exclusiveMinimum: 1 }, 1, "/ is too small"],
    [{ multipleOf: 0.1 }, 0.3, "ok"],
    [{ multipleOf: 0.01 }, 4.015, "/ is no multiple of what it must be"],
    [{ multipleOf: 5e-324 }, 1e308, "/ is no multiple of what it must be"]
  ],
  "texts, in characters": [
    [{ minLength: 2 }, "😀", "/ is too short"],
    [{ maxLength: 1 }, "😀", "ok"],
    [{ pattern: "^\\p{L}+$" }, "é", "ok"],
    [{ pattern: "b" }, "abc", "ok"],
    [{ pattern: "^b" }, "abc", "/ does not match the pattern"]
  ],
  "values, whatever the order of their members": [
    [{ const: { a: 1, b: [2] } }, json(`{"b":[2],"a":1.0}`), "ok"],
    [{ const: ["a", "b"] }, ["a,\"1:b"], "/ is not the value that is allowed"],
    [{ const: { "a\"": 1 } }, { "a\"": 1 }, "ok"],
    [{ const: "\ud800" }, "\ud801", "/ is not the value that is allowed"],
    [{ enum: [1, "1", [1]] }, true, "/ is none of the values that are allowed"],
    [{ enum: ["a"] }, "a", "ok"],
    [{ const: null }, null, "ok"],
    [{ uniqueItems: true }, [{ a: 1, b: 2 }, { b: 2, a: 1 }], "/1 is there before"],
    [{ uniqueItems: true }, [1, true, "1", [1], Number.POSITIVE_INFINITY], "ok"]
  ],
  "members": [
    [{ required: ["a"] }, {}, `/ lacks the member "a"`],
    [{ required: ["constructor"] }, {}, `/ lacks the member "constructor"`],
    [
      { properties: json(`{"__proto__":{"type":"string"}}`) },
      json(`{"__proto__":5}`),
      "/__proto__ is not of type string"
    ],
    [{ properties: { a: {} }, additionalProperties: false }, { a: 1, b: 2 }, "/b is not allowed"],
    [{ patternProperties: { "^x": { type: "string" } }, additionalProperties: false }, { x1: "a" }, "ok"],
    [{ patternProperties: { "^x": { type: "string" } } }, { x1: 5 }, "/x1 is not of type string"],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, "/ab has a name that is too long"],
    [{ minProperties: 1 }, {}, "/ has too few members"],
    [{ dependentRequired: { a: ["b"] } }, { a: 1 }, `/ lacks the member "b"`],
    [{ dependentSchemas: { a: { required: ["c"] } } }, { a: 1 }, `/ lacks the member "c"`],
    [
      { type: "object", properties: { list: { items: { type: "number" } } } },
      { list: [1, "x"] },
      "/list/1 is not of type number"
    ]
  ],
  "combinations": [
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, null, "/ matches nothing of anyOf"],
    [{ oneOf: [{ type: "number" }, { minimum: 1 }] }, 5, "/ matches more than one of oneOf"],
    [{ not: { type: "string" } }, "a", "/ matches what it must not"],
    // oxlint-disable-next-line unicorn/no-thenable
    [{ if: { type: "string" }, then: { minLength: 1 }, else: { minimum: 1 } }, 0, "/ is too small"],
    [{ allOf: [{}, { required: ["a"] }] }, {}, `/ lacks the member "a"`]
  ],
  "what 2020-12 has of its own": [
    [{ prefixItems: [{ type: "string" }], items: false }, ["a", 1], "/1 is not allowed"],
    [{ $ref: "#/$defs/a", maximum: 3, $defs: { a: { type: "number" } } }, 5, "/ is too large"],
    [{ allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { a: 1, b: 2 }, "/b is not allowed"],
    [{ anyOf: [{ prefixItems: [true] }, { prefixItems: [true, true] }], unevaluatedItems: false }, [1, 2], "ok"],
    [{ contains: { type: "string" }, minContains: 2 }, ["a", 1], "/ does not contain what it must"],
    [{ contains: { type: "string" }, minContains: 0 }, [], "ok"],
    [
      {
        $id: "https://e/t",
        $ref: "list",
        $defs: {
          item: { $dynamicAnchor: "item", type: "string" },
          list: { $id: "list", items: { $dynamicRef: "#item" }, $defs: { item: { $dynamicAnchor: "item" } } }
        }
      },
      [1],
      "/0 is not of type string"
    ]
  ],
  "what other drafts have, where $schema says so": [
    [{ $schema: draft7, $ref: "#/definitions/a", maximum: 3, definitions: { a: { type: "number" } } }, 5, "ok"],
    [{ $schema: draft7, items: [{ type: "string" }], additionalItems: false }, ["a", 1], "/1 is not allowed"],
    [{ $schema: draft7, dependencies: { a: ["b"], c: { required: ["d"] } } }, { c: 1 }, `/ lacks the member "d"`],
    [{ $schema: draft7, $ref: "#a", definitions: { a: { $id: "#a", type: "string" } } }, 5, "/ is not of type string"],
    [{ $schema: draft4, minimum: 1, exclusiveMinimum: true }, 1, "/ is too small"],
    [
      { $schema: draft2019, $recursiveAnchor: true, items: { $recursiveRef: "#" }, type: "array" },
      [5],
      "/0 is not of type array"
    ],
    [{ $schema: "https://schemas.example/nine" }, 5, "refused: is of a dialect that is not known here"],
    [{ $schema: 5 }, 5, "refused: is of a dialect that is not known here"]
  ],
  "annotations, which say nothing": [
    [{ format: "email", contentEncoding: "base64", nullable: false, "x-mine": [] }, "no mail", "ok"]
  ],
  "references": [
    [{ $ref: "#/$defs/a~1b%20c", $defs: { "a/b c": { type: "string" } } }, 5, "/ is not of type string"],
    [{ $ref: "#name", $defs: { a: { $anchor: "name", type: "string" } } }, 5, "/ is not of type string"],
    [
      { properties: { next: { $ref: "#" }, n: { type: "number" } } },
      { next: { next: { n: "x" } } },
      "/next/next/n is not of type number"
    ],
    [{ $ref: "#/$defs/no" }, 5, "refused: has a reference that leads nowhere in it"],
    [{ $ref: "#%ff" }, 5, "refused: has a reference that leads nowhere in it"],
    [{ $ref: "#/constructor" }, 5, "refused: has a reference that leads nowhere in it"],
    [{ $ref: "http://169.254.169.254/latest" }, 5, "refused: has a reference that leads nowhere in it"],
    [{ $ref: "file:///etc/passwd" }, 5, "refused: has a reference that leads nowhere in it"],
    [{ $ref: "#/description", description: "text" }, 5, "refused: has something in it that is no schema"],
    // Nobody comes to it.
    [{ properties: { a: { $ref: "#/$defs/no" } } }, { b: 5 }, "ok"]
  ],
  "schemas that are none": [
    [{ required: "a" }, {}, "refused: has a keyword that cannot be used: required"],
    [{ properties: [] }, {}, "refused: has a keyword that cannot be used: properties"],
    [{ type: "text" }, {}, "refused: has a keyword that cannot be used: type"],
    [{ multipleOf: 0 }, 5, "refused: has a keyword that cannot be used: multipleOf"],
    [{ anyOf: [5] }, 5, "refused: has something in it that is no schema"],
    [{ properties: { a: null } }, { a: 1 }, "refused: has something in it that is no schema"],
    [{ pattern: "(" }, "a", "refused: has a pattern that is no regular expression"]
  ]
}

describe("a schema", () => {
  for (const [name, cases] of Object.entries(rows)) {
    it.effect(`is read: ${name}`, () =>
      Effect.gen(function*() {
        const got: Array<string> = []
        for (const [schema, value] of cases) got.push(yield* verdict(schema, value))
        assert.deepStrictEqual(got, cases.map(([, , expected]) => expected))
      }))
  }

  it.effect("is not changed by its use", () =>
    Effect.gen(function*() {
      const schema = { $id: "urn:x", $ref: "#/$defs/a", $defs: { a: { enum: [{ b: 1, a: 2 }] } } }
      const before = structuredClone(schema)
      yield* verdict(schema, { a: 2, b: 1 })
      assert.deepStrictEqual(schema, before)
      assert.deepStrictEqual(Object.getOwnPropertyNames(schema.$defs.a), ["enum"])
    }))
})

const deep = <A>(depth: number, wrap: (inner: any) => A, leaf: unknown): any => {
  let inner = leaf
  for (let i = 0; i < depth; i++) inner = wrap(inner)
  return inner
}

/**
 * So many lines, and twice as much to do with each.
 */
const doubling = (keyword: string, lines: number): JsonObject => ({
  $ref: "#/$defs/0",
  $defs: Object.fromEntries(Array.from({ length: lines }, (_, i) => {
    const next = i + 1 < lines ? { $ref: `#/$defs/${i + 1}` } : { type: "string" }
    return [i, { [keyword]: [next, next] }]
  }))
})

const million = Array.from({ length: 1_000_000 }, (_, i) => i)
const tooMuch = `refused: checking it takes more than ${Work.maxSteps} steps`
const tooDeep = "refused: leads more than 512 schemas deep"

const hostile: Readonly<Record<string, Row>> = {
  "forty lines that double with allOf": [doubling("allOf", 40), "a", tooMuch],
  "forty lines that double with anyOf": [doubling("anyOf", 40), 5, tooMuch],
  "forty lines that double with oneOf": [doubling("oneOf", 40), "a", tooMuch],
  "twelve lines, which can be done": [doubling("allOf", 12), "a", "ok"],
  "a reference to itself": [{ $ref: "#" }, 5, tooDeep],
  "references in a circle": [
    { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    5,
    tooDeep
  ],
  "what must not be what it is": [{ not: { $ref: "#" } }, 5, tooDeep],
  "two of itself": [{ allOf: [{ $ref: "#" }, { $ref: "#" }] }, 5, tooDeep],
  "a dynamic reference to itself": [{ $dynamicAnchor: "a", $dynamicRef: "#a" }, 5, tooDeep],
  "a schema 5,000 deep, and a value as deep": [
    deep(5000, (items) => ({ items }), { type: "string" }),
    deep(5000, (inner) => [inner], 5),
    tooDeep
  ],
  "a schema 5,000 deep that nobody goes down": [deep(5000, (items) => ({ items }), {}), [[5]], "ok"],
  "a value a million deep": [{ items: { $ref: "#" } }, deep(1_000_000, (inner) => [inner], 5), tooDeep],
  "a value a million deep to compare": [
    { const: [] },
    deep(1_000_000, (inner) => [inner], 5),
    "refused: compares a value that is more than 512 deep"
  ],
  "a million values": [{ items: { type: "integer" } }, million, "ok"],
  "a million values, each looked at for forty things": [
    { items: { allOf: Array.from({ length: 40 }, () => ({ type: "integer" })) } },
    million,
    tooMuch
  ],
  "a million values that must differ": [
    { uniqueItems: true },
    million,
    "refused: wants more than 65536 items to be unique"
  ],
  "20,000 alternatives": [
    { anyOf: Array.from({ length: 20_000 }, (_, i) => ({ const: i })) },
    5,
    "refused: has more than 16384 schemas in it"
  ],
  "20,000 values": [{ enum: million.slice(0, 20_000) }, 5, "refused: has a keyword that cannot be used: enum"],
  "100,000 keywords": [
    Object.fromEntries(million.slice(0, 100_000).map((i) => [`k${i}`, 1])),
    5,
    "refused: has more than 65536 keywords in it"
  ],
  "a pattern that backtracks": [{ pattern: "^(a+)+$" }, `${"a".repeat(100_000)}!`, "/ does not match the pattern"],
  "a pattern that is ambiguous": [
    { pattern: "^(a|a|aa)*$" },
    `${"a".repeat(100_000)}!`,
    "/ does not match the pattern"
  ],
  "a pattern that begins anywhere": [{ pattern: "a*a*a*b" }, "a".repeat(100_000), "/ does not match the pattern"],
  "a pattern with lookarounds that backtrack": [
    { pattern: "^(?=(a+)+b)" },
    "a".repeat(100_000),
    "/ does not match the pattern"
  ],
  "a pattern over 20 MiB": [{ pattern: "^[a-z]*$" }, "a".repeat(20 * 2 ** 20), tooMuch],
  "a pattern of patterns": [{ pattern: "((a{1000}){1000}){1000}" }, "a", "refused: has a pattern that is too large"],
  "nothing, 9,007,199,254,740,991 times": [{ pattern: "^(?:){9007199254740991}$" }, "", "ok"],
  "nothing, 30,000 times 30,000 times": [{ pattern: "((?:){30000}){30000}" }, "a", "ok"],
  "nothing, 1,000,000,000 times in a lookaround": [{ pattern: "^(?=(?:(?:|){0}){1000000000}a)" }, "a", "ok"],
  "nothing, or nothing, 1,000,000,000 times": [
    { pattern: "(?:|){1000000000}" },
    "a",
    "refused: has a pattern that is too large"
  ],
  "a position 1,000,000,000 times": [{ pattern: "(?:^){1000000000}" }, "a", "refused: has a pattern that is too large"],
  "empty texts, and a pattern that asks much of each": [
    { items: { pattern: "(?:a?){2000}" } },
    Array.from({ length: 100_000 }, () => ""),
    tooMuch
  ],
  "a long pattern": [{ pattern: "a".repeat(2049) }, "a", "refused: has a pattern longer than 2048 characters"],
  "a back reference": [{ pattern: "(a*)\\1" }, "a", "refused: has a pattern with a back reference or a flag"],
  "large patterns, together": [
    { anyOf: Array.from({ length: 40 }, (_, i) => ({ pattern: `^b{${2000 + i}}` })) },
    "b",
    "refused: has patterns that are too large together"
  ],
  "a million items of anything, each spoken of": [
    { anyOf: [{ items: true }], unevaluatedItems: false },
    million,
    "ok"
  ],
  "names that are none": [
    { required: [deep(5000, (inner) => [inner], 5)] },
    {},
    "refused: requires a member whose name is no text"
  ],
  "a value of 20,000 members to compare": [
    { const: {} },
    Object.fromEntries(million.slice(0, 20_000).map((i) => [`k${i}`, i])),
    "refused: compares a value of more than 16384 members"
  ],
  "2,000 ids": [
    { $defs: Object.fromEntries(million.slice(0, 2000).map((i) => [i, { $id: `urn:${i}` }])) },
    5,
    "refused: has more than 1024 schemas of a URI of their own in it"
  ],
  "65 patterns for names": [
    { patternProperties: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`^${i}$`, {}])) },
    {},
    "refused: has more than 64 patternProperties in one place"
  ],
  "many lengths of a long text": [
    { anyOf: Array.from({ length: 1000 }, (_, i) => ({ minLength: 10 ** 7 + i })) },
    "a".repeat(2 ** 20),
    tooMuch
  ],
  "a reference of a megabyte": [
    { $ref: `#/${"a/".repeat(500_000)}` },
    5,
    "refused: has a reference that leads nowhere in it"
  ]
}

describe("a hostile schema ends, and fails alone:", () => {
  for (const [name, [schema, value, expected]] of Object.entries(hostile)) {
    it.effect(name, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* verdict(schema, value), expected)
      }))
  }

  it.live("others have their turn meanwhile", () =>
    Effect.gen(function*() {
      let turns = 0
      const counting = yield* Effect.forkChild(
        Effect.forever(Effect.andThen(Effect.sync(() => turns++), Effect.yieldNow))
      )
      assert.strictEqual(yield* verdict(doubling("allOf", 40), "a"), tooMuch)
      yield* Fiber.interrupt(counting)
      assert.isAbove(turns, 100)
    }))

  it.live("it can be interrupted", () =>
    Effect.gen(function*() {
      let isDone = false
      const checking = yield* Effect.forkChild(
        Effect.tap(verdict(doubling("allOf", 40), "a"), () => Effect.sync(() => isDone = true))
      )
      for (let i = 0; i < 5; i++) yield* Effect.yieldNow
      yield* Fiber.interrupt(checking)
      assert.isFalse(isDone)
    }))
})

/**
 * What something takes, where nothing is too much.
 */
const stepsOf = <A>(run: (work: Work.Work) => Effect.Effect<A, string>): Effect.Effect<number, string> =>
  Effect.suspend(() => {
    let steps = 0
    const spend = (more: number): undefined => {
      steps += more
    }
    return Effect.map(run({ spend }), () => steps)
  })

describe("what is done is counted:", () => {
  const empties: Readonly<Record<string, string>> = {
    "groups": "(?:)",
    "what is there no time": "a{0}",
    "nothing many times": "(?:){9}",
    "nothing in groups": "(?:(?:(?:)))"
  }
  for (const [name, empty] of Object.entries(empties)) {
    it(`a pattern that repeats ${name}`, () => {
      const body = empty.repeat(100)
      const small = Result.getOrThrow(Pattern.make(`(?:${body}a){3}`))
      assert.isAtLeast(small.size, 300)
      for (const large of [`(?:${body}a){4000}`, `(?=(?:${body}a){4000})`, `((?:${body}a){60}){60}`]) {
        const pattern = Pattern.make(large)
        assert.strictEqual(Result.isFailure(pattern) ? pattern.failure : "", "has a pattern that is too large")
      }
    })

    it(`a pattern of nothing but ${name}`, () => {
      const source = `((?:${empty.repeat(100)}){30000}){9007199254740991}`
      assert.isAtMost(Result.getOrThrow(Pattern.make(source)).size, 2 * source.length)
    })
  }

  it.effect("a pattern on a text of nothing, or that matches before there is any", () =>
    Effect.gen(function*() {
      const pattern = Result.getOrThrow(Pattern.make("(?:a?){1000}"))
      for (const text of ["", "a", "b"]) assert.isAtLeast(yield* stepsOf((work) => pattern.test(text, work)), 500)
      const look = Result.getOrThrow(Pattern.make("(?=(?:a?){1000})"))
      assert.isAtLeast(yield* stepsOf((work) => look.test("", work)), 500)
    }))

  it.effect("a value to compare: its texts, names included", () =>
    Effect.gen(function*() {
      const long = "a".repeat(2 ** 16)
      for (const value of [long, [long], { [long]: 1 }]) {
        assert.isAtLeast(yield* stepsOf((work) => Canonical.make(value, work)), 2 ** 10)
      }
    }))

  it.effect("a long text 500 deep is not put together 500 times", () =>
    Effect.gen(function*() {
      const long = "a".repeat(2 ** 20)
      const value = deep(250, (inner) => [{ a: inner }, 1], long)
      const joins = yield* Effect.acquireUseRelease(
        Effect.sync(() => vi.spyOn(Array.prototype, "join")),
        (spy) => Effect.map(Canonical.make(value, Work.make()), () => [...spy.mock.results]),
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      const joined = joins.reduce((length, { value: text }) => length + String(text).length, 0)
      assert.isAtLeast(joined, long.length)
      assert.isAtMost(joined, 3 * long.length)
    }))
})

/**
 * Patterns, with texts that each is tried on; the platform's own engine is the judge.
 */
const patterns: ReadonlyArray<readonly [pattern: string, ...texts: ReadonlyArray<string>]> = [
  ["", "", "a"],
  ["^$", "", "a", "\n"],
  ["a|b|", "c"],
  ["^(?:ab|cd){2,3}$", "ab", "abcd", "abcdab", "abababab"],
  ["^a{0}$", "", "a"],
  ["^a{2,}$", "a", "aa", "aaaa"],
  ["^a??b*?c+?$", "c", "abc", "aabc"],
  ["^[^\\]\\\\-]+$", "ab", "]", "\\", "-"],
  ["[]", "a", ""],
  ["^[^]$", "\n", "", "😀"],
  ["^.$", "a", "\n", "😀", "\ud800"],
  ["^\\u{1F600}$|^\\uD83D\\uDE01$", "😀", "😁", "\ud83d"],
  ["^\\p{Lu}\\P{Lu}$", "Aa", "aA"],
  ["^\\x41\\u0042\\cA\\0\\t$", "AB\u0001\0\t", "ab"],
  ["^\\/\\.\\*\\$$", "/.*$", "/a*$"],
  ["\\bfoo\\b", "a foo b", "food", "foo"],
  ["\\Bo", "foo", "o"],
  ["^(?=.*\\d)(?!.*\\s)[^@]{3,}$", "ab1", "abc", "a 1b", "@@1"],
  ["(?<=a)b(?<!xab)", "ab", "xab", "b"],
  ["^(?<year>\\d{4})-(?<month>\\d\\d)$", "2026-07", "26-07"],
  [
    "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    "a.b@c.de",
    ".a@b.cd",
    "a..b@c.de",
    "a@b"
  ],
  ["^(?:(?=a(?=b))a)*b$", "ab", "aab", "b"],
  ["(?:(?:)*)*a", "a", "b"],
  ["^(?:\\d+\\.)*\\d+$", "1.2.3", "1..2"],
  ["^(?:(?:){3}a(?:){2,}b{0}){2}$", "aa", "a", "ab"],
  ["^(?:(?:(?:){9}){9}|a){2}$", "", "aa", "aaa"]
]

describe("a pattern matches as the platform has it:", () => {
  for (const [source, ...texts] of patterns) {
    it.effect(source, () =>
      Effect.gen(function*() {
        const pattern = Result.getOrThrow(Pattern.make(source))
        for (const text of texts) {
          assert.strictEqual(yield* pattern.test(text, Work.make()), new RegExp(source, "u").test(text), text)
        }
      }))
  }
})
