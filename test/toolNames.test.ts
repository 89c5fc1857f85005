import { assert, describe, it } from "@effect/vitest"
import { modelName } from "../src/ai/toolNames.ts"

const taken = /^[a-zA-Z0-9_-]{1,64}$/

/**
 * Reads a name back that was not cut.
 */
const nameOf = (written: string): string =>
  written.replace(/--([0-9a-f]+)-/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))

describe("a tool's name for a model", () => {
  it.each(["add", "get_weather", "Get-Weather2", "-", "_", "a-b-c", "constructor", "n".repeat(64)])(
    "stays: %s",
    (name) => {
      assert.strictEqual(modelName(name), name)
    }
  )

  it.each([
    ["files.read", "files--2e-read"],
    ["a/b", "a--2f-b"],
    ["a b", "a--20-b"],
    ["naïve", "na--ef-ve"],
    ["道具", "--9053---5177-"],
    ["🔧", "--1f527-"],
    ["a--b", "a---2d-b"],
    ["a--2e-b", "a---2d-2e-b"],
    ["__proto__", "--5f-_proto__"]
  ])("is escaped: %s", (name, written) => {
    assert.strictEqual(modelName(name), written)
    assert.strictEqual(nameOf(written), name)
  })

  it("is cut, and told apart by a hash", () => {
    const names = ["n".repeat(128), `${"n".repeat(127)}m`, "道".repeat(128), `files.${"n".repeat(60)}`]
    const written = names.map(modelName)
    for (const name of written) {
      assert.match(name, taken)
      assert.lengthOf(name, 64)
      assert.match(name, /--h[0-9a-z]{8}$/)
    }
    assert.strictEqual(new Set(written).size, names.length)
    assert.strictEqual(written[0]!.slice(0, 56), `${"n".repeat(53)}--h`)
    assert.deepStrictEqual(names.map(modelName), written)
  })

  it("never looks like a name that was cut, where it was not", () => {
    const cut = modelName("n".repeat(128))
    assert.notStrictEqual(modelName(cut), cut)
    assert.notInclude(modelName(".-h"), "--h")
  })
})
