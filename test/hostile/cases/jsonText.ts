/**
 * Characters and numbers that are odd, and text that is not quite JSON: row 25.
 */
import { assert } from "@effect/vitest"
import { called, isOk, listed, structuredMember, textMember } from "../kit/answers.ts"
import type { Case } from "../kit/suite.ts"
import { bothWays, noMessage, type Said } from "../kit/ways.ts"
import { chunk, errorAnswer, lastChunk, okAnswer, okResult, openStream, say, script, type Text } from "../kit/wire.ts"

/**
 * Each character is one byte, so that any bytes can be written.
 */
const inBytes = (text: Text): Text => (request) => Buffer.from(text(request) as string, "latin1")

const invalidUtf8: Readonly<Record<string, readonly [bytes: string, read: string]>> = {
  "a byte that never is": ["a\xffb", "a\ufffdb"],
  "a character that is cut short": ["a\xe2\x82b", "a\ufffdb"],
  "an overlong slash": ["\xc0\xaf", "\ufffd\ufffd"],
  "a surrogate": ["\xed\xa0\x80", "\ufffd\ufffd\ufffd"],
  "a character past the last": ["\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"],
  "a byte that continues nothing": ["\x80", "\ufffd"]
}

const utf8: ReadonlyArray<Said> = [
  ...Object.entries(invalidUtf8).map(([name, [bytes, read]]): Said => ({
    row: 25,
    name: `invalid UTF-8 in a text: ${name}`,
    text: inBytes(called(textMember(bytes))),
    outcome: "ok",
    check: ({ text }) => assert.strictEqual(text, read)
  })),
  {
    row: 25,
    name: "invalid UTF-8 in the key of the result",
    text: inBytes(({ message }) => `{"jsonrpc":"2.0","id":${message.id},"res\xffult":${okResult}}`),
    outcome: "ConnectionFailed/ProtocolViolation"
  },
  {
    row: 25,
    name: "invalid UTF-8 before the message",
    text: inBytes((request) => `\xff${okAnswer(request)}`),
    ...noMessage
  },
  {
    row: 25,
    name: "invalid UTF-8 after the message",
    text: inBytes((request) => `${okAnswer(request)}\xff`),
    ...noMessage
  },
  {
    row: 25,
    name: "UTF-16 with its mark",
    text: (request) => Buffer.from(`\ufeff${okAnswer(request)}`, "utf16le"),
    ...noMessage
  },
  {
    row: 25,
    name: "lone surrogates, written as escapes, and a pair",
    text: called(textMember("\\ud800 \\udc00\\ud800 \\ud83d\\ude00")),
    outcome: "ok",
    check: ({ text }) => assert.strictEqual(text, "\ud800 \udc00\ud800 \u{1f600}")
  },
  {
    row: 25,
    name: "a lone surrogate as a key",
    text: called(structuredMember(`{"\\udfff":1}`)),
    outcome: "ok",
    check: ({ structuredContent }) => assert.deepStrictEqual(Object.keys(structuredContent), ["\udfff"])
  },
  {
    row: 25,
    name: "a lone surrogate in the message of an error",
    text: errorAnswer(`{"code":-32000,"message":"a\\ud800"}`),
    outcome: "ServerAnswered/RpcError",
    check: ({ message, reason }) => {
      assert.strictEqual(reason.message, "a\\ud800")
      assert.isTrue(message.endsWith("a\\ud800"))
    }
  },
  {
    row: 25,
    name: "a lone surrogate in the name of a tool",
    act: "list",
    text: listed([`{"name":"a\\ud800","inputSchema":{}}`]),
    outcome: "ok",
    check: (tools) => assert.deepStrictEqual(tools, [])
  }
]

const marks: ReadonlyArray<Said> = [
  {
    row: 25,
    name: "a byte order mark before the message",
    text: (request) => `\ufeff${okAnswer(request)}`,
    outcome: "ok",
    check: isOk,
    // There it stands after `data:`, where it is no mark.
    streamed: { outcome: "ConnectionFailed/Unreachable", check: undefined }
  },
  { row: 25, name: "two byte order marks", text: (request) => `\ufeff\ufeff${okAnswer(request)}`, ...noMessage },
  {
    row: 25,
    name: "a byte order mark after the message",
    text: (request) => `${okAnswer(request)}\ufeff`,
    ...noMessage
  },
  {
    row: 25,
    name: "a byte order mark in a text",
    text: called(textMember("\ufeffa")),
    outcome: "ok",
    check: ({ text }) => assert.strictEqual(text, "\ufeffa")
  }
]

const markedStream: Case = {
  row: 25,
  name: "a byte order mark before a stream",
  answers: {
    "tools/call": script(openStream, (request) => chunk(`\ufeffdata: ${okAnswer(request)}\n\n`), lastChunk)
  },
  outcome: "ok",
  check: isOk
}

const oddNumbers: ReadonlyArray<readonly [string, number]> = [
  ["9007199254740993", 9007199254740992],
  ["12345678901234567890", 12345678901234567000],
  ["1e400", Infinity],
  ["-1e400", -Infinity],
  ["1e-400", 0],
  ["-0", -0],
  ["1.0", 1],
  ["9".repeat(100_000), Infinity]
]

const numbers: ReadonlyArray<Said> = [
  {
    row: 25,
    name: "numbers past what a double has",
    text: called(structuredMember(`[${oddNumbers.map(([text]) => text).join()}]`)),
    outcome: "ok",
    check: ({ structuredContent }) => assert.deepStrictEqual(structuredContent, oddNumbers.map(([, value]) => value))
  },
  {
    row: 25,
    name: "an id that is its number, spelt otherwise",
    text: say(`{"jsonrpc":"2.0","id":$ID.0e0,"result":${okResult}}`),
    outcome: "ok",
    check: isOk
  },
  {
    row: 25,
    name: "the id 1e400",
    text: say(`{"jsonrpc":"2.0","id":1e400,"result":${okResult}}`),
    outcome: "ConnectionFailed/ProtocolViolation"
  },
  {
    row: 25,
    name: "the error code 1e400",
    text: errorAnswer(`{"code":1e400,"message":"no"}`),
    outcome: "ConnectionFailed/ProtocolViolation"
  },
  {
    row: 25,
    name: "an error code over 2^53",
    text: errorAnswer(`{"code":9007199254740993,"message":"no"}`),
    outcome: "ServerAnswered/RpcError",
    check: ({ reason }) => assert.strictEqual(reason.code, 9007199254740992)
  }
]

const complete = `{"jsonrpc":"2.0","id":$ID,"result":${okResult}}`

const almostJson: Readonly<Record<string, string>> = {
  "white space alone": "  \t ",
  "half a message": complete.slice(0, -1),
  "a message and a half": `${complete}{`,
  "two messages": complete.repeat(2),
  "a comma at the end": complete.replace(/\}$/, ",}"),
  "a comment": `/* hi */ ${complete}`,
  "single quotes": complete.replaceAll("\"", "'"),
  "keys without quotes": complete.replaceAll(/"(\w+)":/g, "$1:"),
  NaN: complete.replace("\"ok\"", "NaN"),
  Infinity: complete.replace("\"ok\"", "-Infinity"),
  undefined: complete.replace("\"ok\"", "undefined"),
  "a number with a leading zero": complete.replace("$ID", "0$ID"),
  "a number in hex": complete.replace("$ID", "0x$ID"),
  "a control character in a string": complete.replace("ok", "o\0k"),
  "an escape that is none": complete.replace("ok", "\\x41"),
  "a no-break space": `\u00a0${complete}`,
  "a guard against scripts": `)]}',${complete}`,
  "a callback": `f(${complete})`,
  "a word": "pong"
}

const notJson: ReadonlyArray<Said> = [
  ...Object.entries(almostJson).map(([name, text]): Said => ({ row: 25, name, text: say(text), ...noMessage })),
  ...(["connect", "list"] as const).map((act): Said => ({
    row: 25,
    name: `half a message, to ${act}`,
    act,
    text: say(complete.slice(0, -1)),
    ...noMessage
  })),
  {
    row: 25,
    name: "legacy: half a message",
    speaks: "2025-11-25",
    text: say(complete.slice(0, -1)),
    ...noMessage
  },
  {
    row: 25,
    name: "legacy: half a message, to connect",
    speaks: "2025-11-25",
    act: "connect",
    sees: ["server/discover", "initialize"],
    text: say(complete.slice(0, -1)),
    ...noMessage
  }
]

export const jsonText: ReadonlyArray<Case> = [
  ...[utf8, marks, numbers, notJson].flat().flatMap(bothWays),
  markedStream
]
