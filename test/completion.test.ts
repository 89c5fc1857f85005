import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const discover: Raw.Responder = (socket, request) =>
  Raw.sendResult(socket, request, { ...Raw.discoverResult, capabilities: { completions: {} } })

const completing = (value: object): Raw.Responder => (socket, request) =>
  Raw.sendResult(socket, request, { resultType: "complete", ...value })

const argument = { name: "language", value: "ty" }

describe("complete", () => {
  it.live("asks with what is settled already, and reads the values", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "server/discover": discover,
        "completion/complete": completing({ completion: { values: ["typescript"], total: 3, hasMore: true } })
      }))
      const connection = yield* connect(server.url)
      const completion = yield* connection.complete({ type: "ref/prompt", name: "p" }, argument, {
        framework: "effect"
      })
      assert.deepStrictEqual(completion, { values: ["typescript"], total: 3, hasMore: true })
      const { _meta, ...params } = server.requests[1]!.message.params
      assert.isDefined(_meta)
      assert.deepStrictEqual(params, {
        ref: { type: "ref/prompt", name: "p" },
        argument,
        context: { arguments: { framework: "effect" } }
      })
    }))

  it.live("takes no more values than the specification allows, and none that are no strings", () =>
    Effect.gen(function*() {
      const many = { completion: { values: Array.from({ length: 500 }, (_, i) => String(i)), total: "x" } }
      const wrong = { completion: { values: [1] } }
      const server = yield* Raw.make(Raw.modern({
        "server/discover": discover,
        "completion/complete": (socket, request) => completing(request.nth === 0 ? many : wrong)(socket, request)
      }))
      const connection = yield* connect(server.url)
      const ref = { type: "ref/resource", uri: "a:{id}" } as const
      const completion = yield* connection.complete(ref, argument)
      assert.deepStrictEqual(Object.keys(completion), ["values"])
      assert.strictEqual(completion.values.length, 100)
      yield* failsWith(connection.complete(ref, argument), "ServerAnswered/Unreadable")
    }))

  it.live("needs the capability, but at 2024-11-05, which has none", () =>
    Effect.gen(function*() {
      const modern = yield* Raw.make(Raw.modern())
      const ref = { type: "ref/prompt", name: "p" } as const
      yield* failsWith((yield* connect(modern.url)).complete(ref, argument), "CapabilityMissing")
      assert.deepStrictEqual(modern.methods(), ["server/discover"])
      const legacy = yield* Raw.make(
        Raw.legacy({ "completion/complete": completing({ completion: { values: [] } }) }, "2024-11-05")
      )
      assert.deepStrictEqual(yield* (yield* connect(legacy.url)).complete(ref, argument), { values: [] })
    }))
})
