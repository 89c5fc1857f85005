/**
 * Content blocks of every kind and none: row 34.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { called, listed, structuredMember } from "../kit/answers.ts"
import type { Case } from "../kit/suite.ts"
import { bothWays, crosswise, type Said } from "../kit/ways.ts"
import { asBody, script } from "../kit/wire.ts"

const unreadable = "ServerAnswered/Unreadable"

/**
 * One block, and how it is read: kept whole as unknown, where nothing else is said.
 */
const reads = (name: string, block: string, read?: object): Said => {
  const raw = JSON.parse(block)
  const wireType = typeof raw?.type === "string" ? raw.type : undefined
  return {
    row: 34,
    name,
    text: called(`"content":[{"type":"text","text":"before"},${block},{"type":"text","text":"after"}]`),
    outcome: "ok",
    check: ({ content, text }) => {
      assert.lengthOf(content, 3)
      assert.deepStrictEqual(content[1], read ?? { type: "unknown", wireType, raw })
      assert.strictEqual(
        text,
        raw?.type === "text" && read !== undefined ? `before\n${raw.text}\nafter` : "before\nafter"
      )
    }
  }
}

const bytes = Uint8Array.of(0, 1, 2, 250, 255)
const base64 = "AAEC+v8="

const image = (data: string): string => `{"type":"image","mimeType":"image/png","data":"${data}"}`
const imageOf = (data: Uint8Array) => ({ type: "image", mimeType: "image/png", data })

/**
 * Blocks that no revision defines, or that lack something.
 */
const unknown: Readonly<Record<string, string>> = {
  "an unknown type": `{"type":"hologram","text":"a","data":"${base64}","more":[{}]}`,
  "a type in another case": `{"type":"Text","text":"a"}`,
  "the type unknown": `{"type":"unknown","wireType":"text","raw":{"type":"text","text":"a"}}`,
  "the type __proto__": `{"type":"__proto__","text":"a"}`,
  "a type that is a number": `{"type":5,"text":"a"}`,
  "no type": `{"text":"a"}`,
  "an empty block": "{}",
  "a block that is null": "null",
  "a block that is a string": `"a"`,
  "a block that is a number": "5",
  "a block that is a list": `[{"type":"text","text":"a"}]`,
  "text without text": `{"type":"text"}`,
  "text that is null": `{"type":"text","text":null}`,
  "text in a list": `{"type":"text","text":["a"]}`,
  "an image without data": `{"type":"image","mimeType":"image/png"}`,
  "an image without a media type": `{"type":"image","data":"${base64}"}`,
  "an image whose data is a number": `{"type":"image","mimeType":"image/png","data":5}`,
  "an image with bad base64": image("AAE*"),
  "an image with base64 that stops in the middle": image("AAECA"),
  "an image with too much padding": image("AAEC===="),
  "an image with padding in the middle": image("AA==AAEC"),
  "an image with base64 for URLs": image("-_-_"),
  "an image with base64 in another script": image("ＡＡＥＣ"),
  "an image with a data URL": image(`data:image/png;base64,${base64}`),
  "audio without data": `{"type":"audio","mimeType":"audio/wav"}`,
  "audio with bad base64": `{"type":"audio","mimeType":"audio/wav","data":"\\u0000"}`,
  "a resource without a resource": `{"type":"resource"}`,
  "a resource that is null": `{"type":"resource","resource":null}`,
  "a resource that is a string": `{"type":"resource","resource":"file:///a"}`,
  "a resource without a URI": `{"type":"resource","resource":{"text":"a"}}`,
  "a resource with neither text nor bytes": `{"type":"resource","resource":{"uri":"file:///a"}}`,
  "a resource with bad base64": `{"type":"resource","resource":{"uri":"file:///a","blob":"*"}}`,
  "a link without a URI": `{"type":"resource_link","name":"n"}`,
  "a link without a name": `{"type":"resource_link","uri":"file:///a"}`,
  "a link whose URI is a number": `{"type":"resource_link","uri":5,"name":"n"}`
}

const blocks: ReadonlyArray<Said> = [
  ...Object.entries(unknown).map(([name, block]) => reads(name, block)),
  reads("text", `{"type":"text","text":"a","extra":1}`, { type: "text", text: "a" }),
  reads("empty text", `{"type":"text","text":""}`, { type: "text", text: "" }),
  reads("text whose annotations are none", `{"type":"text","text":"a","annotations":[],"_meta":5}`, {
    type: "text",
    text: "a"
  }),
  reads("an image", image(base64), imageOf(bytes)),
  reads("an image without padding", image("AAEC+v8"), imageOf(bytes)),
  reads("an image with line breaks", image("AAEC\\r\\n+v8="), imageOf(bytes)),
  reads("an image of no bytes", image(""), imageOf(new Uint8Array(0))),
  reads("audio", `{"type":"audio","mimeType":"audio/wav","data":"${base64}"}`, {
    type: "audio",
    mimeType: "audio/wav",
    data: bytes
  }),
  reads("a resource of text", `{"type":"resource","resource":{"uri":"file:///a","text":"t","mimeType":null}}`, {
    type: "resource",
    resource: { uri: "file:///a", text: "t" }
  }),
  reads("a resource of bytes", `{"type":"resource","resource":{"uri":"file:///a","blob":"${base64}","text":5}}`, {
    type: "resource",
    resource: { uri: "file:///a", blob: bytes }
  }),
  reads(
    "a link that says too much",
    `{"type":"resource_link","uri":"javascript:0","name":"n","size":"big","title":5}`,
    {
      type: "resource_link",
      uri: "javascript:0",
      name: "n"
    }
  )
]

/**
 * Results by their members, with what they give as text; those without a text cannot be read.
 */
const wholes: ReadonlyArray<readonly [name: string, members: string, text: string | undefined]> = [
  ["no content at all", "", undefined],
  ["nothing but isError", `"isError":true`, undefined],
  ["content that is null", `"content":null`, undefined],
  ["content that is null beside structuredContent", `"content":null,"structuredContent":{}`, undefined],
  ["content that is a string", `"content":"a"`, undefined],
  ["content that is one block", `"content":{"type":"text","text":"a"}`, undefined],
  ["content in another result", `"result":{"content":[]}`, undefined],
  ["content that is empty", `"content":[]`, ""],
  ["unknown blocks alone", `"content":[{"type":"x"},null,5]`, ""],
  [
    "1,000 blocks",
    `"content":[${Array(1000).fill(`{"type":"text","text":"a"}`).join()}]`,
    Array(1000).fill("a").join("\n")
  ],
  ["structuredContent alone", `"structuredContent":{"b":1,"a":[null]}`, `{"b":1,"a":[null]}`],
  ["structuredContent that is a list", `"structuredContent":[1]`, "[1]"],
  ["structuredContent that is a string", `"structuredContent":"a"`, `"a"`],
  ["structuredContent that is 0", `"structuredContent":0`, "0"],
  ["structuredContent that is false", `"structuredContent":false`, "false"],
  ["structuredContent that is null", `"structuredContent":null`, "null"],
  ["structuredContent and no blocks", `"content":[],"structuredContent":{"a":1}`, `{"a":1}`],
  ["structuredContent and text", `"content":[{"type":"text","text":"t"}],"structuredContent":{"a":1}`, "t"],
  ["structuredContent and a block without text", `"content":[${image(base64)}],"structuredContent":{"a":1}`, ""]
]

const results: ReadonlyArray<Said> = wholes.map(([name, members, text]): Said => ({
  row: 34,
  name,
  text: members === "" ? called() : called(members),
  ...(text === undefined
    ? { outcome: unreadable }
    : { outcome: "ok", check: (got) => assert.strictEqual(got.text, text) })
}))

const MiB = 2 ** 20
const picture = Buffer.alloc(8 * MiB, "effect")
const largeImage = called(`"content":[${image(picture.toString("base64"))}]`)

const large: ReadonlyArray<Said> = [
  {
    row: 34,
    name: "an image of 8 MiB, within a budget that allows it",
    text: largeImage,
    budget: { limit: 12 * MiB },
    deadline: 5000,
    outcome: "ok",
    check: ({ content: [block] }) => {
      assert.isTrue(picture.equals(block.data))
      // Decoded once, however often it is read.
      assert.strictEqual(block.data, block.data)
    }
  },
  {
    row: 34,
    name: "an image of 8 MiB, over the budget",
    text: largeImage,
    deadline: 5000,
    outcome: "ConnectionFailed/BudgetExceeded"
  }
]

const integers = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`

const atOdds: Case = {
  row: 34,
  name: "structuredContent at odds with the outputSchema, while nobody asks for validation",
  act: (connection) => Effect.andThen(connection.listTools(), connection.callTool("t")),
  answers: {
    "tools/list": script(asBody(listed([`{"name":"t","inputSchema":{},"outputSchema":${integers}}`]))),
    "tools/call": script(asBody(called(structuredMember(`{"n":"none"}`))))
  },
  sees: ["tools/list", "tools/call"],
  outcome: "ok",
  check: ({ structuredContent }) => assert.deepStrictEqual(structuredContent, { n: "none" })
}

export const contents: ReadonlyArray<Case> = [
  ...[...blocks, ...results].flatMap((said) => crosswise(said)),
  ...large.flatMap(bothWays),
  atOdds
]
