import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as JsonSlices from "../../src/internal/jsonSlices.ts"
import { sameJson } from "../support/sameJson.ts"
import { all, array, forAll, int, json, map, mostly, oneOf, pick, timeout } from "./support.ts"

// In slices or as a whole, JSON has the same value.

const whole = map(json(3), (text) => text.replaceAll("$ID", "7"))
const spaced = map(
  all([whole, pick(" ", "\n", "\t\r\n ", "\u00a0")]),
  ([text, space]) => text.replace(/[[\]{}:,]/g, `${space}$&${space}`)
)
const replacement = oneOf(pick(..."[]{},:\"\\ 0e-.tu\n\0"), pick("é", "\ud800", "\ufeff"))
const damaged = map(all([whole, int(0, 4095), oneOf(pick("", "twice"), replacement)]), ([text, offset, by]) => {
  const at = offset % (text.length + 1)
  const char = text.slice(at, at + 1)
  return text.slice(0, at) + (by === "twice" ? char + char : by) + text.slice(at + 1)
})

// As the generators of keys do: these JSON.parse may mistake by itself.
const hasEscapedKey = (text: string): boolean => /\\(?:[^"\\]|\\.)*"\s*:/s.test(text)

const texts = map(mostly(damaged, whole, spaced), (text) => hasEscapedKey(text) ? "[]" : text)

const unlimited: JsonSlices.Limits = { maxValues: Infinity, maxMembers: Infinity }

const reference = (text: string): Result.Result<unknown, JsonSlices.Refusal> => {
  try {
    return Result.succeed(JSON.parse(text))
  } catch {
    return Result.fail("malformed")
  }
}

const inSlices = (text: string, limits: JsonSlices.Limits, work: number, small: number) => {
  const slices = JsonSlices.slices(text, limits, work, small)
  while (true) {
    const step = slices.next()
    if (step.done === true) return step.value
  }
}

const count = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce((sum: number, inner) => sum + count(inner), 1)
    : 1

describe("JSON in slices", () => {
  it.live(
    "is what JSON.parse has for it, however it is cut",
    () =>
      forAll(all([texts, int(1, 99), int(1, 99)]), ([text, work, small]) => {
        assert.isTrue(sameJson(inSlices(text, unlimited, work, small), reference(text)))
        return Effect.map(
          Effect.result(JsonSlices.parse(text, unlimited)),
          (result) => assert.isTrue(sameJson(result, reference(text)))
        )
      }),
    timeout
  )

  // Of keys that come twice the value has one alone.
  const distinct = map(array(whole, { maxLength: 5 }), (items) => JSON.stringify(items.map((item) => JSON.parse(item))))

  it.live(
    "has as many values as are counted",
    () =>
      forAll(all([distinct, int(1, 99), int(1, 99)]), ([text, work, small]) => {
        const values = count(JSON.parse(text))
        const enough = inSlices(text, { maxValues: values, maxMembers: Infinity }, work, small)
        const tooFew = inSlices(text, { maxValues: values - 1, maxMembers: Infinity }, work, small)
        assert.isTrue(Result.isSuccess(enough))
        assert.deepStrictEqual(tooFew, Result.fail("too many values"))
      }),
    timeout
  )
})
