/**
 * HTTP: rows 11 and 12, encodings of a body, and bodies that do not come whole.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import type { RawRequest } from "../../support/rawServer.ts"
import { also, broken, type Expected, okText, refused, timedOut, tooMuch, violation } from "../kit/outcomes.ts"
import type { Case } from "../kit/suite.ts"
import { atEveryRequest, calls, notifying, overTls } from "../kit/variants.ts"
import {
  answer,
  type Bytes,
  chunk,
  chunkedHead,
  drip,
  end,
  event,
  flood,
  head,
  json,
  jsonType,
  lastChunk,
  okAnswer,
  okResult,
  openStream,
  reset,
  script,
  streamType,
  turn,
  whole,
  wholeWith
} from "../kit/wire.ts"

const chunkedJson = chunkedHead(jsonType)
const okJson = json(okAnswer)
const okChunk = (request: RawRequest) => chunk(okAnswer(request))
const notJson = violation(/not JSON/)

const encoded = calls(11)
const notAskedFor = violation(/content encoding/)

const under = (encoding: string | ReadonlyArray<string>, body: Bytes, type = jsonType, status = 200): Buffer =>
  wholeWith(status, { "content-type": type, "content-encoding": encoding }, body)

const compressors = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync
}

let megabyte: Buffer | undefined

/**
 * The good answer behind 200 MB of spaces, as a few hundred kilobytes of gzip.
 */
const bomb = (request: RawRequest): Buffer => {
  megabyte ??= gzipSync(Buffer.alloc(1e6, " "))
  return Buffer.concat([...Array.from({ length: 200 }, () => megabyte!), gzipSync(okAnswer(request))])
}

const declaredBomb = encoded("200 MB in gzip", [(request) => under("gzip", bomb(request))], notAskedFor)

const encodings: ReadonlyArray<Case> = [
  ...atEveryRequest("gzip", script((request) => under("gzip", gzipSync(okAnswer(request)))), "closed", {
    row: 11,
    ...notAskedFor
  }),
  ...Object.entries(compressors).map(([encoding, compress]) =>
    encoded(encoding, [(request) => under(encoding, compress(okAnswer(request)))], notAskedFor)
  ),
  ...["gzip", "GZIP", "compress", "aes128gcm", "x-none", "gzip, identity", ""].map((encoding) =>
    encoded(`"${encoding}", which is not true`, [(request) => under(encoding, okAnswer(request))], notAskedFor)
  ),
  encoded("two headers", [(request) => under(["identity", "gzip"], okAnswer(request))], notAskedFor),
  ...["identity", "Identity"].map((encoding) =>
    encoded(`${encoding}, which is none`, [(request) => under(encoding, okAnswer(request))], okText)
  ),
  encoded("gzip of an event stream", [
    (request) => under("gzip", gzipSync(`data: ${okAnswer(request)}\n\n`), streamType)
  ], notAskedFor),
  encoded("gzip under a 500", [under("gzip", gzipSync("{}"), jsonType, 500)], notAskedFor),
  encoded("gzip under a 401", [under("gzip", gzipSync("{}"), jsonType, 401)], refused(401)),
  {
    row: 11,
    name: "gzip to a notification, which has no body",
    ...notifying(script(under("gzip", gzipSync("{}")))),
    outcome: "ok"
  },
  declaredBomb,
  overTls(declaredBomb),
  encoded("200 MB in gzip that says it is JSON", [(request) => whole(200, jsonType, bomb(request))], notJson),
  encoded("200 MB in gzip as a media type", [
    (request) => whole(200, "application/gzip", bomb(request))
  ], violation(/content type/)),
  encoded("200 MB in gzip as a transfer coding", [
    head(200, { "content-type": jsonType, "transfer-encoding": "gzip, chunked" }),
    (request) => chunk(bomb(request)),
    lastChunk
  ], notJson),
  encoded("gzip without end that says it is JSON", [
    chunkedJson,
    (request) => chunk(bomb(request)),
    flood(chunk("\0".repeat(4096)))
  ], { ...tooMuch("response bytes", 2 ** 20), budget: { limit: 2 ** 20 } }),
  encoded(
    "none is asked for",
    [okJson],
    also(okText, (_, { requests }) => {
      assert.isEmpty(requests.filter(({ headers }) => "accept-encoding" in headers))
    })
  )
]

const incomplete = calls(12)

/**
 * The good answer without its last bytes.
 */
const cutShort = (request: RawRequest): Buffer => whole(200, jsonType, okAnswer(request)).subarray(0, -10)
const cutChunk = (request: RawRequest): Buffer => chunk(okAnswer(request).slice(0, -10))

const promised = head(200, { "content-type": jsonType, "content-length": "500" })

const slow: ReadonlyArray<Case> = [
  ...atEveryRequest("no answer at all", () => {}, "closed", { row: 12, ...timedOut(150) }),
  ...atEveryRequest("a byte of body every 20 ms", script(promised, drip(" ", 20)), "closed", {
    row: 12,
    ...timedOut(150)
  }),
  incomplete("a chunk of one byte every 20 ms", [chunkedJson, drip(chunk("["), 20)], timedOut(150)),
  incomplete("a byte of an event every 20 ms", [openStream, chunk("data: "), drip(chunk("["), 20)], timedOut(150)),
  incomplete("no body behind the head", [promised], timedOut(150)),
  incomplete("a body that stops half-way", [cutShort], timedOut(150)),
  incomplete("chunks that stop half-way", [chunkedJson, cutChunk], timedOut(150)),
  incomplete("a last chunk that does not come", [chunkedJson, okChunk], timedOut(150)),
  incomplete("a close that does not come", [head(200, { "content-type": jsonType }), okAnswer], timedOut(150))
]

const cut: ReadonlyArray<Case> = [
  ...atEveryRequest("closed before the answer", script(end), "closed", { row: 12, ...broken }),
  ...atEveryRequest("reset before the answer", script(reset), "closed", { row: 12, ...broken }),
  ...atEveryRequest("reset in the body", script(cutShort, turn, reset), "closed", { row: 12, ...broken }),
  ...atEveryRequest("closed in the body", script(cutShort, end), "closed", { row: 12, ...broken }),
  ...atEveryRequest("closed before the last chunk", script(chunkedJson, okChunk, end), "closed", {
    row: 12,
    ...broken
  }),
  incomplete("closed in the status line", ["HTTP/1.1 2", end], broken),
  incomplete("closed in the head", ["HTTP/1.1 200 OK\r\ncontent-", end], broken),
  incomplete("closed in the head, behind a length", ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx", end], broken),
  incomplete("closed behind an informational response", [head(103), end], broken),
  incomplete("closed in a chunk", [chunkedJson, "5\r\n[", end], broken),
  incomplete("closed in the trailers", [chunkedJson, okChunk, "0\r\nx: y\r\n", end], broken),
  incomplete("reset between chunks", [chunkedJson, cutChunk, turn, reset], broken),
  incomplete("reset in an event stream", [openStream, chunk(": hi\n\n"), turn, reset], broken),
  overTls(incomplete("a body that stops half-way", [cutShort], timedOut(150))),
  overTls(incomplete("closed in the body", [cutShort, end], broken)),
  overTls(incomplete("closed before the last chunk", [chunkedJson, okChunk, end], broken))
]

/**
 * The head of an answer on a connection that closes after it.
 */
const closing = (type: string, more: Readonly<Record<string, string>> = {}): string =>
  head(200, { "content-type": type, connection: "close", ...more })

const closingChunks = (type: string): string => closing(type, { "transfer-encoding": "chunked" })

const wholeUntilClose = incomplete("a whole JSON that a close ends", [closing(jsonType), okAnswer, end], okText)

const closed: ReadonlyArray<Case> = [
  wholeUntilClose,
  overTls(wholeUntilClose),
  incomplete("a whole JSON of HTTP/1.0 that a close ends", [
    `HTTP/1.0 200 OK\r\ncontent-type: ${jsonType}\r\n\r\n`,
    okAnswer,
    end
  ], okText),
  incomplete("half a JSON that a close ends", [closing(jsonType), `{"jsonrpc":`, end], notJson),
  incomplete("half a JSON that a reset ends", [closing(jsonType), `{"jsonrpc":`, turn, reset], notJson),
  incomplete("half an event that a close ends", [closing(streamType), "data: {", end], broken),
  incomplete("an event stream without its last chunk, behind the answer", [openStream, event(okAnswer), end], okText),
  incomplete("Connection: close, closed in the body", [
    closing(jsonType, { "content-length": "9" }),
    "{",
    end
  ], broken),
  incomplete("Connection: close, closed in a chunk", [closingChunks(jsonType), "5\r\n[", end], broken),
  incomplete("Connection: close, closed before the last chunk", [closingChunks(jsonType), okChunk, end], broken),
  {
    row: 12,
    name: "legacy: Connection: close, an event stream that is cut is taken up where it ended",
    speaks: "2025-11-25",
    answers: {
      "tools/call": script(closingChunks(streamType), chunk("id: 7\nretry: 1\ndata:\n\n"), end),
      GET: script(openStream, chunk(`data: {"jsonrpc":"2.0","id":3,"result":${okResult}}\n\n`), lastChunk)
    },
    sees: ["tools/call", "GET"],
    dials: 2,
    ...okText
  }
]

/**
 * A call, and another one once the socket of the first is closed.
 */
const calledTwice: Expected & Partial<Case> = {
  act: (connection, server) =>
    connection.callTool("t").pipe(Effect.andThen(server.quiet), Effect.andThen(connection.callTool("t"))),
  sees: ["tools/call", "tools/call"],
  dials: 2,
  ...okText
}

/**
 * The good answer, and behind it in the same piece one to the request that has not come.
 */
const forged = (request: RawRequest): Buffer => {
  const next = { ...request, message: { id: request.message.id! + 1 } }
  const forgery = answer(okResult.replace("ok", "forged"))
  return Buffer.concat([okJson(request), json(forgery)(next)])
}

const tooShort: ReadonlyArray<Case> = [
  incomplete("a Content-Length that ends in the JSON", [
    (request) => whole(200, jsonType, okAnswer(request)).toString().replace(/(?<=length: )\d+/, "20")
  ], notJson),
  incomplete("bytes behind the body, then another call", [(request) => `${okJson(request)}more`], calledTwice),
  incomplete("an answer behind the body, which is not that to the next call", [forged], calledTwice),
  incomplete("closed behind the body, then another call", [okJson, end], calledTwice)
]

export const httpBodies: ReadonlyArray<Case> = [...encodings, ...slow, ...cut, ...closed, ...tooShort]
