import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Net from "node:net"
import { connect } from "../support/connect.ts"
import { make, modern } from "../support/rawServer.ts"
import {
  all,
  array,
  bytes,
  cutAt,
  cuts,
  forAll,
  int,
  join,
  map,
  oneOf,
  outcome,
  pick,
  runs,
  text,
  timeout
} from "./support.ts"

// Any bytes at all where a response should be, up to the end of the connection.

const lineEnd = pick("\r\n", "\r\n", "\r\n", "\n", "\r", "")
const statusLine = pick(
  "HTTP/1.1 200 OK",
  "HTTP/1.1 200",
  "HTTP/1.1 401 No",
  "HTTP/1.1 103 Early Hints",
  "HTTP/1.1 100 Continue",
  "HTTP/1.1 101 Switching Protocols",
  "HTTP/1.1 204 No Content",
  "HTTP/1.1 304 Not Modified",
  "HTTP/1.1 999 x",
  "HTTP/1.0 200 OK",
  "HTTP/2.0 200 OK",
  "ICY 200 OK",
  ""
)
const field = oneOf(
  pick(
    "content-type: application/json",
    "content-type: text/event-stream",
    "content-length: 2",
    "content-length: 58",
    "content-length: -1",
    "content-length: 99999999999999999999",
    "transfer-encoding: chunked",
    "transfer-encoding: gzip, chunked",
    "connection: close",
    "connection: upgrade",
    "upgrade: h2c",
    "content-encoding: gzip",
    "trailer: x",
    " folded",
    ":",
    ""
  ),
  text
)
const answer = "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[],\"content\":[]}}"
const body = oneOf(
  pick(
    "{}",
    answer,
    "2\r\n{}\r\n0\r\n\r\n",
    "2;ext=\"\r\n",
    "ffffffffffffffff\r\n",
    "0\r\nx: y\r\n\r\n",
    `data: ${answer}\n\n`,
    `${answer.length.toString(16)}\r\n${answer}\r\n0\r\n\r\n`
  ),
  text
)
const line = map(all([oneOf(statusLine, field, field), lineEnd]), (parts) => parts.join(""))
const head = map(
  all([statusLine, array(field, { maxLength: 4 })]),
  ([first, fields]) => [first, ...fields, "", ""].join("\r\n")
)
const goodHead = pick(
  "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n",
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
  "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
)
const response = map(
  oneOf<ReadonlyArray<string | Buffer>>(
    all([goodHead, body]),
    all([goodHead, body, bytes]),
    all([head, body]),
    all([head, join(body, 3)]),
    all([head, head, body]),
    all([head, bytes]),
    all([join(line), body]),
    array(oneOf<string | Buffer>(bytes, line, body), { maxLength: 6 })
  ),
  (parts) => Buffer.concat(parts.map((part) => typeof part === "string" ? Buffer.from(part) : part))
)

describe("any bytes as the whole response", () => {
  const times = Math.min(runs, 300)

  const write = (socket: Net.Socket, pieces: ReadonlyArray<Buffer>): void => {
    const [piece, ...rest] = pieces
    if (piece === undefined) socket.end()
    else if (!socket.destroyed) socket.write(piece, () => setImmediate(write, socket, rest))
  }

  for (const method of ["server/discover", "tools/list", "tools/call"]) {
    it.live(`to ${method}: an answer or a typed error, and no socket is left`, () =>
      Effect.gen(function*() {
        let pieces: ReadonlyArray<Buffer> = []
        const server = yield* make(modern({ [method]: (socket) => write(socket, pieces) }))
        yield* forAll(all([response, cuts, int(0, 1)]), ([whole, offsets, cut]) => {
          pieces = cut === 0 ? [whole] : cutAt(whole, offsets)
          return outcome(Effect.gen(function*() {
            const connection = yield* connect(server.url, { timeout: "5 seconds" })
            if (method === "tools/list") yield* connection.listTools({ timeout: "5 seconds" })
            else yield* connection.callTool("t", {}, { timeout: "5 seconds" })
          }))
        }, times)
        yield* server.quiet
      }), timeout)
  }
})
