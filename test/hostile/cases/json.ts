/**
 * JSON that is deep, and keys that are odd: row 25. Its characters and numbers are in `jsonText.ts`.
 */
import { assert } from "@effect/vitest"
import { called, discovered, introduced, isOk, listed, structuredMember } from "../kit/answers.ts"
import { tooMuch } from "../kit/outcomes.ts"
import type { Case } from "../kit/suite.ts"
import { bothWays, noMessage, type Said } from "../kit/ways.ts"
import { answer, errorAnswer, okResult, say } from "../kit/wire.ts"

/**
 * As deep as the client reads, but for the message around it.
 */
const depth = 32_700
const tooDeep = 100_000
const deepList = "[".repeat(depth) + "]".repeat(depth)
const deepObject = `${`{"a":`.repeat(depth)}null${"}".repeat(depth)}`

const isDeep = (value: any): void => {
  let levels = 0
  for (let at = value; typeof at === "object" && at !== null; at = at[0] ?? at.a) levels++
  assert.strictEqual(levels, depth)
}

const deep: ReadonlyArray<Said> = [
  ...[
    ["nested arrays", "[".repeat(tooDeep) + "]".repeat(tooDeep)],
    ["nested objects", `${`{"a":`.repeat(tooDeep)}null${"}".repeat(tooDeep)}`],
    ["arrays that never close", "[".repeat(tooDeep)]
  ].map(([what, text]): Said => ({
    row: 25,
    name: `100,000 ${what}`,
    text: say(text!),
    ...tooMuch("levels of nesting", 32_768)
  })),
  {
    row: 25,
    name: "deep arrays in structuredContent, whose text is its JSON where the stack allows",
    text: called(structuredMember(deepList)),
    outcome: "ok",
    check: ({ structuredContent, text }) => {
      isDeep(structuredContent)
      assert.isTrue(text === deepList || text === "")
    }
  },
  {
    row: 25,
    name: "deep objects in structuredContent",
    text: called(structuredMember(deepObject)),
    outcome: "ok",
    check: ({ structuredContent }) => isDeep(structuredContent)
  },
  {
    row: 25,
    name: "a content block that is deep arrays",
    text: called(`"content":[${deepList}]`),
    outcome: "ok",
    check: ({ content: [block] }) => isDeep(block.raw)
  },
  {
    row: 25,
    name: "deep arrays in _meta",
    text: called(`"content":[],"_meta":{"deep":${deepList}}`),
    outcome: "ok",
    check: ({ meta }) => isDeep(meta.deep)
  },
  {
    row: 25,
    name: "deep arrays beside the result",
    text: say(`{"jsonrpc":"2.0","id":$ID,"extra":${deepList},"result":${okResult}}`),
    outcome: "ok",
    check: isOk
  },
  {
    row: 25,
    name: "deep arrays in the data of an error, which its JSON leaves out",
    text: errorAnswer(`{"code":-32000,"message":"no","data":${deepList}}`),
    outcome: "ServerAnswered/RpcError",
    check: (error) => {
      isDeep(error.reason.data)
      assert.notInclude(JSON.stringify(error), "[[")
    }
  },
  {
    row: 25,
    name: "deep arrays in a tool",
    act: "list",
    text: listed([`{"name":"t","inputSchema":{"default":${deepList}}}`]),
    outcome: "ok",
    check: ([tool]) => isDeep(tool.inputSchema.default)
  },
  {
    row: 25,
    name: "deep objects in the server's capabilities",
    act: "connect",
    text: discovered(`"capabilities":{"tools":{},"deep":${deepObject}}`),
    outcome: "ok",
    check: ({ serverCapabilities }) => isDeep(serverCapabilities.deep)
  },
  {
    row: 25,
    name: "deep objects in the server's name of itself",
    act: "connect",
    text: introduced(`{"name":"n","version":"1","deep":${deepObject}}`),
    outcome: "ok",
    check: ({ serverInfo }) => isDeep(serverInfo.deep)
  }
]

/**
 * Members that would be inherited, or inherited by all, where somebody assigns them.
 */
const poison = `"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}`
const poisoned = `{${poison}}`

const noneIsPolluted = (): void => {
  assert.notProperty({}, "polluted")
  assert.notProperty([], "polluted")
}

/**
 * That a value has the poison as members of its own, and nothing of it as a prototype.
 */
const holdsPoison = (value: any): void => {
  noneIsPolluted()
  assert.include(JSON.stringify(value), poison)
  assert.strictEqual(Object.getPrototypeOf(value), Object.prototype)
}

/**
 * Where the poison may stand, and what then holds it.
 */
const poisonedPlaces: ReadonlyArray<Pick<Said, "name" | "act" | "text"> & { readonly holder: (got: any) => unknown }> =
  [
    {
      name: "structuredContent",
      text: called(structuredMember(poisoned)),
      holder: ({ structuredContent }) => structuredContent
    },
    {
      name: "a value inside structuredContent",
      text: called(structuredMember(`{"a":[${poisoned}]}`)),
      holder: ({ structuredContent }) => structuredContent.a[0]
    },
    {
      name: "an unknown block",
      text: called(`"content":[{"type":"x",${poison}}]`),
      holder: ({ content: [block] }) => block.raw
    },
    {
      name: "annotations",
      text: called(`"content":[{"type":"text","text":"","annotations":${poisoned}}]`),
      holder: ({ content: [block] }) => block.annotations
    },
    { name: "_meta", text: called(`"content":[],"_meta":${poisoned}`), holder: ({ meta }) => meta },
    {
      name: "a tool",
      act: "list",
      text: listed([`{"name":"t","inputSchema":{},${poison}}`]),
      holder: ([tool]) => tool
    },
    {
      name: "a tool that has to be mended",
      act: "list",
      text: listed([`{"name":"t","inputSchema":{},"title":5,"_meta":{},${poison}}`]),
      holder: ([tool]) => tool
    },
    {
      name: "the properties of an inputSchema",
      act: "list",
      text: listed([`{"name":"t","inputSchema":{"properties":${poisoned}}}`]),
      holder: ([tool]) => tool.inputSchema.properties
    },
    {
      name: "capabilities",
      act: "connect",
      text: discovered(`"capabilities":{"tools":{},${poison}}`),
      holder: ({ serverCapabilities }) => serverCapabilities
    },
    {
      name: "the server's name of itself",
      act: "connect",
      text: introduced(`{"name":"n","version":"1",${poison}}`),
      holder: ({ serverInfo }) => serverInfo
    }
  ]

const poisonous: ReadonlyArray<Said> = [
  ...poisonedPlaces.map(({ holder, ...place }): Said => ({
    ...place,
    row: 25,
    name: `__proto__ and constructor in ${place.name}`,
    outcome: "ok",
    check: (got) => holdsPoison(holder(got))
  })),
  {
    row: 25,
    name: "__proto__ and constructor in the data of an error",
    text: errorAnswer(`{"code":-32000,"message":"no",${poison},"data":${poisoned}}`),
    outcome: "ServerAnswered/RpcError",
    check: ({ reason }) => holdsPoison(reason.data)
  },
  {
    row: 25,
    name: "__proto__ and constructor in the envelope, the result and a block",
    text: say(
      `{"jsonrpc":"2.0","id":$ID,${poison},"result":{${poison},"content":[{"type":"text","text":"ok",${poison}}]}}`
    ),
    outcome: "ok",
    check: (got) => {
      noneIsPolluted()
      assert.deepStrictEqual(got.content, [{ type: "text", text: "ok" }])
      assert.doesNotHaveAnyKeys(got, ["polluted", "constructor"])
    }
  },
  {
    row: 25,
    name: "a result that __proto__ would lend",
    text: say(`{"jsonrpc":"2.0","id":$ID,"__proto__":{"result":${okResult}}}`),
    outcome: "ConnectionFailed/ProtocolViolation"
  },
  {
    row: 25,
    name: "an error that __proto__ would lend",
    text: errorAnswer(`{"__proto__":{"code":-32000,"message":"no"}}`),
    outcome: "ConnectionFailed/ProtocolViolation"
  },
  {
    row: 25,
    name: "content that __proto__ would lend",
    text: answer(`{"__proto__":${okResult}}`),
    outcome: "ServerAnswered/Unreadable"
  },
  {
    row: 25,
    name: "a block that __proto__ would lend",
    text: called(`"content":[{"__proto__":{"type":"text","text":"evil"}}]`),
    outcome: "ok",
    check: ({ content: [block], text }) => {
      assert.strictEqual(block.type, "unknown")
      assert.strictEqual(text, "")
    }
  },
  {
    row: 25,
    name: "a tool that __proto__ would lend",
    act: "list",
    text: listed([`{"__proto__":{"name":"t","inputSchema":{}}}`]),
    outcome: "ok",
    check: (tools) => assert.deepStrictEqual(tools, [])
  },
  {
    row: 25,
    name: "capabilities that __proto__ would lend",
    act: "connect",
    text: discovered(`"capabilities":{"__proto__":{"tools":{}}}`),
    outcome: "ok",
    check: ({ serverCapabilities }) => assert.isFalse(Object.hasOwn(serverCapabilities, "tools"))
  },
  {
    row: 25,
    name: "a name of the server that __proto__ would lend",
    act: "connect",
    text: introduced(`{"__proto__":{"name":"n","version":"1"}}`),
    outcome: "ok",
    check: ({ serverInfo }) => assert.isUndefined(serverInfo)
  }
]

/**
 * Of keys that are there twice the last one counts, as for `JSON.parse`.
 */
const duplicates: ReadonlyArray<Said> = [
  {
    row: 25,
    name: "result twice",
    text: say(`{"jsonrpc":"2.0","id":$ID,"result":null,"result":${okResult}}`),
    outcome: "ok",
    check: isOk
  },
  {
    row: 25,
    name: "result twice, the last one null",
    text: say(`{"jsonrpc":"2.0","id":$ID,"result":${okResult},"result":null}`),
    outcome: "ConnectionFailed/ProtocolViolation"
  },
  {
    row: 25,
    name: "id twice, the last one of another request",
    text: say(`{"jsonrpc":"2.0","id":$ID,"id":77,"result":${okResult}}`),
    outcome: "ConnectionFailed/ProtocolViolation"
  },
  {
    row: 25,
    name: "a value twice in a result",
    text: called(structuredMember(`{"a":1,"a":2}`)),
    outcome: "ok",
    check: ({ structuredContent }) => assert.deepStrictEqual(structuredContent, { a: 2 })
  },
  {
    row: 25,
    name: "the name of a tool twice, the second spelt with escapes",
    act: "list",
    text: listed([`{"name":"a","n\\u0061me":"b","inputSchema":{}}`]),
    outcome: "ok",
    check: (tools) => assert.deepStrictEqual(tools, [{ name: "b", inputSchema: {} }])
  }
]

/**
 * A key in another case is another key.
 */
const wrongCase: ReadonlyArray<Said> = [
  {
    row: 25,
    name: "Result",
    text: say(`{"jsonrpc":"2.0","id":$ID,"Result":${okResult}}`),
    outcome: "ConnectionFailed/ProtocolViolation"
  },
  {
    row: 25,
    name: "Error",
    text: say(`{"jsonrpc":"2.0","id":$ID,"Error":{"code":-32000,"message":"no"}}`),
    outcome: "ConnectionFailed/ProtocolViolation"
  },
  {
    row: 25,
    name: "ID",
    text: say(`{"jsonrpc":"2.0","ID":$ID,"result":${okResult}}`),
    outcome: "ConnectionFailed/ProtocolViolation"
  },
  { row: 25, name: "JsonRpc", text: say(`{"JsonRpc":"2.0","id":$ID,"result":${okResult}}`), ...noMessage },
  {
    row: 25,
    name: "Code",
    text: errorAnswer(`{"Code":-32000,"message":"no"}`),
    outcome: "ConnectionFailed/ProtocolViolation"
  },
  {
    row: 25,
    name: "Result beside result",
    text: say(`{"jsonrpc":"2.0","id":$ID,"result":${okResult},"Result":{"content":[]},"ERROR":{}}`),
    outcome: "ok",
    check: isOk
  },
  { row: 25, name: "Content", text: answer(`{"Content":[]}`), outcome: "ServerAnswered/Unreadable" },
  {
    row: 25,
    name: "ResultType and IsError",
    text: called(`"content":[],"ResultType":"poem","IsError":true`),
    outcome: "ok",
    check: ({ isError }) => assert.isFalse(isError)
  },
  {
    row: 25,
    name: "Text in a block",
    text: called(`"content":[{"type":"text","Text":"a"}]`),
    outcome: "ok",
    check: ({ content: [block] }) => assert.strictEqual(block.type, "unknown")
  },
  { row: 25, name: "Tools", act: "list", text: answer(`{"Tools":[]}`), outcome: "ServerAnswered/Unreadable" },
  {
    row: 25,
    name: "NextCursor",
    act: "list",
    text: listed([], `"NextCursor":"c","nextcursor":"c"`),
    outcome: "ok",
    check: (tools) => assert.deepStrictEqual(tools, [])
  },
  {
    row: 25,
    name: "Name and inputschema in a tool",
    act: "list",
    text: listed([`{"Name":"a","inputSchema":{}},{"name":"b","inputschema":{}}`]),
    outcome: "ok",
    check: (tools) => assert.deepStrictEqual(tools, [])
  }
]

export const json: ReadonlyArray<Case> = [...deep, ...poisonous, ...duplicates, ...wrongCase].flatMap(bothWays)
