/**
 * HTTP: rows 15 and 17, errors under a status, and when to come back.
 */
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import type { RawRequest } from "../../support/rawServer.ts"
import { also, broken, httpStatus, refused, rpcError, timedOut, tooMuch, violation } from "../kit/outcomes.ts"
import type { Case } from "../kit/suite.ts"
import { atEveryRequest, calls, initializing, notifying, overTls, resuming } from "../kit/variants.ts"
import {
  type Bytes,
  chunk,
  chunkedHead,
  end,
  event,
  flood,
  head,
  json,
  jsonType,
  openStream,
  script,
  streamType,
  whole,
  wholeWith
} from "../kit/wire.ts"

const answered = calls(15)

/**
 * A JSON-RPC error; `id` is text, and that of the request where it is left out.
 */
const errorText = (code: number, id?: string) => (request: RawRequest): string =>
  `{"jsonrpc":"2.0","id":${id ?? request.message.id},"error":{"code":${code},"message":"no"}}`

const anonymous = `{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"}}`

const errorAt = (status: number, code: number) => script(json(errorText(code), status))

const errors: ReadonlyArray<Case> = [
  ...[200, 201, 400, 402, 404, 405, 406, 409, 410, 415, 422, 429, 500, 501, 502, 503, 504, 599].map((status) =>
    answered(`an error at ${status}`, [json(errorText(-32602), status)], rpcError(status, -32602))
  ),
  ...[400, 404, 422, 500].flatMap((status): ReadonlyArray<Case> => [
    {
      row: 15,
      name: `an error at ${status}: a listing`,
      answers: { "tools/list": errorAt(status, -32603) },
      act: "list",
      ...rpcError(status, -32603)
    },
    {
      row: 15,
      name: `an error at ${status}: initialize`,
      ...initializing(errorAt(status, -32603)),
      ...rpcError(status, -32603)
    }
  ]),
  ...[400, 422, 500, 503].map((status) =>
    answered(`an error at ${status}: a legacy call`, [json(errorText(-32603), status)], {
      speaks: "2025-11-25",
      ...rpcError(status, -32603)
    })
  ),
  ...[200, 400, 404, 422, 429, 500, 503].map((status): Case => ({
    row: 15,
    name: `an error at ${status}: discovery, and initialize is next`,
    speaks: "2025-11-25",
    answers: { "server/discover": errorAt(status, -32601) },
    outcome: "ok"
  })),
  ...[-32020, -32021].flatMap((code) =>
    [200, 400, 404, 500].map((status): Case => ({
      row: 15,
      name: `${code} at ${status}: discovery`,
      answers: { "server/discover": errorAt(status, code) },
      act: "connect",
      sees: ["server/discover"],
      ...rpcError(status, code)
    }))
  ),
  ...[200, 400, 404, 500].flatMap((status) => [
    answered(`an error with id null at ${status}`, [json(errorText(7, "null"), status)], rpcError(status, 7)),
    answered(`an error with id "" at ${status}`, [json(errorText(7, `""`), status)], rpcError(status, 7)),
    answered(`an error without an id at ${status}`, [whole(status, jsonType, anonymous)], rpcError(status, -32000))
  ]),
  answered("legacy: an error without an id at 500", [whole(500, jsonType, anonymous)], {
    speaks: "2025-11-25",
    ...rpcError(500, -32000)
  }),
  {
    row: 15,
    name: "an error at 400 to a notification, which is not read",
    ...notifying(script(whole(400, jsonType, anonymous))),
    ...httpStatus(400)
  },
  answered("an error on an event stream", [openStream, event(errorText(-32602))], rpcError(200, -32602)),
  ...([401, 403] as const).flatMap((status) =>
    atEveryRequest(`an error at ${status}`, errorAt(status, -32603), "kept", { row: 15, ...refused(status) })
  ),
  answered(
    "message and data of an error at 422",
    [
      json(
        ({ message }) => `{"jsonrpc":"2.0","id":${message.id},"error":{"code":7,"message":"why","data":{"a":[1]}}}`,
        422
      )
    ],
    also(rpcError(422, 7), ({ message, reason }) => {
      assert.deepStrictEqual([reason.message, reason.data], ["why", { a: [1] }])
      assert.include(message, "why")
    })
  )
]

/**
 * What is no JSON-RPC error, under a 500.
 */
const unusable: Readonly<Record<string, Bytes>> = {
  HTML: whole(500, "text/html", "<html>"),
  text: whole(500, "text/plain", "no"),
  nothing: whole(500, undefined),
  "nothing as JSON": whole(500, jsonType),
  "half a JSON": whole(500, jsonType, `{"jsonrpc":`),
  "JSON that is no JSON-RPC": whole(500, jsonType, `{"error":"no"}`),
  "an error of JSON-RPC 1.0": whole(500, jsonType, `{"id":null,"error":{"code":1,"message":"no"}}`),
  "an error of another request": whole(500, jsonType, `{"jsonrpc":"2.0","id":999,"error":{"code":1,"message":"no"}}`),
  "an error without a code": whole(500, jsonType, `{"jsonrpc":"2.0","id":null,"error":{"message":"no"}}`),
  "an error as text": whole(500, "text/plain", anonymous),
  "an error as problem+json": whole(500, "application/problem+json", anonymous),
  "an error on an event stream": `${chunkedHead(streamType, 500)}${chunk(`data: ${anonymous}\n\n`)}`,
  "HTML without end": `${chunkedHead("text/html", 500)}${chunk("<html>".repeat(5000))}`
}

const promised = head(500, { "content-type": jsonType, "content-length": "99" })

const statusAlone: ReadonlyArray<Case> = [
  ...Object.entries(unusable).map(([what, bytes]) => answered(`500 of ${what}`, [bytes], httpStatus(500))),
  answered("500 of an error that is cut short", [promised, "{", end], broken),
  answered("500 of an error that never comes", [promised], timedOut(150)),
  answered("500 of an error past the budget", [whole(500, jsonType, anonymous.padEnd(10_000))], {
    ...tooMuch("response bytes", 5000),
    budget: { limit: 5000 }
  })
]

const limited = calls(17)

const comeBack = (status: number, value: string | ReadonlyArray<string>): Buffer =>
  wholeWith(status, { "content-type": "text/plain", "retry-after": value }, "later")

/**
 * What `Retry-After` says, and what is made of it, in milliseconds.
 */
const waits: ReadonlyArray<readonly [says: string | ReadonlyArray<string>, wait: number | undefined]> = [
  ["0", 0],
  ["7", 7000],
  ["  7  ", 7000],
  ["30", 30_000],
  ["31", 30_000],
  ["1000000000", 30_000],
  ["9".repeat(40), 30_000],
  ["Wed, 01 Jan 2098 00:00:00 GMT", 30_000],
  ["Wed Jan  1 00:00:00 2098", 30_000],
  ["-1", undefined],
  ["+1", undefined],
  ["1.5", undefined],
  ["1e3", undefined],
  ["0x10", undefined],
  ["12abc", undefined],
  ["Infinity", undefined],
  ["soon", undefined],
  ["", undefined],
  ["9".repeat(60_000), undefined],
  ["Sun, 06 Nov 1994 08:49:37 GMT", undefined],
  ["Wed, 99 Jan 2098 00:00:00 GMT", undefined],
  ["2098-01-01T00:00:00Z", undefined],
  [["1", "2"], undefined]
]

const limits: ReadonlyArray<Case> = [
  ...waits.map(([says, wait]) =>
    limited(`429, "${String(says).slice(0, 44)}"`, [comeBack(429, says)], httpStatus(429, wait))
  ),
  limited(
    "429, a date ten seconds ahead",
    [
      () => comeBack(429, new Date(Date.now() + 10_000).toUTCString())
    ],
    also({ outcome: "ConnectionFailed/HttpStatus" }, ({ reason }) => {
      assert.isAtLeast(Duration.toMillis(reason.retryAfter), 8000)
      assert.isAtMost(Duration.toMillis(reason.retryAfter), 10_000)
    })
  ),
  limited("429 without a word", [whole(429, undefined)], httpStatus(429)),
  ...[301, 404, 408, 425, 500, 502, 504].map((status) =>
    limited(`${status}, "7"`, [comeBack(status, "7")], httpStatus(status, 7000))
  ),
  ...[429, 503].flatMap((status) => [
    ...atEveryRequest(`${status}, "7"`, script(comeBack(status, "7")), "kept", {
      row: 17,
      ...httpStatus(status, 7000)
    }),
    {
      row: 17,
      name: `${status}, "7": a notification`,
      ...notifying(script(comeBack(status, "7"))),
      ...httpStatus(status, 7000)
    },
    {
      row: 17,
      name: `${status}, "7": a resumption`,
      ...resuming(script(wholeWith(status, { "retry-after": "7", connection: "close" })), "closed"),
      ...httpStatus(status, 7000)
    }
  ]),
  limited(`429 of JSON, "7"`, [
    wholeWith(429, { "content-type": jsonType, "retry-after": "7" }, `{"error":"later"}`)
  ], httpStatus(429, 7000)),
  limited(`429 of text without end, "7"`, [
    head(429, { "retry-after": "7", "transfer-encoding": "chunked" }),
    flood(chunk("later".repeat(1000)))
  ], httpStatus(429, 7000)),
  limited(`an error at 429, "7"`, [
    (request) => wholeWith(429, { "content-type": jsonType, "retry-after": "7" }, errorText(7)(request))
  ], rpcError(429, 7)),
  limited(`401, "7"`, [comeBack(401, "7")], refused(401)),
  limited(`200, "7"`, [comeBack(200, "7")], violation(/content type/)),
  overTls(limited(`429, "7"`, [comeBack(429, "7")], httpStatus(429, 7000)))
]

export const httpErrors: ReadonlyArray<Case> = [...errors, ...statusAlone, ...limits]
