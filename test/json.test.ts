import { assert, describe, it } from "@effect/vitest"
import * as Json from "../src/internal/json.ts"

const longest = 96 * 1024
const deepest = 32 * 1024

/**
 * Containers in each other, by a pattern that repeats from the outermost on: `[` is an array, `{` an object.
 */
const nested = (pattern: string, levels: number): string => {
  const opens = pattern.repeat(Math.ceil(levels / pattern.length)).slice(0, levels)
  const closes = opens.replaceAll("[", "]").replaceAll("{", "}")
  return `${opens.replaceAll("{", "{\"\":")}0${[...closes].reverse().join("")}`
}

describe("what is read at once", () => {
  it("is no longer than 96 KiB", () => {
    assert.isTrue(Json.isShort("1".repeat(longest)))
    assert.isFalse(Json.isShort("1".repeat(longest + 1)))
  })

  it("is no longer than 64 KiB where it has many members", () => {
    const objects = (length: number) => `[${"{\"k\":1},".repeat(length / 8)}`.slice(0, length)
    assert.isTrue(Json.isShort(objects(64 * 1024)))
    assert.isFalse(Json.isShort(objects(64 * 1024 + 8)))
  })

  it("is a page of a listing, with an array in every tool", () => {
    const tools = Array.from({ length: 300 }, (_, i) => ({
      name: `tool_${i}`,
      description: "what it is for ".repeat(12),
      inputSchema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] }
    }))
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { tools } })
    assert.isAbove(text.length, 80_000)
    assert.isTrue(Json.isShort(text))
  })

  it.each(["[", "{", "[{", "{[", "[[{", "[{{", "[[[{", "[[[[[[[{"])(
    "is never deeper than 32,768 levels: %s",
    (pattern) => {
      const text = nested(pattern, deepest + 1)
      assert.isFalse(Json.isShort(text), `${text.length} characters`)
    }
  )
})
