/**
 * Event streams that bring an answer, or nothing but themselves: rows 1 to 4, and 8.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { RawRequest, Responder } from "../../support/rawServer.ts"
import {
  enough,
  ok,
  onOneLine,
  overBudget,
  progress,
  type Rest,
  rpcError,
  says,
  timedOut,
  unreachable
} from "../kit/streams.ts"
import { type Act, type Case, eitherEra } from "../kit/suite.ts"
import {
  answer,
  type Bytes,
  chunk,
  chunks,
  drip,
  end,
  event,
  events,
  flood,
  json,
  lastChunk,
  okAnswer,
  openStream,
  reset,
  script,
  type Step,
  turn
} from "../kit/wire.ts"

/**
 * A call that is answered so, in either era.
 */
const call = (row: number, name: string, respond: Responder, rest: Rest, legacyDials?: number): ReadonlyArray<Case> =>
  eitherEra({ row, name, answers: { "tools/call": respond }, ...rest }, legacyDials)

/**
 * A listing and either era's connecting that are answered so.
 */
const otherRequests = (row: number, name: string, respond: Responder, rest: Rest): ReadonlyArray<Case> => [
  ...eitherEra({ row, name: `a listing: ${name}`, answers: { "tools/list": respond }, act: "list", ...rest }),
  { row, name: `connecting: ${name}`, answers: { "server/discover": respond }, act: "connect", ...rest },
  {
    row,
    name: `legacy: connecting: ${name}`,
    speaks: "2025-11-25",
    answers: { initialize: respond },
    act: "connect",
    sees: ["server/discover", "initialize"],
    ...rest
  }
]

const logMessage = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hi"}}`

const stalls: ReadonlyArray<readonly [name: string, ...ReadonlyArray<Step>]> = [
  ["open and silent"],
  ["a comment every 20 ms", drip(chunk(": hi\n\n"), 20)],
  ["a newline every 20 ms", drip(chunk("\n"), 20)],
  ["an event without data every 20 ms", drip(chunk("data:\n\n"), 20)],
  ["an event id every 20 ms", drip(chunk("id: 1\n\n"), 20)],
  ["a wait of no length asked for every 20 ms", drip(chunk("retry: 0\n\n"), 20)],
  ["a progress notification every 20 ms", drip(chunk(onOneLine(progress)), 20)],
  ["a log message every 20 ms", drip(chunk(onOneLine(logMessage)), 20)],
  ["half a notification, then silence", chunk(`data: ${progress.slice(0, 40)}`)],
  ["half a chunk, then silence", "40\r\ndata: "]
]

const commentEvery20 = script(openStream, drip(chunk(": hi\n\n"), 20))
const progressEvery20 = script(openStream, drip(chunk(onOneLine(progress)), 20))

const row1: ReadonlyArray<Case> = [
  ...stalls.flatMap(([name, ...steps]) => call(1, name, script(openStream, ...steps), timedOut)),
  ...otherRequests(1, "open and silent", script(openStream), timedOut),
  ...otherRequests(1, "a comment every 20 ms", commentEvery20, timedOut),
  ...call(1, "comments do not extend the time of a request", commentEvery20, {
    policy: { operationTimeout: "5 seconds" },
    ...timedOut
  }),
  ...call(1, "progress does not extend the time of the whole call", progressEvery20, {
    policy: { requestTimeout: "5 seconds" },
    ...timedOut
  })
]

const endless: ReadonlyArray<readonly [name: string, ...ReadonlyArray<Step>]> = [
  ["comments", flood(chunk(": hi\n".repeat(800)))],
  ["comments, a byte a chunk", flood(chunks(": hi\n".repeat(100), 1))],
  ["newlines", flood(chunk("\n".repeat(4096)))],
  ["carriage returns", flood(chunk("\r".repeat(4096)))],
  ["a line", flood(chunk("x".repeat(4096)))],
  ["a line, a byte a chunk", flood(chunks("x".repeat(500), 1))],
  ["a line of data", chunk("data: "), flood(chunk("x".repeat(4096)))],
  ["an event name", chunk("event: "), flood(chunk("x".repeat(4096)))],
  ["lines of data without a blank one", flood(chunk("data: x\n".repeat(500)))],
  ["empty lines of data without a blank one", flood(chunk("data\n".repeat(800)))],
  ["lines of an unknown field", flood(chunk("x: y\n".repeat(800)))],
  ["event ids", flood(chunk("id: 1\n".repeat(700)))],
  ["events that are not JSON", flood(chunk("data: x\n\n".repeat(500)))],
  ["events under another name", flood(chunk("event: x\ndata: {}\n\n".repeat(200)))],
  ["events without data", flood(chunk("data:\n\n".repeat(500)))],
  ["notifications", flood(chunk(onOneLine(progress).repeat(30)))]
]

const comments = flood(chunk(": hi\n".repeat(800)))

/**
 * Every byte is written by itself, and has left before the next.
 */
const byteByByte: Responder = (socket, request) =>
  script(
    openStream,
    ...[...Buffer.from(onOneLine(okAnswer(request)))].flatMap((byte) => [chunk(Uint8Array.of(byte)), turn]),
    lastChunk
  )(socket, request)

const long: ReadonlyArray<readonly [name: string, Step]> = [
  ["64 KiB of bare newlines before the answer", events((text) => `${"\n".repeat(64 * 1024)}${onOneLine(text)}`)],
  ["100,000 characters a byte a chunk", events((text) => `: ${"x".repeat(100_000)}\n${onOneLine(text)}`, 1)],
  ["100,000 lines of data in one event", events((text) => `${"data\n".repeat(100_000)}${onOneLine(text)}`)],
  ["30,000 events before the answer", events((text) => `${"data: x\n\n".repeat(30_000)}${onOneLine(text)}`)]
]

const row2: ReadonlyArray<Case> = [
  ...endless.flatMap(([name, ...steps]) => call(2, `${name} without end`, script(openStream, ...steps), overBudget)),
  ...otherRequests(2, "comments without end", script(openStream, comments), overBudget),
  {
    row: 2,
    name: "legacy: comments without end after an event id: not resumed",
    speaks: "2025-11-25",
    answers: { "tools/call": script(openStream, chunk("id: 1\ndata:\n\n"), comments) },
    dials: 2,
    ...overBudget
  },
  ...call(2, "a line without end, a byte every 5 ms", script(openStream, drip(chunk("x"), 5)), timedOut),
  ...call(2, "data without a blank line, a line every 5 ms", script(openStream, drip(chunk("data: x\n"), 5)), timedOut),
  ...call(2, "the answer a byte a write", byteByByte, ok, 1),
  ...long.flatMap(([name, bytes]) => call(2, name, script(openStream, bytes), { deadline: enough, ...ok }))
]

const dataLines = (text: string): ReadonlyArray<string> =>
  text.split(",").map((part, i) => i === 0 ? `data: ${part}` : `data: ,${part}`)

/**
 * The answer on several lines, among much that is no data, with every line ended alike.
 */
const linesEndingIn = (lineEnd: string) => (text: string): string =>
  [": a comment", "", "event: message", "foo", ...dataLines(text), "id: 1", "", ""].join(lineEnd)

const readable: ReadonlyArray<readonly [name: string, (text: string) => string]> = [
  ["lines ended by LF", linesEndingIn("\n")],
  ["lines ended by CR", linesEndingIn("\r")],
  ["lines ended by CR LF", linesEndingIn("\r\n")],
  ["all line ends mixed", (text) => `: hi\r\r\n\n: hi\r\nretry: 5\rdata: ${text}\r\n\r`],
  ["a blank line of another kind than the line before", (text) => `data: ${text}\n\r\n`],
  ["a byte order mark", (text) => `\uFEFF${onOneLine(text)}`],
  ["a line without colon", (text) => `data\ndata: ${text}\nfoo\n\n`],
  ["several lines of data", (text) => `${dataLines(text).join("\n")}\n\n`],
  ["no space after the colon", (text) => `data:${text}\n\n`],
  ["two spaces after the colon", (text) => `data:  ${text}\n\n`],
  ["what looks like data", (text) => `datax: 1\n data: 2\n:data: 3\nDATA: 4\n\uFEFFdata: 5\n${onOneLine(text)}`],
  ["many blank lines", (text) => `\n\r\n\r\r${onOneLine(text)}\n\n\n`]
]

const noAnswer: ReadonlyArray<readonly [name: string, (text: string) => Bytes]> = [
  ["a space before the field", (text) => ` data: ${text}\n\n`],
  ["the field in capitals", (text) => `DATA: ${text}\n\n`],
  ["the answer behind a second byte order mark", (text) => `\uFEFF\uFEFF${onOneLine(text)}`],
  ["the answer cut in two by a blank line", (text) => `data: ${text.slice(0, 20)}\n\ndata: ${text.slice(20)}\n\n`],
  ["a stream in UTF-16", (text) => Buffer.from(`\uFEFF${onOneLine(text)}`, "utf16le")]
]

/**
 * The answer in these words.
 */
const saying = (words: string) =>
  answer(JSON.stringify({ resultType: "complete", content: [{ type: "text", text: words }] }))

/**
 * Characters of one to four bytes.
 */
const everyWidth = "a\u00E9\u6F22\u{1F600}"
const unicodeLineEnds = "\u0085\u2028\u2029"

const encoded: ReadonlyArray<readonly [name: string, text: string, (request: RawRequest) => Bytes]> = [
  ...[1, 2, 3].map((size) =>
    [
      `UTF-8 cut every ${size} bytes`,
      everyWidth,
      (request: RawRequest) => chunks(onOneLine(saying(everyWidth)(request)), size)
    ] as const
  ),
  ["line ends of Unicode in the answer", unicodeLineEnds, event(saying(unicodeLineEnds))],
  [
    "a byte that is no UTF-8",
    "a\uFFFDb",
    (request) => chunk(Buffer.from(onOneLine(saying("a\u00FFb")(request)), "latin1"))
  ]
]

/**
 * Each piece is written by itself, has left before the next, and the last one leaves the stream open.
 */
const inPieces = (...pieces: ReadonlyArray<(text: string) => string>): Responder =>
  script(
    openStream,
    ...pieces.flatMap((piece): ReadonlyArray<Step> => [(request) => chunk(piece(okAnswer(request))), turn])
  )

const split: ReadonlyArray<readonly [name: string, Responder]> = [
  ["CR LF split over writes", inPieces((text) => `data: ${text}\r`, () => "\n\r", () => "\n")],
  ["a blank line that ends in CR, and nothing after it", inPieces((text) => `data: ${text}\r\r`)],
  ["a blank line whose LF never comes", inPieces((text) => `data: ${text}\r\n`, () => "\r")]
]

const row3: ReadonlyArray<Case> = [
  ...readable.flatMap(([name, text]) => [
    ...call(3, name, script(openStream, events(text), lastChunk), ok, 1),
    ...call(3, `${name}, cut at every byte`, script(openStream, events(text, 1)), ok)
  ]),
  ...encoded.flatMap(([name, text, bytes]) => call(3, name, script(openStream, bytes, lastChunk), says(text), 1)),
  ...split.flatMap(([name, respond]) => call(3, name, respond, ok)),
  ...noAnswer.flatMap(([name, text]) => call(3, name, script(openStream, events(text), lastChunk), unreachable, 1))
]

const named: ReadonlyArray<readonly [name: string, (text: string) => string, Rest]> = [
  ["message, spelt out", (text) => `event: message\ndata: ${text}\n\n`, ok],
  ["the empty name", (text) => `event:\ndata: ${text}\n\n`, ok],
  ["two names, message the last", (text) => `event: x\nevent: message\ndata: ${text}\n\n`, ok],
  ["a name on an event without data before it", (text) => `event: x\n\ndata: ${text}\n\n`, ok],
  [
    "another answer under another name before it",
    (text) => `event: x\ndata: ${text.replace("ok", "other")}\n\ndata: ${text}\n\n`,
    ok
  ],
  ["another name", (text) => `event: x\ndata: ${text}\n\n`, unreachable],
  ["another name after the data", (text) => `data: ${text}\nevent: x\n\n`, unreachable],
  ["two names, message the first", (text) => `event: message\nevent: x\ndata: ${text}\n\n`, unreachable],
  ["message in another case", (text) => `event: Message\ndata: ${text}\n\n`, unreachable],
  ["message and a space", (text) => `event: message \ndata: ${text}\n\n`, unreachable],
  ["error", (text) => `event: error\ndata: ${text}\n\n`, unreachable],
  ["endpoint", (text) => `event: endpoint\ndata: ${text}\n\n`, unreachable]
]

const unfinished: ReadonlyArray<readonly [name: string, (text: string) => string]> = [
  ["no line end", (text) => `data: ${text}`],
  ["one line end", (text) => `data: ${text}\n`],
  ["one CR LF", (text) => `data: ${text}\r\n`],
  ["a line of one space", (text) => `data: ${text}\n \n`],
  ["a comment", (text) => `data: ${text}\n:\n`]
]

const unfinishedAnswer = (request: RawRequest): Buffer => chunk(`data: ${okAnswer(request)}\n`)

const row4: ReadonlyArray<Case> = [
  ...named.flatMap(([name, text, rest]) =>
    call(4, `the name of the event: ${name}`, script(openStream, events(text), lastChunk), rest, 1)
  ),
  ...unfinished.flatMap(([name, text]) =>
    call(4, `${name} behind the answer`, script(openStream, events(text), lastChunk), unreachable, 1)
  ),
  ...call(4, "no blank line, connection closed", script(openStream, unfinishedAnswer, end), unreachable),
  ...call(4, "no blank line, connection reset", script(openStream, unfinishedAnswer, turn, reset), unreachable),
  ...call(4, "no blank line, stream open", script(openStream, unfinishedAnswer), timedOut)
]

/**
 * Calls, and waits until the server's socket is closed, though the connection lives on.
 */
const callAndSeeItClosed: Act = (connection, server) => Effect.tap(connection.callTool("t"), () => server.atMost(0))

const afterwards: ReadonlyArray<readonly [name: string, ...ReadonlyArray<Step>]> = [
  ["silence"],
  ["a comment every 5 ms", drip(chunk(": hi\n\n"), 5)],
  ["comments without end", comments],
  ["a line without end", flood(chunk("x".repeat(4096)))],
  ["newlines, a byte a chunk, without end", flood(chunks("\n".repeat(500), 1))],
  ["notifications without end", flood(chunk(onOneLine(progress).repeat(30)))],
  ["answers without end", (request) => Buffer.concat(Array(10_000).fill(event(saying("again"))(request)))],
  ["half an event", chunk("data: {")],
  ["what is no chunk", "no chunk\r\n"],
  ["the connection closed", end],
  ["the connection reset", turn, reset]
]

const oneChunk = (...messages: ReadonlyArray<(request: RawRequest) => string>) => (request: RawRequest): Buffer =>
  chunk(messages.map((text) => onOneLine(text(request))).join(""))

const twice: ReadonlyArray<readonly [name: string, outcome: Rest, ...ReadonlyArray<Step>]> = [
  ["in the same chunk", ok, oneChunk(okAnswer, saying("second"))],
  ["in the next chunk", ok, event(okAnswer), event(saying("second"))],
  ["in the next turn", ok, event(okAnswer), turn, event(saying("second"))],
  ["an error after the result", ok, oneChunk(okAnswer, rpcError)],
  ["a result after the error", { outcome: "ServerAnswered/RpcError" }, oneChunk(rpcError, okAnswer)]
]

/**
 * The answer that the request after this one would get.
 */
const forged = (request: RawRequest): string =>
  saying("forged")({ ...request, message: { id: request.message.id! + 1 } })

const wholeStream = (request: RawRequest): Buffer =>
  Buffer.concat([Buffer.from(openStream), event(okAnswer)(request), Buffer.from(lastChunk)])

const early: ReadonlyArray<readonly [name: string, (request: RawRequest) => Bytes]> = [
  ["on the same stream", (request) => Buffer.concat([Buffer.from(openStream), oneChunk(okAnswer, forged)(request)])],
  ["as a response behind the stream", (request) => Buffer.concat([wholeStream(request), json(forged)(request)])],
  ["as a response behind JSON", (request) => Buffer.concat([json(okAnswer)(request), json(forged)(request)])]
]

const callTwice: Act = (connection) => Effect.all([connection.callTool("t"), connection.callTool("t")])

const row8: ReadonlyArray<Case> = [
  ...afterwards.flatMap(([name, ...steps]) =>
    call(8, `after the answer, ${name}`, script(openStream, event(okAnswer), ...steps), {
      act: callAndSeeItClosed,
      deadline: 300,
      budget: { limit: "256 KiB" },
      ...ok
    })
  ),
  ...call(
    8,
    "the answer and a megabyte of comments in one chunk",
    script(openStream, (request) => chunk(onOneLine(okAnswer(request)) + ": hi\n".repeat(200_000))),
    { act: callAndSeeItClosed, budget: { limit: "256 KiB" }, ...ok }
  ),
  ...twice.flatMap(([name, rest, ...steps]) => call(8, `a second answer: ${name}`, script(openStream, ...steps), rest)),
  {
    row: 8,
    name: "2025-03-26: a second answer: in the same batch",
    speaks: "2025-03-26",
    answers: {
      "tools/call": script(openStream, event((request) => `[${okAnswer(request)},${saying("second")(request)}]`))
    },
    dials: 2,
    ...ok
  },
  ...early.flatMap(([name, bytes]) =>
    call(
      8,
      `the answer to a request that is not yet made, ${name}`,
      (socket, request) => script(request.nth === 0 ? bytes : json(okAnswer))(socket, request),
      {
        act: callTwice,
        outcome: "ok",
        sees: ["tools/call", "tools/call"],
        dials: 2,
        check: (results) => assert.deepStrictEqual(results.map(({ text }: { text: string }) => text), ["ok", "ok"])
      }
    )
  ),
  ...call(8, "progress in the chunk of the answer", script(openStream, oneChunk(() => progress, okAnswer)), ok),
  ...call(8, "a log message in the chunk of the answer", script(openStream, oneChunk(() => logMessage, okAnswer)), ok)
]

export const eventStreams: ReadonlyArray<Case> = [...row1, ...row2, ...row3, ...row4, ...row8]
