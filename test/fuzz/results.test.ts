import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { JsonText, type Tool } from "../../src/index.ts"
import {
  all,
  array,
  connect,
  type Era,
  eras,
  forAll,
  join,
  json,
  list,
  map,
  noSecretIn,
  object,
  oneOf,
  outcome,
  pick,
  quoted,
  rarely,
  resultOf,
  serverOf,
  text,
  timeout
} from "./support.ts"

const era = pick(...eras)

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * What a server has said after a handshake of its era.
 */
const idOf = (version: Era, value: string): string => value.replaceAll("$ID", version === "2026-07-28" ? "2" : "3")

const same = (actual: unknown, expected: unknown): void =>
  assert.strictEqual(JSON.stringify(actual), JSON.stringify(expected))

describe("any list of tools", () => {
  const schema = oneOf(
    pick("{\"type\":\"object\"}"),
    object({
      type: pick("\"object\""),
      properties: object({
        a: object({ type: pick("\"string\"", "\"number\""), "x-mcp-header": oneOf(pick("\"A\"", "\"a\""), quoted) }),
        b: object({ type: pick("\"string\""), "x-mcp-header": rarely(pick("\"A\"", "\"B\"")) }),
        ["__proto__"]: json(1)
      })
    }),
    json(2)
  )
  const entry = oneOf(
    object({
      name: oneOf(pick("\"t\"", "\"u\"", "\"v\""), quoted),
      inputSchema: schema,
      title: rarely(quoted),
      description: rarely(quoted),
      outputSchema: rarely(schema),
      annotations: rarely(pick("{}")),
      icons: rarely(pick("[]")),
      _meta: rarely(pick("{\"a\":1}")),
      meta: rarely(quoted),
      extra: rarely(json(2)),
      constructor: rarely(json(1))
    }),
    json(3)
  )

  const known = new Set(["title", "description", "outputSchema", "annotations", "icons", "_meta", "meta"])
  const optional: Readonly<Record<string, (value: unknown) => boolean>> = {
    title: (value) => typeof value === "string",
    description: (value) => typeof value === "string",
    outputSchema: isObject,
    annotations: isObject,
    icons: Array.isArray,
    meta: isObject
  }

  const checkTool = (tool: Tool.Tool, from: Record<string, unknown>): void => {
    assert.match(tool.name, /^[^\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]{1,128}$/u)
    assert.isTrue(isObject(tool.inputSchema))
    assert.include([undefined, "object"], tool.inputSchema["type"])
    assert.strictEqual(Object.getPrototypeOf(tool), Object.prototype)
    for (const [field, holds] of Object.entries(optional)) {
      assert.isTrue(!Object.hasOwn(tool, field) || holds(tool[field]), field)
    }
    for (const field of Object.keys(tool)) same(tool[field], from[field === "meta" ? "_meta" : field])
    for (const field of Object.keys(from)) assert.isTrue(known.has(field) || Object.hasOwn(tool, field), field)
  }

  // Each object is given its place in the list, which a tool keeps as it keeps all that has no meaning.
  const placed = (entries: ReadonlyArray<string>): string =>
    `[${
      entries.map((value, i) => value.replace(/^\{(?=(\}?))/, (_, end) => `{"#":${i}${end === "" ? "," : ""}`)).join(
        ","
      )
    }]`
  const placeOf = (value: any): number | undefined => isObject(value) ? value["#"] : undefined

  it.live(
    "gives the tools that can be offered, and tells of each other entry once, in order",
    () =>
      forAll(all([era, array(entry, { maxLength: 6 })]), ([version, entries]) => {
        const refused: Array<Tool.Refused> = []
        const onRefused = (entryRefused: Tool.Refused) => Effect.sync(() => refused.push(entryRefused))
        const page = placed(entries)
        const server = serverOf(version, () => resultOf(`{"tools":${page}}`))
        return Effect.map(
          outcome(Effect.flatMap(connect(server), (connection) => connection.listTools({ onRefused }))),
          (tools = assert.fail("no list")) => {
            const sent: ReadonlyArray<any> = JSON.parse(idOf(version, page))
            const offered = new Set(tools.map(placeOf))
            assert.strictEqual(offered.size, tools.length)
            same(tools.map(placeOf), sent.map(placeOf).filter((place) => offered.has(place)))
            same(refused.map(({ entry: from }) => from), sent.filter((from) => !offered.has(placeOf(from))))
            for (const tool of tools) checkTool(tool, sent[placeOf(tool)!])
            for (const { entry: from, name, reason } of refused) {
              assert.strictEqual(name, typeof (from as any)?.name === "string" ? (from as any).name : undefined)
              assert.isNotEmpty(reason)
            }
            const names = new Set(tools.map(({ name }) => name))
            assert.strictEqual(names.size, tools.length)
          }
        )
      }),
    timeout
  )
})

describe("any content", () => {
  const base64 = oneOf(pick("\"\"", "\"AA==\"", "\"AA\"", "\"_-8=\"", "\"A\""), quoted)
  const resource = object({ uri: quoted, text: rarely(quoted), blob: base64, mimeType: quoted, _meta: json(1) })
  const block = oneOf(
    object({ type: pick("\"text\""), text: quoted, annotations: json(1), _meta: json(1) }),
    object({ type: pick("\"image\"", "\"audio\""), data: base64, mimeType: quoted }),
    object({ type: pick("\"resource\""), resource }),
    object({ type: pick("\"resource_link\""), uri: quoted, name: quoted, title: json(1), size: json(0) }),
    object({ type: quoted }),
    json(3)
  )
  const bytesOf = (value: unknown): void =>
    assert.isTrue(value === undefined || Object.prototype.toString.call(value) === "[object Uint8Array]")

  const checkBlock = (read: Record<string, any>, from: any): void => {
    for (const field of ["annotations", "meta"]) {
      assert.isTrue(!Object.hasOwn(read, field) || isObject(read[field]), field)
    }
    switch (read["type"]) {
      case "unknown":
        same(read["raw"], from)
        assert.strictEqual(read["wireType"], typeof from?.type === "string" ? from.type : undefined)
        break
      case "text":
        assert.strictEqual(read["text"], from.text)
        break
      case "image":
      case "audio":
        assert.isString(read["mimeType"])
        bytesOf(read["data"])
        break
      case "resource":
        assert.isString(read["resource"].uri)
        bytesOf(read["resource"].blob)
        break
      default:
        assert.strictEqual(read["type"], "resource_link")
        assert.isString(read["uri"])
        assert.isString(read["name"])
    }
    assert.isTrue(read["type"] === "unknown" || read["type"] === from.type)
  }

  it.live(
    "is kept block by block",
    () =>
      forAll(all([era, list(block), rarely(json(2)), json(1)]), ([version, blocks, structured, isError]) => {
        const more = structured === "" ? "" : `,"structuredContent":${structured}`
        const server = serverOf(version, () => resultOf(`{"content":${blocks},"isError":${isError}${more}}`))
        return Effect.map(
          outcome(Effect.flatMap(connect(server), (connection) => connection.callTool("t"))),
          (result = assert.fail("no result")) => {
            const sent = JSON.parse(idOf(version, `[${blocks},${isError}]`))
            assert.lengthOf(result.content, sent[0].length)
            result.content.forEach((read, i) => checkBlock(read, sent[0][i]))
            assert.strictEqual(result.isError, sent[1] === true)
            assert.isString(result.text)
          }
        )
      }),
    timeout
  )
})

describe("arguments", () => {
  const isObjectText = (value: string): boolean => {
    try {
      return isObject(JSON.parse(value))
    } catch {
      return false
    }
  }
  const space = join(pick(" ", "\n", "\t", "\r"), 2)
  const almost = join(pick("{", "}", "\"a\"", ":", ",", "1", " ", "[", "]", "\\", "//", "\ufeff", "\u00a0", "null"), 8)
  const spaced = map(all([space, object({ a: json(2), b: json(1) }), space]), (parts) => parts.join(""))
  const texts = map(oneOf(spaced, spaced, almost, text, json(3)), (value) => value.replaceAll("$ID", "7"))

  it.live(
    "as text are taken where JSON.parse has one object, and refused without a word of theirs",
    () =>
      forAll(texts, (value) => {
        const made = JsonText.make(value)
        assert.strictEqual(Result.isSuccess(made), isObjectText(value))
        if (Result.isSuccess(made)) assert.strictEqual(made.success, value)
        else noSecretIn(made.failure.message)
      }),
    timeout
  )

  const valid = map(spaced, (value) => value.replaceAll("$ID", "7"))

  it.live("as text go out character by character", () =>
    forAll(all([era, text, valid]), ([version, name, args]) => {
      const bodies: Array<string> = []
      const server = serverOf(version, ({ method }, body) => {
        if (method !== undefined) bodies.push(body)
        return resultOf("{\"content\":[]}")
      })
      const call = Effect.flatMap(connect(server), (connection) => connection.callTool(name, JsonText.makeUnsafe(args)))
      return Effect.map(outcome(call), (result) => {
        assert.isDefined(result)
        assert.lengthOf(bodies, 1)
        assert.include(bodies[0]!, `"params":{"name":${JSON.stringify(name)},"arguments":${args}`)
        const { params } = JSON.parse(bodies[0]!)
        same(params.arguments, JSON.parse(args))
        assert.strictEqual(params.name, name)
      })
    }), timeout)

  it.live(
    "as a value go out as their JSON, or are refused as invalid",
    () =>
      forAll(all([array(json(3), { maxLength: 3 }), pick(0, 1)]), ([values, extra]) => {
        const args = Object.fromEntries(values.map((value, i) => [`k${i}`, JSON.parse(value.replaceAll("$ID", "7"))]))
        const given = extra === 1 ? { ...args, absent: undefined, big: 1n } : args
        let sent: unknown
        const server = serverOf("2026-07-28", (_, body) => {
          sent = JSON.parse(body).params.arguments
          return resultOf("{\"content\":[]}")
        })
        return Effect.map(
          outcome(Effect.flatMap(connect(server), (connection) => connection.callTool("t", given))),
          (result) => {
            assert.strictEqual(result === undefined, extra === 1)
            same(sent, extra === 1 ? undefined : args)
          }
        )
      }),
    timeout
  )
})
