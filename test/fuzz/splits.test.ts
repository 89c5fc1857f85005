import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as EventStream from "../../src/internal/eventStream.ts"
import * as HeadScanner from "../../src/internal/node/headScanner.ts"
import { connect as connectTo } from "../support/connect.ts"
import { make, modern } from "../support/rawServer.ts"
import {
  all,
  array,
  connect,
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
  serverOf,
  text,
  timeout
} from "./support.ts"

// However an answer is cut, it is the same answer.

const lineEnd = pick("\n", "\r\n", "\r")
const field = oneOf(
  map(text, (value) => `data: ${value}`),
  pick("event: x", "event", "id: 1", "id: \0", "id", "retry: 5", "retry: x", ": comment", "data", "", "\ufeffdata: 1"),
  text
)
const stream = join(map(all([field, lineEnd, oneOf(lineEnd, pick(""))]), (parts) => parts.join("")))

const read = (pieces: ReadonlyArray<string>) => {
  const events: Array<EventStream.Event> = []
  const reader = EventStream.make((event) => events.push(event))
  pieces.forEach(reader.feed)
  return { events, id: reader.lastEventId(), retry: reader.retry() }
}

/**
 * HTML Living Standard, section 9.2.6, as it is written there.
 */
const asWritten = (whole: string) => {
  const events: Array<EventStream.Event> = []
  let type = ""
  let data = ""
  let id = ""
  let lastId = ""
  let retry: number | undefined
  for (const line of whole.split(/\r\n|\n|\r/).slice(0, -1)) {
    const [, name = line, value = ""] = /^([^:]*):[ ]?([^]*)$/.exec(line) ?? []
    if (line === "") {
      if (data !== "") events.push({ type: type === "" ? "message" : type, data: data.slice(0, -1) })
      type = data = ""
      lastId = id
    } else if (name === "data") data += `${value}\n`
    else if (name === "event") type = value
    else if (name === "id" && !value.includes("\0")) id = value
    else if (name === "retry" && /^\d+$/.test(value)) retry = Number(value)
  }
  return { events, id: lastId, retry }
}

/**
 * Pieces of text, cut between UTF-16 code units.
 */
const piecesOf = (whole: string, offsets: ReadonlyArray<number>): ReadonlyArray<string> => {
  const sorted = [0, ...offsets.map((offset) => offset % (whole.length + 1))].sort((a, b) => a - b)
  return sorted.map((start, i) => whole.slice(start, sorted[i + 1]))
}

describe("an event stream", () => {
  it.live("is read as the standard says, however it is cut", () =>
    forAll(all([stream, cuts]), ([whole, offsets]) => {
      const expected = asWritten(whole)
      assert.deepStrictEqual(read([whole]), expected)
      assert.deepStrictEqual(read(piecesOf(whole, offsets)), expected)
    }), timeout)
})

// A good answer, with characters of one to four bytes.

/**
 * Text that is none of the marks of the templates below.
 */
const ownText = (value: string): string => value.toWellFormed().replaceAll("$ID", "ID")

const result = map(
  array(text, { maxLength: 3 }),
  (texts) => `{"content":${JSON.stringify(texts.map((value) => ({ type: "text", text: ownText(value) })))}}`
)
const jsonAnswer = map(result, (value) => ({
  type: "application/json",
  body: `{"jsonrpc":"2.0","id":$ID,"result":${value}}`,
  result: value
}))
const eventAnswer = map(all([result, lineEnd, stream]), ([value, end, before]) => {
  const [start, ...rest] = `{"jsonrpc":"2.0","id":$ID,|"result":${value}}`.split("|")
  const lines = [`data: ${start}`, `data:${rest.join("|")}`, "", ""]
  // Nothing of what stands before may be part of it, nor name it.
  return { type: "text/event-stream", body: `${before.toWellFormed()}\n\n${lines.join(end)}`, result: value }
})
const good = oneOf(jsonAnswer, eventAnswer)

const expected = (value: string): Array<string> => JSON.parse(value).content.map((block: any) => block.text)

const texts = (content: ReadonlyArray<any> | undefined) => content?.map((block) => block.text)

describe("a good answer", () => {
  it.live(
    "is the same however its bytes are cut",
    () =>
      forAll(all([good, cuts]), ([{ body, result: value, type }, offsets]) => {
        const server = serverOf(
          "2026-07-28",
          () => ({ status: 200, headers: { "content-type": type }, body, cuts: offsets })
        )
        return Effect.map(
          outcome(Effect.flatMap(connect(server), (connection) => connection.callTool("t"))),
          (called) => assert.deepStrictEqual(texts(called?.content), expected(value))
        )
      }),
    timeout
  )

  const framing = pick<"length" | "chunks">("length", "chunks")

  it.live("is the same however it comes off a socket", () =>
    Effect.gen(function*() {
      let answer: (id: number | undefined) => ReadonlyArray<Buffer> = () => []
      const server = yield* make(modern({
        "tools/call": (socket, { message: { id } }) => {
          const pieces = [...answer(id)]
          const next = (): void => {
            const piece = pieces.shift()
            if (piece === undefined || socket.destroyed) return
            socket.write(piece, () => setImmediate(next))
          }
          next()
        }
      }))
      const connection = yield* connectTo(server.url, { budget: { scope: "operation" } })
      yield* forAll(
        all([good, framing, cuts, cuts]),
        ([{ body, result: value, type }, framed, offsets, inside]) => {
          answer = (id) => {
            const whole = Buffer.from(body.replaceAll("$ID", String(id)))
            const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n`
            const chunks = cutAt(whole, inside).flatMap((chunk) =>
              chunk.length === 0 ? [] : [
                Buffer.from(`${chunk.length.toString(16)}\r\n`),
                chunk,
                Buffer.from("\r\n")
              ]
            )
            const response = framed === "length"
              ? [Buffer.from(`${head}content-length: ${whole.length}\r\n\r\n`), whole]
              : [Buffer.from(`${head}transfer-encoding: chunked\r\n\r\n`), ...chunks, Buffer.from("0\r\n\r\n")]
            return cutAt(Buffer.concat(response), offsets)
          }
          return Effect.map(
            connection.callTool("t"),
            (called) => assert.deepStrictEqual(texts(called.content), expected(value))
          )
        },
        Math.min(runs, 300)
      )
    }), timeout)
})

describe("the sizes of heads", () => {
  const part = pick("X: a", "\r", "\n", "\r\n", " ", "\t", ":", "\r\r\n", "HTTP/1.1 200 OK", "é", "\0")
  const headOf = (status: string) =>
    map(all([join(pick("\r\n"), 2), join(part)]), ([blank, lines]) => {
      const whole = `HTTP/1.1 ${status}\r\n${lines}\r\n\r\n`
      return blank + whole.slice(0, whole.indexOf("\r\n\r\n") + 4)
    })
  const heads = map(
    all([array(headOf("103 Early Hints"), { maxLength: 3 }), headOf("200 OK")]),
    ([informational, final]) => [...informational, final]
  )
  const content = join(oneOf(part, pick("\r\n\r\n")), 6)

  it.live(
    "are exact, and over the cap where one is, however they are cut",
    () =>
      forAll(all([heads, content, cuts, int(20, 90)]), ([sent, body, offsets, cap]) => {
        const scanner = HeadScanner.make(cap)
        const ends = sent.map((_, i) => sent.slice(0, i + 1).join("").length)
        const sizes: Array<number> = []
        let fed = 0
        let within = true
        for (const piece of cutAt(Buffer.from(sent.join("") + body, "latin1"), offsets)) {
          within = scanner.feed(piece) && within
          fed += piece.length
          while (sizes.length < sent.length && ends[sizes.length]! <= fed) {
            sizes.push(scanner.endHead(sizes.length === sent.length - 1))
          }
          if (sizes.length === sent.length) scanner.progress(piece.length)
        }
        assert.deepStrictEqual(sizes, sent.map((head) => head.length))
        assert.strictEqual(within && sizes.every((size) => size <= cap), sent.every((head) => head.length <= cap))
      }),
    timeout
  )
})
