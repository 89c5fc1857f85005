import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import type * as Content from "../src/schema/Content.ts"
import type { JsonObject } from "../src/schema/Json.ts"
import * as Tool from "../src/schema/Tool.ts"

const inputSchema = { type: "object" }

const entry = (fields: JsonObject): JsonObject => ({ name: "t", inputSchema, ...fields })

const json = (text: string): JsonObject => JSON.parse(text)

const reason = (wire: unknown): string => Result.getOrThrow(Result.flip(Tool.fromWire(wire)))

const read = (wire: unknown): Tool.Tool => Result.getOrThrow(Tool.fromWire(wire))

describe("a list entry", () => {
  const refused: ReadonlyArray<readonly [string, unknown, string]> = [
    ["null", null, "object"],
    ["a list", [], "object"],
    ["a string", "t", "object"],
    ["a number", 5, "object"],
    ["nothing in it", {}, "name"],
    ["no name", { inputSchema }, "name"],
    ["an inherited name", json(`{"__proto__":{"name":"t"},"inputSchema":{}}`), "name"],
    ["a name that is null", entry({ name: null }), "name"],
    ["a name that is a number", entry({ name: 5 }), "name"],
    ["an empty name", entry({ name: "" }), "name"],
    ["a name of 129 characters", entry({ name: "n".repeat(129) }), "128"],
    ...[
      "a\nb",
      "\0",
      "a\u001b[31m",
      "a\u007f",
      "a\u009b",
      "a\u200bb",
      "\ufeffa",
      "a\u00ad",
      "a\u202eb",
      "\u2066a",
      "a\u061c"
    ]
      .concat("a\u2028", "a\u2029", "a\ud800", "\udc00a", "a\u{e0041}").map((name) =>
        [`the name ${JSON.stringify(name)}`, entry({ name }), "name"] as const
      ),
    ["no inputSchema", { name: "t" }, "inputSchema"],
    ["an inputSchema that is null", entry({ inputSchema: null }), "inputSchema"],
    ["an inputSchema that is a list", entry({ inputSchema: [] }), "inputSchema"],
    ["an inputSchema that is a boolean", entry({ inputSchema: true }), "inputSchema"],
    ["an inputSchema that is a string", entry({ inputSchema: "{}" }), "inputSchema"],
    ["an inputSchema of another type", entry({ inputSchema: { type: "string" } }), "inputSchema"],
    ["an inputSchema of several types", entry({ inputSchema: { type: ["object", "null"] } }), "inputSchema"]
  ]

  it.each(refused)("with %s is refused", (_, wire, word) => {
    assert.include(reason(wire), word)
  })

  it("is refused without a word of the server's", () => {
    assert.notInclude(reason(entry({ name: "secret\n" })), "secret")
    assert.notInclude(reason(entry({ inputSchema: { type: "secret" } })), "secret")
  })

  const all = {
    name: "t",
    title: "T",
    description: "d\u001b[31m",
    inputSchema: { type: "object", properties: { a: { $ref: "https://evil.example/" } } },
    outputSchema: { type: "object" },
    annotations: { readOnlyHint: true, extra: 1 },
    icons: [{ src: "data:," }],
    execution: { taskSupport: "optional" },
    extra: { a: [1] }
  }

  const mended: Readonly<Record<string, readonly [JsonObject, JsonObject]>> = {
    "all that it may have, and more": [all, all],
    "_meta": [{ ...all, _meta: { a: 1 } }, { ...all, meta: { a: 1 } }],
    "_meta that is none": [entry({ _meta: "x" }), entry({})],
    "_meta that is null": [entry({ _meta: null }), entry({})],
    "a title that is a number": [entry({ title: 5 }), entry({})],
    "a description that is null": [entry({ description: null }), entry({})],
    "an outputSchema that is a list": [entry({ outputSchema: [] }), entry({})],
    "annotations that are a list": [entry({ annotations: ["x"] }), entry({})],
    "icons that are no list": [entry({ icons: {} }), entry({})],
    "nothing right but what it must have": [
      entry({ title: {}, description: [], outputSchema: true, annotations: 1, icons: "x", _meta: [], kept: null }),
      entry({ kept: null })
    ],
    "an inputSchema without a type": [entry({ inputSchema: {} }), entry({ inputSchema: {} })],
    "a name of 128 characters": [entry({ name: "n".repeat(128) }), entry({ name: "n".repeat(128) })],
    "a name of other characters": [entry({ name: "größe.読む/a b" }), entry({ name: "größe.読む/a b" })],
    "the name __proto__": [entry({ name: "__proto__" }), entry({ name: "__proto__" })]
  }

  it.each(Object.entries(mended))("with %s is read", (_, [wire, expected]) => {
    const before = JSON.stringify(wire)
    assert.deepStrictEqual(read(wire), expected)
    assert.strictEqual(JSON.stringify(wire), before)
  })

  it("keeps keys of Object.prototype as its own, and no more", () => {
    for (const meta of ["", `,"_meta":{"a":1}`]) {
      const tool = read(json(`{"name":"t","inputSchema":{},"__proto__":{"title":"evil"},"constructor":1${meta}}`))
      assert.isUndefined(tool.title)
      assert.strictEqual(Object.getPrototypeOf(tool), Object.prototype)
      assert.isTrue(Object.hasOwn(tool, "__proto__"))
      assert.strictEqual(Object.getOwnPropertyDescriptor(tool, "constructor")?.value, 1)
      assert.isUndefined(({} as Record<string, unknown>)["title"])
    }
  })

  it.each([{ meta: 5 }, { meta: "x" }, { meta: [] }, { meta: null }])("$meta in a field named meta is not _meta", ({
    meta
  }) => {
    assert.isUndefined(read(entry({ meta })).meta)
    assert.isUndefined(read(entry({ meta, _meta: "x" })).meta)
    assert.deepStrictEqual(read(entry({ meta, _meta: { a: 1 } })).meta, { a: 1 })
  })

  it("may have a schema as deep as it likes", () => {
    let deep: JsonObject = { type: "object" }
    for (let i = 0; i < 100_000; i++) deep = { type: "object", properties: { a: deep } }
    assert.strictEqual(read(entry({ inputSchema: deep, title: 5 })).inputSchema, deep)
  })
})

describe("a call's result", () => {
  const text = (value: string): Content.Content => ({ type: "text", text: value })
  const other = { type: "video" }
  const unknown: Content.Content = { type: "unknown", wireType: "video", raw: other }

  const results: Readonly<Record<string, readonly [JsonObject, Tool.CallResult]>> = {
    "one text": [{ content: [text("a")] }, { content: [text("a")], isError: false, text: "a" }],
    "several texts": [
      { content: [text("a"), text(""), text("b\nc")] },
      { content: [text("a"), text(""), text("b\nc")], isError: false, text: "a\n\nb\nc" }
    ],
    "text among other blocks": [
      { content: [other, text("a"), null, text("b")] },
      {
        content: [unknown, text("a"), { type: "unknown", wireType: undefined, raw: null }, text("b")],
        isError: false,
        text: "a\nb"
      }
    ],
    "only unknown blocks": [{ content: [other] }, { content: [unknown], isError: false, text: "" }],
    "no blocks": [{ content: [] }, { content: [], isError: false, text: "" }],
    "an error": [{ content: [text("no")], isError: true }, {
      content: [text("no")],
      isError: true,
      text: "no"
    }],
    "isError of another type": [{ content: [], isError: "true" }, { content: [], isError: false, text: "" }],
    "_meta": [{ content: [], _meta: { a: 1 } }, { content: [], isError: false, meta: { a: 1 }, text: "" }],
    "_meta of another type": [{ content: [], _meta: [1] }, { content: [], isError: false, text: "" }],
    "structured content alone": [
      { structuredContent: { a: [1, "x"] } },
      { content: [], isError: false, structuredContent: { a: [1, "x"] }, text: "{\"a\":[1,\"x\"]}" }
    ],
    "structured content and no blocks": [
      { content: [], structuredContent: { a: 1 } },
      { content: [], isError: false, structuredContent: { a: 1 }, text: "{\"a\":1}" }
    ],
    "structured content and text": [
      { content: [text("a")], structuredContent: { a: 1 } },
      { content: [text("a")], isError: false, structuredContent: { a: 1 }, text: "a" }
    ],
    "structured content and an unknown block": [
      { content: [other], structuredContent: { a: 1 } },
      { content: [unknown], isError: false, structuredContent: { a: 1 }, text: "" }
    ],
    "structured content that is no object": [
      { structuredContent: [1] },
      { content: [], isError: false, structuredContent: [1], text: "[1]" }
    ],
    "structured content that is null": [
      { structuredContent: null },
      { content: [], isError: false, structuredContent: null, text: "null" }
    ],
    "fields that nobody knows": [{ content: [], resultType: "complete", x: 1 }, {
      content: [],
      isError: false,
      text: ""
    }]
  }

  it.each(Object.entries(results))("with %s is read", (_, [wire, expected]) => {
    assert.deepStrictEqual(Result.getOrThrow(Tool.callResultFromWire(wire)), expected)
  })

  it.each([
    ["nothing in it", {}],
    ["isError alone", { isError: true }],
    ["content that is null", { content: null }],
    ["content that is an object", { content: { 0: text("a"), length: 1 } }],
    ["content that is a string", { content: "secret" }],
    ["content that is null, and structured content", { content: null, structuredContent: {} }],
    ["inherited content", json(`{"__proto__":{"content":[]}}`)]
  ])("with %s is refused", (_, wire) => {
    assert.include(Result.getOrThrow(Result.flip(Tool.callResultFromWire(wire))), "content")
    assert.notInclude(Result.getOrThrow(Result.flip(Tool.callResultFromWire(wire))), "secret")
  })

  it("may be structured as deep as it likes", () => {
    let deep: unknown = 1
    for (let i = 0; i < 100_000; i++) deep = [deep]
    const result = Result.getOrThrow(Tool.callResultFromWire({ structuredContent: deep }))
    assert.strictEqual(result.structuredContent, deep)
    assert.isString(result.text)
  })

  it("keeps keys of Object.prototype in structured content", () => {
    const structuredContent = json(`{"__proto__":{"a":1},"constructor":2}`)
    const { text: shown } = Result.getOrThrow(Tool.callResultFromWire({ structuredContent }))
    assert.strictEqual(shown, `{"__proto__":{"a":1},"constructor":2}`)
    assert.isUndefined(({} as Record<string, unknown>)["a"])
  })
})
