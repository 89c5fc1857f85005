import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as JsonSlices from "../src/internal/jsonSlices.ts"
import { sameJson } from "./support/sameJson.ts"

const unlimited: JsonSlices.Limits = { maxValues: Infinity, maxMembers: Infinity }

/**
 * The outcome, and in how many slices.
 */
const run = (
  text: string,
  limits = unlimited,
  work?: number,
  small?: number
): readonly [Result.Result<unknown, JsonSlices.Refusal>, number] => {
  const slices = JsonSlices.slices(text, limits, work, small)
  for (let count = 1;; count++) {
    const step = slices.next()
    if (step.done === true) return [step.value, count]
  }
}

/**
 * As an answer goes through it, and with all of it in slices, down to single characters.
 */
const sizes = [[undefined, undefined], [undefined, 1], [64, 1], [1, 1], [1, 8], [7, 40]] as const

const reference = (text: string): Result.Result<unknown, JsonSlices.Refusal> => {
  try {
    return Result.succeed(JSON.parse(text))
  } catch {
    return Result.fail("malformed")
  }
}

const isAsReference = (text: string): boolean => {
  const expected = reference(text)
  return sizes.every(([work, small]) => sameJson(run(text, unlimited, work, small)[0], expected))
}

const inside = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...texts,
  ...texts.map((text) => `[${text}]`),
  ...texts.map((text) => `{"a":${text},"b":[null,${text}]}`),
  ...texts.map((text) => ` \t\r\n${text}\n`)
]

describe("JSON.parse has the same", () => {
  it.each([
    { name: "numbers", texts: ["0", "-0", "1", "-1.5", "1e3", "1E+3", "1e-400", "1e400", "-1e400", "0.1", "0e0"] },
    { name: "large numbers", texts: ["12345678901234567890", "9007199254740993", `1${"0".repeat(400)}`] },
    { name: "names", texts: ["true", "false", "null"] },
    { name: "strings", texts: ["\"\"", "\"a\"", "\"é€😀\u2028\u007f\"", `"${"x".repeat(10_000)}"`] },
    {
      name: "escapes",
      texts: [
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\\u0041\\u00e9\\u0000\\uD83D\\uDE00\"",
        "\"\\\\\"",
        "\"\\\\\\\"\"",
        "\"\\u0022\"",
        "\"\\\\u0041\"",
        "\"a,b:c]d}\\\"\"",
        `"${"\\u20ac\\n\\\\".repeat(1000)}"`
      ]
    },
    { name: "lone surrogates", texts: ["\"\\ud800\"", "\"\\ude00\\ud83d\"", "\"\ud800\"", "\"\udc00x\\ud800\""] },
    { name: "arrays", texts: ["[]", "[ ]", "[1]", "[1, 2 ,3]", "[[],[[]],[[[]]]]", "[1.5,2.5,\"\"]"] },
    { name: "objects", texts: ["{}", "{ }", "{\"a\":1}", "{ \"a\" : 1 , \"b\" : { } }", "{\"\":0}"] },
    {
      name: "keys of Object.prototype",
      texts: ["{\"__proto__\":1}", "{\"__proto__\":{\"x\":1},\"toString\":2,\"constructor\":[]}"]
    },
    {
      name: "keys that come twice",
      texts: ["{\"a\":1,\"b\":2,\"a\":3}", "{\"__proto__\":1,\"b\":2,\"__proto__\":3}", "{\"1\":1,\"1\":{}}"]
    },
    { name: "keys that are indices", texts: ["{\"b\":1,\"10\":2,\"9\":3,\"-1\":4,\"4294967295\":5,\"01\":6}"] },
    { name: "much of it", texts: [`[${"[1,{\"a\":\"b\"}],".repeat(3000)}0]`, `[${" ".repeat(5000)}]`] }
  ])("$name", ({ texts }) => {
    for (const text of inside(texts)) {
      assert.isTrue(Result.isSuccess(reference(text)), text)
      assert.isTrue(isAsReference(text), text)
    }
  })

  it.each([
    { name: "nothing", texts: ["", " ", "\n"] },
    {
      name: "numbers that are none",
      texts: ["01", "-", "-01", "1.", ".5", "+1", "1e", "1e+", "0x1", "1_0", "--1", "1-1"]
    },
    {
      name: "names that are none",
      texts: ["nul", "nulll", "True", "NaN", "Infinity", "-Infinity", "undefined", "truefalse"]
    },
    { name: "strings without an end", texts: ["\"", "\"a", "\"\\", "\"\\\"", "\"\\u", "\"\\u\"", "\"\\u12\"34\""] },
    {
      name: "escapes that are none",
      texts: ["\"\\x41\"", "\"\\u12g4\"", "\"\\'\"", "\"\\\n\"", "\"\\U0041\"", "\"\\u+123\""]
    },
    {
      name: "control characters",
      texts: ["\"\0\"", "\"\n\"", "\"\t\"", "\"\u001f\"", "\0", "[1,\u000b2]", "[1\u00a0]"]
    },
    { name: "byte order marks", texts: ["\ufeff", "\ufeff{}", "{}\ufeff"] },
    {
      name: "commas",
      texts: [",", "[,]", "[1,]", "[,1]", "[1,,2]", "{,}", "{\"a\":1,}", "{,\"a\":1}", "1,", "1,2", "[1 2]"]
    },
    {
      name: "colons",
      texts: [":", "[1:2]", "{\"a\"}", "{\"a\":}", "{\"a\" 1}", "{\"a\"::1}", "{:1}", "\"a\":1", "{\"a\":1:2}"]
    },
    { name: "brackets", texts: ["[", "]", "{", "}", "[}", "{]", "[1}", "{\"a\":1]", "[]]", "{}}", "[[]", "{\"a\":{}"] },
    { name: "keys that are none", texts: ["{a:1}", "{1:1}", "{'a':1}", "{[]:1}", "{{}:1}", "{null:1}"] },
    { name: "what follows", texts: ["{}{}", "[] []", "1 1", "null x", "\"a\"\"b\"", "{}//", "/**/1", "{} \0"] }
  ])("refusal of $name", ({ texts }) => {
    for (const text of inside(texts)) {
      assert.isTrue(isAsReference(text), text)
    }
  })

  it("depth", () => {
    for (const [open, inner, close] of [["[", "", "]"], ["[1,", "2", "]"], ["{\"a\":", "null", "}"]] as const) {
      for (const depth of [7, 8, 9, 10, 500, 10_000]) {
        assert.isTrue(isAsReference(open.repeat(depth) + inner + close.repeat(depth)))
        assert.isTrue(isAsReference(open.repeat(depth) + inner + close.repeat(depth - 1)))
      }
    }
  })

  it("every cut of a text", () => {
    const text = "{\"a\":[1,-0.5e3,\"\\u00e9\\\\\\\"\",{\"__proto__\":[]}],\"b\\n\":{\"c\":null},\"d\":[true,false]}"
    for (let end = 0; end <= text.length; end++) assert.isTrue(isAsReference(text.slice(0, end)))
  })
})

describe("limits", () => {
  const nested = "{\"a\":[1,\"2\",{}],\"b\":{\"c\":null}}"
  const long = `[${"[0],".repeat(5000)}0]`

  const outcomes = (text: string, limits: JsonSlices.Limits): ReadonlyArray<string> =>
    sizes.map(([work, small]) =>
      Result.match(run(text, limits, work, small)[0], {
        onFailure: (refusal) => refusal,
        onSuccess: () => "a value"
      })
    )

  it.each([
    { max: 0, text: "1", outcome: "too many values" },
    { max: 0, text: "\"1\"", outcome: "too many values" },
    { max: 0, text: "[]", outcome: "too many values" },
    { max: 1, text: "[]", outcome: "a value" },
    { max: 3, text: "[1,2]", outcome: "a value" },
    { max: 2, text: "[1,2]", outcome: "too many values" },
    { max: 3, text: "[[],[ ]]", outcome: "a value" },
    { max: 2, text: "[[],[ ]]", outcome: "too many values" },
    { max: 7, text: nested, outcome: "a value" },
    { max: 6, text: nested, outcome: "too many values" },
    { max: 10_002, text: long, outcome: "a value" },
    { max: 10_001, text: long, outcome: "too many values" },
    { max: 2, text: "[1,2,", outcome: "too many values" },
    { max: 3, text: "[1,2,", outcome: "malformed" }
  ])("of $max values: $text", ({ max, outcome, text }) => {
    assert.deepStrictEqual(new Set(outcomes(text, { maxValues: max, maxMembers: 9 })), new Set([outcome]))
  })

  it.each([
    { max: 2, text: nested, outcome: "a value" },
    { max: 1, text: nested, outcome: "too many members" },
    { max: 1, text: "[{\"a\":1},{\"a\":1},{\"b\":1}]", outcome: "a value" },
    { max: 0, text: "{\"a\":1}", outcome: "too many members" },
    { max: 0, text: "{}", outcome: "a value" },
    { max: 1, text: "{\"a\":1,\"a\":2}", outcome: "too many members" },
    { max: 1, text: "{\"a\":1,\"b\":", outcome: "too many members" },
    { max: 2, text: "{\"a\":1,\"b\":", outcome: "malformed" }
  ])("of $max members: $text", ({ max, outcome, text }) => {
    assert.deepStrictEqual(new Set(outcomes(text, { maxValues: 9, maxMembers: max })), new Set([outcome]))
  })

  it.live("are failures", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* JsonSlices.parse("[1]", { maxValues: 2, maxMembers: 0 }), [1])
      assert.strictEqual(
        yield* Effect.flip(JsonSlices.parse("[1]", { maxValues: 1, maxMembers: 0 })),
        "too many values"
      )
      assert.strictEqual(yield* Effect.flip(JsonSlices.parse("[1", unlimited)), "malformed")
    }))
})

/**
 * Runs an effect while others have things to do in the same process, and counts how often they could.
 */
const besides = <A>(effect: Effect.Effect<A>) =>
  Effect.suspend(() => {
    let immediates = 0
    let timers = 0
    let isOver = false
    const onImmediate = (): void => {
      immediates++
      if (!isOver) setImmediate(onImmediate)
    }
    const onTimer = (): void => {
      timers++
      if (!isOver) setTimeout(onTimer)
    }
    setImmediate(onImmediate)
    setTimeout(onTimer)
    return Effect.map(effect, (result) => {
      isOver = true
      return { result, immediates, timers }
    })
  })

const size = 8 * 1024 * 1024

/**
 * A text of the size, of items that are told apart by their number.
 */
const listOf = (open: string, item: (i: number) => string, close: string): string => {
  const items: Array<string> = []
  for (let i = 0, length = 0; length < size; i++) {
    const next = item(i)
    items.push(next)
    length += next.length + 1
  }
  return `${open}${items.join(",")}${close}`
}

const members = (first: number, count: number): string =>
  Array.from({ length: count }, (_, i) => `"${(first + i).toString(36)}":1`).join(",")

const hostile = [
  { name: "numbers", text: () => listOf("[", () => "1", "]"), outcome: "too many values" },
  { name: "empty strings", text: () => listOf("[", () => "\"\"", "]"), outcome: "too many values" },
  { name: "empty objects", text: () => listOf("[", () => "{}", "]"), outcome: "too many values" },
  { name: "one string", text: () => `"${"x".repeat(size)}"`, outcome: "a value" },
  { name: "a string of escaped quotes", text: () => `"${"\\\"".repeat(size / 2)}"`, outcome: "a value" },
  { name: "a string of escapes", text: () => `"${"\\u20ac".repeat(size / 6)}"`, outcome: "a value" },
  { name: "a string without an end", text: () => `["${"\u2222".repeat(size)}`, outcome: "malformed" },
  { name: "a number", text: () => "1".repeat(size), outcome: "a value" },
  { name: "white space", text: () => `${" ".repeat(size)}1`, outcome: "a value" },
  { name: "nested arrays", text: () => "[".repeat(size / 2) + "]".repeat(size / 2), outcome: "too many values" },
  { name: "nested objects", text: () => "{\"a\":".repeat(size / 5), outcome: "too many values" },
  { name: "keys of one object", text: () => listOf("{", (i) => members(i, 1), "}"), outcome: "too many members" },
  { name: "wide new shapes", text: () => listOf("[", (i) => `{${members(100 * i, 100)}}`, "]"), outcome: "a value" },
  {
    name: "narrow new shapes",
    text: () => listOf("[", (i) => `{${members(5 * i, 5)}}`, "]"),
    outcome: "too many values"
  }
]

const standard: JsonSlices.Limits = { maxValues: 2 ** 20, maxMembers: 2 ** 16 }

describe("others have their turn", () => {
  it.live.each(hostile)("during 8 MiB: $name", ({ outcome, text }) =>
    Effect.gen(function*() {
      const { immediates, result, timers } = yield* besides(
        Effect.match(JsonSlices.parse(text(), standard), {
          onFailure: (refusal) => refusal,
          onSuccess: () => "a value"
        })
      )
      assert.strictEqual(result, outcome)
      assert.isAtLeast(immediates, 30)
      assert.isAbove(timers, 0)
    }), 60_000)

  const text = listOf("[", (i) => `{${members(i % 100, 10)}}`, "]").slice(0, size / 8)

  it.live("between any two slices, of however many texts", () =>
    Effect.gen(function*() {
      const [, slices] = run(text)
      const many = Array.from({ length: 8 }, () => Effect.result(JsonSlices.parse(text, unlimited)))
      const { immediates } = yield* besides(Effect.all(many, { concurrency: "unbounded" }))
      assert.isAtLeast(immediates, 8 * slices)
    }))
})

describe("several texts", () => {
  const large = `[${"{\"a\":[1,2,3]},".repeat(30_000)}0]`
  const ticks = (count: number) => Effect.repeat(Effect.yieldNow, { times: count })

  it.live("all end with their own values, the small one before the large ones", () =>
    Effect.gen(function*() {
      const ended: Array<number> = []
      const texts = [large, large.replaceAll("1", "-0"), "[\"small\"]"]
      const values = yield* Effect.forEach(
        texts,
        (text, i) => Effect.tap(JsonSlices.parse(text, unlimited), () => Effect.sync(() => ended.push(i))),
        { concurrency: "unbounded" }
      )
      for (const [i, text] of texts.entries()) assert.isTrue(sameJson(values[i], JSON.parse(text)))
      assert.strictEqual(ended[0], 2)
    }))

  it.live.each([0, 1, 2, 3, 10])(
    "do not wait for one that was interrupted after %i turns",
    (count) =>
      Effect.gen(function*() {
        const first = yield* Effect.forkChild(JsonSlices.parse(large, unlimited))
        const second = yield* Effect.forkChild(JsonSlices.parse(large, unlimited))
        yield* ticks(count)
        assert.isUndefined(first.pollUnsafe())
        assert.isUndefined(second.pollUnsafe())
        yield* Fiber.interrupt(first)
        assert.deepStrictEqual(yield* JsonSlices.parse("[1]", unlimited), [1])
        yield* Fiber.interrupt(second)
        assert.deepStrictEqual(yield* JsonSlices.parse("[2]", unlimited), [2])
      })
  )
})
