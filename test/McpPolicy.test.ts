import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import { McpPolicy } from "../src/index.ts"

describe("a policy", () => {
  it("takes no bound that is none", () => {
    for (const bound of [Number.NaN, 0, -1, 1.5, Number.POSITIVE_INFINITY]) {
      assert.throws(() => McpPolicy.pages({ maxPages: bound }), RangeError)
      assert.throws(() => McpPolicy.inputRounds({ maxRounds: bound }), RangeError)
      assert.throws(() => McpPolicy.inputRounds({ maxEmptyRounds: bound }), RangeError)
      assert.throws(() => McpPolicy.resumption({ maxIdle: bound }), RangeError)
      assert.throws(() => McpPolicy.resumption({ maxTotal: bound }), RangeError)
      assert.throws(() => McpPolicy.taskPolling({ maxLost: bound }), RangeError)
      assert.throws(() => McpPolicy.taskPolling({ maxTotal: bound }), RangeError)
    }
  })

  it("takes no duration that is none", () => {
    for (const value of [Number.NaN, -1] as const) {
      assert.throws(() => McpPolicy.make({ requestTimeout: value }), RangeError)
      assert.throws(() => McpPolicy.make({ operationTimeout: value }), RangeError)
      assert.throws(() => McpPolicy.make({ closeTimeout: value }), RangeError)
      assert.throws(() => McpPolicy.make({ handlerGrace: value }), RangeError)
      assert.throws(() => McpPolicy.resumption({ delay: value }), RangeError)
      assert.throws(() => McpPolicy.taskPolling({ delay: value }), RangeError)
      assert.throws(() => McpPolicy.taskPolling({ minDelay: value }), RangeError)
      assert.throws(() => McpPolicy.taskPolling({ maxDelay: value }), RangeError)
    }
  })

  it.effect("waits for tasks as the server asks, within bounds, and so often", () =>
    Effect.gen(function*() {
      const step = yield* Schedule.toStep(McpPolicy.taskPolling())
      const look = (pollInterval: number | undefined, lost = false) =>
        step(0, {
          done: false,
          lost,
          pollInterval: pollInterval === undefined ? undefined : Duration.millis(pollInterval)
        })
      const delays = [undefined, 0, 99, 5000, 30_001, Number.POSITIVE_INFINITY]
      const waits: Array<number> = []
      for (const delay of delays) waits.push(Duration.toMillis((yield* look(delay))[1]))
      assert.deepStrictEqual(waits, [1000, 100, 100, 5000, 30_000, 30_000])
      for (let i = 0; i < 4; i++) yield* look(0, true)
      yield* look(0)
      for (let i = 0; i < 4; i++) yield* look(0, true)
      assert.isTrue(Pull.isDoneCause(yield* Effect.sandbox(look(0, true)).pipe(Effect.flip)))
    }))

  it.effect("looks at tasks ten thousand times at most", () =>
    Effect.gen(function*() {
      const step = yield* Schedule.toStep(McpPolicy.taskPolling())
      const look = Effect.suspend(() => step(0, { done: false, lost: false, pollInterval: undefined }))
      for (let i = 1; i < 10_000; i++) yield* look
      assert.isTrue(Pull.isDoneCause(yield* Effect.sandbox(look).pipe(Effect.flip)))
    }))

  it("is the defaults where nothing is said", () => {
    assert.deepStrictEqual(McpPolicy.make({}), McpPolicy.defaults)
  })
})
