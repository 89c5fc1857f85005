/**
 * Event streams that end without their answer: rows 5 and 7.
 */
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Responder } from "../../support/rawServer.ts"
import {
  answers,
  broken,
  ending,
  inTurn,
  lastEventIds,
  numbered,
  ok,
  onOneLine,
  progress,
  type Rest,
  rpcError,
  takenUp,
  unreachable
} from "../kit/streams.ts"
import { type Case, eitherEra } from "../kit/suite.ts"
import {
  answer,
  type Bytes,
  chunk,
  end,
  event,
  flood,
  head,
  json,
  jsonType,
  lastChunk,
  okAnswer,
  openStream,
  reset,
  script,
  type Step,
  streamType,
  turn,
  whole
} from "../kit/wire.ts"

const endings: ReadonlyArray<readonly [name: string, legacyDials: 1 | 2, ...ReadonlyArray<Step>]> = [
  ["ended with nothing in it", 1, openStream, lastChunk],
  ["of no length", 1, whole(200, streamType)],
  ["ended after a comment", 1, openStream, chunk(": hi\n\n"), lastChunk],
  ["ended after progress", 1, openStream, chunk(onOneLine(progress)), lastChunk],
  ["ended after what is not JSON", 1, openStream, chunk("data: x\n\n"), lastChunk],
  ["ended after half an event", 1, openStream, chunk("data: {"), lastChunk],
  ["closed", 2, openStream, end],
  ["closed inside a chunk", 2, openStream, "40\r\ndata: {", end],
  ["closed, without a length from the start", 2, head(200, { "content-type": streamType }), "data: {}\n\n", end],
  ["reset", 2, openStream, turn, reset]
]

/**
 * Before they end, these have said where to go on from: number 7.
 */
const resumable: ReadonlyArray<readonly [name: string, dials: 1 | 2, ...ReadonlyArray<Step>]> = [
  ["ended after an event id", 1, openStream, chunk("id: 7\ndata:\n\n"), lastChunk],
  ["ended after an event id without data", 1, openStream, chunk("id: 7\n\n"), lastChunk],
  ["ended after progress with an event id", 1, openStream, chunk(`id: 7\ndata: ${progress}\n\n`), lastChunk],
  ["closed after an event id", 2, openStream, chunk("id: 7\n\n"), turn, end],
  ["closed inside a chunk after an event id", 2, openStream, chunk("id: 7\n\n"), "40\r\ndata: {", turn, end],
  ["reset after an event id", 2, openStream, chunk("id: 7\n\n"), turn, reset]
]

/**
 * Ends each stream of a call after an event id, which is the id of the call.
 */
const numberedByCall: Responder = script(openStream, (request) => chunk(`id: ${request.message.id}\n\n`), lastChunk)

const answersByNumber: Responder = (socket, request) =>
  answers(socket, { ...request, message: { id: Number(request.headers["last-event-id"]) } })

const row5: ReadonlyArray<Case> = [
  ...endings.flatMap(([name, legacyDials, ...steps]) =>
    eitherEra({ row: 5, name, answers: { "tools/call": script(...steps) }, ...unreachable }, legacyDials)
  ),
  ...eitherEra(
    { row: 5, name: "a listing", answers: { "tools/list": ending(": hi\n\n") }, act: "list", ...unreachable },
    1
  ),
  {
    row: 5,
    name: "connecting",
    answers: { "server/discover": ending(": hi\n\n") },
    act: "connect",
    ...unreachable
  },
  {
    row: 5,
    name: "legacy: connecting, though with an event id: there is no session yet",
    speaks: "2025-11-25",
    answers: { initialize: numbered },
    act: "connect",
    sees: ["server/discover", "initialize"],
    ...unreachable
  },
  ...resumable.map(([name, , ...steps]): Case => ({
    row: 5,
    name: `${name}: never resumed`,
    answers: { "tools/call": script(...steps) },
    ...unreachable
  })),
  ...resumable.map(([name, dials, ...steps]): Case => ({
    row: 5,
    name: `legacy: ${name}`,
    answers: broken(script(...steps), answers),
    dials,
    ...takenUp(ok, "7"),
    check: ({ text }, server) => {
      assert.strictEqual(text, "ok")
      const { headers } = server.requests.find(({ httpMethod }) => httpMethod === "GET")!
      assert.strictEqual(headers["last-event-id"], "7")
      assert.strictEqual(headers["mcp-session-id"], "s1")
      assert.strictEqual(headers["mcp-protocol-version"], "2025-11-25")
      assert.strictEqual(headers["accept"], "text/event-stream")
    }
  })),
  ...(["2025-06-18", "2025-03-26", "2024-11-05"] as const).map((speaks): Case => ({
    row: 5,
    name: `${speaks}: ended after an event id`,
    answers: broken(numbered, answers),
    ...takenUp(ok, "7"),
    speaks
  })),
  {
    row: 5,
    name: "legacy: a listing, ended after an event id",
    answers: broken(
      numbered,
      script(openStream, event(answer(`{"tools":[]}`)), lastChunk),
      "tools/list"
    ),
    act: "list",
    ...takenUp({ outcome: "ok" }, "7"),
    sees: ["tools/list", "GET"]
  },
  {
    row: 5,
    name: "legacy: an error after the resumption",
    answers: broken(
      numbered,
      script(openStream, event(rpcError), lastChunk)
    ),
    ...takenUp({ outcome: "ServerAnswered/RpcError" }, "7")
  },
  {
    row: 5,
    name: "legacy: two calls at once, each taken up by itself",
    answers: { "tools/call": numberedByCall, GET: answersByNumber },
    act: (connection) => Effect.all([connection.callTool("a"), connection.callTool("b")], { concurrency: 2 }),
    ...takenUp({ outcome: "ok" }),
    sees: ["tools/call", "tools/call", "GET", "GET"],
    dials: 2,
    check: (results, server) => {
      assert.deepStrictEqual(results.map(({ text }: { text: string }) => text), ["ok", "ok"])
      const called = server.requests.filter(({ message }) => message.method === "tools/call")
      assert.sameMembers([...lastEventIds(server)], called.map(({ message }) => String(message.id)))
    }
  }
]

const html = "<html></html>"
const sessionError = `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}`

const redirect = head(307, { location: "/elsewhere", "content-length": "0" })

const status = (expected: number, dials = 1): Rest => ({
  outcome: "ConnectionFailed/HttpStatus",
  dials,
  check: ({ reason }) => assert.strictEqual(reason.status, expected)
})

const violation: Rest = { outcome: "ConnectionFailed/ProtocolViolation", dials: 2 }

const insteadOf: ReadonlyArray<readonly [name: string, Rest, ...ReadonlyArray<Step>]> = [
  ["404", status(404), whole(404, undefined)],
  ["404 with a JSON-RPC error", status(404), whole(404, jsonType, sessionError)],
  ["404 with HTML without end", status(404, 2), head(404, { "content-type": "text/html" }), flood(html.repeat(300))],
  ["400 with a JSON-RPC error that names no request", status(400), whole(400, jsonType, sessionError)],
  ["405", status(405), whole(405, undefined)],
  ["406", status(406), whole(406, undefined)],
  ["410", status(410), whole(410, undefined)],
  ["500 with HTML", status(500), whole(500, "text/html", html)],
  ["503", status(503), whole(503, undefined)],
  ["999", status(999), whole(999, undefined)],
  ["201 with the answer", status(201, 2), head(201, { "content-type": streamType }), event(okAnswer)],
  ["202", status(202), whole(202, undefined)],
  ["204", status(204), head(204)],
  ["301", status(301), head(301, { location: "/elsewhere", "content-length": "0" })],
  ["307", status(307), redirect],
  ["the answer as JSON", violation, json(okAnswer)],
  ["a JSON-RPC error", violation, whole(200, jsonType, sessionError)],
  ["HTML", violation, whole(200, "text/html", html)],
  ["HTML without end", violation, head(200, { "content-type": "text/html" }), flood(html.repeat(300))],
  ["no content type", violation, whole(200, undefined, html)],
  ["an empty 200", violation, whole(200, undefined)],
  ["a compressed stream", violation, head(200, { "content-type": streamType, "content-encoding": "gzip" })],
  ["what is no HTTP", violation, "no HTTP at all\r\n\r\n"]
]

const refused: ReadonlyArray<readonly [status: 401 | 403, body: Bytes]> = [
  [401, whole(401, undefined)],
  [403, whole(403, jsonType, sessionError)]
]

const row7: ReadonlyArray<Case> = [
  ...insteadOf.map(([name, outcome, ...steps]): Case => ({
    row: 7,
    name,
    answers: broken(numbered, script(...steps)),
    ...takenUp(outcome, "7")
  })),
  ...[429, 503].map((code): Case => ({
    row: 7,
    name: `${code} with Retry-After`,
    answers: broken(numbered, script(head(code, { "retry-after": "7", "content-length": "0" }))),
    ...takenUp({
      outcome: "ConnectionFailed/HttpStatus",
      check: ({ reason }) => assert.deepStrictEqual(reason.retryAfter, Duration.seconds(7))
    }, "7")
  })),
  ...refused.map(([code, body]): Case => ({
    row: 7,
    name: `${code}`,
    answers: broken(numbered, script(body)),
    ...takenUp({ outcome: "Unauthorized", check: (error) => assert.strictEqual(error.status, code) }, "7")
  })),
  {
    row: 7,
    name: "307 on the same origin, where that is asked for",
    answers: broken(numbered, inTurn(script(redirect), answers)),
    options: { redirects: "same-origin" },
    ...takenUp(ok, "7", "7")
  }
]

export const brokenStreams: ReadonlyArray<Case> = [...row5, ...row7]
