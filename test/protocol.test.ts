/**
 * Every method at every revision that has it, over HTTP: what goes out, and what comes back. docs/protocol.md shows what
 * is exercised where; the last tests here see to it that it says so of nothing else.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { existsSync, readFileSync } from "node:fs"
import type { Socket } from "node:net"
import { join } from "node:path"
import { type ClientFeatures, type McpError, ProtocolVersion, type Root } from "../src/index.ts"
import * as Asking from "./support/asking.ts"
import { connect } from "./support/connect.ts"
import * as Features from "./support/features.ts"
import * as Protocol from "./support/protocol.ts"
import {
  announced,
  asked,
  capabilities,
  complete,
  declared,
  legacy,
  paramsOf,
  questions,
  type Revision,
  revisions,
  serverInfo
} from "./support/protocol.ts"
import * as Raw from "./support/rawServer.ts"
import { until } from "./support/until.ts"

/**
 * A server of one revision, and nothing but that revision.
 */
const serve = (revision: Revision, answers: Readonly<Record<string, Raw.Responder>>) =>
  Raw.make(
    ProtocolVersion.isModern(revision)
      ? Raw.modern({
        "server/discover": (socket, request) =>
          Raw.sendResult(socket, request, { resultType: "complete", supportedVersions: [revision], capabilities }),
        ...answers
      })
      : Raw.legacy({
        initialize: (socket, { message: { id } }) => {
          const result = { protocolVersion: revision, capabilities, serverInfo }
          const headers = { "content-type": "application/json", "mcp-session-id": "s1" }
          Raw.send(socket, 200, headers, JSON.stringify({ jsonrpc: "2.0", id, result }))
        },
        GET: (socket) => Raw.send(socket, 405, {}),
        POST: (socket) => Raw.send(socket, 202, {}),
        "notifications/cancelled": (socket) => Raw.send(socket, 202, {}),
        ...answers
      })
  )

const onlyOne = (server: Raw.RawServer, method: string): Raw.RawRequest => {
  const found = server.requests.filter(({ message }) => message.method === method)
  assert.lengthOf(found, 1)
  return found[0]!
}

/**
 * What every message of a revision has.
 */
const assertEnvelope = (
  revision: Revision,
  { headers, httpMethod, message }: Raw.RawRequest,
  name?: string,
  declares: object = {}
): void => {
  assert.strictEqual(httpMethod, "POST")
  assert.strictEqual(headers["content-type"], "application/json")
  assert.strictEqual(headers["accept"], "application/json, text/event-stream")
  assert.strictEqual(headers["mcp-protocol-version"], revision)
  const meta = message.params?._meta
  if (ProtocolVersion.isModern(revision)) {
    assert.strictEqual(headers["mcp-method"], message.method)
    assert.strictEqual(headers["mcp-name"], name)
    assert.isUndefined(headers["mcp-session-id"])
    Protocol.assertMeta(meta, revision, declares)
  } else {
    assert.isUndefined(headers["mcp-method"])
    assert.isUndefined(headers["mcp-name"])
    assert.strictEqual(headers["mcp-session-id"], "s1")
    assert.isUndefined(meta)
  }
}

/**
 * What the tests of this file are called: for the document.
 */
const exercised = new Set<string>()

/**
 * `kind` tells several tests of a method apart.
 */
const atEach = (
  at: ReadonlyArray<Revision>,
  method: string,
  test: (revision: Revision) => Effect.Effect<void, McpError.McpError, Scope.Scope>,
  kind = ""
): void =>
  at.forEach((revision) => {
    exercised.add(`${method} over HTTP at ${revision}`)
    it.live(`${method}${kind} at ${revision}`, () => test(revision))
  })

describe("what the client asks for", () => {
  for (const { ask, at, brings, method, name, params, result } of asked) {
    atEach(at, method, (revision) =>
      Effect.gen(function*() {
        const server = yield* serve(revision, {
          [method]: (socket, request) => Raw.sendResult(socket, request, complete(revision, result))
        })
        const connection = yield* connect(server.url)
        assert.deepStrictEqual(yield* ask(connection), brings)
        const sent = onlyOne(server, method)
        assertEnvelope(revision, sent, name)
        assert.deepStrictEqual(paramsOf(sent.message), params)
      }))
  }

  atEach(["2026-07-28"], "server/discover", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, {})
      const connection = yield* connect(server.url)
      assert.strictEqual(connection.protocolVersion, revision)
      const sent = onlyOne(server, "server/discover")
      assertEnvelope("2026-07-28", sent)
      assert.deepStrictEqual(paramsOf(sent.message), {})
    }))

  atEach(legacy, "initialize", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, {})
      const connection = yield* connect(server.url, { protocol: revision })
      assert.deepStrictEqual(connection.serverInfo, serverInfo)
      assert.deepStrictEqual(server.methods(), ["initialize", "notifications/initialized"])
      const { headers, message } = onlyOne(server, "initialize")
      assert.isUndefined(headers["mcp-session-id"])
      assert.strictEqual(message.params.protocolVersion, revision)
      assert.sameMembers(Object.keys(message.params), ["protocolVersion", "capabilities", "clientInfo"])
    }))

  atEach(legacy, "notifications/initialized", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, {})
      yield* connect(server.url)
      const sent = onlyOne(server, "notifications/initialized")
      assertEnvelope(revision, sent)
      assert.isUndefined(sent.message.id)
    }))

  atEach(revisions, "notifications/cancelled", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, { "tools/call": () => {} })
      const connection = yield* connect(server.url)
      const call = yield* Effect.forkChild(connection.callTool("t"))
      yield* until(() => server.methods().includes("tools/call"))
      yield* Fiber.interrupt(call)
      if (ProtocolVersion.isModern(revision)) {
        // Over HTTP the closed stream says it.
        yield* server.quiet
        assert.notInclude(server.methods(), "notifications/cancelled")
        return
      }
      yield* until(() => server.methods().includes("notifications/cancelled"))
      const { message } = onlyOne(server, "notifications/cancelled")
      assert.strictEqual(message.params.requestId, onlyOne(server, "tools/call").message.id)
      assert.isUndefined(message.id)
    }))

  atEach(legacy, "notifications/roots/list_changed", (revision) =>
    Effect.gen(function*() {
      const method = "notifications/roots/list_changed"
      const roots = yield* SubscriptionRef.make<ReadonlyArray<Root.Root>>(Features.roots)
      const server = yield* serve(revision, { [method]: (socket) => Raw.send(socket, 202, {}) })
      yield* connect(server.url, { features: { ...Features.everything, roots }, protocol: revision })
      assert.deepStrictEqual(onlyOne(server, "initialize").message.params.capabilities, declared(revision, true))
      yield* SubscriptionRef.set(roots, [])
      yield* until(() => server.methods().includes(method))
      const sent = onlyOne(server, method)
      assertEnvelope(revision, sent)
      assert.isUndefined(sent.message.id)
    }))
})

/**
 * Says something before the answer to a call, on its stream.
 */
const before = (message: (request: Raw.RawRequest) => object): Raw.Responder => (socket, request) => {
  Raw.openStream(socket)
  Raw.sendChunk(socket, Asking.event(message(request)) + Asking.okEvent(request))
  Raw.endStream(socket)
}

describe("what the server says by itself", () => {
  for (const [method, params, heard] of announced) {
    atEach(revisions, method, (revision) =>
      Effect.gen(function*() {
        const server = yield* serve(revision, { "tools/call": before(() => ({ method, params })) })
        const connection = yield* connect(server.url)
        const hearing = yield* Effect.forkChild(Stream.runCollect(Stream.take(connection.notifications, 1)), {
          startImmediately: true
        })
        yield* connection.callTool("t")
        assert.deepStrictEqual<unknown>(yield* Fiber.join(hearing), [heard])
      }))
  }

  atEach(revisions, "notifications/progress", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, {
        "tools/call": before(({ message }) => ({
          method: "notifications/progress",
          params: { progressToken: message.params._meta.progressToken, progress: 1, total: 2 }
        }))
      })
      const connection = yield* connect(server.url)
      const told: Array<unknown> = []
      yield* connection.callTool("t", {}, { onProgress: (progress) => Effect.sync(() => void told.push(progress)) })
      assert.deepStrictEqual(told, [{ progress: 1, total: 2 }])
    }))

  atEach(legacy, "ping", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, { "tools/call": before(() => ({ id: 7, method: "ping" })) })
      const connection = yield* connect(server.url)
      yield* connection.callTool("t")
      const answers = () => server.requests.filter(({ body, message }) => body !== "" && message.method === undefined)
      yield* until(() => answers().length === 1)
      assert.deepStrictEqual(JSON.parse(answers()[0]!.body), { jsonrpc: "2.0", id: 7, result: {} })
      assertEnvelope(revision, answers()[0]!)
    }))
})

describe("what the server asks", () => {
  for (const { answer, at, kind, method, params } of questions) {
    atEach(at, method, (revision) =>
      Effect.gen(function*() {
        const isModern = ProtocolVersion.isModern(revision)
        const server = yield* serve(
          revision,
          isModern
            ? { "tools/call": Features.toModern(Features.inputRequired({ q: { method, params } }, "s")) }
            : Asking.asking(Asking.request(7, method, params), 1)
        )
        const connection = yield* connect(server.url, { features: Features.everything, protocol: revision })
        assert.strictEqual((yield* connection.callTool("t", { a: 1 })).text, "ok")
        if (isModern) {
          const [first, second] = server.requests.filter(({ message }) => message.method === "tools/call")
          assertEnvelope(revision, second!, "t", declared(revision, false))
          assert.notStrictEqual(second!.message.id, first!.message.id)
          assert.deepStrictEqual(paramsOf(second!.message), {
            name: "t",
            arguments: { a: 1 },
            inputResponses: { q: answer },
            requestState: "s"
          })
          return
        }
        assert.deepStrictEqual(Asking.answersById(server).get(7), { jsonrpc: "2.0", id: 7, result: answer })
        assertEnvelope(revision, Asking.answersTo(server)[0]!)
        assert.deepStrictEqual(onlyOne(server, "initialize").message.params.capabilities, declared(revision, false))
      }), kind)
  }

  /**
   * A server that says more and more before it answers a call.
   */
  const talking = (revision: Revision, first: string) => {
    let socket: Socket | undefined
    let answer = (): void => {}
    const server = serve(revision, {
      "tools/call": (to, call) => {
        socket = to
        Raw.openStream(to)
        Raw.sendChunk(to, first)
        answer = () => {
          Raw.sendChunk(to, Asking.okEvent(call))
          Raw.endStream(to)
        }
      }
    })
    return Effect.map(server, (made) => ({
      server: made,
      say: (text: string) => Effect.sync(() => Raw.sendChunk(socket!, text)),
      answer: Effect.sync(() => answer())
    }))
  }

  atEach(legacy, "notifications/cancelled, of a request of the server", (revision) =>
    Effect.gen(function*() {
      const { answer, say, server } = yield* talking(
        revision,
        Asking.request("c", Features.sampling, Features.samplingParams)
      )
      const cancel = say(Asking.notification("notifications/cancelled", { requestId: "c" }))
      const features: ClientFeatures.ClientFeatures = {
        sampling: () => Effect.onInterrupt(Effect.andThen(cancel, Effect.never), () => answer)
      }
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* connect(server.url, { features })
        assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      }))
      assert.isFalse(Asking.answersById(server).has("c"))
    }))

  atEach(["2025-11-25"], "notifications/elicitation/complete", (revision) =>
    Effect.gen(function*() {
      const { answer, say, server } = yield* talking(
        revision,
        Asking.request(7, Features.elicitation, Features.pageParams)
      )
      const tell = say(Asking.notification("notifications/elicitation/complete", { elicitationId: "e1" }))
      const features = Features.withUrl((_, { completed }) =>
        Effect.as(Effect.andThen(Effect.andThen(tell, completed), answer), { action: "accept" })
      )
      const connection = yield* connect(server.url, { features })
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      yield* until(() => Asking.answersById(server).has(7))
      assert.deepStrictEqual(Asking.answersById(server).get(7).result, { action: "accept" })
    }))
})

/**
 * Says something of a subscription.
 */
const subscribed = (id: unknown) => (method: string, params: object): string =>
  Asking.notification(method, { ...params, _meta: { "io.modelcontextprotocol/subscriptionId": id } })

describe("subscriptions", () => {
  for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
    atEach(legacy, method, (revision) =>
      Effect.gen(function*() {
        const empty: Raw.Responder = (socket, request) => Raw.sendResult(socket, request, {})
        const server = yield* serve(revision, {
          "resources/subscribe": empty,
          "resources/unsubscribe": empty,
          "tools/call": before(() => ({ method: "notifications/resources/updated", params: { uri: "a:1" } }))
        })
        const connection = yield* connect(server.url)
        const hearing = yield* Effect.forkChild(
          Stream.runCollect(Stream.take(connection.subscribe({ resourceSubscriptions: ["a:1"] }), 1))
        )
        yield* until(() => server.methods().includes("resources/subscribe"))
        yield* connection.callTool("t")
        assert.deepStrictEqual<unknown>(yield* Fiber.join(hearing), [{ _tag: "ResourceUpdated", uri: "a:1" }])
        yield* until(() => server.methods().includes(method))
        const sent = onlyOne(server, method)
        assertEnvelope(revision, sent)
        assert.deepStrictEqual(paramsOf(sent.message), { uri: "a:1" })
      }))
  }

  atEach(["2026-07-28"], "subscriptions/listen", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, {
        "subscriptions/listen": (socket, { message: { id } }) => {
          const say = subscribed(id)
          Raw.openStream(socket)
          Raw.sendChunk(
            socket,
            say("notifications/subscriptions/acknowledged", { notifications: { toolsListChanged: true } }) +
              say("notifications/tools/list_changed", {})
          )
        }
      })
      const connection = yield* connect(server.url)
      const heard = yield* Stream.runCollect(Stream.take(connection.subscribe({ toolsListChanged: true }), 1))
      assert.deepStrictEqual<unknown>(heard, [{ _tag: "ToolListChanged" }])
      const sent = onlyOne(server, "subscriptions/listen")
      assertEnvelope(revision, sent)
      assert.deepStrictEqual(paramsOf(sent.message), { notifications: { toolsListChanged: true } })
    }))

  atEach(["2026-07-28"], "notifications/subscriptions/acknowledged", (revision) =>
    Effect.gen(function*() {
      const server = yield* serve(revision, {
        "subscriptions/listen": (socket, { message: { id } }) => {
          const say = subscribed(id)
          const updated = (uri: string) => say("notifications/resources/updated", { uri })
          const acknowledged = say("notifications/subscriptions/acknowledged", {
            notifications: { resourceSubscriptions: ["a:"] }
          })
          Raw.openStream(socket)
          Raw.sendChunk(socket, updated("a:early") + acknowledged + updated("a:1"))
        }
      })
      const connection = yield* connect(server.url)
      const heard = yield* Stream.runCollect(Stream.take(connection.subscribe({ resourceSubscriptions: ["a:"] }), 1))
      assert.deepStrictEqual<unknown>(heard, [{ _tag: "ResourceUpdated", uri: "a:1" }])
    }))
})

describe("docs/protocol.md", () => {
  it("says of a method that it is exercised over HTTP at a revision where a test here does that, and nowhere else", () => {
    assert.sameMembers([...Protocol.said("protocol.test.ts")], [...exercised])
  })

  it("names no test that is not there", () => {
    const named = Protocol.rows.flatMap((cells) => [
      ...cells.join("|").matchAll(/\]\(\.\.\/(test\/[^)]+)\)(?:: “([^”]+)”)?/g)
    ])
    assert.isNotEmpty(named)
    const missing = named.filter(([, file = "", name]) => {
      const path = join(Protocol.root, file)
      return !existsSync(path) || (name !== undefined && !readFileSync(path, "utf8").includes(name))
    })
    assert.deepStrictEqual(missing.map(([text]) => text), [])
  })
})
