/**
 * What a server may ask, in both eras, through real sockets: what is declared, and every way to be answered.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { ClientFeatures, Elicitation, type Root, Sampling } from "../src/index.ts"
import { answersById, answersTo, asking, notification, okEvent, request } from "./support/asking.ts"
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
  sample,
  sampled,
  sampling,
  samplingParams,
  toModern,
  tools,
  visit,
  withForm,
  withUrl
} from "./support/features.ts"
import * as Raw from "./support/rawServer.ts"

/**
 * What the features of these connections declare, at their revision.
 */
const declared = (version: string, features: ClientFeatures.ClientFeatures) =>
  Effect.gen(function*() {
    const server = yield* Raw.make(version === "2026-07-28" ? Raw.modern() : Raw.legacy({}, version))
    const connection = yield* connect(server.url, { features, protocol: version as "2025-11-25" })
    yield* connection.callTool("t")
    const key = "io.modelcontextprotocol/clientCapabilities"
    return server.requests.flatMap(({ message: { method, params } }) =>
      method === "initialize" ? [params.capabilities] : version === "2026-07-28" ? [params._meta[key]] : []
    )
  })

describe("what is declared", () => {
  const changing = Effect.runSync(SubscriptionRef.make<ReadonlyArray<Root.Root>>(roots))
  const cases: ReadonlyArray<readonly [version: string, ClientFeatures.ClientFeatures, expected: object]> = [
    ["2026-07-28", {}, {}],
    ["2026-07-28", everything, { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }],
    ["2026-07-28", { elicitation: { url: visit } }, { elicitation: { url: {} } }],
    ["2026-07-28", { elicitation: {}, roots: changing }, { roots: {} }],
    ["2026-07-28", { sampling: sample }, { sampling: {} }],
    ["2025-11-25", {}, {}],
    ["2025-11-25", everything, { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }],
    ["2025-11-25", { elicitation: { form: fillIn }, roots: changing }, {
      elicitation: { form: {} },
      roots: { listChanged: true }
    }],
    ["2025-06-18", everything, { elicitation: {}, sampling: {}, roots: {} }],
    ["2025-06-18", { elicitation: { url: visit } }, {}],
    ["2025-03-26", everything, { sampling: {}, roots: {} }],
    ["2024-11-05", everything, { sampling: {}, roots: {} }]
  ]
  for (const [i, [version, features, expected]] of cases.entries()) {
    it.live(`at ${version} is what has a handler, ${i}`, () =>
      Effect.gen(function*() {
        const capabilities = yield* declared(version, features)
        assert.isNotEmpty(capabilities)
        for (const each of capabilities) assert.deepStrictEqual(each, expected)
      }))
  }

  it.live("is that of the reference, where a connection has none of its own", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.legacy())
      const reference = Effect.provideService(ClientFeatures.ClientFeatures, { roots })
      yield* reference(connect(server.url))
      yield* reference(connect(server.url, { features: { sampling: sample } }))
      const capabilities = server.requests.filter(({ message }) => message.method === "initialize")
        .map(({ message }) => message.params.capabilities)
      assert.deepStrictEqual(capabilities, [{ roots: {} }, { sampling: {} }])
    }))
})

/**
 * Has a legacy server ask for this, and answers what it was answered.
 */
const legacyAsks = (features: ClientFeatures.ClientFeatures, method: string, params?: unknown) =>
  Effect.gen(function*() {
    const server = yield* Raw.make(Raw.legacy(asking(request(7, method, params), 1)))
    const connection = yield* connect(server.url, { features })
    assert.strictEqual((yield* connection.callTool("t")).text, "ok")
    const { error, result } = answersById(server).get(7)
    return error === undefined ? result : error.code
  })

/**
 * Has a modern server ask for this in its answer to a call, and answers what it was answered.
 */
const modernAsks = (features: ClientFeatures.ClientFeatures, method: string, params?: unknown) =>
  Effect.gen(function*() {
    const answer = toModern(inputRequired({ q: { method, params } }))
    const server = yield* Raw.make(Raw.modern({ "tools/call": answer }))
    const connection = yield* connect(server.url, { features })
    yield* connection.callTool("t")
    return server.requests.at(-1)!.message.params.inputResponses.q
  })

const dying = () => {
  throw new Error("secret")
}
const deep = JSON.parse(`${`{"a":`.repeat(20_000)}1${"}".repeat(20_000)}`)
const circular: any = { action: "accept" }
circular.content = { name: circular }

interface Asked {
  readonly what: string
  readonly features: ClientFeatures.ClientFeatures
  readonly method: string
  readonly params?: unknown
  /**
   * The result, or for a legacy server the code of an error.
   */
  readonly legacy: unknown
  /**
   * The result, or how the call to a modern server fails.
   */
  readonly modern: unknown
}

const same = (result: unknown) => ({ legacy: result, modern: result })
const undeclared = { legacy: -32601, modern: "ServerAnswered/InputRequired" }
const undeclaredMode = { legacy: -32602, modern: "ServerAnswered/InputRequired" }
const malformed = { legacy: -32602, modern: "ServerAnswered/Unreadable" }
const failed = { legacy: -32603, modern: "ServerAnswered/InputRequired" }
const declines = same({ action: "decline" })

const answering = (answer: unknown) => withForm(() => Effect.succeed(answer as never))

const asked: ReadonlyArray<Asked> = [
  { what: "a form", features: everything, method: elicitation, params: formParams, ...same(filledIn) },
  {
    what: "a form by its mode",
    features: everything,
    method: elicitation,
    params: { ...formParams, mode: "form" },
    ...same(filledIn)
  },
  {
    what: "a form that is declined",
    features: answering(Elicitation.decline),
    method: elicitation,
    params: formParams,
    ...declines
  },
  {
    what: "a form that is cancelled",
    features: answering(Elicitation.cancel),
    method: elicitation,
    params: formParams,
    ...same({ action: "cancel" })
  },
  { what: "a form that nobody fills in", features: {}, method: elicitation, params: formParams, ...undeclared },
  {
    what: "a form of one who only visits pages",
    features: withUrl(visit),
    method: elicitation,
    params: formParams,
    ...undeclaredMode
  },
  { what: "no form", features: everything, method: elicitation, params: { message: "m" }, ...malformed },
  { what: "no parameters", features: everything, method: elicitation, ...malformed },
  { what: "parameters that are a list", features: everything, method: elicitation, params: [1], ...malformed },
  {
    what: "a deep form",
    features: everything,
    method: elicitation,
    params: { message: "m", requestedSchema: deep },
    ...malformed
  },
  {
    what: "a form, with content that does not fit",
    features: answering(Elicitation.accept({ name: 5 })),
    method: elicitation,
    params: formParams,
    ...failed
  },
  {
    what: "a form, with something required missing",
    features: answering(Elicitation.accept({})),
    method: elicitation,
    params: formParams,
    ...failed
  },
  {
    what: "a form, and the handler fails",
    features: withForm(() => failing),
    method: elicitation,
    params: formParams,
    ...failed
  },
  {
    what: "a form, and the handler throws",
    features: withForm(dying),
    method: elicitation,
    params: formParams,
    ...failed
  },
  {
    what: "a form, and the handler dies",
    features: withForm(() => Effect.die("secret")),
    method: elicitation,
    params: formParams,
    ...failed
  },
  {
    what: "a form, and the handler interrupts itself",
    features: withForm(() => Effect.interrupt),
    method: elicitation,
    params: formParams,
    ...failed
  },
  {
    what: "a form, and the answer is nothing",
    features: answering(undefined),
    method: elicitation,
    params: formParams,
    ...failed
  },
  {
    what: "a form, and the answer has no JSON",
    features: answering(circular),
    method: elicitation,
    params: formParams,
    ...failed
  },
  { what: "a page", features: everything, method: elicitation, params: pageParams, ...same({ action: "accept" }) },
  {
    what: "a page on this machine",
    features: everything,
    method: elicitation,
    params: { ...pageParams, url: "http://localhost/" },
    ...same({ action: "accept" })
  },
  {
    what: "a page that is not encrypted",
    features: everything,
    method: elicitation,
    params: { ...pageParams, url: "http://a.example/" },
    ...declines
  },
  {
    what: "a script",
    features: everything,
    method: elicitation,
    params: { ...pageParams, url: "javascript:alert(1)" },
    ...declines
  },
  {
    what: "a page with userinfo",
    features: everything,
    method: elicitation,
    params: { ...pageParams, url: "https://a@b.example/" },
    ...declines
  },
  {
    what: "a page that is none",
    features: everything,
    method: elicitation,
    params: { ...pageParams, url: "x" },
    ...malformed
  },
  {
    what: "a page of one who only fills in forms",
    features: withForm(fillIn),
    method: elicitation,
    params: pageParams,
    ...undeclaredMode
  },
  {
    what: "a page, and the handler fails",
    features: withUrl(() => failing),
    method: elicitation,
    params: pageParams,
    ...failed
  },
  {
    what: "a page, and the handler throws",
    features: withUrl(dying),
    method: elicitation,
    params: pageParams,
    ...failed
  },
  { what: "a message", features: everything, method: sampling, params: samplingParams, ...same(sampled) },
  {
    what: "a message with tools",
    features: everything,
    method: sampling,
    params: { ...samplingParams, tools, toolChoice: { mode: "auto" } },
    ...same(sampled)
  },
  {
    what: "a message with tools of one who takes none",
    features: { sampling: sample },
    method: sampling,
    params: { ...samplingParams, tools },
    ...undeclaredMode
  },
  {
    what: "a message that is not wanted",
    features: { sampling: () => Effect.succeed(Sampling.decline) },
    method: sampling,
    params: samplingParams,
    legacy: -1,
    modern: "ServerAnswered/InputRequired"
  },
  {
    what: "a message of one who has no model",
    features: { roots },
    method: sampling,
    params: samplingParams,
    ...undeclared
  },
  {
    what: "a message of nobody",
    features: everything,
    method: sampling,
    params: { messages: [5], maxTokens: 1 },
    ...malformed
  },
  {
    what: "a message, and the handler fails",
    features: { sampling: () => failing },
    method: sampling,
    params: samplingParams,
    ...failed
  },
  { what: "roots", features: everything, method: "roots/list", ...same({ roots }) },
  {
    what: "roots that are looked up",
    features: { roots: Effect.succeed(roots) },
    method: "roots/list",
    ...same({ roots })
  },
  { what: "no roots", features: { roots: [] }, method: "roots/list", ...same({ roots: [] }) },
  { what: "roots of one who has none", features: { sampling: sample }, method: "roots/list", ...undeclared },
  {
    what: "roots that are no files",
    features: { roots: [{ uri: "https://a.example" }] },
    method: "roots/list",
    ...failed
  },
  { what: "roots that cannot be looked up", features: { roots: failing }, method: "roots/list", ...failed },
  { what: "something of a prototype's", features: everything, method: "constructor", ...undeclared },
  { what: "a tool", features: everything, method: "tools/call", params: { name: "t" }, ...undeclared }
]

describe("a legacy server that asks for", () => {
  for (const { features, legacy, method, params, what } of asked) {
    it.live(`${what} → ${JSON.stringify(legacy)}`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* legacyAsks(features, method, params), legacy)
      }))
  }

  it.live("what a handler fails at is not told what it failed with", () =>
    Effect.gen(function*() {
      const events = request(1, elicitation, formParams) + request(2, "roots/list")
      const server = yield* Raw.make(Raw.legacy(asking(events, 2)))
      const connection = yield* connect(server.url, {
        features: { ...withForm(() => failing), roots: Effect.die("secret") }
      })
      yield* connection.callTool("t")
      assert.lengthOf([...answersById(server)], 2)
      for (const { body } of answersTo(server)) assert.notInclude(body, "secret")
    }))
})

describe("a modern server that asks for", () => {
  for (const { features, method, modern, params, what } of asked) {
    it.live(`${what} → ${JSON.stringify(modern)}`, () =>
      Effect.gen(function*() {
        const asks = modernAsks(features, method, params)
        if (typeof modern === "object") return assert.deepStrictEqual(yield* asks, modern)
        const error = yield* failsWith(asks, modern as string)
        assert.notInclude(error.message, "secret")
        if (error._tag !== "ServerAnswered" || error.reason._tag !== "InputRequired") return
        assert.strictEqual(error.reason.rounds, 1)
        assert.deepStrictEqual(error.reason.requests, [method])
      }))
  }
})

describe("handlers are told", () => {
  it.live("who asks, and for what", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const form: ClientFeatures.FormHandler = ({ fields, message }, { server }) => {
        seen.push([message, fields.map(({ name }) => name), server])
        return fillIn({ fields, message }, { server })
      }
      const server = yield* Raw.make(Raw.legacy(asking(request(1, elicitation, formParams), 1)))
      const connection = yield* connect(server.url, { features: { elicitation: { form } } })
      yield* connection.callTool("t")
      assert.deepStrictEqual(seen, [["who?", ["name", "age"], new URL(server.url).origin]])
    }))

  it.live("when the user is done with a page, and not when they are done with another", () =>
    Effect.gen(function*() {
      const complete = (elicitationId: unknown) => notification("notifications/elicitation/complete", { elicitationId })
      let tell = (): void => {}
      const server = yield* Raw.make(Raw.legacy({
        ...asking("", 1),
        "tools/call": (socket, call) => {
          Raw.openStream(socket)
          Raw.sendChunk(socket, complete("e1") + request(1, elicitation, pageParams))
          tell = () => Raw.sendChunk(socket, complete("e2") + complete(5) + complete("e1") + okEvent(call))
        }
      }))
      const done = yield* Deferred.make<string>()
      const handler: ClientFeatures.UrlHandler = ({ url }, { completed }) =>
        Effect.andThen(Effect.sync(tell), completed).pipe(
          Effect.andThen(Deferred.succeed(done, url.href)),
          Effect.as({ action: "accept" })
        )
      const connection = yield* connect(server.url, { features: withUrl(handler) })
      yield* connection.callTool("t")
      assert.strictEqual(yield* Deferred.await(done), "https://a.example/x")
    }))
})
