/**
 * Every method at every revision that has it, over stdio: what goes out, and what comes back. The counterpart of
 * protocol.test.ts; docs/protocol.md shows what is exercised where, and the last test here sees to it that it says so of
 * nothing else.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { McpCache, type McpError, ProtocolVersion } from "../src/index.ts"
import { failsWith } from "./support/connect.ts"
import * as Features from "./support/features.ts"
import {
  announced,
  asked,
  assertMeta,
  complete,
  declared,
  legacy,
  paramsOf,
  questions,
  type Revision,
  revisions,
  said,
  serverInfo,
  withModes
} from "./support/protocol.ts"
import { Puppet } from "./support/puppet.ts"
import * as Stdio from "./support/stdio.ts"
import { child } from "./support/stdio.ts"

type Exercise = (revision: Revision) => Effect.Effect<void, McpError.McpError, Puppet | Scope.Scope>

const exercises: Array<{ readonly name: string; readonly at: Revision; readonly run: Exercise }> = []

/**
 * What the tests of this file are called: for the document.
 */
const exercised = new Set<string>()

/**
 * Has something exercised at these revisions. `kind` tells several of a method apart.
 */
const atEach = (at: ReadonlyArray<Revision>, method: string, run: Exercise, kind = ""): void => {
  for (const revision of at) exercised.add(`${method} over stdio at ${revision}`)
  also(at, `${method}${kind}`, run)
}

/**
 * As `atEach`, for what is no method.
 */
const also = (at: ReadonlyArray<Revision>, name: string, run: Exercise): void =>
  at.forEach((revision) => exercises.push({ name: `${name} at ${revision}`, at: revision, run }))

/**
 * What every message of a revision has.
 */
const assertEnvelope = (revision: Revision, message: any): void => {
  assert.strictEqual(message.jsonrpc, "2.0")
  assert.isNumber(message.id)
  if (ProtocolVersion.isModern(revision)) assertMeta(message.params._meta, revision, declared(revision, true))
  else assert.notProperty(message.params, "_meta")
}

for (const { ask, at, brings, method, params } of asked) {
  atEach(at, method, (revision) =>
    Effect.gen(function*() {
      const { connection, heard } = yield* Puppet
      assert.deepStrictEqual(yield* ask(connection), brings)
      const [sent, ...others] = yield* heard({ method, params })
      assert.isEmpty(others)
      assertEnvelope(revision, sent)
      assert.deepStrictEqual(paramsOf(sent), params)
    }))
}

atEach(["2026-07-28"], "server/discover", (revision) =>
  Effect.gen(function*() {
    const { connection, heard } = yield* Puppet
    assert.strictEqual(connection.protocolVersion, revision)
    const [sent, ...others] = yield* heard({ method: "server/discover" })
    assert.isEmpty(others)
    assertEnvelope(revision, sent)
    assert.deepStrictEqual(paramsOf(sent), {})
  }))

atEach(legacy, "initialize", (revision) =>
  Effect.gen(function*() {
    const { connection, heard } = yield* Puppet
    assert.strictEqual(connection.protocolVersion, revision)
    assert.deepStrictEqual(connection.serverInfo, serverInfo)
    const [sent, ...others] = yield* heard({ method: "initialize" })
    assert.isEmpty(others)
    assertEnvelope(revision, sent)
    assert.strictEqual(sent.params.protocolVersion, revision)
    assert.sameMembers(Object.keys(sent.params), ["protocolVersion", "capabilities", "clientInfo"])
    assert.deepStrictEqual(sent.params.capabilities, declared(revision, true))
  }))

atEach(legacy, "notifications/initialized", () =>
  Effect.gen(function*() {
    const { heard } = yield* Puppet
    const method = "notifications/initialized"
    assert.deepStrictEqual(yield* heard({ method }), [{ jsonrpc: "2.0", method }])
  }))

atEach(revisions, "notifications/cancelled", () =>
  Effect.gen(function*() {
    const { connection, heard } = yield* Puppet
    const call = yield* Effect.forkChild(connection.callTool("wait"), { startImmediately: true })
    const [{ id }] = yield* heard({ method: "tools/call", params: { name: "wait", arguments: {} } })
    yield* Fiber.interrupt(call)
    const method = "notifications/cancelled"
    const notices = yield* heard({ method, params: { requestId: id } })
    assert.deepStrictEqual(notices, [{ jsonrpc: "2.0", method, params: { requestId: id, reason: "no longer wanted" } }])
  }))

for (const [method, params, hears] of announced) {
  atEach(revisions, method, () =>
    Effect.gen(function*() {
      const { connection, say } = yield* Puppet
      const hearing = yield* Effect.forkChild(Stream.runCollect(Stream.take(connection.notifications, 1)), {
        startImmediately: true
      })
      yield* say({ method, params })
      assert.deepStrictEqual<unknown>(yield* Fiber.join(hearing), [hears])
    }))
}

atEach(revisions, "notifications/progress", () =>
  Effect.gen(function*() {
    const { connection } = yield* Puppet
    const told: Array<unknown> = []
    const params = { progressToken: "TOKEN", progress: 1, total: 2, message: "half" }
    yield* connection.callTool("say", { messages: [{ method: "notifications/progress", params }] }, {
      onProgress: (progress) => Effect.sync(() => void told.push(progress))
    })
    assert.deepStrictEqual(told, [{ progress: 1, total: 2, message: "half" }])
  }))

atEach(legacy, "ping", () =>
  Effect.gen(function*() {
    const { heard, say } = yield* Puppet
    yield* say({ id: "ping", method: "ping" })
    assert.deepStrictEqual(yield* heard({ id: "ping" }), [{ jsonrpc: "2.0", id: "ping", result: {} }])
  }))

for (const { answer, at, kind = "", method, params } of questions) {
  atEach(at, method, (revision) =>
    Effect.gen(function*() {
      const { connection, heard, say } = yield* Puppet
      const id = `${method}${kind}`
      if (ProtocolVersion.isLegacy(revision)) {
        yield* say({ id, method, params })
        assert.deepStrictEqual(yield* heard({ id }), [{ jsonrpc: "2.0", id, result: answer }])
        return
      }
      const given = { inputRequests: { [id]: { method, params } } }
      assert.strictEqual((yield* connection.callTool("input", given)).text, "had it")
      const [first, second] = yield* heard({ method: "tools/call", params: { name: "input", arguments: given } })
      assert.notStrictEqual(second.id, first.id)
      assertEnvelope(revision, second)
      assert.deepStrictEqual(paramsOf(second), {
        name: "input",
        arguments: given,
        inputResponses: { [id]: answer },
        requestState: "s"
      })
    }), kind)
}

atEach(legacy, "notifications/cancelled, of a request of the server", () =>
  Effect.gen(function*() {
    const { heard, isInterrupted, isWaiting, say } = yield* Puppet
    const params = { ...Features.samplingParams, systemPrompt: "wait" }
    yield* say({ id: "cancelled", method: Features.sampling, params })
    yield* Deferred.await(isWaiting)
    yield* say({ method: "notifications/cancelled", params: { requestId: "cancelled" } })
    yield* Deferred.await(isInterrupted)
    // What is sent later comes later.
    yield* say({ id: "after", method: "roots/list" })
    yield* heard({ id: "after" })
    assert.isEmpty(yield* heard({ id: "cancelled", atOnce: true }))
  }))

atEach(["2025-11-25"], "notifications/elicitation/complete", () =>
  Effect.gen(function*() {
    const { heard, say } = yield* Puppet
    const completed = (elicitationId: string) => ({
      method: "notifications/elicitation/complete",
      params: { elicitationId }
    })
    const asks = (id: string) => ({
      id,
      method: Features.elicitation,
      params: { ...Features.pageParams, message: "wait" }
    })
    // A server may be very quick, and says all of it in one piece.
    yield* say(asks("quick"), completed("e1"))
    assert.deepStrictEqual((yield* heard({ id: "quick" }))[0].result, { action: "accept" })
    yield* say(asks("page"), completed("e2"), { id: "meanwhile", method: "roots/list" })
    yield* heard({ id: "meanwhile" })
    assert.isEmpty(yield* heard({ id: "page", atOnce: true }))
    yield* say(completed("e1"))
    assert.deepStrictEqual((yield* heard({ id: "page" }))[0].result, { action: "accept" })
  }))

atEach(legacy, "notifications/roots/list_changed", () =>
  Effect.gen(function*() {
    const { heard, roots, say } = yield* Puppet
    const method = "notifications/roots/list_changed"
    yield* SubscriptionRef.set(roots, [{ uri: "file:///other" }])
    assert.deepStrictEqual(yield* heard({ method }), [{ jsonrpc: "2.0", method }])
    yield* say({ id: "changed", method: "roots/list" })
    assert.deepStrictEqual((yield* heard({ id: "changed" }))[0].result, { roots: [{ uri: "file:///other" }] })
  }))

for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
  atEach(legacy, method, (revision) =>
    Effect.gen(function*() {
      const { connection, heard, say } = yield* Puppet
      const uri = `${method}:`
      const hearing = yield* Effect.forkChild(
        Stream.runCollect(Stream.take(connection.subscribe({ resourceSubscriptions: [uri] }), 1)),
        { startImmediately: true }
      )
      yield* heard({ method: "resources/subscribe", params: { uri } })
      yield* say({ method: "notifications/resources/updated", params: { uri: `${uri}1` } })
      assert.deepStrictEqual<unknown>(yield* Fiber.join(hearing), [{ _tag: "ResourceUpdated", uri: `${uri}1` }])
      const [sent, ...others] = yield* heard({ method, params: { uri } })
      assert.isEmpty(others)
      assertEnvelope(revision, sent)
      assert.deepStrictEqual(paramsOf(sent), { uri })
    }))
}

/**
 * A message of a subscription.
 */
const subscribed = (id: unknown) => (method: string, params: object) => ({
  method,
  params: { ...params, _meta: { "io.modelcontextprotocol/subscriptionId": id } }
})

atEach(["2026-07-28"], "subscriptions/listen", (revision) =>
  Effect.gen(function*() {
    const { connection, heard, say } = yield* Puppet
    const notifications = { toolsListChanged: true }
    const hearing = yield* Effect.forkChild(Stream.runCollect(Stream.take(connection.subscribe(notifications), 1)), {
      startImmediately: true
    })
    const [sent, ...others] = yield* heard({ method: "subscriptions/listen", params: { notifications } })
    assert.isEmpty(others)
    assertEnvelope(revision, sent)
    assert.deepStrictEqual(paramsOf(sent), { notifications })
    const of = subscribed(sent.id)
    yield* say(
      of("notifications/subscriptions/acknowledged", { notifications }),
      of("notifications/tools/list_changed", {})
    )
    assert.deepStrictEqual<unknown>(yield* Fiber.join(hearing), [{ _tag: "ToolListChanged" }])
    // There is no stream here whose end would say it.
    yield* heard({ method: "notifications/cancelled", params: { requestId: sent.id } })
  }))

atEach(["2026-07-28"], "notifications/subscriptions/acknowledged", () =>
  Effect.gen(function*() {
    const { connection, heard, say } = yield* Puppet
    const notifications = { resourceSubscriptions: ["a:"] }
    const hearing = yield* Effect.forkChild(Stream.runCollect(connection.subscribe(notifications)), {
      startImmediately: true
    })
    const [{ id }] = yield* heard({ method: "subscriptions/listen", params: { notifications } })
    const of = subscribed(id)
    const updated = (uri: string) => of("notifications/resources/updated", { uri })
    yield* say(
      updated("a:early"),
      of("notifications/subscriptions/acknowledged", { notifications }),
      updated("a:1"),
      subscribed(0)("notifications/resources/updated", { uri: "a:0" }),
      // With which a server ends it.
      { id, result: { resultType: "complete" } }
    )
    assert.deepStrictEqual<unknown>(yield* Fiber.join(hearing), [{ _tag: "ResourceUpdated", uri: "a:1" }])
  }))

also(legacy, "what was not declared is refused", (revision) =>
  Effect.gen(function*() {
    const { heard, say } = yield* Puppet
    for (const { kind = "", method, params } of questions.filter(({ at }) => !at.includes(revision))) {
      const id = `undeclared ${method}${kind}`
      yield* say({ id, method, params })
      const isOfMode = method === Features.sampling || revision === "2025-06-18"
      assert.strictEqual((yield* heard({ id }))[0].error?.code, isOfMode ? -32602 : -32601, id)
    }
  }))

also(["2026-07-28"], "what _meta says of one request", () =>
  Effect.gen(function*() {
    const { connection, heard } = yield* Puppet
    yield* Effect.withSpan(connection.callTool("t", { spanned: true }, { logLevel: "debug" }), "test")
    const [{ params }] = yield* heard({ method: "tools/call", params: { arguments: { spanned: true } } })
    assert.match(params._meta.traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    assert.strictEqual(params._meta["io.modelcontextprotocol/logLevel"], "debug")
  }))

also(revisions, "a deadline cancels its request", () =>
  Effect.gen(function*() {
    const { connection, heard } = yield* Puppet
    const late = { name: "wait", arguments: { late: true } }
    yield* failsWith(connection.callTool(late.name, late.arguments, { timeout: 100 }), "ConnectionFailed/TimedOut")
    const [{ id }] = yield* heard({ method: "tools/call", params: late })
    yield* heard({ method: "notifications/cancelled", params: { requestId: id } })
  }))

also(revisions, "every kind of content", (revision) =>
  Effect.gen(function*() {
    const { connection } = yield* Puppet
    const content = [
      { type: "text", text: "hi" },
      { type: "image", data: "AAEC", mimeType: "image/png" },
      { type: "audio", data: "AAEC", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "a:1", text: "hi" } },
      { type: "resource_link", uri: "a:1", name: "r" }
    ]
    const result = complete(revision, { content, structuredContent: { a: 1 }, isError: true })
    const answer = yield* connection.callTool("t", { result })
    assert.deepStrictEqual(answer.content.map(({ type }) => type), content.map(({ type }) => type))
    assert.isTrue(answer.isError)
    assert.deepStrictEqual(answer.structuredContent, { a: 1 })
  }))

also(["2025-06-18", ...withModes], "output is held against its schema", (revision) =>
  Effect.gen(function*() {
    const { connection } = yield* Puppet
    const checked = { validateOutput: true }
    assert.deepStrictEqual((yield* connection.callTool("t", {}, checked)).structuredContent, { a: 1 })
    const result = complete(revision, { content: [], structuredContent: { a: "1" } })
    yield* failsWith(connection.callTool("t", { result }, checked), "ServerAnswered/Unreadable")
  }))

also(revisions, "what is settled already goes with a completion", () =>
  Effect.gen(function*() {
    const { connection, heard } = yield* Puppet
    const params = { ref: { type: "ref/prompt", name: "q" }, argument: { name: "a", value: "" } } as const
    yield* connection.complete(params.ref, params.argument, { b: "1" })
    const [sent] = yield* heard({ method: "completion/complete", params })
    assert.deepStrictEqual(paramsOf(sent), { ...params, context: { arguments: { b: "1" } } })
  }))

also(["2025-11-25"], "-32042 has the user visit a page", () =>
  Effect.gen(function*() {
    const { connection, heard } = yield* Puppet
    const params = { error: { code: -32042, message: "visit", data: { elicitations: [Features.pageParams] } } }
    assert.strictEqual((yield* connection.callTool("refuse", params)).text, "ok")
    assert.lengthOf(yield* heard({ method: "tools/call", params: { name: "refuse", arguments: params } }), 2)
  }))

also(["2026-07-28"], "a state without questions is sent back", () =>
  Effect.gen(function*() {
    const { connection, heard } = yield* Puppet
    assert.strictEqual((yield* connection.callTool("input")).text, "had it")
    const [, second] = yield* heard({ method: "tools/call", params: { name: "input", arguments: {} } })
    assert.deepStrictEqual(paramsOf(second), { name: "input", arguments: {}, requestState: "s" })
  }))

also(["2026-07-28"], "a result of an unknown type fails", () =>
  Effect.gen(function*() {
    const { connection } = yield* Puppet
    const result = { resultType: "partial", content: [] }
    yield* failsWith(connection.callTool("t", { result }), "ServerAnswered/UnknownResultType")
  }))

also(
  revisions,
  "what may be kept is asked for once, and anew where it has changed",
  (revision) =>
    Effect.gen(function*() {
      const { connection, heard, say } = yield* Puppet
      const cache = yield* McpCache.make(connection)
      const method = "resources/list"
      const before = (yield* heard({ method, atOnce: true })).length
      yield* Effect.andThen(cache.listResources(), cache.listResources())
      const isKept = ProtocolVersion.isModern(revision)
      assert.lengthOf(yield* heard({ method }), before + (isKept ? 1 : 2))
      yield* say({ method: "notifications/resources/list_changed" })
      yield* cache.listResources()
      assert.lengthOf(yield* heard({ method }), before + (isKept ? 2 : 3))
    })
)

atEach(["2026-07-28"], "notifications/cancelled, of a subscription", () =>
  Effect.gen(function*() {
    const { connection, heard, say } = yield* Puppet
    const notifications = { promptsListChanged: true }
    const hearing = yield* Effect.forkChild(Stream.runCollect(connection.subscribe(notifications)), {
      startImmediately: true
    })
    const [{ id }] = yield* heard({ method: "subscriptions/listen", params: { notifications } })
    const of = subscribed(id)
    yield* say(
      of("notifications/subscriptions/acknowledged", { notifications }),
      of("notifications/prompts/list_changed", {}),
      { method: "notifications/cancelled", params: { requestId: id } }
    )
    assert.deepStrictEqual<unknown>(yield* Fiber.join(hearing), [{ _tag: "PromptListChanged" }])
  }))

for (const revision of revisions) {
  layer(Puppet.layer(revision), { excludeTestServices: true })(`a server of ${revision}`, ({ effect }) => {
    for (const { at, name, run } of exercises) if (at === revision) effect(name, () => run(revision))
  })
}

describe("servers of their own", () => {
  it.live("bring all pages of a listing", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(child(({ result, serve }) => {
        const page = (name: string) => ({ resultType: "complete", tools: [{ name, inputSchema: { type: "object" } }] })
        serve({
          "tools/list": (message) =>
            result(message, message.params.cursor === "" ? page("b") : { ...page("a"), nextCursor: "" })
        })
      }))
      assert.deepStrictEqual((yield* connection.listTools()).map(({ name }) => name), ["a", "b"])
    }))

  it.live("are not asked for what they did not declare, and say with which code they refuse", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(child(({ error, result, serve }) =>
        serve({
          "server/discover": (message) =>
            result(message, {
              resultType: "complete",
              supportedVersions: ["2026-07-28"],
              capabilities: { resources: {} }
            }),
          "resources/read": (message) => error(message, -32602, "no such resource"),
          "prompts/list": (message) => result(message, { resultType: "complete", prompts: [] }),
          "completion/complete": (message) => result(message, { resultType: "complete", completion: { values: [] } })
        })
      ))
      const reference = { type: "ref/prompt", name: "p" } as const
      yield* failsWith(connection.listPrompts(), "CapabilityMissing")
      yield* failsWith(connection.complete(reference, { name: "a", value: "" }), "CapabilityMissing")
      const refused = yield* failsWith(connection.readResource("a:none"), "ServerAnswered/RpcError")
      assert.include(refused.message, "-32602")
    }))

  it.live("of another revision are agreed with, or not spoken to", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const naming = (discovered: ReadonlyArray<string>, version: string) =>
        stdio.connect(child(
          ({ args: [supported = "[]", protocolVersion], result, send, serve, ...kit }) =>
            serve({
              ...kit.legacy,
              "server/discover": ({ id }) =>
                send({ id, error: { code: -32022, message: "no", data: { supported: JSON.parse(supported) } } }),
              initialize: (message) => result(message, { protocolVersion, capabilities: {} })
            }),
          JSON.stringify(discovered),
          version
        ))
      assert.strictEqual((yield* naming(["2025-06-18"], "2024-11-05")).protocolVersion, "2024-11-05")
      yield* failsWith(naming(["2025-06-18"], "1999-01-01"), "ConnectionFailed/UnsupportedVersion")
      yield* failsWith(naming(["2031-01-01"], "2024-11-05"), "ConnectionFailed/UnsupportedVersion")
    }))
})

describe("docs/protocol.md", () => {
  it("says of a method that it is exercised over stdio at a revision where a test here does that, and nowhere else", () => {
    assert.sameMembers([...said("protocolStdio.test.ts")], [...exercised])
  })
})
