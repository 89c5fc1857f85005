import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidInput } from "../src/errors/McpError.ts"
import * as JsonText from "../src/schema/Json.ts"

const seeded = { arbitrary: { runs: 300, seed: 20260728 } }

const objects = [
  "{}",
  " \t\r\n{ } \n",
  "{\"b\":1,\"a\":2}",
  "{\"a\":1e3,\"b\":12345678901234567890,\"c\":1.0,\"d\":1e400,\"e\":-0}",
  "{\"a\":1,\"a\":2}",
  "{\"__proto__\":1,\"constructor\":{\"prototype\":2}}",
  "{\"a\":\"}{\",\"b\":\"\\ud800\",\"c\":\"\\u0000\"}",
  "{\"a\":[{},[],null,true]}",
  `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
]

const others = [
  "",
  " ",
  "{",
  "}",
  "{}}",
  "{}{}",
  "{},{}",
  "{} {}",
  "{}\n{}",
  "{};",
  "{}//",
  "{},\"x\":1",
  "}{",
  "[]",
  "[{}]",
  "null",
  "true",
  "5",
  "NaN",
  "undefined",
  "\"{}\"",
  "\"a\"",
  "({})",
  "{a:1}",
  "{'a':1}",
  "{\"a\":1,}",
  "{\"a\":01}",
  "{\"a\":+1}",
  "{\"a\":.5}",
  "{\"a\":0x1}",
  "{\"a\":undefined}",
  "{\"a\":\"b\nc\"}",
  "{\"a\":\"\t\"}",
  "{\"a\":\"\\x41\"}",
  "{/**/}",
  "\ufeff{}",
  "\u00a0{}",
  "{}\0",
  "{\"secret\":",
  "[".repeat(100_000)
]

describe("make", () => {
  it.each(objects.map((text) => [text.slice(0, 60), text]))("takes %j as it is", (_, text) => {
    assert.strictEqual(Result.getOrThrow(JsonText.make(text)), text)
    assert.strictEqual(JsonText.makeUnsafe(text), text)
  })

  it.each(others.map((text) => [text.slice(0, 60), text]))("refuses %j, and does not quote it", (_, text) => {
    const refusal = Result.getOrThrow(Result.flip(JsonText.make(text)))
    assert.instanceOf(refusal, InvalidInput)
    assert.notInclude(refusal.message + JSON.stringify(refusal), "secret")
    assert.throws(() => JsonText.makeUnsafe(text), InvalidInput)
  })

  it.prop(
    "takes an object, and neither two of them nor one in a list",
    [Schema.Record(Schema.String, Schema.String)],
    ([
      object
    ]) => {
      const text = JSON.stringify(object, null, 1)
      assert.strictEqual(Result.getOrThrow(JsonText.make(text)), text)
      for (const not of [text + text, `[${text}]`, JSON.stringify(text), text.slice(1), text.slice(0, -1)]) {
        assert.isTrue(Result.isFailure(JsonText.make(not)), not)
      }
    },
    seeded
  )
})
