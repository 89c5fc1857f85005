/**
 * HTTP: row 10, what is beyond measure around a body and in it.
 */
import type { RawRequest } from "../../support/rawServer.ts"
import { httpStatus, okText, refused, timedOut, tooMuch, violation } from "../kit/outcomes.ts"
import type { Case } from "../kit/suite.ts"
import { atEveryRequest, calls, overTls } from "../kit/variants.ts"
import {
  chunk,
  chunkedHead,
  drip,
  event,
  flood,
  head,
  json,
  jsonType,
  okAnswer,
  openStream,
  script,
  streamType,
  turn,
  whole
} from "../kit/wire.ts"

const KiB = 1024
const MiB = 1024 * KiB
const cap = 64 * KiB

const overBudget = tooMuch("response bytes", 8 * MiB)

/**
 * For what takes its time to read.
 */
const overSmall = { ...tooMuch("response bytes", 256 * KiB), budget: { limit: 256 * KiB } }
const overHead = tooMuch("header block", cap)
const overFraming = tooMuch("bytes without content", cap)
const overHints = tooMuch("informational responses", 16)
const malformed = violation(/^malformed HTTP/)

const row = 10

const called = calls(row)

const okJson = json(okAnswer)
const okChunk = (request: RawRequest) => chunk(okAnswer(request))

const withLength = (length: string, type = jsonType, status = 200): string =>
  head(status, { "content-type": type, "content-length": length })

const chunkedJson = chunkedHead(jsonType)
const statusLine = "HTTP/1.1 200 OK\r\n"
const manyHeaders = "x: y\r\n".repeat(1000)
const terabyte = "1000000000000"

const lengths: ReadonlyArray<Case> = [
  ...atEveryRequest("a terabyte is promised", script(withLength(terabyte), "{"), "closed", { row, ...overBudget }),
  called("a terabyte is promised, and sent", [withLength(terabyte), flood("[".repeat(cap))], overBudget),
  called("a terabyte of event stream", [withLength(terabyte, streamType), flood(": hi\n".repeat(KiB))], overSmall),
  called("a terabyte of JSON under a 500", [withLength(terabyte, jsonType, 500)], overBudget),
  called("a terabyte of HTML under a 500", [withLength(terabyte, "text/html", 500)], httpStatus(500)),
  called("an exabyte is promised, and nothing sent", [withLength("1".padEnd(19, "0"))], timedOut(150)),
  called("a length of 60,000 digits", [withLength("1".repeat(60_000)), "{}"], malformed),
  ...["1".padEnd(30, "0"), "-1", "+2", "0x2", "2, 2", ""].map((length) =>
    called(`a length of "${length}"`, [withLength(length), "{}"], malformed)
  ),
  called(
    "two lengths",
    [head(200, { "content-type": jsonType, "content-length": ["2", "3"] }), "{}"],
    malformed
  ),
  called(
    "a length and chunks",
    [head(200, { "content-type": jsonType, "content-length": "2", "transfer-encoding": "chunked" }), "{}"],
    malformed
  )
]

const chunks: ReadonlyArray<Case> = [
  ...atEveryRequest(
    "chunks without end",
    script(chunkedJson, flood(chunk("[".repeat(4 * KiB)))),
    "closed",
    { row, ...overBudget }
  ),
  called("chunks of an event stream without end", [openStream, flood(chunk("data: x\n".repeat(KiB)))], overSmall),
  called("chunks of one byte without end", [chunkedJson, flood("1\r\n[\r\n".repeat(KiB))], overSmall),
  called("one chunk of a terabyte", [chunkedJson, "e8d4a51000\r\n", flood("[".repeat(cap))], overBudget),
  called("one chunk of a terabyte that does not come", [chunkedJson, "e8d4a51000\r\n"], timedOut(150)),
  ...["f".repeat(20), "zz", "-5", "0x5"].map((size) =>
    called(`a chunk of size ${size}`, [chunkedJson, `${size}\r\nhello\r\n`], malformed)
  ),
  called("a chunk size without end", [chunkedJson, flood("0".repeat(4 * KiB))], overFraming),
  called("a chunk size that drips", [chunkedJson, drip("0", 20)], timedOut(150)),
  called("a chunk extension of 1 MiB", [chunkedJson, `5;${"x".repeat(MiB)}\r\nhello\r\n`], overFraming),
  called(
    "a chunk extension of 1 MiB on an event stream",
    [openStream, `5;${"x".repeat(MiB)}\r\n: hi\n\r\n`],
    overFraming
  ),
  called("a chunk extension without end", [chunkedJson, "5;", flood("x".repeat(4 * KiB))], overFraming),
  called("a chunk extension that drips", [chunkedJson, "5;", drip("x", 20)], timedOut(150)),
  called("a long extension on every chunk", [chunkedJson, flood(`1;${"x".repeat(60_000)}\r\n[\r\n`)], overFraming),
  called(
    "an extension of 1 MiB on the last chunk",
    [chunkedJson, okChunk, `0;${"x".repeat(MiB)}\r\n\r\n`],
    overFraming
  ),
  called("short chunk extensions", [chunkedJson, (request) => {
    const text = okAnswer(request)
    return `${text.length.toString(16)};a=b;c="d"\r\n${text}\r\n0;e\r\n\r\n`
  }], okText)
]

/**
 * The good answer under a header block of exactly so many bytes, which ends in a line of its own.
 */
const underHead = (size: number) => (request: RawRequest): string => {
  const answer = whole(200, jsonType, okAnswer(request)).toString()
  const bare = answer.indexOf("\r\n\r\n") + 4
  return answer.replace("\r\n\r\n", `\r\nx: ${"y".repeat(size - bare - 5)}\r\n\r\n`)
}

const atCap = underHead(cap)
const pastCap = underHead(cap + 1)

const headers: ReadonlyArray<Case> = [
  ...atEveryRequest("headers without end", script(statusLine, flood(manyHeaders)), "closed", { row, ...overHead }),
  ...atEveryRequest("a header every 20 ms", script(statusLine, drip("x: y\r\n", 20)), "closed", {
    row,
    ...timedOut(150)
  }),
  ...atEveryRequest("headers of 64 KiB and a byte", script(pastCap), "closed", { row, ...overHead }),
  called("headers of exactly 64 KiB", [atCap], okText),
  called(
    "headers of exactly 64 KiB, in two pieces",
    [(request) => atCap(request).slice(0, cap - 2), turn, (request) => atCap(request).slice(cap - 2)],
    okText
  ),
  called(
    "headers of 64 KiB and a byte, in two pieces",
    [(request) => pastCap(request).slice(0, cap - 1), turn, (request) => pastCap(request).slice(cap - 1)],
    overHead
  ),
  called("one header of 70 KiB", [underHead(70 * KiB)], overHead),
  called("a header name of 70 KiB", [statusLine, `${"x".repeat(70 * KiB)}: y\r\n\r\n`], overHead),
  called("70 KiB of short headers", [statusLine, "x: y\r\n".repeat(12 * KiB), "\r\n"], overHead),
  called("70 KiB of headers, under a 500", ["HTTP/1.1 500 No\r\n", "x: y\r\n".repeat(12 * KiB), "\r\n"], overHead),
  called("a header padded with 200 KB of spaces", [statusLine, `x:${" ".repeat(200_000)}y\r\n\r\n`], overHead),
  called("a header padded with 200 KB of tabs", [statusLine, `x: y${"\t".repeat(200_000)}\r\n\r\n`], overHead),
  called("a header that drips", [statusLine, "x: ", drip("y", 20)], timedOut(150)),
  called("a status line without end", ["HTTP/1.1 200 ", flood("O".repeat(4 * KiB))], overHead),
  called("a status line that drips", ["HTTP/1.1 200 ", drip("O", 20)], timedOut(150)),
  called("line breaks before the status line, without end", [flood("\r\n".repeat(KiB))], overHead),
  called("a line break before the status line, every 20 ms", [drip("\r\n", 20)], timedOut(150)),
  called("a few line breaks before the status line", ["\r\n\r\n", okJson], okText),
  called("headers that use up the budget", [underHead(60 * KiB)], {
    ...tooMuch("response bytes", 40 * KiB),
    budget: { limit: 40 * KiB }
  })
]

/**
 * The last chunk, and so many bytes of trailers.
 */
const trailers = (size: number): string => `0\r\n${"x: y\r\n".repeat(Math.ceil(size / 6))}\r\n`

const afterContent: ReadonlyArray<Case> = [
  called("trailers without end", [chunkedJson, okChunk, "0\r\n", flood(manyHeaders)], overFraming),
  called("a trailer every 20 ms", [chunkedJson, okChunk, "0\r\n", drip("x: y\r\n", 20)], timedOut(150)),
  called("1 MiB of trailers", [chunkedJson, okChunk, trailers(MiB)], overFraming),
  called("one trailer of 70 KiB", [chunkedJson, okChunk, `0\r\nx: ${"y".repeat(70 * KiB)}\r\n\r\n`], overHead),
  called("60 KB of trailers that the budget has room for", [chunkedJson, okChunk, trailers(60_000)], okText),
  called("60 KB of trailers past the budget", [chunkedJson, okChunk, trailers(60_000)], {
    ...tooMuch("response bytes", 40_000),
    budget: { limit: 40_000 }
  }),
  called("one trailer of 60 KB past the budget", [chunkedJson, okChunk, `0\r\nx: ${"y".repeat(60_000)}\r\n\r\n`], {
    ...tooMuch("response bytes", 40_000),
    budget: { limit: 40_000 }
  }),
  called("a short trailer", [chunkedJson, okChunk, "0\r\nx: y\r\n\r\n"], okText),
  called("trailers without end behind the answer of an event stream", [
    openStream,
    event(okAnswer),
    "0\r\n",
    flood(manyHeaders)
  ], okText)
]

/**
 * So many 103, each with so many bytes of headers.
 */
const hints = (count: number, size = 0): string =>
  `HTTP/1.1 103 Early Hints\r\n${size === 0 ? "" : `x: ${"y".repeat(size)}\r\n`}\r\n`.repeat(count)

const informational: ReadonlyArray<Case> = [
  ...atEveryRequest("17 informational responses", script(hints(17), okJson), "closed", { row, ...overHints }),
  called("16 informational responses", [hints(16), okJson], okText),
  called("500 informational responses", [hints(500), okJson], overHints),
  called("informational responses without end", [flood(hints(100))], overHints),
  called("an informational response every 20 ms", [drip(hints(1), 20)], timedOut(150)),
  called("16 times 100 Continue", ["HTTP/1.1 100 Continue\r\n\r\n".repeat(16), okJson], okText),
  called("17 times 100 Continue", ["HTTP/1.1 100 Continue\r\n\r\n".repeat(17), okJson], overHints),
  called("16 informational responses of 60 KB", [hints(16, 60_000), okJson], okText),
  called("16 informational responses of 60 KB past the budget", [hints(16, 60_000), okJson], {
    ...tooMuch("response bytes", 500_000),
    budget: { limit: 500_000 }
  }),
  called("an informational response of 70 KiB", [hints(1, 70 * KiB), okJson], overHead),
  called("headers of exactly 64 KiB behind an informational response", [hints(1, 60_000), atCap], okText),
  called("16 informational responses before a 401", [hints(16), whole(401, undefined)], refused(401)),
  called("101 Switching Protocols", [head(101, { upgrade: "tcp", connection: "upgrade" })], violation(/upgrade/))
]

export const httpFraming: ReadonlyArray<Case> = [
  ...lengths,
  ...chunks,
  ...headers,
  ...afterContent,
  ...informational,
  ...[
    called("a terabyte is promised", [withLength(terabyte)], overBudget),
    called("chunks without end", [chunkedJson, flood(chunk("[".repeat(4 * KiB)))], overBudget),
    called("a chunk extension of 1 MiB", [chunkedJson, `5;${"x".repeat(MiB)}\r\nhello\r\n`], overFraming),
    called("headers of exactly 64 KiB", [atCap], okText),
    called("headers of 64 KiB and a byte", [pastCap], overHead),
    called("a header every 20 ms", [statusLine, drip("x: y\r\n", 20)], timedOut(150)),
    called("1 MiB of trailers", [chunkedJson, okChunk, trailers(MiB)], overFraming),
    called("16 informational responses", [hints(16), okJson], okText),
    called("17 informational responses", [hints(17), okJson], overHints)
  ].map(overTls)
]
