import { assert, describe, it } from "@effect/vitest"
import * as EventStream from "../src/internal/eventStream.ts"

const read = (pieces: ReadonlyArray<string>) => {
  const events: Array<EventStream.Event> = []
  const stream = EventStream.make((event) => events.push(event))
  pieces.forEach(stream.feed)
  return { events, id: stream.lastEventId(), retry: stream.retry() }
}

const message = (data: string): EventStream.Event => ({ type: "message", data })

describe("an event stream", () => {
  const cases: ReadonlyArray<readonly [string, string, ReadonlyArray<EventStream.Event>]> = [
    ["LF", "data: a\n\n", [message("a")]],
    ["CRLF", "data: a\r\n\r\n", [message("a")]],
    ["CR", "data: a\r\r", [message("a")]],
    ["all mixed", "data: a\rdata: b\r\ndata: c\n\r\ndata: d\n\n", [message("a\nb\nc"), message("d")]],
    ["several data lines", "data: a\ndata:b\ndata:  c\n\n", [message("a\nb\n c")]],
    ["a line without colon", "data\ndata\n\n", [message("\n")]],
    ["empty data", "data:\n\n", [message("")]],
    ["comments", ": hi\n:\ndata: a\n: there\n\n", [message("a")]],
    ["a name", "event: x\ndata: a\n\ndata: b\n\n", [{ type: "x", data: "a" }, message("b")]],
    ["a name without data", "event: x\n\ndata: b\n\n", [message("b")]],
    ["an event that is not ended", "data: a\n\ndata: b\n", [message("a")]],
    ["blank lines", "\n\r\n\r\n\ndata: a\n\n\n", [message("a")]],
    ["other fields", "foo: bar\ndatax: y\ndata: a\n\n", [message("a")]],
    ["many lines", `${"data: x\n".repeat(2000)}\n`, [message(Array(2000).fill("x").join("\n"))]]
  ]
  for (const [what, text, events] of cases) {
    it(`with ${what}: whole, and cut at every place`, () => {
      assert.deepStrictEqual(read([text]).events, events)
      assert.deepStrictEqual(read([...text]).events, events)
      const step = Math.ceil(text.length / 200)
      for (let cut = 1; cut < text.length; cut += step) {
        assert.deepStrictEqual(read([text.slice(0, cut), "", text.slice(cut)]).events, events)
      }
    })
  }

  it("keeps the last id, also of an event without data, until it is cleared", () => {
    assert.strictEqual(read(["id: 1\n\n"]).id, "1")
    assert.strictEqual(read(["id: 1\ndata: a\n\nid: 2\0\n\n"]).id, "1")
    assert.strictEqual(read(["id: 1\n\nid\n\n"]).id, "")
  })

  it("keeps the last retry that is a number of milliseconds", () => {
    assert.strictEqual(read(["retry: 500\nretry: -1\nretry: 1e3\nretry: abc\nretry: 99999999999999999\n"]).retry, 500)
    assert.isUndefined(read(["retry: soon\n"]).retry)
  })
})
