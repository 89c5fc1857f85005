import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { Root, Sampling } from "../src/index.ts"

const user = (content: unknown) => ({ role: "user", content })
const assistant = (content: unknown) => ({ role: "assistant", content })
const text = { type: "text", text: "hi" }
const use = (id: string) => ({ type: "tool_use", id, name: "t", input: { a: 1 } })
const outcome = (toolUseId: string) => ({ type: "tool_result", toolUseId, content: [text] })

const read = (params: object) => Sampling.requestFromWire({ messages: [user(text)], maxTokens: 10, ...params })

describe("a request for a message", () => {
  it("is read with all that it may have", () => {
    const request = Result.getOrThrow(read({
      messages: [user([text]), assistant([use("1"), use("2")]), user([outcome("2"), outcome("1")])],
      modelPreferences: { hints: [{ name: "small" }, {}, 5], costPriority: 1, speedPriority: "fast" },
      systemPrompt: "be brief",
      includeContext: "none",
      temperature: 0.5,
      stopSequences: ["."],
      metadata: { a: 1 },
      tools: [{ name: "t", inputSchema: { type: "object" } }],
      toolChoice: { mode: "required" }
    }))
    assert.deepStrictEqual<unknown>(request, {
      messages: [
        { role: "user", content: [text] },
        { role: "assistant", content: [use("1"), use("2")] },
        { role: "user", content: [{ ...outcome("2"), isError: false }, { ...outcome("1"), isError: false }] }
      ],
      maxTokens: 10,
      modelPreferences: { hints: ["small"], costPriority: 1 },
      systemPrompt: "be brief",
      includeContext: "none",
      temperature: 0.5,
      stopSequences: ["."],
      metadata: { a: 1 },
      toolChoice: "required",
      tools: [{ name: "t", inputSchema: { type: "object" } }]
    })
  })

  it("keeps blocks that nobody knows", () => {
    const { messages } = Result.getOrThrow(
      read({ messages: [user({ type: "poem" }), user([null, { type: "tool_use" }])] })
    )
    assert.deepStrictEqual(messages.flatMap(({ content }) => content.map(({ type }) => type)), [
      "unknown",
      "unknown",
      "unknown"
    ])
  })

  const flood = Array.from({ length: 17_000 }, () => text)

  for (
    const [what, params] of [
      ["without messages", { messages: undefined }],
      ["with messages that are none", { messages: [5] }],
      ["with a message of the system's", { messages: [{ role: "system", content: text }] }],
      ["without maxTokens", { maxTokens: undefined }],
      ["with a maxTokens of 0", { maxTokens: 0 }],
      ["with a maxTokens that is a text", { maxTokens: "10" }],
      ["with tools that are no list", { tools: {} }],
      ["with a tool that is none", { tools: [{ name: "" }] }],
      ["with too many tools", { tools: Array.from({ length: 1001 }, () => ({ name: "t", inputSchema: {} })) }],
      ["with a tool choice that is none", { toolChoice: "auto" }],
      ["with an unknown tool choice", { toolChoice: { mode: "maybe" } }],
      ["with too many blocks", { messages: [user(flood)] }],
      ["with too many messages", { messages: flood.map(() => user([])) }],
      ["with too many blocks in a tool result", {
        messages: [assistant(use("1")), user({ ...outcome("1"), content: flood })]
      }],
      ["with results among other content", { messages: [assistant(use("1")), user([outcome("1"), text])] }],
      ["with a use that has no result", { messages: [assistant([use("1"), use("2")]), user(outcome("1"))] }],
      ["with a use at the end", { messages: [assistant(use("1"))] }],
      ["with a result of nothing", { messages: [user(outcome("1"))] }],
      ["with a result of the assistant's", { messages: [assistant(use("1")), assistant(outcome("1"))] }]
    ] as const
  ) it(`${what} is none`, () => assert.isTrue(Result.isFailure(read(params))))
})

describe("a message that a model wrote", () => {
  const wire = (content: Sampling.Sampled["content"]) => Sampling.toWire({ content, model: "m", stopReason: "endTurn" })

  it("is sent as one block, or as a list of several", () => {
    const rest = { role: "assistant", model: "m", stopReason: "endTurn" }
    assert.deepStrictEqual(Result.getOrThrow(wire("hi")), { ...rest, content: text })
    const image = { type: "image", mimeType: "image/png", data: new Uint8Array([1, 2, 3]) } as const
    const call = { type: "tool_use", id: "1", name: "t", input: {} } as const
    assert.deepStrictEqual(Result.getOrThrow(wire([image, call])), {
      ...rest,
      content: [{ type: "image", mimeType: "image/png", data: "AQID" }, call]
    })
  })

  it("is not sent where it has nothing, or something else in it", () => {
    assert.isTrue(Result.isFailure(wire([])))
    assert.isTrue(Result.isFailure(wire([{ type: "unknown" } as never])))
  })
})

describe("roots", () => {
  it("are file: URIs, or are not sent", () => {
    const roots = [{ uri: "file:///a", name: "A" }, { uri: "file:///b" }]
    assert.deepStrictEqual(Result.getOrThrow(Root.toWire(roots)), { roots })
    for (const uri of ["https://a.example", "/home/secret", ""]) {
      assert.deepStrictEqual(Root.toWire([{ uri }]), Result.fail("a root that is no file: URI"))
    }
  })
})
