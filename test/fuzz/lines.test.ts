import { assert, describe, it } from "@effect/vitest"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import { ByteBudget, LineTransport, McpConnection, type McpError, Transport } from "../../src/index.ts"
import * as Lines from "../../src/internal/lines.ts"
import * as Tail from "../../src/internal/tail.ts"
import {
  all,
  array,
  bytes,
  cutAt,
  cuts,
  forAll,
  int,
  json,
  map,
  mostly,
  oneOf,
  outcome,
  pick,
  text,
  timeout
} from "./support.ts"

// Whatever a server writes, and however it comes: the same lines, and an outcome that is typed.

const bytesOf = (value: string): Buffer => Buffer.from(value)

const piece = oneOf(
  map(text, bytesOf),
  map(pick("\n", "\r\n", "\r", " ", "\t", "\n\n", "\ufeff", "{", "}", "[]", "null", "\u2028"), bytesOf),
  bytes
)
const anything = map(array(piece, { maxLength: 12 }), (pieces) => Buffer.concat(pieces))

/**
 * What the lines of these bytes are, in one go.
 */
const asWritten = (whole: Buffer): ReadonlyArray<string> => {
  const lines = whole.toString("latin1").split("\n").slice(0, -1)
  return lines
    .map((line) => new TextDecoder().decode(Buffer.from(line.replace(/^[ \t\r]+/, ""), "latin1")))
    .filter((line, i) => /[^ \t\r]/.test(lines[i]!) || line !== "")
}

const read = (pieces: ReadonlyArray<Uint8Array>, maxLength: number): ReadonlyArray<string> | undefined => {
  const reader = Lines.make(maxLength)
  const found = pieces.map((each) => reader.feed(each))
  return found.includes(undefined) ? undefined : found.flatMap((lines) => lines!)
}

describe("lines", () => {
  it.live("are the same however they are cut", () =>
    forAll(all([anything, cuts]), ([whole, offsets]) => {
      assert.deepStrictEqual(read([whole], 10_000), asWritten(whole))
      assert.deepStrictEqual(read(cutAt(whole, offsets), 10_000), asWritten(whole))
    }), timeout)

  it.live(
    "are too long where one is, however they are cut",
    () =>
      forAll(all([anything, cuts, int(1, 40)]), ([whole, offsets, cap]) => {
        const longest = Math.max(...whole.toString("latin1").split("\n").map((line) => line.length))
        assert.strictEqual(read(cutAt(whole, offsets), cap) === undefined, longest > cap)
      }),
    timeout
  )
})

describe("the end of what was written", () => {
  it.live(
    "is whole lines, however it is cut, and as much of them as is kept",
    () =>
      forAll(all([anything, cuts, int(1, 40)]), ([whole, offsets, size]) => {
        const tail = Tail.make(size)
        cutAt(whole, offsets).forEach(tail.push)
        const kept = whole.subarray(Math.max(0, whole.length - size))
        const expected = whole.length < size ? kept : kept.subarray(kept.indexOf("\n") + 1)
        assert.strictEqual(tail.text(), new TextDecoder().decode(expected))
      }),
    timeout
  )
})

type Answer = (id: number) => ReadonlyArray<Buffer>

/**
 * A server that shakes hands, and then answers one call with these bytes and hangs up.
 */
const call = (answer: Answer): Effect.Effect<ReadonlyArray<unknown>, McpError.McpError, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<Uint8Array, Cause.Done>()
    const ended = yield* Queue.unbounded<void>()
    const output = Sink.forEach((line: Uint8Array) =>
      Effect.suspend(() => {
        const { id, method } = JSON.parse(Buffer.from(line).toString())
        if (method !== "server/discover") {
          answer(id).forEach((each) => Queue.offerUnsafe(queue, each))
          return Effect.andThen(Queue.offer(ended, undefined), Effect.never)
        }
        const result = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }
        return Queue.offer(queue, bytesOf(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`))
      })
    )
    const transport = yield* LineTransport.make({ input: Stream.fromQueue(queue), output })
    const connection = yield* McpConnection.connect().pipe(
      Effect.provideService(Transport.Transport, transport),
      Effect.provideService(ByteBudget.ByteBudget, ByteBudget.make())
    )
    const hangsUp = Effect.andThen(Queue.take(ended), Queue.end(queue))
    const [{ content }] = yield* Effect.all([connection.callTool("t"), hangsUp], { concurrency: 2 })
    return content.map((block) => block.type === "text" ? block.text : block)
  })

describe("over lines", () => {
  const contents = map(array(text, { maxLength: 3 }), (texts) => texts.map((value) => value.toWellFormed()))
  const good = map(contents, (texts) => ({
    texts,
    line: `"result":${JSON.stringify({ content: texts.map((value) => ({ type: "text", text: value })) })}}\n`
  }))

  it.live(
    "a good answer is the same whatever comes before it, and however it is cut",
    () =>
      forAll(all([anything, good, cuts]), ([before, { line, texts }, offsets]) =>
        Effect.map(
          outcome(
            call((id) => cutAt(Buffer.concat([before, bytesOf(`\n{"jsonrpc":"2.0","id":${id},${line}`)]), offsets))
          ),
          (found) => assert.deepStrictEqual(found, texts)
        ), 1000),
    timeout
  )

  const member = (name: string, usual: string) =>
    mostly(pick(`"${name}":${usual}`), map(json(1), (value) => `"${name}":${value}`))
  const envelope = map(
    all([
      member("jsonrpc", "\"2.0\""),
      member("id", "$ID"),
      member("result", "{\"content\":[]}"),
      mostly(pick(""), pick(",\"error\":{}"))
    ]),
    ([version, id, result, error]) => `{${version},${id},${result}${error}}\n`
  )
  const hostile = map(array(oneOf(map(envelope, bytesOf), anything), { maxLength: 4 }), (parts) => Buffer.concat(parts))

  it.live(
    "anything at all ends in a result or in one of our errors",
    () =>
      forAll(
        all([hostile, cuts]),
        ([whole, offsets]) =>
          outcome(
            call((id) => cutAt(Buffer.from(whole.toString("latin1").replaceAll("$ID", String(id)), "latin1"), offsets))
          ),
        1000
      ),
    timeout
  )
})
