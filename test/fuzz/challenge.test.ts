import { assert, describe, it } from "@effect/vitest"
import * as Challenge from "../../src/errors/Challenge.ts"
import { all, array, forAll, join, oneOf, pick, text, timeout } from "./support.ts"

const fragment = oneOf(
  pick("Bearer", "Basic ", "realm", "=", "\"", "\\", ",", " ", "\t", "a=b", "abc==", "__proto__=\"x\"", "SCOPE=1"),
  text
)
const headers = oneOf<string | ReadonlyArray<string>>(
  join(fragment, 40),
  array(join(fragment), { maxLength: 20 }),
  text
)

const token = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

describe("WWW-Authenticate", () => {
  it.live("of any text is read, within bounds, names in lower case", () =>
    forAll(headers, (value) => {
      const challenges = Challenge.parse(value)
      assert.isAtMost(challenges.length, 16)
      for (const { parameters, scheme, token68 } of challenges) {
        assert.match(scheme, token)
        assert.isNull(Object.getPrototypeOf(parameters))
        assert.isTrue(token68 === undefined || Object.keys(parameters).length === 0)
        for (const [name, read] of Object.entries(parameters)) {
          assert.match(name, token)
          assert.isString(read)
        }
      }
    }), timeout)

  const names = pick("realm", "scope", "Error", "__proto__", "constructor", "resource_metadata")
  const parameter = all([names, pick("=", " = ", "=\t"), text])
  const challenge = all([pick("Bearer", "DPoP", "negotiate"), array(parameter, { maxLength: 4 })])
  const quote = (value: string): string => `"${value.replace(/["\\]/g, "\\$&")}"`

  it.live(
    "that is well-formed says what was written",
    () =>
      forAll(all([array(challenge, { maxLength: 4 }), pick(",", ", ", " ,\t, ")]), ([written, comma]) => {
        const value = written.map(([scheme, parameters]) =>
          [scheme, parameters.map(([name, equals, said]) => name + equals + quote(said)).join(comma)].join(" ").trim()
        )
        const expected = written.map(([scheme, parameters]) => ({
          scheme: scheme.toLowerCase(),
          parameters: Object.fromEntries(
            // What is said twice is said first.
            parameters.map(([name, , said]) => [name.toLowerCase(), said] as const).reverse()
          )
        }))
        const plain = (challenges: ReadonlyArray<Challenge.Challenge>) =>
          challenges.map(({ parameters, scheme }) => ({ scheme, parameters: Object.entries(parameters).sort() }))
        assert.deepStrictEqual(plain(Challenge.parse(value.join(comma))), plain(expected))
        assert.deepStrictEqual(plain(Challenge.parse(value)), plain(expected))
      }),
    timeout
  )
})
