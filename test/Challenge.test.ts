import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Challenge from "../src/errors/Challenge.ts"

const seeded = { arbitrary: { runs: 300, seed: 20260728 } }

/**
 * `[scheme, parameters]` or `[scheme, token68]`.
 */
type Expected = readonly [string, string | Readonly<Record<string, string>>]

const shown = (challenges: ReadonlyArray<Challenge.Challenge>): ReadonlyArray<Expected> =>
  challenges.map(({ parameters, scheme, token68 }) => [scheme, token68 ?? { ...parameters }])

const wellFormed: ReadonlyArray<readonly [string, ReadonlyArray<Expected>]> = [
  ["", []],
  ["Basic", [["basic", {}]]],
  ["BEARER", [["bearer", {}]]],
  ["Basic realm=\"simple\"", [["basic", { realm: "simple" }]]],
  ["Bearer realm=simple", [["bearer", { realm: "simple" }]]],
  // RFC 9110, section 11.6.1.
  [
    "Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"",
    [["basic", { realm: "simple" }], ["newauth", { realm: "apps", type: "1", title: "Login to \"apps\"" }]]
  ],
  [
    "Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"",
    [["newauth", { realm: "apps", type: "1", title: "Login to \"apps\"" }], ["basic", { realm: "simple" }]]
  ],
  // RFC 9728, section 5.1, and RFC 6750, section 3.
  [
    "Bearer resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource?a=b,c\"",
    [["bearer", { resource_metadata: "https://mcp.example/.well-known/oauth-protected-resource?a=b,c" }]]
  ],
  [
    "Bearer realm=\"example\", error=\"invalid_token\", error_description=\"The access token expired\"",
    [["bearer", { realm: "example", error: "invalid_token", error_description: "The access token expired" }]]
  ],
  ["Bearer scope=\"a b, c\"", [["bearer", { scope: "a b, c" }]]],
  ["Digest qop=\"auth,auth-int\", nonce=\"x=,y\"", [["digest", { qop: "auth,auth-int", nonce: "x=,y" }]]],
  ["Bearer a=\"\"", [["bearer", { a: "" }]]],
  ["Bearer a=\"\\\\\\\"\\a\"", [["bearer", { a: "\\\"a" }]]],
  ["Bearer REALM=\"x\"", [["bearer", { realm: "x" }]]],
  ["Bearer realm = \"x\" ,\terror\t=\ty", [["bearer", { realm: "x", error: "y" }]]],
  ["Bearer   realm=\"x\"", [["bearer", { realm: "x" }]]],
  ["Negotiate YII=", [["negotiate", "YII="]]],
  ["Negotiate a-._~+/1==", [["negotiate", "a-._~+/1=="]]],
  ["Negotiate abcd", [["negotiate", "abcd"]]],
  ["Negotiate abcd==, Basic realm=\"x\"", [["negotiate", "abcd=="], ["basic", { realm: "x" }]]],
  ["Basic realm=\"x\", Negotiate abcd==", [["basic", { realm: "x" }], ["negotiate", "abcd=="]]],
  ["Negotiate, NTLM , Basic realm=\"x\"", [["negotiate", {}], ["ntlm", {}], ["basic", { realm: "x" }]]],
  [" , ,Basic realm=\"x\",,\t, ", [["basic", { realm: "x" }]]],
  ["Bearer __proto__=\"x\", constructor=y", [["bearer", JSON.parse("{\"__proto__\":\"x\",\"constructor\":\"y\"}")]]]
]

/**
 * What is malformed is skipped; what is not is found all the same.
 */
const malformed: ReadonlyArray<readonly [string, ReadonlyArray<Expected>]> = [
  [",,, ,", []],
  ["\"\"", []],
  ["=", []],
  ["Bearer realm=\"never ends", [["bearer", { realm: "never ends" }]]],
  ["Bearer realm=\"ends in a backslash\\", [["bearer", { realm: "ends in a backslash" }]]],
  ["Bearer a=\"1\" b=\"2\"", [["bearer", { a: "1", b: "2" }]]],
  ["Bearer a=1, a=2", [["bearer", { a: "1" }]]],
  ["Bearer \"a, Basic realm=x\", Digest realm=\"y\"", [["bearer", {}], ["digest", { realm: "y" }]]],
  ["Bearer realm=\"x\", \"a, Basic b=c\", error=d", [["bearer", { realm: "x", error: "d" }]]],
  ["realm=\"x\", Basic realm=\"y\"", [["basic", { realm: "y" }]]]
]

describe("parse", () => {
  it.each(wellFormed)("reads %j", (text, expected) => {
    assert.deepStrictEqual(shown(Challenge.parse(text)), expected)
  })

  it.each(malformed)("skips what is malformed in %j", (text, expected) => {
    assert.deepStrictEqual(shown(Challenge.parse(text)), expected)
  })

  it("goes on after a URL that is not quoted", () => {
    const parsed = Challenge.parse("Bearer resource_metadata=https://mcp.example/x/y?z, scope=\"a b\"")
    assert.deepStrictEqual(parsed.map(({ scheme }) => scheme), ["bearer"])
    assert.strictEqual(parsed[0]?.parameters["scope"], "a b")
  })

  it("reads no header, and several", () => {
    assert.deepStrictEqual(Challenge.parse(undefined), [])
    assert.deepStrictEqual(Challenge.parse([]), [])
    assert.deepStrictEqual(shown(Challenge.parse(["Negotiate", "NTLM"])), [["negotiate", {}], ["ntlm", {}]])
    assert.deepStrictEqual(shown(Challenge.parse(["Negotiate", "Bearer a=b, c=d", "Basic YQ=="])), [
      ["negotiate", {}],
      ["bearer", { a: "b", c: "d" }],
      ["basic", "YQ=="]
    ])
  })

  it("gives parameters no prototype", () => {
    const [challenge] = Challenge.parse("Bearer __proto__=\"x\"")
    assert.isNull(Object.getPrototypeOf(challenge?.parameters))
    assert.isUndefined(challenge?.parameters["constructor"])
    assert.isUndefined(({} as Record<string, unknown>)["x"])
  })

  const large = 1024 * 1024
  const pieces = [
    "a",
    ",",
    "\"",
    "\\",
    "=",
    " ",
    "a=",
    "a ",
    "a,",
    "a=\"",
    "\\\"",
    "Basic ",
    "a=b,",
    "\0",
    "é",
    "a=\"b\","
  ]

  it.each(pieces)("returns from a megabyte of %j", (piece) => {
    const flood = piece.repeat(Math.ceil(large / piece.length))
    for (const text of [flood, `Bearer ${flood}`, `Bearer realm="${flood}`, `Bearer realm="${flood}", a=b`]) {
      for (const value of [text, [text, text]]) {
        const parsed = Challenge.parse(value)
        assert.isAtMost(parsed.length, 16)
        assert.isTrue(parsed.every(({ scheme }) => scheme !== ""))
      }
    }
  })

  const Text = Schema.String

  it.prop("never throws, and names schemes in lower case", [Text], ([text]) => {
    for (const { parameters, scheme } of Challenge.parse(`Bearer ${text}`)) {
      assert.match(scheme, /^[!#$%&'*+\-.^_`|~0-9a-z]+$/)
      for (const name of Object.keys(parameters)) assert.match(name, /^[!#$%&'*+\-.^_`|~0-9a-z]+$/)
    }
  }, seeded)

  it.prop("reads back what was quoted", [Text, Text], ([one, two]) => {
    const quoted = (text: string) => `"${text.replace(/["\\]/g, "\\$&")}"`
    assert.deepStrictEqual(shown(Challenge.parse(`A one=${quoted(one)}, two=${quoted(two)}, B c=d`)), [
      ["a", { one, two }],
      ["b", { c: "d" }]
    ])
  }, seeded)
})
