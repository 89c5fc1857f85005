import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Gather from "../src/internal/node/gather.ts"

const seeded = { arbitrary: { runs: 300, seed: 20260728 } }

const gathered = (pieces: ReadonlyArray<Buffer>): string => {
  const gather = Gather.make()
  for (const piece of pieces) gather.push(piece)
  return Gather.decode(gather.take())
}

const inPieces = (bytes: Buffer, size: number): ReadonlyArray<Buffer> => {
  const pieces: Array<Buffer> = []
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
  return pieces
}

const kilobytes = "æ€😀x".repeat(1024)
const large = kilobytes.repeat(20)

describe("text", () => {
  it.each([
    { name: "nothing", text: "" },
    { name: "ASCII", text: "{\"a\":1}" },
    { name: "two, three and four bytes a character", text: "é€😀\u0800\u{10ffff}" },
    { name: "a byte order mark inside", text: "a\ufeffb" },
    { name: "more than is copied", text: kilobytes }
  ])("is the same at every cut: $name", ({ text }) => {
    const bytes = Buffer.from(text)
    for (let i = 0; i <= bytes.length; i += Math.max(1, Math.floor(bytes.length / 997))) {
      assert.strictEqual(gathered([bytes.subarray(0, i), bytes.subarray(i)]), text)
    }
  })

  it.each([1, 2, 3, 5, 4095, 4096, 4097, 65535, 65536, 65537, 1 << 20])("is the same in pieces of %i bytes", (size) => {
    assert.strictEqual(gathered(inPieces(Buffer.from(large), size)), large)
  })

  it("is the same in pieces that are small and large by turns", () => {
    const bytes = Buffer.from(large)
    const pieces: Array<Buffer> = []
    for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7) % 9001) {
      pieces.push(bytes.subarray(at, at + size))
    }
    assert.strictEqual(gathered(pieces), large)
  })

  const bom = Buffer.from([0xef, 0xbb, 0xbf])

  it("comes without a byte order mark, wherever it is cut", () => {
    const bytes = Buffer.concat([bom, Buffer.from("{}")])
    for (let i = 0; i <= bytes.length; i++) {
      assert.strictEqual(gathered([bytes.subarray(0, i), bytes.subarray(i)]), "{}")
    }
    assert.strictEqual(gathered(inPieces(bytes, 1)), "{}")
    assert.strictEqual(gathered([bom]), "")
    assert.strictEqual(gathered([bom, bom]), "\ufeff")
  })

  it.each([[[0xff]], [[0x61, 0xc3]], [[0xe2, 0x82]], [[0xed, 0xa0, 0x80]], [[0xf0, 0x9f, 0x98, 0x61]], [[0xc0, 0x80]]])(
    "has replacement characters for what is no UTF-8, wherever it is cut: %j",
    (octets) => {
      const bytes = Buffer.from([...octets, 0x62])
      const whole = bytes.toString("utf8")
      assert.include(whole, "\ufffd")
      assert.strictEqual(gathered([bytes]), whole)
      assert.strictEqual(gathered(inPieces(bytes, 1)), whole)
    }
  )

  it("is that of the pieces as they came, though their memory is written to again", () => {
    const gather = Gather.make()
    gather.push(Buffer.from("a"))
    const reused = Buffer.alloc(1)
    for (const letter of "bcd") {
      reused.write(letter)
      gather.push(reused)
    }
    assert.strictEqual(Gather.decode(gather.take()), "abcd")
  })

  const Offsets = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200 })))

  it.prop("does not depend on how it was cut", [Schema.String, Offsets], ([text, offsets]) => {
    const bytes = Buffer.from(`a${text}€😀`)
    const sorted = [0, ...offsets].sort((a, b) => a - b)
    const pieces = sorted.map((start, i) => bytes.subarray(start, sorted[i + 1] ?? bytes.length))
    assert.strictEqual(gathered(pieces), bytes.toString("utf8"))
  }, seeded)
})

describe("take", () => {
  it("gives what came since the last time, and leaves it alone", () => {
    const gather = Gather.make()
    assert.lengthOf(gather.take(), 0)
    const taken = ["one", "two", kilobytes, "", "three"].map((text) => {
      for (const piece of inPieces(Buffer.from(text), 1000)) gather.push(piece)
      return gather.take()
    })
    assert.lengthOf(gather.take(), 0)
    assert.deepStrictEqual(taken.map(String), ["one", "two", kilobytes, "", "three"])
  })
})
