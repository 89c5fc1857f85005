/**
 * The stream of a legacy server's own, and roots that change.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { type Root } from "../src/index.ts"
import { answersById, answersTo, asking, request } from "./support/asking.ts"
import { connect } from "./support/connect.ts"
import { inputRequired, roots, toModern } from "./support/features.ts"
import * as Raw from "./support/rawServer.ts"

describe("what a legacy server asks on a stream of its own", () => {
  const asksRoots = (id: number) => request(id, "roots/list")

  /**
   * A server with such a stream, on which it asks for the roots at once.
   */
  const withStream = (answers: Readonly<Record<string, Raw.Responder>>) =>
    Raw.make(Raw.legacy({
      POST: (socket) => Raw.send(socket, 202, {}),
      GET: (socket) => {
        Raw.openStream(socket)
        Raw.sendChunk(socket, asksRoots(1))
      },
      ...answers
    }))

  it.live("is answered", () =>
    Effect.gen(function*() {
      const answered = yield* Deferred.make<void>()
      const server = yield* withStream({
        POST: (socket) => {
          Raw.send(socket, 202, {})
          Deferred.doneUnsafe(answered, Effect.void)
        }
      })
      yield* Effect.scoped(Effect.andThen(connect(server.url, { features: { roots } }), Deferred.await(answered)))
      assert.deepStrictEqual(answersById(server).get(1).result, { roots })
      const { headers } = server.requests.find(({ httpMethod }) => httpMethod === "GET")!
      assert.strictEqual(headers["mcp-session-id"], "s1")
      yield* server.quiet
    }))

  it.live("is heard before the first call is sent", () =>
    Effect.gen(function*() {
      let ask = (): void => {}
      let answer = (): void => {}
      const server = yield* withStream({
        GET: (socket) => {
          Raw.openStream(socket)
          ask = () => Raw.sendChunk(socket, asksRoots(1))
        },
        "tools/call": (socket, call) => {
          ask()
          answer = () => Raw.sendResult(socket, call, Raw.textResult("ok"))
        },
        POST: (socket) => {
          Raw.send(socket, 202, {})
          answer()
        }
      })
      const connection = yield* connect(server.url, { features: { roots } })
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
    }))

  it.live("is heard in a new session too", () =>
    Effect.gen(function*() {
      const again = yield* Deferred.make<void>()
      const server = yield* withStream({
        GET: (socket, { headers }) => {
          Raw.openStream(socket)
          if (headers["mcp-session-id"] === "s2") Raw.sendChunk(socket, asksRoots(2))
        },
        "tools/call": (socket, call) =>
          call.nth === 0 ? Raw.send(socket, 404, {}) : Raw.sendResult(socket, call, Raw.textResult("ok")),
        POST: (socket) => {
          Raw.send(socket, 202, {})
          Deferred.doneUnsafe(again, Effect.void)
        }
      })
      const connection = yield* connect(server.url, { features: { roots } })
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      yield* Deferred.await(again)
      assert.strictEqual(answersTo(server)[0]!.headers["mcp-session-id"], "s2")
    }))

  const answersToGet: ReadonlyArray<readonly [string, Raw.Responder]> = [
    ["is none (405)", (socket) => Raw.send(socket, 405, {})],
    ["is none (404)", (socket) => Raw.send(socket, 404, {})],
    ["is JSON", (socket, message) => Raw.sendResult(socket, message, {})],
    ["is reset", (socket) => void socket.resetAndDestroy()],
    ["never opens", () => {}]
  ]
  for (const [what, respond] of answersToGet) {
    it.live(`keeps nobody from calling where it ${what}`, () =>
      Effect.gen(function*() {
        const server = yield* withStream({ GET: respond })
        yield* Effect.scoped(Effect.gen(function*() {
          const connection = yield* connect(server.url, { features: { roots } })
          assert.strictEqual((yield* connection.callTool("t")).text, "ok")
        }))
        yield* server.quiet
      }))
  }

  it.live("is waited for no longer than connecting may take", () =>
    Effect.gen(function*() {
      const server = yield* withStream({ GET: () => {} })
      const [elapsed, connection] = yield* Effect.timed(connect(server.url, { features: { roots }, timeout: 300 }))
      assert.isBelow(Duration.toMillis(elapsed), 800)
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
    }))

  it.live("is not listened for by one who answers nothing", () =>
    Effect.gen(function*() {
      const server = yield* withStream({})
      const connection = yield* connect(server.url)
      yield* connection.callTool("t")
      assert.notInclude(server.requests.map(({ httpMethod }) => httpMethod), "GET")
    }))
})

describe("roots that change", () => {
  it.live("are told of to a legacy server, once a change, and not before", () =>
    Effect.gen(function*() {
      const told = yield* Deferred.make<void>()
      const again = yield* Deferred.make<void>()
      const method = "notifications/roots/list_changed"
      const server = yield* Raw.make(Raw.legacy({
        ...asking(request(1, "roots/list"), 1),
        [method]: (socket, { nth }) => {
          Raw.send(socket, 202, {})
          Deferred.doneUnsafe(nth === 0 ? told : again, Effect.void)
        }
      }))
      const changing = yield* SubscriptionRef.make<ReadonlyArray<Root.Root>>(roots)
      const connection = yield* connect(server.url, { features: { roots: changing } })
      yield* connection.callTool("t")
      assert.deepStrictEqual(answersById(server).get(1).result, { roots })
      assert.notInclude(server.methods(), method)
      yield* SubscriptionRef.set(changing, [])
      yield* Deferred.await(told)
      yield* SubscriptionRef.set(changing, [{ uri: "file:///other", name: "o" }])
      yield* Deferred.await(again)
      assert.strictEqual(server.methods().filter((each) => each === method).length, 2)
      assert.strictEqual(server.requests.at(-1)!.headers["mcp-session-id"], "s1")
    }))

  it.live("are told of where they changed while connecting", () =>
    Effect.gen(function*() {
      const told = yield* Deferred.make<void>()
      const changing = yield* SubscriptionRef.make<ReadonlyArray<Root.Root>>(roots)
      const server = yield* Raw.make(Raw.legacy({
        "server/discover": (socket) => {
          Effect.runSync(SubscriptionRef.set(changing, []))
          Raw.send(socket, 400, {})
        },
        "notifications/roots/list_changed": (socket) => {
          Raw.send(socket, 202, {})
          Deferred.doneUnsafe(told, Effect.void)
        }
      }))
      yield* connect(server.url, { features: { roots: changing } })
      yield* Deferred.await(told)
      assert.strictEqual(server.methods().at(-1), "notifications/roots/list_changed")
    }))

  it.live("are looked up anew for a modern server, which is told nothing", () =>
    Effect.gen(function*() {
      const changing = yield* SubscriptionRef.make<ReadonlyArray<Root.Root>>(roots)
      const server = yield* Raw.make(Raw.modern({
        "tools/call": toModern(inputRequired({ r: { method: "roots/list" } }))
      }))
      const connection = yield* connect(server.url, { features: { roots: changing } })
      yield* SubscriptionRef.set(changing, [])
      yield* connection.callTool("t")
      assert.deepStrictEqual(server.requests.at(-1)!.message.params.inputResponses, { r: { roots: [] } })
      assert.deepStrictEqual(server.methods(), ["server/discover", "tools/call", "tools/call"])
    }))
})
