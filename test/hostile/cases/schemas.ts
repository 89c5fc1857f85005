/**
 * Schemas that are deep, dangling or catastrophic, and annotations that would become bad headers: rows 32 and 33.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Raw from "../../support/rawServer.ts"
import { called, isOk, listed, structuredMember } from "../kit/answers.ts"
import { listAndTell, type Listed } from "../kit/listing.ts"
import type { Act, Case } from "../kit/suite.ts"
import { crosswise, type Said, times } from "../kit/ways.ts"
import { answer, asBody, errorAnswer, script, type Text } from "../kit/wire.ts"

const good = `{"name":"good","inputSchema":{"type":"object"}}`

/**
 * What a catastrophic pattern takes ages to refuse.
 */
const costlyText = `${"a".repeat(40)}!`

/**
 * Lists, and calls the tool `t` with arguments that a validator would trip over.
 */
const listAndCall: Exclude<Act, string> = (connection) =>
  Effect.gen(function*() {
    const tools = yield* connection.listTools()
    return { tools, result: yield* connection.callTool("t", { a: costlyText }) }
  })

/**
 * A tool with a schema that is passed on as it is, whatever it says.
 */
const passesOn = (
  name: string,
  members: string,
  check: (tool: any) => void = (tool) => assert.deepInclude(tool, JSON.parse(`{${members}}`))
): Said => ({
  row: 32,
  name,
  act: listAndCall,
  method: "tools/list",
  text: listed([`{"name":"t",${members}}`, good]),
  sees: ["tools/list", "tools/call"],
  outcome: "ok",
  check: ({ result, tools }) => {
    assert.deepStrictEqual(tools.map((tool: any) => tool.name), ["t", "good"])
    check(tools[0])
    isOk(result)
  }
})

const depth = 5000

/**
 * A schema in a schema in a schema: how each holds the next, as JSON around it and as a step into it.
 */
const nestings: Readonly<Record<string, readonly [before: string, after: string, into: (schema: any) => any]>> = {
  properties: [`{"type":"object","properties":{"a":`, "}}", (schema) => schema.properties?.a],
  items: [`{"type":"array","items":`, "}", (schema) => schema.items],
  anyOf: [`{"anyOf":[`, "]}", (schema) => schema.anyOf?.[0]],
  $defs: [`{"$defs":{"a":`, `},"$ref":"#/$defs/a"}`, (schema) => schema.$defs?.a]
}

const nested = (before: string, after: string, innermost: string): string =>
  `{"type":"object","properties":{"a":${before.repeat(depth)}${innermost}${after.repeat(depth)}}}`

const isNested = (schema: any, into: (schema: any) => any): void => {
  let levels = 0
  for (let at = schema.properties.a; at !== undefined; at = into(at)) levels++
  assert.strictEqual(levels, depth + 1)
}

const deep: ReadonlyArray<Said> = Object.entries(nestings).flatMap(([keyword, [before, after, into]]) => [
  passesOn(
    `an inputSchema ${depth} deep in ${keyword}`,
    `"inputSchema":${nested(before, after, "{}")}`,
    ({ inputSchema }) => isNested(inputSchema, into)
  ),
  passesOn(
    `an outputSchema ${depth} deep in ${keyword}`,
    `"inputSchema":{},"outputSchema":${nested(before, after, "{}")}`,
    ({ outputSchema }) => isNested(outputSchema, into)
  )
])

/**
 * A tool that names the server that the client tells of, wherever a URL may stand.
 */
const namingAnother: Text = (request) => {
  const url = request.message.params._meta.other
  const schema = `{"$schema":"${url}","$id":"${url}/id","properties":{"a":{"$ref":"${url}#/a"}},"$dynamicRef":"${url}"}`
  const icons = `[{"src":"${url}/icon.png"}]`
  return listed([`{"name":"t","inputSchema":${schema},"outputSchema":${schema},"icons":${icons}}`])(request)
}

const anotherServer: Said = {
  row: 32,
  name: "URLs of another server, which is never dialled",
  act: (connection) =>
    Effect.gen(function*() {
      const other = yield* Raw.make(Raw.modern())
      const tools = yield* connection.listTools({ meta: { other: other.url } })
      yield* connection.callTool("t", { a: 1 })
      return { tools, other }
    }),
  method: "tools/list",
  text: namingAnother,
  sees: ["tools/list", "tools/call"],
  outcome: "ok",
  check: ({ other, tools }) => {
    assert.strictEqual(tools[0].inputSchema.properties.a.$ref, `${other.url}#/a`)
    assert.strictEqual(other.connections(), 0)
  }
}

const itself: Text = (request) => {
  const url = `http://${request.headers["host"]}/mcp`
  return listed([`{"name":"t","inputSchema":{"properties":{"a":{"$ref":"${url}"}}}}`, good])(request)
}

const references: Readonly<Record<string, string>> = {
  "a dangling reference": `"inputSchema":{"properties":{"a":{"$ref":"#/$defs/nowhere"}}}`,
  "a reference to itself": `"inputSchema":{"$ref":"#"}`,
  "references in a circle":
    `"inputSchema":{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
  "a reference that is a number": `"inputSchema":{"$ref":5}`,
  "a reference to a file": `"inputSchema":{"$ref":"file:///etc/passwd"},"outputSchema":{"$ref":"file:///etc/passwd"}`,
  "a reference to a cloud's metadata": `"inputSchema":{"properties":{"a":{"$ref":"http://169.254.169.254/latest"}}}`,
  "a dangling anchor": `"inputSchema":{"$dynamicRef":"#nowhere","$recursiveRef":"#"}`
}

const catastrophic = `{"type":"object","properties":{"a":{"type":"string","pattern":"^(a+)+$"}}}`

const costly: Readonly<Record<string, string>> = {
  "a catastrophic pattern": `"inputSchema":${catastrophic}`,
  "a catastrophic pattern for names":
    `"inputSchema":{"patternProperties":{"^(a|a)*$":{}},"propertyNames":{"pattern":"(x+x+)+y"}}`,
  "a pattern that is none": `"inputSchema":{"properties":{"a":{"pattern":"("}}}`,
  "a union of 10,000": `"inputSchema":{"anyOf":[${Array.from({ length: 10_000 }, (_, i) => `{"const":${i}}`).join()}]}`,
  "a dialect that nobody knows": `"inputSchema":{"$schema":"https://schemas.example/nine"}`,
  "keywords of the wrong types": `"inputSchema":{"properties":[],"required":"a","anyOf":{},"exclusiveMinimum":true}`
}

const unvalidated: ReadonlyArray<Said> = [
  ...[...Object.entries(references), ...Object.entries(costly)].map(([name, members]) => passesOn(name, members)),
  {
    row: 32,
    name: "a reference to the server itself, which is not asked for it",
    act: listAndCall,
    method: "tools/list",
    text: itself,
    sees: ["tools/list", "tools/call"],
    outcome: "ok"
  },
  {
    row: 32,
    name: "two tools with one $id",
    act: "list",
    text: listed([
      `{"name":"a","inputSchema":{"$id":"urn:x","type":"object"}}`,
      `{"name":"b","inputSchema":{"$id":"urn:x","type":"object","required":["a"]}}`
    ]),
    outcome: "ok",
    check: (tools) => assert.deepStrictEqual(tools.map(({ name }: any) => name), ["a", "b"])
  }
]

const costlyAnswer: Case = {
  row: 32,
  name: "a catastrophic pattern for what comes back",
  act: listAndCall,
  answers: {
    "tools/list": script(asBody(listed([`{"name":"t","inputSchema":{},"outputSchema":${catastrophic}}`]))),
    "tools/call": script(asBody(called(structuredMember(`{"a":"${costlyText}"}`))))
  },
  sees: ["tools/list", "tools/call"],
  outcome: "ok",
  check: ({ result }) => assert.deepStrictEqual(result.structuredContent, { a: costlyText })
}

const annotated = (schema: string): string => `{"type":"object","properties":{"a":${schema}}}`
const withHeader = (type: string, header: string): string => `{"type":${type},"x-mcp-header":${header}}`
const mirrored = withHeader(`"string"`, `"A"`)

const notName = "not a header name"
const notReached = "stands where no argument is"
const notMirrorable = "no string, integer or boolean"

/**
 * Schemas with an annotation that none may have, and why.
 */
const badAnnotations: ReadonlyArray<readonly [name: string, inputSchema: string, reason: string]> = [
  ["an empty header", annotated(withHeader(`"string"`, `""`)), notName],
  ["a header with a space", annotated(withHeader(`"string"`, `"a b"`)), notName],
  ["a header with a colon", annotated(withHeader(`"string"`, `"a:"`)), notName],
  ["a header that is no ASCII", annotated(withHeader(`"string"`, `"ü"`)), notName],
  ["a header with CRLF", annotated(withHeader(`"string"`, `"A: 1\\r\\nX-Evil: 1"`)), notName],
  ["a header with a newline at its end", annotated(withHeader(`"string"`, `"A\\n"`)), notName],
  ["a header with NUL", annotated(withHeader(`"string"`, `"A\\u0000"`)), notName],
  ["a header that is a number", annotated(withHeader(`"string"`, "5")), notName],
  ["a header that is null", annotated(withHeader(`"string"`, "null")), notName],
  ["a header that is true", annotated(withHeader(`"string"`, "true")), notName],
  ["headers in a list", annotated(withHeader(`"string"`, `["A"]`)), notName],
  [
    "a header that is repeated in another case",
    `{"type":"object","properties":{"a":${mirrored},"b":${withHeader(`"string"`, `"a"`)}}}`,
    "repeated"
  ],
  [
    "a header that is repeated further in",
    `{"type":"object","properties":{"a":${mirrored},"b":${annotated(mirrored)}}}`,
    "repeated"
  ],
  ...["number", "object", "array", "null", "text"].map((type) =>
    [`a header on type ${type}`, annotated(withHeader(`"${type}"`, `"A"`)), notMirrorable] as const
  ),
  ["a header on several types", annotated(withHeader(`["string","null"]`, `"A"`)), notMirrorable],
  ["a header without a type", annotated(`{"x-mcp-header":"A"}`), notMirrorable],
  ["a header on the whole", `{"type":"object","x-mcp-header":"A"}`, notReached],
  ["a header under items", annotated(`{"type":"array","items":${mirrored}}`), notReached],
  ["a header under prefixItems", annotated(`{"type":"array","prefixItems":[${mirrored}]}`), notReached],
  ["a header on a property of an item", annotated(`{"type":"array","items":${annotated(mirrored)}}`), notReached],
  ...["anyOf", "oneOf", "allOf"].map((keyword) =>
    [`a header under ${keyword}`, annotated(`{"${keyword}":[${mirrored}]}`), notReached] as const
  ),
  ...["not", "if", "then", "else", "additionalProperties", "contains", "x-mine"].map((keyword) =>
    [`a header under ${keyword}`, annotated(`{"type":"object","${keyword}":${mirrored}}`), notReached] as const
  ),
  ...["$defs", "definitions", "patternProperties", "dependentSchemas"].map((keyword) =>
    [`a header under ${keyword}`, `{"type":"object","${keyword}":{"a":${mirrored}}}`, notReached] as const
  ),
  ["a header whose key is spelt with escapes", annotated(`{"type":"number","x\\u002dmcp-header":"A"}`), notMirrorable],
  [`a header ${depth} deep in anyOf`, nested(`{"anyOf":[`, "]}", mirrored), notReached],
  [
    "65 headers",
    `{"properties":{${Array.from({ length: 65 }, (_, i) => `"p${i}":${withHeader(`"string"`, `"H${i}"`)}`).join()}}}`,
    "more than 64"
  ]
]

/**
 * What only looks like a bad annotation.
 */
const goodAnnotations: Readonly<Record<string, string>> = {
  "a header on a string": annotated(mirrored),
  "a header on an integer": annotated(withHeader(`"integer"`, `"A"`)),
  "a header on a boolean": annotated(withHeader(`"boolean"`, `"A"`)),
  "a header on a property of a property": annotated(annotated(mirrored)),
  [`a header ${depth} deep in properties`]: nested(`{"type":"object","properties":{"a":`, "}}", mirrored),
  "a parameter that is called x-mcp-header": `{"properties":{"x-mcp-header":{"type":"number"}}}`,
  "a header in a default": annotated(`{"default":{"x-mcp-header":""}}`),
  "a header in values": annotated(`{"enum":[{"x-mcp-header":5}],"const":{"x-mcp-header":5},"examples":[${mirrored}]}`),
  "a header on a parameter that is called __proto__": `{"properties":{"__proto__":${mirrored}}}`
}

const tells = { act: listAndTell, method: "tools/list", sees: ["tools/list"], outcome: "ok" } as const

const namesOf = ({ tools }: Listed): ReadonlyArray<string> => tools.map(({ name }) => name)

const stays = (name: string, inputSchema: string): Said => ({
  row: 33,
  name,
  ...tells,
  text: listed([`{"name":"t","inputSchema":${inputSchema}}`, good]),
  check: (got: Listed) => {
    assert.deepStrictEqual(namesOf(got), ["t", "good"])
    assert.deepStrictEqual(got.refused, [])
  }
})

const excluded = (name: string, inputSchema: string, reason: string): Said => ({
  ...stays(name, inputSchema),
  check: (got: Listed) => {
    assert.deepStrictEqual(namesOf(got), ["good"])
    assert.lengthOf(got.refused, 1)
    assert.strictEqual(got.refused[0]?.name, "t")
    assert.include(got.refused[0]?.reason, reason)
  }
})

const annotations: ReadonlyArray<Case> = [
  ...badAnnotations.flatMap(([name, inputSchema, reason]) =>
    crosswise(excluded(name, inputSchema, reason), stays(name, inputSchema))
  ),
  ...Object.entries(goodAnnotations).flatMap(([name, inputSchema]) => crosswise(stays(name, inputSchema)))
]

const mismatch = errorAnswer(`{"code":-32020,"message":"mismatch"}`)
const askingAgain = answer(`{"resultType":"input_required","requestState":"s"}`)

const evil = `{"name":"t","inputSchema":${annotated(withHeader(`"string"`, `"A: 1\\r\\nX-Evil: 1"`))}}`

const consequences: ReadonlyArray<Case> = [
  {
    row: 33,
    name: "an exclusion is warned of, with the tool and the reason",
    act: listAndTell,
    answers: { "tools/list": script(asBody(listed([evil, good]))) },
    sees: ["tools/list"],
    outcome: "ok",
    check: ({ logs }: Listed) => {
      assert.lengthOf(logs, 1)
      assert.match(logs[0]!.message, /\bt: .*x-mcp-header/)
      assert.strictEqual(logs[0]!.level, "Warn")
    }
  },
  {
    row: 33,
    name: "a tool that was excluded and is called all the same has no headers",
    act: listAndCall,
    answers: { "tools/list": script(asBody(listed([evil]))) },
    sees: ["tools/list", "tools/call"],
    outcome: "ok",
    check: (_, { requests }) => {
      const { headers } = requests.at(-1)!
      assert.deepStrictEqual(
        Object.keys(headers).filter((name) => name.startsWith("mcp-param") || name === "x-evil"),
        []
      )
    }
  },
  {
    row: 33,
    name: "a value with CRLF is encoded",
    act: (connection) => Effect.andThen(connection.listTools(), connection.callTool("t", { a: "1\r\nX-Evil: 1" })),
    answers: {
      "tools/list": script(asBody(listed([`{"name":"t","inputSchema":${annotated(mirrored)}}`])))
    },
    sees: ["tools/list", "tools/call"],
    outcome: "ok",
    check: (_, { requests }) => {
      const { headers } = requests.at(-1)!
      assert.strictEqual(headers["mcp-param-a"], `=?base64?${Buffer.from("1\r\nX-Evil: 1").toString("base64")}?=`)
      assert.notProperty(headers, "x-evil")
    }
  },
  {
    row: 33,
    name: "headers that are never right: one listing, and one more call",
    answers: { "tools/call": script(asBody(mismatch, 400)) },
    sees: ["tools/call", "tools/list", "tools/call"],
    outcome: "ServerAnswered/RpcError",
    check: ({ reason }) => {
      assert.strictEqual(reason.code, -32020)
      assert.strictEqual(reason.status, 400)
    }
  },
  {
    row: 33,
    name: "headers that are not right, and a listing without end",
    answers: {
      "tools/call": script(asBody(mismatch, 400)),
      "tools/list": script(asBody(listed([], `"nextCursor":"c"`)))
    },
    sees: ["tools/call", "tools/list", "tools/list"],
    outcome: "ServerAnswered/PaginationLoop"
  },
  {
    row: 33,
    name: "headers that are not right in any round of input",
    answers: {
      "tools/call": script(asBody((request) => (request.nth % 2 === 0 ? mismatch : askingAgain)(request)))
    },
    sees: times(10, "tools/call", "tools/list", "tools/call"),
    outcome: "ServerAnswered/InputRequired",
    check: ({ reason }) => assert.strictEqual(reason.rounds, 10)
  }
]

export const schemas: ReadonlyArray<Case> = [
  ...[...deep, ...unvalidated, anotherServer].flatMap((said) => crosswise(said)),
  costlyAnswer,
  ...annotations,
  ...consequences
]
