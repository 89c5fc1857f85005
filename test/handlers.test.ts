/**
 * Handlers that take their time: how many run, and what ends them.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { Elicitation, McpPolicy } from "../src/index.ts"
import { answersById, answersTo, asking, notification, okEvent, request } from "./support/asking.ts"
import { connect, failsWith } from "./support/connect.ts"
import { elicitation, failing, filledIn, formParams, inputRequired, toModern, withForm } from "./support/features.ts"
import * as Raw from "./support/rawServer.ts"

describe("slow handlers", () => {
  /**
   * A handler that waits at a gate, and what has come there. The gate opens by itself once so many wait at it.
   */
  const gated = (opensAt = Number.POSITIVE_INFINITY) => {
    const gate = Deferred.makeUnsafe<void>()
    const started = Deferred.makeUnsafe<void>()
    const interrupted = Deferred.makeUnsafe<void>()
    const open = () => Deferred.doneUnsafe(gate, Effect.void)
    const count = { now: 0, most: 0 }
    const features = withForm(() =>
      Effect.suspend(() => {
        count.most = Math.max(count.most, ++count.now)
        if (count.now === opensAt) open()
        return Deferred.succeed(started, undefined).pipe(
          Effect.andThen(Deferred.await(gate)),
          Effect.as(Elicitation.accept({ name: "Ann" })),
          Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined)),
          Effect.ensuring(Effect.sync(() => void count.now--))
        )
      })
    )
    return { features, open, count, started: Deferred.await(started), interrupted: Deferred.await(interrupted) }
  }

  it.live("run eight at a time for a legacy server, whose other requests are refused and whose answer is read", () =>
    Effect.gen(function*() {
      const { count, features, open } = gated()
      const events = Array.from({ length: 20 }, (_, id) => request(id, elicitation, formParams)).join("")
      const { POST, ...others } = asking(events, 20)
      let refused = 0
      const server = yield* Raw.make(Raw.legacy({
        ...others,
        POST: (socket, answer) => {
          POST!(socket, answer)
          if (answer.body.includes("-32603") && ++refused === 12) open()
        }
      }))
      const connection = yield* connect(server.url, { features })
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      const answers = [...answersById(server).values()]
      assert.strictEqual(answers.filter(({ error }) => error?.code === -32603).length, 12)
      assert.strictEqual(answers.filter(({ result }) => result !== undefined).length, 8)
      assert.strictEqual(count.most, 8)
    }))

  it.live("do not hold back what else the server says", () =>
    Effect.gen(function*() {
      const { count, features, started } = gated()
      const server = yield* Raw.make(Raw.legacy(asking(request(1, elicitation, formParams), 0)))
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* connect(server.url, { features })
        assert.strictEqual((yield* connection.callTool("t")).text, "ok")
        yield* started
        assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      }))
      assert.strictEqual(count.now, 0)
    }))

  it.live("run eight at a time for one answer of a modern server, and all of them", () =>
    Effect.gen(function*() {
      const { count, features } = gated(8)
      const requests = Object.fromEntries(
        Array.from({ length: 20 }, (_, i) => [`q${i}`, { method: elicitation, params: formParams }])
      )
      const server = yield* Raw.make(Raw.modern({ "tools/call": toModern(inputRequired(requests)) }))
      const connection = yield* connect(server.url, { features })
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      const { inputResponses } = server.requests.at(-1)!.message.params
      assert.deepStrictEqual(Object.keys(inputResponses), Object.keys(requests))
      assert.deepStrictEqual(inputResponses.q19, filledIn)
      assert.strictEqual(count.most, 8)
    }))

  it.live("end with the time of their call", () =>
    Effect.gen(function*() {
      const { features, interrupted } = gated()
      const requests = { q: { method: elicitation, params: formParams } }
      const server = yield* Raw.make(Raw.modern({ "tools/call": toModern(inputRequired(requests)) }))
      const connection = yield* connect(server.url, { features })
      yield* failsWith(connection.callTool("t", {}, { timeout: 100 }), "ConnectionFailed/TimedOut")
      yield* interrupted
      assert.deepStrictEqual(server.methods(), ["server/discover", "tools/call"])
    }))

  it.live("end where another one of the same answer fails", () =>
    Effect.gen(function*() {
      const { features, interrupted } = gated()
      const requests = { a: { method: elicitation, params: formParams }, b: { method: "roots/list" } }
      const server = yield* Raw.make(Raw.modern({ "tools/call": toModern(inputRequired(requests)) }))
      const connection = yield* connect(server.url, { features: { ...features, roots: failing } })
      yield* failsWith(connection.callTool("t"), "ServerAnswered/InputRequired")
      yield* interrupted
    }))

  it.live("end where the server cancels its request, and are not answered", () =>
    Effect.gen(function*() {
      let cancel = (): void => {}
      let answer = (): void => {}
      const server = yield* Raw.make(Raw.legacy({
        "tools/call": (socket, call) => {
          Raw.openStream(socket)
          Raw.sendChunk(socket, request("7", elicitation, formParams))
          const cancelled = (requestId: unknown) => notification("notifications/cancelled", { requestId })
          cancel = () => Raw.sendChunk(socket, cancelled(7) + cancelled(null) + cancelled("7"))
          answer = () => {
            Raw.sendChunk(socket, okEvent(call))
            Raw.endStream(socket)
          }
        }
      }))
      const features = withForm(() =>
        Effect.andThen(Effect.sync(cancel), Effect.never).pipe(Effect.onInterrupt(() => Effect.sync(answer)))
      )
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* connect(server.url, { features })
        assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      }))
      assert.deepStrictEqual(answersTo(server).map(({ httpMethod }) => httpMethod), ["DELETE"])
    }))

  it.live("end when the connection is closed, with what waits for them", () =>
    Effect.gen(function*() {
      const { count, features, started } = gated()
      const server = yield* Raw.make(Raw.legacy(asking(request(1, elicitation, formParams), 1)))
      const scope = yield* Scope.make()
      const connection = yield* Scope.provide(connect(server.url, { features }), scope)
      const calling = yield* Effect.forkChild(connection.callTool("t"))
      yield* started
      yield* Scope.close(scope, Exit.void)
      yield* failsWith(Fiber.join(calling), "ConnectionFailed/Closed")
      assert.deepStrictEqual(count, { now: 0, most: 1 })
      assert.strictEqual(answersTo(server).at(-1)!.httpMethod, "DELETE")
      yield* server.quiet
    }))

  it.live("are left behind where they do not let themselves be ended", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      const features = withForm(() =>
        Effect.uninterruptible(
          Effect.andThen(Deferred.succeed(started, undefined), Deferred.await(gate)).pipe(
            Effect.as(Elicitation.decline)
          )
        )
      )
      const server = yield* Raw.make(Raw.legacy(asking(request(1, elicitation, formParams), 0)))
      const policy = McpPolicy.make({ handlerGrace: 30 })
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* connect(server.url, { features, policy })
        yield* connection.callTool("t")
        yield* Deferred.await(started)
      }))
      assert.deepStrictEqual(answersTo(server).map(({ httpMethod }) => httpMethod), ["DELETE"])
      yield* Deferred.succeed(gate, undefined)
      yield* server.quiet
    }))
})
