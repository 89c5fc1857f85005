/**
 * Envelopes that are not quite answers, and batches: rows 26 and 27.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { isOk } from "../kit/answers.ts"
import type { Case } from "../kit/suite.ts"
import { bothWays, legacy, noMessage, type Said, times } from "../kit/ways.ts"
import { asBody, event, lastChunk, okAnswer, okResult, openStream, say, script } from "../kit/wire.ts"

const violation = "ConnectionFailed/ProtocolViolation"
const rpcError = "ServerAnswered/RpcError"

const envelope = (members: string): Said["text"] => say(`{"jsonrpc":"2.0",${members}}`)
const error = `"error":{"code":-32000,"message":"no"}`
const result = `"result":${okResult}`

/**
 * Responses that answer nothing that was asked.
 */
const broken: Readonly<Record<string, string>> = {
  "another id": `"id":77,${result}`,
  "an error under another id": `"id":77,${error}`,
  "the id as a string": `"id":"$ID",${result}`,
  "an error with the id as a string": `"id":"$ID",${error}`,
  "the id in a list": `"id":[$ID],${result}`,
  "the id and a half": `"id":$ID.5,${result}`,
  "an error whose id is false": `"id":false,${error}`,
  "an error whose id is an object": `"id":{},${error}`,
  "a result whose id is null": `"id":null,${result}`,
  "a result whose id is empty": `"id":"",${result}`,
  "a result without an id": result,
  "a result and an error": `"id":$ID,${result},${error}`,
  "a result and an error that is null": `"id":$ID,${result},"error":null`,
  "a result that is null and an error": `"id":$ID,"result":null,${error}`,
  "neither a result nor an error": `"id":$ID`,
  "a result that is null": `"id":$ID,"result":null`,
  "a result that is a list": `"id":$ID,"result":[${okResult}]`,
  "a result that is a string": `"id":$ID,"result":"ok"`,
  "a result that is a number": `"id":$ID,"result":0`,
  "a result that is true": `"id":$ID,"result":true`,
  "an error that is null": `"id":$ID,"error":null`,
  "an error that is a string": `"id":$ID,"error":"no"`,
  "an error that is a list": `"id":$ID,"error":[-32000,"no"]`,
  "an error code that is a string": `"id":$ID,"error":{"code":"x","message":"no"}`,
  "an error code that is a number in a string": `"id":$ID,"error":{"code":"-32000","message":"no"}`,
  "an error code with a fraction": `"id":$ID,"error":{"code":1.5,"message":"no"}`,
  "an error code that is null": `"id":$ID,"error":{"code":null,"message":"no"}`,
  "an error without a code": `"id":$ID,"error":{"message":"no"}`,
  "an error that is empty": `"id":$ID,"error":{}`
}

/**
 * What is no response at all.
 */
const noResponses: Readonly<Record<string, string>> = {
  "no jsonrpc": `{"id":$ID,${result}}`,
  "jsonrpc 1.0": `{"jsonrpc":"1.0","id":$ID,${result}}`,
  "jsonrpc as a number": `{"jsonrpc":2.0,"id":$ID,${result}}`,
  "jsonrpc null": `{"jsonrpc":null,"id":$ID,${result}}`,
  "a method beside the result": `{"jsonrpc":"2.0","id":$ID,"method":"tools/call",${result}}`,
  "a method that is null": `{"jsonrpc":"2.0","id":$ID,"method":null,${result}}`,
  "a request under the same id": `{"jsonrpc":"2.0","id":$ID,"method":"ping"}`,
  "a notification": `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
  "a bare result": okResult,
  "an empty object": "{}",
  null: "null",
  true: "true",
  "a number": "5",
  "a string": "\"ok\"",
  "the answer as a string": JSON.stringify(`{"jsonrpc":"2.0","id":$ID,${result}}`)
}

const brokenSaid = Object.entries(broken).map(([name, members]): Said => ({
  row: 26,
  name,
  text: envelope(members),
  outcome: violation
}))

const noResponsesSaid = Object.entries(noResponses).map(([name, text]): Said => ({
  row: 26,
  name,
  text: say(text),
  ...noMessage
}))

/**
 * Those that are tried with more than a call.
 */
const everywhere = new Set(["another id", "a result that is null", "no jsonrpc"])

const everywhereElse = (said: Said): ReadonlyArray<Said> => [
  { ...said, act: "connect", name: `${said.name}, to connect` },
  { ...said, act: "list", name: `${said.name}, to list` },
  legacy(said)
]

/**
 * Errors that can be attributed and read, and what is read of them.
 */
const errors: ReadonlyArray<readonly [name: string, members: string, code: number, message: string]> = [
  ["an error whose id is null", `"id":null,${error}`, -32000, "no"],
  ["an error whose id is empty", `"id":"",${error}`, -32000, "no"],
  ["an error without an id", error, -32000, "no"],
  ["an error without a message", `"id":$ID,"error":{"code":-32601}`, -32601, ""],
  ["an error whose message is a number", `"id":$ID,"error":{"code":-32601,"message":5}`, -32601, ""],
  ["an error whose code is 0", `"id":$ID,"error":{"code":0,"message":"no"}`, 0, "no"],
  ["an error whose code is a status", `"id":$ID,"error":{"code":401,"message":"no"}`, 401, "no"],
  ["an error with more in it", `"id":$ID,"error":{"code":1,"message":"no","stack":"at x"},"x":1`, 1, "no"]
]

const errorsSaid = errors.map(([name, members, code, message]): Said => ({
  row: 26,
  name,
  text: envelope(members),
  outcome: rpcError,
  check: ({ reason }) => {
    assert.strictEqual(reason.code, code)
    assert.strictEqual(reason.message, message)
    assert.strictEqual(reason.status, 200)
  }
}))

/**
 * The same under an HTTP error, where nothing but a JSON-RPC error is an answer.
 */
const underStatuses: ReadonlyArray<Case> = [400, 500].flatMap((status) =>
  ["another id", "neither a result nor an error", "an error code that is a string"].map((name): Case => ({
    row: 26,
    name: `${name}, under a ${status}`,
    answers: { "tools/call": script(asBody(envelope(broken[name]!), status)) },
    outcome: "ConnectionFailed/HttpStatus",
    check: ({ reason }) => assert.strictEqual(reason.status, status)
  }))
)

/**
 * Every request gets its own error, though none of them says whose it is.
 */
const nobodysErrors: Said = {
  row: 26,
  name: "errors whose id is null belong to their own requests",
  act: (connection) =>
    Effect.forEach(["a", "b", "c"], (name) => Effect.result(connection.callTool(name)), { concurrency: "unbounded" }),
  text: ({ message }) => `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"${message.params.name}"}}`,
  outcome: "ok",
  sees: times(3, "tools/call"),
  dials: 3,
  check: (results) => assert.deepStrictEqual(results.map(({ failure }: any) => failure.reason.message), ["a", "b", "c"])
}

const streams: ReadonlyArray<Case> = [
  {
    row: 26,
    name: "what is no response is dropped from a stream, until the answer comes",
    answers: {
      "tools/call": script(
        openStream,
        ...Object.values(noResponses).map((text) => event(({ message }) => text.replaceAll("$ID", `${message.id}`))),
        event(okAnswer),
        lastChunk
      )
    },
    outcome: "ok",
    check: isOk
  },
  {
    row: 26,
    name: "of two responses on a stream, the first decides",
    answers: {
      "tools/call": script(openStream, event(() => `{"jsonrpc":"2.0","id":77,${result}}`), event(okAnswer), lastChunk)
    },
    outcome: violation
  }
]

const envelopes: ReadonlyArray<Said> = [
  ...brokenSaid,
  ...noResponsesSaid,
  ...errorsSaid,
  ...[...brokenSaid, ...noResponsesSaid].filter(({ name }) => everywhere.has(name)).flatMap(everywhereElse),
  ...errorsSaid.slice(0, 3).map(legacy),
  { ...errorsSaid[0]!, act: "list", name: "an error whose id is null, to list" },
  nobodysErrors
]

const complete = `{"jsonrpc":"2.0","id":$ID,${result}}`
const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`
const foreign = `{"jsonrpc":"2.0","id":77,${result}}`

const revisions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const
const batching = "2025-03-26"

/**
 * What comes of a batch at the one revision that has them.
 */
const batchesThen: ReadonlyArray<readonly [name: string, text: string, Pick<Said, "outcome" | "check" | "streamed">]> =
  [
    ["a notification and the answer", `[${progress},${complete}]`, { outcome: "ok", check: isOk }],
    ["the answer and a notification", `[${complete},${progress}]`, { outcome: "ok", check: isOk }],
    ["the answer twice", `[${complete},${complete}]`, { outcome: "ok", check: isOk }],
    ["what is no message, and the answer", `[null,5,[],{},${complete}]`, { outcome: "ok", check: isOk }],
    ["10,000 notifications and the answer", `[${`${progress},`.repeat(10_000)}${complete}]`, {
      outcome: "ok",
      check: isOk
    }],
    ["an error whose id is null", `[${progress},{"jsonrpc":"2.0","id":null,${error}}]`, { outcome: rpcError }],
    ["an answer to another request alone", `[${progress},${foreign}]`, { outcome: violation }],
    ["an answer to another request, and the answer", `[${foreign},${complete}]`, { outcome: violation }],
    ["notifications alone", `[${progress},${progress}]`, noMessage],
    ["nothing", "[]", noMessage],
    ["a batch in a batch", `[[${complete}],[]]`, noMessage]
  ]

const batches: ReadonlyArray<Said> = [
  ...revisions.map((speaks): Said => ({
    row: 27,
    name: `${speaks}: the answer in a list of one`,
    speaks,
    text: say(`[${complete}]`),
    outcome: "ok",
    check: isOk
  })),
  ...revisions.filter((speaks) => speaks !== batching).map((speaks): Said => ({
    row: 27,
    name: `${speaks}: a batch of two`,
    speaks,
    text: say(`[${progress},${complete}]`),
    ...noMessage
  })),
  ...batchesThen.map(([name, text, then]): Said => ({
    row: 27,
    name: `${batching}: ${name}`,
    speaks: batching,
    text: say(text),
    ...then
  })),
  { row: 27, name: "an empty batch", text: say("[]"), ...noMessage },
  { row: 27, name: "a list in a list", text: say(`[[${complete}]]`), ...noMessage },
  {
    row: 27,
    name: "a listing in a list of one",
    act: "list",
    text: say(`[{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","tools":[]}}]`),
    outcome: "ok",
    check: (tools) => assert.deepStrictEqual(tools, [])
  },
  {
    row: 27,
    name: `${batching}: a listing in a batch`,
    speaks: batching,
    act: "list",
    text: say(`[${progress},{"jsonrpc":"2.0","id":$ID,"result":{"tools":[]}}]`),
    outcome: "ok",
    check: (tools) => assert.deepStrictEqual(tools, [])
  },
  {
    row: 27,
    name: "server/discover answered in a list of one",
    act: "connect",
    text: say(
      `[{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}]`
    ),
    outcome: "ok",
    check: ({ protocolVersion }) => assert.strictEqual(protocolVersion, "2026-07-28")
  },
  {
    row: 27,
    name: "initialize answered in a batch, before any revision is agreed on",
    speaks: batching,
    act: "connect",
    sees: ["server/discover", "initialize"],
    text: say(
      `[${progress},{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{}}}]`
    ),
    ...noMessage
  },
  {
    row: 27,
    name: "extra keys in the envelope",
    text: say(
      `{"jsonrpc":"2.0","id":$ID,${result},"extra":[1],"_meta":{},"params":{},"ok":true,"statusCode":500,"Error":{}}`
    ),
    outcome: "ok",
    check: isOk
  },
  {
    row: 27,
    name: "extra keys in an envelope that is read in the handshake",
    act: "connect",
    text: say(
      `{"extra":1,"jsonrpc":"2.0","id":$ID,"params":null,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}`
    ),
    outcome: "ok"
  }
]

const neverSent: Case = {
  row: 27,
  name: `${batching}: several calls at once are never sent as a batch`,
  speaks: batching,
  answers: { "tools/call": script(asBody(okAnswer)) },
  act: (connection) => Effect.forEach([1, 2, 3], () => connection.callTool("t"), { concurrency: "unbounded" }),
  outcome: "ok",
  sees: times(3, "tools/call"),
  dials: 3,
  check: (results, { requests }) => {
    results.forEach(isOk)
    for (const { body } of requests) assert.notMatch(body, /^\s*\[/)
  }
}

export const jsonRpc: ReadonlyArray<Case> = [
  ...envelopes.flatMap(bothWays),
  ...underStatuses,
  ...streams,
  ...batches.flatMap(bothWays),
  neverSent
]
