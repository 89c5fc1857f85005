/**
 * Requests that are answered after the server has had input.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type ClientFeatures, Elicitation } from "../src/index.ts"
import { connect, failsWith } from "./support/connect.ts"
import {
  elicitation,
  everything,
  failing,
  filledIn,
  fillIn,
  formParams,
  inputRequired,
  pageParams,
  roots,
  sampled,
  sampling,
  samplingParams,
  toModern,
  withForm,
  withUrl
} from "./support/features.ts"
import * as Raw from "./support/rawServer.ts"

describe("rounds of input", () => {
  const ask = { method: elicitation, params: formParams }

  it.live("answer all kinds at once, under their keys, with the state as it came and a new id", () =>
    Effect.gen(function*() {
      const requests = JSON.parse(`{"__proto__":${JSON.stringify(ask)},"r":{"method":"roots/list"}}`)
      requests.s = { method: sampling, params: samplingParams }
      const input = { resultType: "input_required", inputRequests: requests, requestState: "\ud800 s\"" }
      const respond: Raw.Responder = (socket, call) => {
        // By hand, for the key that no literal can have.
        const result = call.nth === 0 ? JSON.stringify(input) : JSON.stringify(Raw.textResult("ok"))
        const body = `{"jsonrpc":"2.0","id":${call.message.id},"result":${result}}`
        Raw.send(socket, 200, { "content-type": "application/json" }, body)
      }
      const server = yield* Raw.make(Raw.modern({ "tools/call": respond }))
      const connection = yield* connect(server.url, { features: everything })
      assert.strictEqual((yield* connection.callTool("t", { a: 1 })).text, "ok")
      const [first, second] = server.requests.slice(1).map(({ message }) => message)
      assert.notStrictEqual(second!.id, first!.id)
      assert.strictEqual(second!.params.requestState, "\ud800 s\"")
      assert.deepStrictEqual(second!.params.arguments, { a: 1 })
      assert.deepStrictEqual(Object.entries(second!.params.inputResponses), [
        ["__proto__", filledIn],
        ["r", { roots }],
        ["s", sampled]
      ])
    }))

  it.live("end after ten, without asking once more", () =>
    Effect.gen(function*() {
      let times = 0
      const features = withForm((asks, from) => {
        times++
        return fillIn(asks, from)
      })
      const server = yield* Raw.make(Raw.modern({
        "tools/call": (socket, call) => Raw.sendResult(socket, call, inputRequired({ q: ask }))
      }))
      const connection = yield* connect(server.url, { features })
      const error = yield* failsWith(connection.callTool("t"), "ServerAnswered/InputRequired")
      assert.include(error.message, "elicitation/create (after 10 rounds)")
      assert.strictEqual(times, 9)
      assert.strictEqual(server.requests.length, 11)
    }))

  it.live("ask nobody where one of the questions has nobody to ask, or none that can be read", () =>
    Effect.gen(function*() {
      let times = 0
      const features = withForm((asks, from) => {
        times++
        return fillIn(asks, from)
      })
      const hopeless = [
        ["ServerAnswered/InputRequired", { a: ask, b: { method: "roots/list" } }],
        ["ServerAnswered/Unreadable", { a: ask, b: { method: elicitation, params: null } }],
        ["ServerAnswered/Unreadable", Object.fromEntries(Array.from({ length: 101 }, (_, i) => [i, ask]))]
      ] as const
      for (const [outcome, requests] of hopeless) {
        const server = yield* Raw.make(Raw.modern({ "tools/call": toModern(inputRequired(requests)) }))
        const connection = yield* connect(server.url, { features })
        const error = yield* failsWith(connection.callTool("t"), outcome)
        if (outcome.endsWith("InputRequired")) assert.include(error.message, ": roots/list (after 1 round)")
        assert.strictEqual(server.requests.length, 2)
      }
      assert.strictEqual(times, 0)
    }))

  const capabilities = { tools: {}, prompts: {}, resources: {}, completions: {} }
  const discover: Raw.Responder = (socket, call) =>
    Raw.sendResult(socket, call, { ...Raw.discoverResult, capabilities })
  const inputThen = (result: object): Raw.Responder => (socket, call) =>
    Raw.sendResult(socket, call, call.nth === 0 ? inputRequired({ q: ask }, "s") : result)

  it.live("serve prompts and resources too, and nothing else", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "server/discover": discover,
        "prompts/get": inputThen({ messages: [] }),
        "resources/read": inputThen({ contents: [] }),
        "completion/complete": inputThen({ completion: { values: [] } })
      }))
      const connection = yield* connect(server.url, { features: everything })
      assert.deepStrictEqual((yield* connection.getPrompt("p")).messages, [])
      assert.deepStrictEqual(yield* connection.readResource("file:///a"), [])
      for (const method of ["prompts/get", "resources/read"]) {
        const { params } = server.requests.findLast(({ message }) => message.method === method)!.message
        assert.deepStrictEqual(params.inputResponses, { q: filledIn })
        assert.strictEqual(params.requestState, "s")
      }
      const completing = connection.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" })
      yield* failsWith(completing, "ServerAnswered/Unreadable")
    }))
})

describe("error -32042", () => {
  const page = (url = "https://a.example/x") => ({ ...pageParams, url })
  const visitRequired = (elicitations: unknown, times = 1): Raw.Responder => (socket, call) =>
    call.nth < times
      ? Raw.sendError(socket, call, { code: -32042, message: "visit", data: { elicitations } })
      : Raw.sendResult(socket, call, Raw.textResult("ok"))

  it.live("has the user visit the pages, and the request sent once more", () =>
    Effect.gen(function*() {
      const visited: Array<string> = []
      const features = withUrl(({ url }) =>
        Effect.sync(() => {
          visited.push(url.href)
          return { action: "accept" }
        })
      )
      const pages = [page(), page("https://b.example/")]
      const server = yield* Raw.make(Raw.legacy({ "tools/call": visitRequired(pages, 2) }))
      const connection = yield* connect(server.url, { features })
      assert.strictEqual((yield* connection.callTool("t", { a: 1 })).text, "ok")
      assert.deepStrictEqual(visited, ["https://a.example/x", "https://b.example/", ...visited.slice(0, 2)])
      const calls = server.requests.filter(({ message }) => message.method === "tools/call")
      assert.strictEqual(calls.length, 3)
      assert.strictEqual(new Set(calls.map(({ message }) => message.id)).size, 3)
      for (const { message } of calls) assert.deepStrictEqual(message.params, { name: "t", arguments: { a: 1 } })
    }))

  const stays: ReadonlyArray<readonly [string, ClientFeatures.ClientFeatures, elicitations: unknown]> = [
    ["nobody visits pages", withForm(fillIn), [page()]],
    ["the user declines", withUrl(() => Effect.succeed(Elicitation.decline)), [page()]],
    ["the handler fails", withUrl(() => failing), [page()]],
    ["a page must not be shown", everything, [page("http://a.example/")]],
    ["a page is none", everything, [page("x")]],
    ["there is a form among the pages", everything, [page(), formParams]],
    ["there are no pages", everything, []],
    ["the pages are no list", everything, { 0: page() }],
    ["the pages are no objects", everything, [null]],
    ["there are too many pages", everything, Array.from({ length: 101 }, () => page())]
  ]
  for (const [why, features, elicitations] of stays) {
    it.live(`stays where ${why}`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.legacy({ "tools/call": visitRequired(elicitations) }))
        const connection = yield* connect(server.url, { features })
        const error = yield* failsWith(connection.callTool("t"), "ServerAnswered/RpcError")
        assert.include(error.message, "-32042")
        assert.strictEqual(server.methods().filter((method) => method === "tools/call").length, 1)
      }))
  }

  it.live("stays where it comes again and again", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.legacy({ "tools/call": visitRequired([page()], Number.POSITIVE_INFINITY) }))
      const connection = yield* connect(server.url, { features: everything })
      yield* failsWith(connection.callTool("t"), "ServerAnswered/RpcError")
      assert.strictEqual(server.methods().filter((method) => method === "tools/call").length, 10)
    }))

  it.live("is an error as any other at other revisions", () =>
    Effect.gen(function*() {
      for (const respond of [Raw.modern, (answers: object) => Raw.legacy({ ...answers }, "2025-06-18")]) {
        const server = yield* Raw.make(respond({ "tools/call": visitRequired([page()]) }))
        const connection = yield* connect(server.url, { features: everything })
        yield* failsWith(connection.callTool("t"), "ServerAnswered/RpcError")
      }
    }))
})
