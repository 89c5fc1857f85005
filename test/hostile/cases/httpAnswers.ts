/**
 * HTTP: rows 13 and 14, answers that are none, and answers to what wants none.
 */
import { broken, httpStatus, okText, refused, timedOut, violation } from "../kit/outcomes.ts"
import type { Case } from "../kit/suite.ts"
import { atEveryRequest, calls, notifying, overTls, type Socket } from "../kit/variants.ts"
import {
  chunk,
  chunkedHead,
  drip,
  end,
  event,
  flood,
  head,
  jsonType,
  lastChunk,
  okAnswer,
  openStream,
  reset,
  script,
  type Step,
  streamType,
  whole,
  wholeWith
} from "../kit/wire.ts"

const chunkedJson = chunkedHead(jsonType)
const html = "<html>"

const answered = calls(13)
const notJson = violation(/not JSON/)
const malformed = violation(/^malformed HTTP/)
const noType = violation(/content type/)

/**
 * What is accepted is not answered. To discovery, it says that the server is a legacy one.
 */
const onlyAccepted: ReadonlyArray<Case> = [202, 204].flatMap((status) => {
  const everywhere = atEveryRequest(`${status}`, script(whole(status, undefined)), "kept", {
    row: 13,
    ...httpStatus(status)
  })
  return everywhere.filter(({ answers }) => !("server/discover" in answers!))
})

const noAnswer: ReadonlyArray<Case> = [
  ...atEveryRequest("200 of HTML", script(whole(200, "text/html", html)), "kept", { row: 13, ...noType }),
  ...atEveryRequest("200 without a content type", script(whole(200, undefined, "{}")), "kept", { row: 13, ...noType }),
  ...atEveryRequest("an empty 200 of JSON", script(whole(200, jsonType)), "kept", { row: 13, ...violation(/empty/) }),
  ...onlyAccepted,
  answered("an empty 200", [whole(200, undefined)], noType),
  answered("an empty 200 in chunks", [chunkedJson, lastChunk], violation(/empty/)),
  answered("200 of HTML that says it is JSON", [whole(200, jsonType, html)], notJson),
  answered("200 of blanks that say they are JSON", [whole(200, jsonType, " \r\n\t")], notJson),
  answered("200 of HTML that never comes", [head(200, { "content-type": "text/html", "content-length": "9" })], noType),
  answered("200 of HTML without end", [chunkedHead("text/html"), flood(chunk(html.repeat(1000)))], noType),
  ...[
    "text/plain",
    "text/json",
    "application/jsonx",
    "application/json-seq",
    "application/problem+json",
    "application/json, text/html",
    "application /json",
    "json",
    "*/*",
    ";",
    ""
  ].map((type) => answered(`200 of "${type}"`, [(request) => whole(200, type, okAnswer(request))], noType)),
  answered("two content types", [
    (request) => wholeWith(200, { "content-type": [jsonType, "text/html"] }, okAnswer(request))
  ], noType),
  ...["null", "5", `"ok"`, "[]", "{}", `{"ok":true}`].map((body) =>
    answered(`200 of ${body}`, [whole(200, jsonType, body)], violation(/JSON-RPC|batch/))
  ),
  answered("202 with the answer in it", [(request) => whole(202, jsonType, okAnswer(request))], httpStatus(202)),
  answered("202 that only a close would end", [head(202)], httpStatus(202)),
  answered(
    "202 with a body without end",
    [chunkedHead("text/plain", 202), flood(chunk(html.repeat(1000)))],
    httpStatus(202)
  ),
  answered("204 with the answer behind it", [(request) => whole(204, jsonType, okAnswer(request))], httpStatus(204)),
  ...[201, 203, 205, 206, 299, 300, 304, 402, 405, 418, 451, 502, 504, 599, 600, 999].map((status) =>
    answered(
      `${status}`,
      [whole(status, "text/plain", status === 205 || status === 304 ? "" : "?")],
      httpStatus(status)
    )
  ),
  answered("an event stream under a 500", [chunkedHead(streamType, 500), event(okAnswer)], httpStatus(500)),
  answered("an event stream under a 202", [chunkedHead(streamType, 202), event(okAnswer)], httpStatus(202))
]

const notHttp: ReadonlyArray<Case> = [
  ...[
    "hello\r\n\r\n",
    "SSH-2.0-OpenSSH_9.9\r\n",
    "220 mail.example ESMTP\r\n",
    "ICY 200 OK\r\n\r\n",
    "http/1.1 200 OK\r\n\r\n",
    "HTTP/9.9 200 OK\r\n\r\n",
    "HTTP/1.1 20 OK\r\n\r\n",
    "HTTP/1.1 2000 OK\r\n\r\n",
    "HTTP/1.1 abc OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx: \0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nx y: z\r\n\r\n",
    "POST /mcp HTTP/1.1\r\n\r\n"
  ].map((bytes) => answered(`not HTTP: ${JSON.stringify(bytes)}`, [bytes], malformed)),
  answered("not HTTP: the answer alone", [okAnswer], malformed),
  answered("not HTTP: a frame of HTTP/2", [Buffer.from("000000040000000000", "hex")], malformed),
  answered("not HTTP: an alert of TLS", [Buffer.from("15030100020228", "hex")], malformed)
]

const good: ReadonlyArray<Case> = [
  ...[
    "application/json; charset=utf-8",
    "Application/JSON; Charset=UTF-8",
    "APPLICATION/JSON",
    `application/json;charset="utf-8";x`,
    "application/json ;charset=latin1",
    "application/json;"
  ].map((type) => answered(`200 of "${type}"`, [(request) => whole(200, type, okAnswer(request))], okText)),
  ...["text/event-stream; charset=utf-8", "Text/Event-Stream", "text/event-stream;"].map((type) =>
    answered(`an event stream as "${type}"`, [chunkedHead(type), event(okAnswer), lastChunk], okText)
  ),
  answered("header names in odd case", [
    (request) => {
      const body = okAnswer(request)
      return `HTTP/1.1 200\r\ncOnTeNt-TyPe:${jsonType}\r\nCONTENT-LENGTH:${body.length}\r\n\r\n${body}`
    }
  ], okText)
]

/**
 * A legacy handshake whose notification is answered so, and a call after it.
 */
const notified = (
  name: string,
  socket: Socket,
  steps: ReadonlyArray<Step>,
  speaks: Case["speaks"] = "2025-11-25"
): Case => ({
  row: 14,
  name,
  speaks,
  answers: { "notifications/initialized": script(...steps) },
  dials: socket === "closed" ? 2 : 1,
  ...okText
})

/**
 * More than is read on of a body that nobody wants, in one piece with its head.
 */
const tooLongToDrain = (type: string): Buffer =>
  Buffer.concat([Buffer.from(chunkedHead(type)), chunk(": hi\n".repeat(8000))])

const accepted: ReadonlyArray<Case> = [
  ...["null", "{}", "[]", `{"jsonrpc":"2.0","id":null,"result":{}}`, "not JSON", ""].map((body) =>
    notified(`200 of JSON: ${body}`, "kept", [whole(200, jsonType, body)])
  ),
  notified("200 of a JSON-RPC error", "kept", [
    whole(200, jsonType, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}`)
  ]),
  notified("200 of text", "kept", [whole(200, "text/plain", "ok")]),
  notified("200 of HTML", "kept", [whole(200, "text/html", html)]),
  notified("200 of no type", "kept", [whole(200, undefined, "ok")]),
  notified("an empty 200", "kept", [whole(200, undefined)]),
  notified("202 with a body", "kept", [whole(202, jsonType, "null")]),
  ...[201, 204, 299].map((status) => notified(`${status}`, "kept", [whole(status, undefined)])),
  notified("200 of a short event stream", "kept", [openStream, chunk(": hi\n\n"), lastChunk]),
  notified("200 of an event stream that asks for something", "kept", [
    openStream,
    chunk(`data: {"jsonrpc":"2.0","id":1,"method":"roots/list"}\n\n`),
    lastChunk
  ]),
  notified("200 of JSON, at 2025-06-18", "kept", [whole(200, jsonType, "null")], "2025-06-18"),
  notified("200 of JSON, at 2025-03-26", "kept", [whole(200, jsonType, "null")], "2025-03-26"),
  notified("200 of JSON, at 2024-11-05", "kept", [whole(200, jsonType, "null")], "2024-11-05")
]

const silent = notified("200 of an event stream, open and silent", "closed", [openStream])
const endless = notified("200 of an event stream without end", "closed", [
  tooLongToDrain(streamType),
  flood(chunk(": hi\n".repeat(800)))
])

const notReadOn: ReadonlyArray<Case> = [
  silent,
  overTls(silent),
  endless,
  {
    ...endless,
    name: "200 of an event stream without end, and room in the budget for a call",
    budget: { limit: 200_000 }
  },
  notified("200 of JSON without end", "closed", [tooLongToDrain(jsonType), flood(chunk("[".repeat(4096)))]),
  notified("202 of text without end", "closed", [tooLongToDrain("text/plain"), flood(chunk(html.repeat(1000)))]),
  notified("200 of an event stream with a comment every 5 ms", "closed", [openStream, drip(chunk(": hi\n\n"), 5)]),
  notified("200 of JSON that never comes", "closed", [
    head(200, { "content-type": jsonType, "content-length": "9" })
  ]),
  notified("200 of a terabyte of JSON", "closed", [
    head(200, { "content-type": jsonType, "content-length": "1000000000000" })
  ]),
  notified("202 that only a close would end", "closed", [head(202)]),
  notified("202 under Connection: close", "closed", [head(202, { connection: "close", "content-length": "0" }), end])
]

const notAccepted: ReadonlyArray<Case> = [
  ...[302, 400, 404, 405, 500, 503].map((status): Case => ({
    row: 14,
    name: `${status} ends the handshake`,
    ...notifying(script(whole(status, "text/plain", "no"))),
    ...httpStatus(status)
  })),
  ...([401, 403] as const).map((status): Case => ({
    row: 14,
    name: `${status} ends the handshake`,
    ...notifying(script(whole(status, "text/plain", "no"))),
    ...refused(status)
  })),
  { row: 14, name: "no answer at all ends the handshake", ...notifying(() => {}, "closed"), ...timedOut(150) },
  { row: 14, name: "reset before the answer ends the handshake", ...notifying(script(reset), "closed"), ...broken }
]

export const httpAnswers: ReadonlyArray<Case> = [
  ...noAnswer,
  ...notHttp,
  ...good,
  ...accepted,
  ...notReadOn,
  ...notAccepted
]
