import { assert, describe, it } from "@effect/vitest"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { McpToolkit } from "../src/ai.ts"
import { Tool } from "../src/index.ts"

const { toAnthropicContent, toAnthropicTool } = McpToolkit

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const result = (content: ReadonlyArray<unknown>, more: object = {}): Tool.CallResult =>
  Result.getOrThrow(Tool.callResultFromWire({ content, ...more }))

const blocks = (content: ReadonlyArray<unknown>, more?: object) => toAnthropicContent(result(content, more)).content

const image = (start: string, mimeType = "image/png", length = 16) => ({
  type: "image",
  mimeType,
  data: Base64.encode(Uint8Array.from({ length }, (_, at) => start.charCodeAt(at) || 0))
})

describe("a tool for Anthropic", () => {
  const inputSchema = { type: "object", properties: { city: { type: "string" } } }

  it("is its name, description and schema", () => {
    const definition = toAnthropicTool({ name: "weather", description: "Tells the weather", inputSchema, title: "W" })
    assert.deepStrictEqual(definition, {
      name: "weather",
      description: "Tells the weather",
      input_schema: inputSchema as typeof definition.input_schema
    })
  })

  it("has the name that a toolkit gives it", () => {
    assert.deepStrictEqual(toAnthropicTool({ name: "weather.get", inputSchema }, { prefix: "a_" }), {
      name: "a_weather--2e-get",
      input_schema: { type: "object", properties: { city: { type: "string" } } }
    })
  })

  it("has the type that a schema must have", () => {
    assert.deepStrictEqual(toAnthropicTool({ name: "t", inputSchema: {} }).input_schema, { type: "object" })
  })
})

describe("a result for Anthropic", () => {
  it("is text and pictures, and whether the tool failed", () => {
    const content = [{ type: "text", text: "Look" }, { type: "image", mimeType: "image/png", data: png }]
    assert.deepStrictEqual(toAnthropicContent(result(content)), {
      content: [
        { type: "text", text: "Look" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: png } }
      ],
      is_error: false
    })
    assert.isTrue(toAnthropicContent(result(content, { isError: true })).is_error)
  })

  it.each<[string, string]>([
    ["image/png", "\x89PNG\r\n\x1a\n"],
    ["image/jpeg", "\xff\xd8\xff\xe0"],
    ["image/gif", "GIF89a"],
    ["image/gif", "GIF87a"],
    ["image/webp", "RIFF\0\0\0\0WEBP"]
  ])("has pictures by what they are: %s", (mediaType, start) => {
    for (const mimeType of ["image/png", "image/jpg", "text/plain"]) {
      const [block] = blocks([image(start, mimeType)])
      assert.strictEqual(block?.type === "image" ? block.source.media_type : "none", mediaType)
    }
  })

  it.each([
    ["of another kind", image("<svg", "image/svg+xml"), "[image, image/svg+xml, 16 bytes: not shown]"],
    ["that are none", image("RIFF\0\0\0\0WAVE", "image/webp"), "[image, image/webp, 16 bytes: not shown]"],
    ["of nothing", { type: "image", mimeType: "image/png", data: "" }, "[image, image/png, 0 bytes: not shown]"],
    ["too large", image("\x89PNG\r\n\x1a\n", "image/png", 3_932_161), "[image, image/png, 3932161 bytes: not shown]"],
    ["of a strange type", image("x", "a\u001b[1m"), "[image, a\\u001b[1m, 16 bytes: not shown]"]
  ])("describes pictures %s", (_, block, text) => {
    assert.deepStrictEqual(blocks([block]), [{ type: "text", text }])
  })

  it("has pictures of the largest size, and twenty of them", () => {
    const [largest] = blocks([image("\xff\xd8\xff", "image/jpeg", 3_932_160)])
    assert.lengthOf(largest?.type === "image" ? largest.source.data : "", 5 * 1024 * 1024)
    const many = blocks(Array.from({ length: 22 }, () => ({ type: "image", mimeType: "image/png", data: png })))
    assert.deepStrictEqual(many.map(({ type }) => type), [...Array<string>(20).fill("image"), "text", "text"])
  })

  it.each([
    ["sound", { type: "audio", mimeType: "audio/wav", data: "AAAA" }, "[audio, audio/wav, 3 bytes: not shown]"],
    [
      "a text resource",
      { type: "resource", resource: { uri: "file:///a", text: "hello" } },
      "[resource file:///a]\nhello"
    ],
    [
      "a binary resource",
      { type: "resource", resource: { uri: "file:///a", mimeType: "application/pdf", blob: "AAAA" } },
      "[resource file:///a, application/pdf, 3 bytes: not shown]"
    ],
    [
      "a link",
      { type: "resource_link", uri: "file:///a", name: "a", title: "A", description: "first" },
      "[resource link file:///a] A: first"
    ],
    ["a bare link", { type: "resource_link", uri: "file:///a", name: "a" }, "[resource link file:///a] a"],
    ["what nobody knows", { type: "video", seconds: 3 }, `[content of an unknown type] {"type":"video","seconds":3}`],
    ["no block at all", null, "[content of an unknown type] null"],
    ["a lone surrogate", { type: "text", text: "a\ud800" }, "a\ufffd"]
  ])("has text for %s", (_, block, text) => {
    assert.deepStrictEqual(blocks([block]), [{ type: "text", text }])
  })

  it("has pictures that a resource holds", () => {
    const [block] = blocks([{ type: "resource", resource: { uri: "file:///a", blob: png } }])
    assert.strictEqual(block?.type === "image" && block.source.data, png)
  })

  it("is never empty", () => {
    const nothing = [{ type: "text" as const, text: "(no content)" }]
    assert.deepStrictEqual(blocks([]), nothing)
    assert.deepStrictEqual(blocks([{ type: "text", text: "" }, { type: "text", text: " \n" }]), nothing)
    assert.deepStrictEqual(blocks([{ type: "text", text: "" }], { structuredContent: { a: 1 } }), [
      { type: "text", text: `{"a":1}` }
    ])
    assert.deepStrictEqual(blocks([{ type: "text", text: "" }, { type: "text", text: "a" }]), [
      { type: "text", text: "a" }
    ])
  })

  it("has no more of an unknown block than a model would read", () => {
    const [block] = blocks([{ type: "video", data: "x".repeat(100_000) }])
    assert.isTrue(block?.type === "text" && block.text.length < 8300 && block.text.endsWith("…"))
  })
})
