import { assert, describe, it } from "@effect/vitest"
import { modelName } from "../../src/ai/toolNames.ts"
import { array, forAll, join, map, oneOf, pick, text, timeout } from "./support.ts"

// What is escaped, what escapes, and what comes between, all the time.
const hard = join(pick("-", "--", "h", "2", "d", "e", ".", "_", "é", "🔧"), 24)

const readBack = (written: string): string =>
  written.replace(/--([0-9a-f]+)-/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))

describe("names for a model", () => {
  it.effect(
    "are what providers take, and can be read back where they were not cut",
    () =>
      forAll(map(oneOf(hard, text), (name) => name === "" ? "-" : name), (name) => {
        const written = modelName(name)
        assert.match(written, /^[a-zA-Z0-9_-]{1,64}$/)
        if (!written.includes("--h")) assert.strictEqual(readBack(written), name)
        else assert.lengthOf(written, 64)
      }),
    timeout
  )

  it.effect("are as many as there were", () =>
    forAll(array(hard, { maxLength: 16 }), (names) => {
      assert.strictEqual(new Set(names.map(modelName)).size, new Set(names).size)
    }), timeout)
})
