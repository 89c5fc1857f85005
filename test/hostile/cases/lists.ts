/**
 * Tool lists with bad entries, and fields of the wrong type: rows 30 and 31.
 */
import { assert } from "@effect/vitest"
import { called, discovered, introduced, isOk, listed } from "../kit/answers.ts"
import { listAndTell, type Listed } from "../kit/listing.ts"
import type { Case } from "../kit/suite.ts"
import { bothWays, crosswise, legacy, type Said, times } from "../kit/ways.ts"
import {
  answer,
  type Bytes,
  chunk,
  chunkedHead,
  flood,
  head,
  jsonType,
  lastChunk,
  openStream,
  script,
  type Text
} from "../kit/wire.ts"

const unreadable = "ServerAnswered/Unreadable"
const overBudget = "ConnectionFailed/BudgetExceeded"

const MiB = 2 ** 20

const tool = (name: unknown, members = ""): string =>
  `{"name":${JSON.stringify(name)},"inputSchema":{"type":"object"}${members}}`

/**
 * A page with these entries between two good ones.
 */
const between = (...entries: ReadonlyArray<string>): Text => listed([tool("before"), ...entries, tool("after")])

const tells = {
  act: listAndTell,
  method: "tools/list",
  sees: ["tools/list"],
  outcome: "ok"
} as const

const namesOf = ({ tools }: Listed): ReadonlyArray<string> => tools.map(({ name }) => name)

/**
 * An entry that is left out: it is told of as it came, by its name where it has one, and for this reason.
 */
const refuses = (name: string, entry: string, reason: string): Said => ({
  row: 30,
  name,
  text: between(entry),
  ...tells,
  check: (got: Listed) => {
    assert.deepStrictEqual(namesOf(got), ["before", "after"])
    assert.lengthOf(got.refused, 1)
    const [refused] = got.refused
    const sent = JSON.parse(entry)
    assert.deepStrictEqual(refused?.entry, sent)
    assert.strictEqual(refused?.name, typeof sent?.name === "string" ? sent.name : undefined)
    assert.include(refused?.reason, reason)
    assert.lengthOf(got.logs, 1)
    assert.isBelow(got.logs[0]!.message.length, 2500)
  }
})

/**
 * An entry that stays, and how it is read: as it came, where nothing else is said.
 */
const keeps = (row: number, name: string, entry: string, read: unknown = JSON.parse(entry)): Said => ({
  row,
  name,
  text: between(entry),
  ...tells,
  check: (got: Listed) => {
    assert.deepStrictEqual(got.tools[1], read as Listed["tools"][number])
    assert.lengthOf(got.tools, 3)
    assert.deepStrictEqual(got.refused, [])
  }
})

const withSchema = (schema: string): string => `{"name":"t","inputSchema":${schema}}`

const controls = "control or format characters"

const badNames: ReadonlyArray<readonly [name: string, toolName: unknown, reason: string]> = [
  ["an empty name", "", "empty"],
  ["a name of 129 characters", "x".repeat(129), "longer than 128"],
  ["a name of 1 MB", "x".repeat(MiB), "longer than 128"],
  ["a name with a newline", "a\nb", controls],
  ["a name with NUL", "a\0", controls],
  ["a name with an escape sequence", "\u001b[31ma", controls],
  ["a name with DEL", "a\u007f", controls],
  ["a name with a C1 control", "a\u009b2J", controls],
  ["a name that is turned around", "a\u202etxt", controls],
  ["a name with an isolate", "\u2066a\u2069", controls],
  ["a name with a direction mark", "a\u200f", controls],
  ["a name with a space of no width", "a\u200bb", controls],
  ["a name with a byte order mark", "\ufeffa", controls],
  ["a name with a soft hyphen", "a\u00adb", controls],
  ["a name with a line separator", "a\u2028b", controls],
  ["a name with a tag character", "a\u{e0041}", controls],
  ["a name with a lone surrogate", "a\ud800", controls],
  ["a name that is null", null, "not a string"],
  ["a name that is a number", 5, "not a string"],
  ["a name in a list", ["a"], "not a string"]
]

const goodNames: Readonly<Record<string, string>> = {
  "a name of 128 characters": "x".repeat(128),
  "a name with spaces": "a b",
  "a name in another script": "grüße-日本",
  "a name with an emoji": "\u{1f600}",
  "the name __proto__": "__proto__",
  "the name constructor": "constructor"
}

const badSchemas = ["null", "[]", "true", "false", "5", `"object"`]
const notObjectSchemas = [`{"type":"string"}`, `{"type":["object"]}`, `{"type":null}`]

const entries: ReadonlyArray<Said> = [
  ...["null", "{}", `"t"`, "5", "true", `{"0":${tool("t")},"length":1}`, undefined].map((tools): Said => ({
    row: 30,
    name: `tools: ${tools ?? "absent"}`,
    act: "list",
    text: tools === undefined ? called() : called(`"tools":${tools}`),
    outcome: unreadable
  })),
  {
    row: 30,
    name: "tools: [null]",
    text: listed(["null"]),
    ...tells,
    check: ({ refused, tools }: Listed) => {
      assert.deepStrictEqual(tools, [])
      assert.deepStrictEqual(refused, [{ name: undefined, reason: "not an object", entry: null }])
    }
  },
  ...["null", "5", `"t"`, "true", "[]", `[${tool("t")}]`].map((entry) =>
    refuses(`an entry that is ${entry}`, entry, "not an object")
  ),
  refuses("an entry that is empty", "{}", "name"),
  refuses("an entry without a name", `{"inputSchema":{}}`, "not a string"),
  ...badNames.map(([name, toolName, reason]) => refuses(name, tool(toolName), reason)),
  ...Object.entries(goodNames).map(([name, toolName]) => keeps(30, name, tool(toolName))),
  refuses("no inputSchema", `{"name":"t"}`, "inputSchema"),
  ...badSchemas.map((schema) => refuses(`an inputSchema that is ${schema}`, withSchema(schema), "not an object")),
  ...notObjectSchemas.map((schema) => refuses(`the inputSchema ${schema}`, withSchema(schema), "not of type object")),
  keeps(30, "an inputSchema without a type", withSchema("{}")),
  refuses("the name of another tool", tool("before", `,"title":"other"`), "taken"),
  keeps(30, "the name of another tool in another case", tool("Before")),
  {
    row: 30,
    name: "one name on two pages",
    text: (request) =>
      listed([tool("t", `,"page":${request.nth}`)], `"nextCursor":${request.nth === 0 ? `"c"` : "null"}`)(request),
    ...tells,
    sees: times(2, "tools/list"),
    check: ({ refused, tools }: Listed) => {
      assert.deepStrictEqual(tools.map(({ page }) => page), [0])
      assert.deepStrictEqual(refused.map(({ name }) => name), ["t"])
    }
  },
  {
    row: 30,
    name: "1,000 bad entries, each told of, and sixteen logged",
    text: between(...times(1000, "null")),
    ...tells,
    check: (got: Listed) => {
      assert.deepStrictEqual(namesOf(got), ["before", "after"])
      assert.lengthOf(got.refused, 1000)
      assert.lengthOf(got.logs, 17)
    }
  }
]

const thousandTools = `${tool("t")},`.repeat(1000)
const toolsSoFar: Text = ({ message }) => `{"jsonrpc":"2.0","id":${message.id},"result":{"tools":[`

/**
 * A listing of 10^6 tools, which no budget by default allows.
 */
const aMillion = (name: string, before: string, wrap: (piece: Bytes) => Bytes, prefix = ""): Case => ({
  row: 30,
  name: `10^6 entries, ${name}`,
  act: "list",
  answers: {
    "tools/list": script(
      before,
      (request) => wrap(`${prefix}${toolsSoFar(request)}`),
      flood(wrap(thousandTools), 1000),
      wrap(`${tool("t")}]}}\n\n`),
      lastChunk
    )
  },
  outcome: overBudget,
  deadline: 5000,
  check: ({ reason }) => {
    assert.strictEqual(reason.what, "response bytes")
    assert.strictEqual(reason.limit, 8 * MiB)
  }
})

const millions: ReadonlyArray<Case> = [
  aMillion("in chunks", chunkedHead(jsonType), chunk),
  aMillion(
    "with their length said beforehand",
    head(200, { "content-type": jsonType, "content-length": String(1000 * thousandTools.length) }),
    (piece) => piece
  ),
  aMillion("on a stream", openStream, chunk, "data: ")
]

/**
 * Fields that are not what they must be are left out, and the tool stays.
 */
const mended: ReadonlyArray<readonly [field: string, value: string]> = [
  ["description", "null"],
  ["description", `["a"]`],
  ["title", "5"],
  ["title", "null"],
  ["outputSchema", "[]"],
  ["outputSchema", "true"],
  ["outputSchema", "null"],
  ["annotations", "[]"],
  ["annotations", `"x"`],
  ["icons", "{}"],
  ["icons", `"x"`],
  ["_meta", `"x"`],
  ["_meta", "[]"],
  ["meta", `{"mine":true}`]
]

const plain = { name: "t", inputSchema: { type: "object" } }

const ofWrongType: ReadonlyArray<Said> = [
  ...mended.map(([field, value]) =>
    keeps(31, `${field}: ${value}`, tool("t", `,"${field}":${value},"kept":1`), { ...plain, kept: 1 })
  ),
  keeps(31, "all of them at once", tool("t", mended.map(([field, value]) => `,"${field}":${value}`).join("")), plain),
  keeps(31, "extra keys", tool("t", `,"execution":{"taskSupport":5},"extra":[null],"constructor":1`)),
  keeps(31, "_meta", tool("t", `,"_meta":{"a":1}`), { ...plain, meta: { a: 1 } }),
  {
    row: 31,
    name: "fields of the result itself",
    act: "list",
    text: listed([tool("t")], `"ttlMs":"soon","cacheScope":[],"_meta":[],"x":null`),
    outcome: "ok",
    check: (tools) => assert.deepStrictEqual(tools, [plain])
  },
  ...[`"yes"`, "1", "null", "{}"].map((isError): Said => ({
    row: 31,
    name: `isError: ${isError}`,
    text: called(`"content":[],"isError":${isError},"_meta":${isError}`),
    outcome: "ok",
    check: (result) => assert.isFalse(result.isError)
  }))
]

const ofServers: ReadonlyArray<Said> = [
  {
    row: 31,
    name: "capabilities in a list, which offer nothing",
    method: "server/discover",
    act: "call",
    text: discovered(`"capabilities":["tools"]`),
    sees: [],
    outcome: "CapabilityMissing"
  },
  ...["null", "false", "5"].map((tools): Said => ({
    row: 31,
    name: `tools as a capability that is ${tools}, which is offered all the same`,
    method: "server/discover",
    act: "call",
    text: discovered(`"capabilities":{"tools":${tools}}`),
    outcome: "ok",
    check: isOk
  })),
  ...["[]", "null", `"tools"`, "5", undefined].map((capabilities): Said => ({
    row: 31,
    name: `capabilities: ${capabilities ?? "absent"}`,
    act: "connect",
    text: capabilities === undefined ? discovered() : discovered(`"capabilities":${capabilities}`),
    outcome: "ok",
    check: ({ serverCapabilities }) => assert.deepStrictEqual(serverCapabilities, {})
  })),
  ...["5", "null", "[]", `{"name":5,"version":"1"}`, `{"name":"n"}`].map((serverInfo): Said => ({
    row: 31,
    name: `serverInfo: ${serverInfo}`,
    act: "connect",
    text: introduced(serverInfo, `"instructions":${serverInfo}`),
    outcome: "ok",
    check: (connection) => {
      assert.isUndefined(connection.serverInfo)
      assert.isUndefined(connection.instructions)
    }
  })),
  {
    row: 31,
    name: "supportedVersions with more than strings in it",
    act: "connect",
    text: answer(`{"supportedVersions":[null,5,["2026-07-28"],"2026-07-28"],"capabilities":{}}`),
    outcome: "ok",
    check: ({ protocolVersion }) => assert.strictEqual(protocolVersion, "2026-07-28")
  },
  legacy({
    row: 31,
    name: "everything in the answer to initialize",
    act: "connect",
    text: answer(`{"protocolVersion":"2025-11-25","capabilities":[],"serverInfo":"n","instructions":{},"_meta":5}`),
    outcome: "ok",
    check: (connection) => {
      assert.deepStrictEqual(connection.serverCapabilities, {})
      assert.isUndefined(connection.serverInfo)
      assert.isUndefined(connection.instructions)
    }
  })
]

export const lists: ReadonlyArray<Case> = [
  ...[...entries, ...ofWrongType].flatMap((said) => crosswise(said)),
  ...ofServers.flatMap(bothWays),
  ...millions
]
