import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const discover: Raw.Responder = (socket, request) =>
  Raw.sendResult(socket, request, { ...Raw.discoverResult, capabilities: { prompts: {} } })

const serve = (answers: Readonly<Record<string, Raw.Responder>>) =>
  Raw.make(Raw.modern({ "server/discover": discover, ...answers }))

const result = (value: object): Raw.Responder => (socket, request) =>
  Raw.sendResult(socket, request, { resultType: "complete", ...value })

describe("listPrompts", () => {
  it.live("brings all pages, mends what can be mended and tells of what cannot", () =>
    Effect.gen(function*() {
      const server = yield* serve({
        "prompts/list": (socket, request) =>
          request.message.params.cursor === undefined
            ? result({ prompts: [{ name: "a", title: 7, arguments: [{ name: "x" }] }, null, {}], nextCursor: "2" })(
              socket,
              request
            )
            : result({ prompts: [{ name: "b", arguments: [{}], _meta: { k: 1 } }, { name: "a" }, { name: "" }] })(
              socket,
              request
            )
      })
      const connection = yield* connect(server.url)
      const refused: Array<string> = []
      const prompts = yield* connection.listPrompts({
        onRefused: ({ reason }) => Effect.sync(() => void refused.push(reason))
      })
      assert.deepStrictEqual(prompts, [
        { name: "a", arguments: [{ name: "x" }] },
        { name: "b", meta: { k: 1 } }
      ])
      assert.deepStrictEqual(refused, [
        "not an object",
        "the name is not a string",
        "the name is taken by another one",
        "the name is empty"
      ])
    }))

  it.live("sends nothing where the server has none", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern())
      const connection = yield* connect(server.url)
      yield* failsWith(connection.listPrompts(), "CapabilityMissing")
      yield* failsWith(connection.getPrompt("p"), "CapabilityMissing")
      assert.deepStrictEqual(server.methods(), ["server/discover"])
    }))
})

describe("getPrompt", () => {
  it.live("fills a prompt in, and reads every kind of content", () =>
    Effect.gen(function*() {
      const server = yield* serve({
        "prompts/get": result({
          description: "about",
          messages: [
            { role: "user", content: { type: "text", text: "hi" } },
            { role: "assistant", content: { type: "image", mimeType: "image/png", data: "AAE=" } },
            { role: "user", content: { type: "odd" } }
          ]
        })
      })
      const connection = yield* connect(server.url)
      const { description, messages } = yield* connection.getPrompt("p", { code: "1" })
      assert.strictEqual(description, "about")
      assert.deepStrictEqual(messages.map(({ content, role }) => `${role} ${content.type}`), [
        "user text",
        "assistant image",
        "user unknown"
      ])
      const [, asked] = server.requests
      assert.strictEqual(asked?.headers["mcp-name"], "p")
      assert.strictEqual(asked?.message.params.name, "p")
      assert.deepStrictEqual(asked?.message.params.arguments, { code: "1" })
    }))

  it.live.each<readonly [string, object]>([
    ["no messages", {}],
    ["a message of nobody", { messages: [{ content: { type: "text", text: "" } }] }],
    ["a message that is none", { messages: [null] }],
    ["a million messages", { messages: Array.from({ length: 16_385 }, () => ({})) }]
  ])("cannot use %s", ([, value]) =>
    Effect.gen(function*() {
      const server = yield* serve({ "prompts/get": result(value) })
      const connection = yield* connect(server.url)
      yield* failsWith(connection.getPrompt("p"), "ServerAnswered/Unreadable")
    }))

  it.live("refuses arguments that have no JSON", () =>
    Effect.gen(function*() {
      const server = yield* serve({})
      const connection = yield* connect(server.url)
      yield* failsWith(connection.getPrompt("p", { n: 1n as never }), "InvalidInput")
    }))
})
