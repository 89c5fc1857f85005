import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Content from "../src/schema/Content.ts"

const seeded = { arbitrary: { runs: 300, seed: 20260728 } }

const bytes = Uint8Array.of(0, 1, 2, 250, 255)
const base64 = "AAEC+v8="

/**
 * Blocks as they come, and as they are read.
 */
const readable: Readonly<Record<string, readonly [unknown, Content.Content]>> = {
  text: [{ type: "text", text: "a\u001b[31m\u202eb" }, { type: "text", text: "a\u001b[31m\u202eb" }],
  "empty text": [{ type: "text", text: "" }, { type: "text", text: "" }],
  "text with all that it may have": [
    { type: "text", text: "a", annotations: { audience: ["user"], priority: 0.5 }, _meta: { k: 1 }, extra: true },
    { type: "text", text: "a", annotations: { audience: ["user"], priority: 0.5 }, meta: { k: 1 } }
  ],
  "text with annotations and _meta of other types": [
    { type: "text", text: "a", annotations: ["x"], _meta: "x" },
    { type: "text", text: "a" }
  ],
  "an image": [
    { type: "image", mimeType: "image/png", data: base64, annotations: { a: 1 }, _meta: { b: 2 } },
    { type: "image", mimeType: "image/png", data: bytes, annotations: { a: 1 }, meta: { b: 2 } }
  ],
  "an image of no bytes": [
    { type: "image", mimeType: "", data: "" },
    { type: "image", mimeType: "", data: new Uint8Array(0) }
  ],
  audio: [
    { type: "audio", mimeType: "audio/wav", data: base64, annotations: { a: 1 }, _meta: { b: 2 } },
    { type: "audio", mimeType: "audio/wav", data: bytes, annotations: { a: 1 }, meta: { b: 2 } }
  ],
  "a resource of text": [
    {
      type: "resource",
      resource: { uri: "file:///a", mimeType: "text/plain", text: "t", _meta: { m: 1 } },
      annotations: { a: 1 },
      _meta: { b: 2 }
    },
    {
      type: "resource",
      resource: { uri: "file:///a", mimeType: "text/plain", text: "t", meta: { m: 1 } },
      annotations: { a: 1 },
      meta: { b: 2 }
    }
  ],
  "a resource of bytes": [
    { type: "resource", resource: { uri: "u", blob: base64 } },
    { type: "resource", resource: { uri: "u", blob: bytes } }
  ],
  "a resource whose further fields have other types": [
    { type: "resource", resource: { uri: "u", mimeType: 5, text: "", _meta: [] } },
    { type: "resource", resource: { uri: "u", text: "" } }
  ],
  "a link": [
    {
      type: "resource_link",
      uri: "https://a.example/",
      name: "n",
      title: "t",
      description: "d",
      mimeType: "m",
      size: 5,
      annotations: { a: 1 },
      _meta: { b: 2 }
    },
    {
      type: "resource_link",
      uri: "https://a.example/",
      name: "n",
      title: "t",
      description: "d",
      mimeType: "m",
      size: 5,
      annotations: { a: 1 },
      meta: { b: 2 }
    }
  ],
  "a link whose further fields have other types": [
    { type: "resource_link", uri: "u", name: "n", title: null, description: 5, mimeType: {}, size: "5" },
    { type: "resource_link", uri: "u", name: "n" }
  ],
  "keys of Object.prototype": [
    JSON.parse(`{"type":"text","text":"a","__proto__":{"text":"evil"},"constructor":1,"_meta":{"__proto__":{"x":1}}}`),
    { type: "text", text: "a", meta: JSON.parse(`{"__proto__":{"x":1}}`) }
  ]
}

/**
 * Blocks that no revision defines, or that lack something.
 */
const unreadable: Readonly<Record<string, unknown>> = {
  "a type that nobody knows": { type: "video", data: base64, text: "a" },
  "a type in another case": { type: "Text", text: "a" },
  "a tool_use block": { type: "tool_use", id: "1", name: "n", input: {} },
  "the type unknown": { type: "unknown", wireType: "text", raw: 5 },
  "the type __proto__": { type: "__proto__", text: "a" },
  "the type constructor": { type: "constructor", text: "a" },
  "a type that is no string": { type: 5, text: "a" },
  "no type": { text: "a" },
  "an inherited type": JSON.parse(`{"__proto__":{"type":"text","text":"a"}}`),
  "text without text": { type: "text" },
  "text that is no string": { type: "text", text: 5 },
  "text that is null": { type: "text", text: null },
  "an image without data": { type: "image", mimeType: "image/png" },
  "an image without a media type": { type: "image", data: base64 },
  "an image whose media type is no string": { type: "image", mimeType: 5, data: base64 },
  "an image whose data is no string": { type: "image", mimeType: "image/png", data: [0, 1] },
  "audio without data": { type: "audio", mimeType: "audio/wav" },
  "audio without a media type": { type: "audio", data: base64 },
  "a resource without a resource": { type: "resource" },
  "a resource that is null": { type: "resource", resource: null },
  "a resource that is a list": { type: "resource", resource: [] },
  "a resource without a URI": { type: "resource", resource: { text: "a" } },
  "a resource whose URI is no string": { type: "resource", resource: { uri: 5, text: "a" } },
  "a resource with neither text nor bytes": { type: "resource", resource: { uri: "u" } },
  "a resource with bad base64": { type: "resource", resource: { uri: "u", blob: "!" } },
  "a link without a URI": { type: "resource_link", name: "n" },
  "a link without a name": { type: "resource_link", uri: "u" },
  null: null,
  "a number": 5,
  "a string": "text",
  "a boolean": true,
  "a list": [{ type: "text", text: "a" }]
}

const image = (data: unknown) => Content.fromWire({ type: "image", mimeType: "image/png", data })

/**
 * What is read on a Content of bytes.
 */
const decoded = (data: string): Uint8Array | undefined => {
  const block = image(data)
  return block.type === "image" ? block.data : undefined
}

describe("fromWire", () => {
  it.each(Object.entries(readable))("reads %s", (_, [wire, expected]) => {
    assert.deepStrictEqual(Content.fromWire(wire), expected)
  })

  it.each(Object.entries(unreadable))("keeps %s whole", (_, wire) => {
    const type = (wire as { type?: unknown } | null)?.type
    const block = Content.fromWire(wire)
    assert.deepStrictEqual(block, { type: "unknown", wireType: typeof type === "string" ? type : undefined, raw: wire })
    assert.strictEqual(block.type === "unknown" ? block.raw : undefined, wire)
  })

  it("pollutes nothing", () => {
    Content.fromWire(
      JSON.parse(`{"type":"text","text":"a","__proto__":{"polluted":1},"_meta":{"__proto__":{"polluted":1}}}`)
    )
    assert.isUndefined(({} as Record<string, unknown>)["polluted"])
  })
})

describe("base64", () => {
  it.each([
    ["", []],
    ["QQ==", [65]],
    ["QQ", [65]],
    ["QUI=", [65, 66]],
    ["QUI", [65, 66]],
    ["QUJD", [65, 66, 67]],
    ["QU\nJD\r\n", [65, 66, 67]],
    ["\nQQ=\n=", [65]],
    ["+/+/", [251, 255, 191]]
  ])("%j is decoded", (data, expected) => {
    assert.deepStrictEqual(decoded(data), Uint8Array.from(expected))
  })

  it.each([
    "A",
    "AAAAA",
    "=",
    "==",
    "====",
    "QQ===",
    "QUI==",
    "QUJD=",
    "QUJD==",
    "Q=Q=",
    "QQ==QQ==",
    "Q Q=",
    "QQ==x",
    "-_-_",
    "QQ\0=",
    "é",
    "data:;base64,QQ=="
  ])(
    "%j is none",
    (data) => {
      assert.strictEqual(image(data).type, "unknown")
    }
  )

  it("is decoded once, and can be written as JSON and copied", () => {
    const block = image(base64)
    assert.strictEqual(block.type, "image")
    if (block.type !== "image") return
    assert.strictEqual(block.data, block.data)
    assert.deepStrictEqual({ ...block }, { type: "image", mimeType: "image/png", data: bytes })
    assert.include(JSON.stringify(block), "\"data\":")
  })

  it("may be of any size", () => {
    const large = Buffer.alloc(8 * 1024 * 1024, "æ")
    const text = large.toString("base64")
    assert.isTrue(large.equals(decoded(text)!))
    assert.strictEqual(image(`${text}!`).type, "unknown")
  })

  it.prop(
    "comes back as it went",
    [Schema.Uint8Array, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 80 }))],
    ([
      original,
      width
    ]) => {
      const text = Buffer.from(original).toString("base64")
      const folded = text.replace(new RegExp(`.{${width}}`, "g"), "$&\r\n")
      for (const spelling of [text, text.replace(/=+$/, ""), folded]) {
        assert.deepStrictEqual(Array.from(decoded(spelling)!), Array.from(original))
      }
    },
    seeded
  )
})
