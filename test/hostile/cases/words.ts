/**
 * Control and direction characters in the server's words: row 35.
 */
import { assert } from "@effect/vitest"
import * as Cause from "effect/Cause"
import { inspect } from "node:util"
import { called, introduced, isOk, listed, structuredMember } from "../kit/answers.ts"
import { listAndTell, type Listed, type Logged, withLogs } from "../kit/listing.ts"
import type { Case } from "../kit/suite.ts"
import { bothWays, legacy, type Said } from "../kit/ways.ts"
import { answer, errorAnswer, event, head, lastChunk, okAnswer, openStream, script, type Step } from "../kit/wire.ts"

/**
 * Colours, moves a cursor, sets a title, turns text around, and breaks lines.
 */
const dirty = "\u001b[31m\u009b2J\u001b]0;x\u0007\u202egnp\u2066\u2069\u200f\u061c\r\n\u2028\u0000\u007f"
const json = JSON.stringify(dirty)
const escaped =
  "\\u001b[31m\\u009b2J\\u001b]0;x\\u0007\\u202egnp\\u2066\\u2069\\u200f\\u061c\\u000d\\u000a\\u2028\\u0000\\u007f"

// oxlint-disable-next-line no-control-regex
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

/**
 * That a text of ours quotes the server's words, and that nothing in them does anything.
 */
const quotes = (text: string): void => {
  assert.include(text, escaped)
  assert.notMatch(text, unsafe)
}

const withoutNewlines = (text: string): string => text.replaceAll("\n", "")

/**
 * That no way of showing an error does anything. What has several lines has newlines of its own.
 */
const isHarmless = (error: any): void => {
  assert.notMatch(error.message, unsafe)
  assert.notMatch(JSON.stringify(error), unsafe)
  for (const shown of [String(error), error.stack, inspect(error), Cause.pretty(Cause.fail(error))]) {
    assert.notMatch(withoutNewlines(shown), unsafe)
  }
}

const harmlessly = (quoted: (error: any) => string) => (error: any): void => {
  quotes(quoted(error))
  isHarmless(error)
}

const hasQuoted = (logs: ReadonlyArray<Logged>): void => {
  assert.lengthOf(logs, 1)
  quotes(logs[0]!.message)
}

const errors: ReadonlyArray<Said> = [
  {
    row: 35,
    name: "in an error, whose data is untouched",
    text: errorAnswer(`{"code":-32000,"message":${json},"data":{"a":${json}}}`),
    outcome: "ServerAnswered/RpcError",
    check: (error) => {
      quotes(error.message)
      quotes(error.reason.message)
      isHarmless(error)
      isHarmless(error.reason)
      assert.deepStrictEqual(error.reason.data, { a: dirty })
    }
  },
  {
    row: 35,
    name: "in an error of 1 MB, which is cut",
    text: errorAnswer(`{"code":-32000,"message":"${"\\u202e".repeat(2 ** 20)}"}`),
    outcome: "ServerAnswered/RpcError",
    check: (error) => {
      isHarmless(error)
      assert.isBelow(error.message.length, 6 * 400)
      assert.isBelow(error.reason.message.length, 6 * 4200)
    }
  },
  {
    row: 35,
    name: "in an error that ends the handshake",
    act: "connect",
    text: errorAnswer(`{"code":-32021,"message":${json}}`),
    outcome: "ServerAnswered/RpcError",
    check: harmlessly(({ message }) => message)
  },
  {
    row: 35,
    name: "in the versions that a server would speak",
    act: "connect",
    text: errorAnswer(`{"code":-32022,"message":"no","data":{"supported":[${json}]}}`),
    outcome: "ConnectionFailed/UnsupportedVersion",
    check: harmlessly(({ message }) => message)
  },
  legacy({
    row: 35,
    name: "in the version that a server speaks",
    act: "connect",
    text: answer(`{"protocolVersion":${json},"capabilities":{}}`),
    sees: ["server/discover", "initialize"],
    outcome: "ConnectionFailed/UnsupportedVersion",
    check: harmlessly(({ reason }) => reason.supported[0])
  }),
  {
    row: 35,
    name: "in a result type",
    text: answer(`{"resultType":${json}}`),
    outcome: "ServerAnswered/UnknownResultType",
    check: harmlessly(({ reason }) => reason.resultType)
  },
  {
    row: 35,
    name: "in the method of a request for input",
    text: answer(`{"resultType":"input_required","inputRequests":{${json}:{"method":${json}}}}`),
    outcome: "ServerAnswered/InputRequired",
    check: harmlessly(({ reason }) => reason.requests[0])
  }
]

/**
 * A name that no listing offers, and that is called all the same.
 */
const calledByName: Said = {
  row: 35,
  name: "in the name of a tool that is called",
  act: (connection) => connection.callTool(dirty),
  text: errorAnswer(`{"code":-32602,"message":"no such tool"}`),
  sees: ["tools/call"],
  outcome: "ServerAnswered/RpcError",
  check: ({ message }) => quotes(message)
}

const untouched: ReadonlyArray<Said> = [
  {
    row: 35,
    name: "in a result, which is untouched",
    text: called(
      `"content":[{"type":"text","text":${json}},{"type":${json}}]`,
      structuredMember(`{${json}:${json}}`),
      `"_meta":{"a":${json}}`
    ),
    outcome: "ok",
    check: ({ content, meta, structuredContent, text }) => {
      assert.strictEqual(text, dirty)
      assert.deepStrictEqual(content, [
        { type: "text", text: dirty },
        { type: "unknown", wireType: dirty, raw: { type: dirty } }
      ])
      assert.deepStrictEqual(structuredContent, { [dirty]: dirty })
      assert.deepStrictEqual(meta, { a: dirty })
    }
  },
  {
    row: 35,
    name: "in what a tool says of itself, which is untouched",
    act: "list",
    text: listed([`{"name":"t","title":${json},"description":${json},"inputSchema":{"description":${json}}}`]),
    outcome: "ok",
    check: (tools) =>
      assert.deepStrictEqual(tools, [
        { name: "t", title: dirty, description: dirty, inputSchema: { description: dirty } }
      ])
  },
  {
    row: 35,
    name: "in the name of a tool, which is refused and logged",
    act: listAndTell,
    method: "tools/list",
    text: listed([`{"name":${json},"inputSchema":{}}`]),
    sees: ["tools/list"],
    outcome: "ok",
    check: ({ logs, refused, tools }: Listed) => {
      hasQuoted(logs)
      assert.strictEqual(refused[0]?.name, dirty)
      assert.deepStrictEqual(tools, [])
    }
  },
  {
    row: 35,
    name: "in what a server says of itself, which is untouched",
    act: "connect",
    text: introduced(`{"name":${json},"version":${json}}`, `"instructions":${json}`),
    outcome: "ok",
    check: ({ instructions, serverInfo }) => {
      assert.strictEqual(instructions, dirty)
      assert.deepStrictEqual(serverInfo, { name: dirty, version: dirty })
    }
  },
  legacy({
    row: 35,
    name: "in what a server says of itself, which is untouched",
    act: "connect",
    text: answer(
      `{"protocolVersion":"2025-11-25","capabilities":{},"instructions":${json},"serverInfo":{"name":${json},"version":${json}}}`
    ),
    outcome: "ok",
    check: ({ instructions, serverInfo }) => {
      assert.strictEqual(instructions, dirty)
      assert.deepStrictEqual(serverInfo, { name: dirty, version: dirty })
    }
  })
]

/**
 * What comes before the answer on a stream, and is quoted in the log as it is dropped.
 */
const dropped = (name: string, before: Step, quoted: (logs: ReadonlyArray<Logged>) => void = hasQuoted): Case => ({
  row: 35,
  name,
  act: (connection) => withLogs(connection.callTool("t")),
  answers: { "tools/call": script(openStream, before, event(okAnswer), lastChunk) },
  sees: ["tools/call"],
  outcome: "ok",
  check: ({ logs, value }) => {
    quoted(logs)
    isOk(value)
  }
})

const inLogs: ReadonlyArray<Case> = [
  dropped("in the method of a notification that is dropped", event(() => `{"jsonrpc":"2.0","method":${json}}`)),
  dropped("in the method of a request that is dropped", event(() => `{"jsonrpc":"2.0","id":1,"method":${json}}`)),
  dropped(
    "in the name of an event that is dropped",
    event(okAnswer, `event: ${dirty.replace("\r\n", "")}\n`),
    ([log]) => {
      assert.include(log?.message, "\\u001b[31m\\u009b2J")
      assert.notMatch(log!.message, unsafe)
    }
  )
]

/**
 * In a header, where HTTP lets through what is no control character of ASCII.
 */
const inHeader = "\u009b2J\u202egnp"

const headers: ReadonlyArray<Case> = [
  {
    row: 35,
    name: "in a content type",
    answers: { "tools/call": script(head(200, { "content-type": `text/${inHeader}`, "content-length": "0" })) },
    outcome: "ConnectionFailed/ProtocolViolation",
    check: isHarmless
  },
  {
    row: 35,
    name: "in a challenge",
    answers: {
      "tools/call": script(
        head(401, { "www-authenticate": `Bearer realm="${inHeader}", ${inHeader}`, "content-length": "0" })
      )
    },
    outcome: "Unauthorized",
    check: isHarmless
  },
  {
    row: 35,
    name: "in a header, with an escape",
    answers: { "tools/call": script(head(200, { "content-type": "text/\u001b[31m", "content-length": "0" })) },
    outcome: "ConnectionFailed/ProtocolViolation",
    check: isHarmless
  }
]

export const words: ReadonlyArray<Case> = [
  ...[...errors, calledByName, ...untouched].flatMap(bothWays),
  ...inLogs,
  ...headers
]
