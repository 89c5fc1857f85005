import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { Elicitation } from "../src/index.ts"

const form = (properties: object, required?: unknown) =>
  Elicitation.formFromWire({ message: "m", requestedSchema: { type: "object", properties, required } })

const fieldsOf = (properties: object, required?: unknown) => Result.getOrThrow(form(properties, required)).fields

/**
 * What is sent for this content of a form with one field, `x`.
 */
const sent = (schema: object, content: Elicitation.Accepted["content"], required: ReadonlyArray<string> = []) =>
  Elicitation.formToWire(Result.getOrThrow(form({ x: schema }, required)), Elicitation.accept(content))

const colours = [{ value: "#f00", title: "Red" }, { value: "#0f0", title: "Green" }]
const pairs = [{ const: "#f00", title: "Red" }, { const: "#0f0", title: "Green" }]

describe("a form", () => {
  it("is a list of fields, of every kind that the specification has", () => {
    const fields = fieldsOf({
      name: { type: "string", title: "Name", description: "Yours", minLength: 1, maxLength: 9, default: "Ann" },
      mail: { type: "string", format: "email" },
      odd: { type: "string", format: "colour" },
      age: { type: "integer", minimum: 0, maximum: 150, default: 30 },
      score: { type: "number" },
      sure: { type: "boolean", default: false },
      plain: { type: "string", enum: ["a", "b"], default: "b" },
      titled: { type: "string", oneOf: pairs },
      legacy: { type: "string", enum: ["a", "b"], enumNames: ["A"] },
      many: { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1, maxItems: 2, default: ["a"] },
      manyTitled: { type: "array", items: { anyOf: pairs } }
    }, ["name", "age"])
    const optional = { required: false }
    assert.deepStrictEqual<unknown>(fields, [
      {
        name: "name",
        required: true,
        title: "Name",
        description: "Yours",
        type: "text",
        minLength: 1,
        maxLength: 9,
        default: "Ann"
      },
      { name: "mail", ...optional, type: "text", format: "email" },
      { name: "odd", ...optional, type: "text" },
      { name: "age", required: true, type: "integer", minimum: 0, maximum: 150, default: 30 },
      { name: "score", ...optional, type: "number" },
      { name: "sure", ...optional, type: "boolean", default: false },
      {
        name: "plain",
        ...optional,
        type: "choice",
        choices: [{ value: "a", title: "a" }, { value: "b", title: "b" }],
        default: "b"
      },
      { name: "titled", ...optional, type: "choice", choices: colours },
      {
        name: "legacy",
        ...optional,
        type: "choice",
        choices: [{ value: "a", title: "A" }, { value: "b", title: "b" }]
      },
      {
        name: "many",
        ...optional,
        type: "choices",
        choices: [{ value: "a", title: "a" }, { value: "b", title: "b" }],
        minItems: 1,
        maxItems: 2,
        default: ["a"]
      },
      { name: "manyTitled", ...optional, type: "choices", choices: colours }
    ])
  })

  it("keeps what is no field of the specification's as it is", () => {
    const schema = { anyOf: [{ type: "string" }, { type: "null" }], default: "d" }
    assert.deepStrictEqual<unknown>(fieldsOf({ x: schema }), [
      { name: "x", required: false, type: "unknown", schema, default: "d" }
    ])
  })

  it("has no default that its own schema does not allow", () => {
    for (
      const schema of [
        { type: "integer", default: 1.5 },
        { type: "integer", maximum: 3, default: 4 },
        { type: "string", enum: ["a"], default: "b" },
        { type: "string", format: "date", default: "2026-02-30" },
        { type: "string", default: "x".repeat(100_000) },
        { type: "boolean", default: "true" },
        { type: "array", items: { enum: ["a"] }, default: ["a", "b"] }
      ]
    ) assert.notProperty(fieldsOf({ x: schema })[0], "default")
  })

  it("may have keys of any name", () => {
    const properties = JSON.parse(`{"__proto__":{"type":"string","default":"p"},"constructor":{"type":"boolean"}}`)
    const read = Result.getOrThrow(form(properties, ["__proto__"]))
    assert.deepStrictEqual(read.fields.map(({ name }) => name), ["__proto__", "constructor"])
    const wire = Result.getOrThrow(Elicitation.formToWire(read, Elicitation.accept()))
    assert.strictEqual(JSON.stringify(wire), `{"action":"accept","content":{"__proto__":"p"}}`)
    assert.notProperty({}, "p")
  })

  const many = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, value]))
  const words = Array.from({ length: 10_001 }, (_, i) => `w${i}`)

  for (
    const [what, params] of [
      ["without a message", { requestedSchema: { properties: {} } }],
      ["with a message that is a number", { message: 5, requestedSchema: { properties: {} } }],
      ["without a schema", { message: "m" }],
      ["with a schema that is a list", { message: "m", requestedSchema: [] }],
      ["without properties", { message: "m", requestedSchema: { type: "object" } }],
      ["with a field that is null", { message: "m", requestedSchema: { properties: { x: null } } }],
      ["with too many fields", { message: "m", requestedSchema: { properties: many(1001, {}) } }],
      ["with too many required", { message: "m", requestedSchema: { properties: {}, required: words } }],
      ["with too many choices", { message: "m", requestedSchema: { properties: { x: { enum: words } } } }],
      [
        "with too many choices in all",
        { message: "m", requestedSchema: { properties: many(2, { items: { anyOf: words.slice(0, 5001) } }) } }
      ]
    ] as const
  ) it(`${what} is none`, () => assert.isTrue(Result.isFailure(Elicitation.formFromWire(params))))
})

describe("an answer to a form", () => {
  it("is filled in with defaults where it says nothing", () => {
    const wire = Result.getOrThrow(sent({ type: "integer", default: 30 }, { x: undefined }, ["x"]))
    assert.strictEqual(JSON.stringify(wire), `{"action":"accept","content":{"x":30}}`)
    assert.strictEqual(
      JSON.stringify(Result.getOrThrow(sent({ type: "boolean", default: true }, { x: false }))),
      `{"action":"accept","content":{"x":false}}`
    )
  })

  it("has no content where the user gave none", () => {
    const { decline, cancel, formToWire } = Elicitation
    const asked = Result.getOrThrow(form({ x: { type: "string", default: "d" } }))
    assert.deepStrictEqual(Result.getOrThrow(formToWire(asked, decline)), { action: "decline" })
    assert.deepStrictEqual(Result.getOrThrow(formToWire(asked, cancel)), { action: "cancel" })
  })

  for (
    const [schema, fits, misfits] of [
      [{ type: "string", minLength: 2, maxLength: 3 }, ["ab", "abc", "😀😀😀"], ["a", "abcd", 5, true, ["ab"]]],
      [{ type: "string", format: "email" }, ["a@b.c"], ["a", "a@b@c", "a b@c"]],
      [{ type: "string", format: "uri" }, ["https://a.b/c", "mailto:a@b.c"], ["a b", "/path"]],
      [{ type: "string", format: "date" }, ["2026-02-28"], ["2026-02-30", "2026-2-3", "yesterday"]],
      [
        { type: "string", format: "date-time" },
        ["2026-02-28T10:20:30Z", "2026-02-28T10:20:30.5+02:00"],
        ["2026-02-28", "2026-02-28T25:00:00Z", "2026-02-30T10:20:30Z"]
      ],
      [{ type: "integer", minimum: 1, maximum: 3 }, [1, 3], [0, 4, 1.5, "1", Number.NaN]],
      [{ type: "number" }, [1.5, -1], [Number.POSITIVE_INFINITY, "1"]],
      [{ type: "boolean" }, [true, false], ["true", 1]],
      [{ type: "string", enum: ["a", "b"] }, ["a"], ["c", 1, ["a"]]],
      [{ type: "string", oneOf: pairs }, ["#f00"], ["Red"]],
      [{ type: "array", items: { enum: ["a", "b"] }, minItems: 1, maxItems: 1 }, [["a"]], [[], ["a", "b"], ["c"], "a"]],
      [{ type: "object" }, ["a", 1, true, ["a"]], [{ a: 1 }, [1]]]
    ] as ReadonlyArray<readonly [object, ReadonlyArray<unknown>, ReadonlyArray<unknown>]>
  ) {
    it(`fits ${JSON.stringify(schema)}, or is not sent`, () => {
      for (const x of fits) {
        const wire = Result.getOrThrow(sent(schema, { x: x as Elicitation.Value }))
        assert.deepStrictEqual(JSON.parse(JSON.stringify(wire)), { action: "accept", content: { x } })
      }
      for (const x of misfits) {
        const wire = sent(schema, { x: x as Elicitation.Value })
        assert.isTrue(Result.isFailure(wire), JSON.stringify(x))
      }
    })
  }

  it("is not sent where something required is missing, or more is there than was asked for; no value is quoted", () => {
    const missing = sent({ type: "string" }, {}, ["x"])
    assert.deepStrictEqual(missing, Result.fail("the field x is missing"))
    const more = sent({ type: "string" }, { x: "a", y: "secret" })
    assert.deepStrictEqual(more, Result.fail("the field y was not asked for"))
    const wrong = sent({ type: "integer" }, { x: "secret" })
    assert.deepStrictEqual(wrong, Result.fail("the field x: not a number"))
  })
})

describe("a page to visit", () => {
  const safe = (url: string) => Elicitation.isSafeUrl(new URL(url))

  it("is shown where it is https, or http on this machine", () => {
    for (
      const url of [
        "https://a.example/x?y",
        "HTTPS://a.example",
        "http://localhost:3000/",
        "http://a.localhost/",
        "http://127.0.0.1/",
        "http://127.9.9.9/",
        "http://[::1]:80/",
        "http://0x7f.1/"
      ]
    ) assert.isTrue(safe(url), url)
  })

  it("is not shown otherwise", () => {
    for (
      const url of [
        "http://a.example/",
        "http://10.0.0.1/",
        "http://localhost.evil.example/",
        "http://[::ffff:10.0.0.1]/",
        "http://0.0.0.0/",
        "ftp://localhost/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "vscode://x",
        "https://bank.example@evil.example/",
        "https://user:password@evil.example/"
      ]
    ) assert.isFalse(safe(url), url)
  })

  it("is none where it cannot be read", () => {
    for (
      const params of [
        { url: "https://a.example" },
        { message: "m" },
        { message: "m", url: 5 },
        { message: "m", url: "a.example" },
        { message: "m", url: `https://a.example/${"x".repeat(9000)}` }
      ]
    ) assert.isTrue(Result.isFailure(Elicitation.urlFromWire(params)), JSON.stringify(params).slice(0, 80))
  })
})
