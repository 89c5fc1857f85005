import { assert, describe, it } from "@effect/vitest"
import { McpPolicy } from "../src/index.ts"

describe("a policy", () => {
  it("takes no bound that is none", () => {
    for (const bound of [Number.NaN, 0, -1, 1.5, Number.POSITIVE_INFINITY]) {
      assert.throws(() => McpPolicy.pages({ maxPages: bound }), RangeError)
      assert.throws(() => McpPolicy.inputRounds({ maxRounds: bound }), RangeError)
      assert.throws(() => McpPolicy.inputRounds({ maxEmptyRounds: bound }), RangeError)
      assert.throws(() => McpPolicy.resumption({ maxIdle: bound }), RangeError)
      assert.throws(() => McpPolicy.resumption({ maxTotal: bound }), RangeError)
    }
  })

  it("takes no duration that is none", () => {
    for (const value of [Number.NaN, -1] as const) {
      assert.throws(() => McpPolicy.make({ requestTimeout: value }), RangeError)
      assert.throws(() => McpPolicy.make({ operationTimeout: value }), RangeError)
      assert.throws(() => McpPolicy.make({ closeTimeout: value }), RangeError)
      assert.throws(() => McpPolicy.make({ handlerGrace: value }), RangeError)
      assert.throws(() => McpPolicy.resumption({ delay: value }), RangeError)
    }
  })

  it("is the defaults where nothing is said", () => {
    assert.deepStrictEqual(McpPolicy.make({}), McpPolicy.defaults)
  })
})
