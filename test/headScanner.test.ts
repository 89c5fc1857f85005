import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as HeadScanner from "../src/internal/node/headScanner.ts"

const seeded = (runs: number) => ({ arbitrary: { runs, seed: 20260728 } })

const cap = 64 * 1024

const final = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX: \r y\r\n\r\n"
const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
const processing = "HTTP/1.1 102 Processing\r\n\r\n"
const body = "{\"a\":1}\r\n\r\nHTTP/1.1 500 no head\r\n\r\n"

/**
 * Cuts a text at offsets, in any order; pieces may be empty.
 */
const cutAt = (text: string, offsets: ReadonlyArray<number>): ReadonlyArray<string> => {
  const sorted = [0, ...offsets].sort((a, b) => a - b)
  return sorted.map((start, i) => text.slice(start, sorted[i + 1]))
}

/**
 * Feeds pieces as sockets do, and ends each head where the parser would: as soon as its last byte is in.
 */
const measure = (heads: ReadonlyArray<string>, pieces: ReadonlyArray<string>) => {
  const scanner = HeadScanner.make(cap)
  const ends = heads.map((_, i) => heads.slice(0, i + 1).join("").length)
  const sizes: Array<number> = []
  let offset = 0
  for (const piece of pieces) {
    assert.isTrue(scanner.feed(Buffer.from(piece, "latin1")))
    offset += piece.length
    while (sizes.length < heads.length && ends[sizes.length]! <= offset) {
      sizes.push(scanner.endHead(sizes.length === heads.length - 1))
    }
  }
  return sizes
}

const lengths = (heads: ReadonlyArray<string>) => heads.map((head) => head.length)

/**
 * All ways to cut a text at `count` places, with pieces that may be empty.
 */
function* cuts(text: string, count: 1 | 2): Generator<ReadonlyArray<string>> {
  for (let i = 0; i <= text.length; i++) {
    if (count === 1) yield cutAt(text, [i])
    else for (let j = i; j <= text.length; j++) yield cutAt(text, [i, j])
  }
}

const responses: Readonly<Record<string, ReadonlyArray<string>>> = {
  "one head": [final],
  "an informational head and the last": [hints, final],
  "two informational heads and the last": [processing, hints, final]
}

describe("the size of a head", () => {
  for (const [name, heads] of Object.entries(responses)) {
    for (const [suffix, content] of [["", ""], [" with content behind it", body]] as const) {
      const text = heads.join("") + content

      it(`is the same at every cut in two: ${name}${suffix}`, () => {
        for (const pieces of cuts(text, 1)) assert.deepStrictEqual(measure(heads, pieces), lengths(heads))
      })

      it(`is the same at every cut in three: ${name}${suffix}`, () => {
        for (const pieces of cuts(text, 2)) assert.deepStrictEqual(measure(heads, pieces), lengths(heads))
      })

      it(`is the same byte by byte, and whole: ${name}${suffix}`, () => {
        assert.deepStrictEqual(measure(heads, text.split("")), lengths(heads))
        assert.deepStrictEqual(measure(heads, [text]), lengths(heads))
      })
    }
  }

  const Offsets = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 150 })))

  it.prop("is the same however it is cut", [Offsets], ([offsets]) => {
    const heads = [processing, hints, final]
    assert.deepStrictEqual(measure(heads, cutAt(heads.join("") + body, offsets)), lengths(heads))
  }, seeded(400))

  it.each([
    "HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: \r\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: \n\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: a\r\n\r\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: a\r\n\n\r\n\r\n"
  ])("is found past what looks like its end: %j", (head) => {
    for (const pieces of cuts(head + body, 2)) assert.deepStrictEqual(measure([head], pieces), [head.length])
  })

  // llhttp, and with it undici, passes over line ends before a status line.
  it.each(["\r\n", "\r\n\r\n", "\r\n\r\n\r\n\r\n"])("counts the blank lines %j before a status line", (blank) => {
    for (const heads of [[blank + final], [blank + hints, blank + final]]) {
      for (const pieces of [[heads.join("") + body], (heads.join("") + body).split("")]) {
        assert.deepStrictEqual(measure(heads, pieces), lengths(heads))
      }
    }
  })
})

const padded = (status: string, length: number): string => {
  const start = `HTTP/1.1 ${status}\r\nX: `
  return `${start}${" ".repeat(length - start.length - 4)}\r\n\r\n`
}

/**
 * Whether all pieces passed.
 */
const passes = (text: string, size: number, limit = cap): boolean => {
  const scanner = HeadScanner.make(limit)
  const bytes = Buffer.from(text, "latin1")
  for (let at = 0; at < bytes.length; at += size) {
    if (!scanner.feed(bytes.subarray(at, at + size))) return false
  }
  return true
}

describe("the cap", () => {
  it.each([1, 2, 3, 1000, 16 * 1024, cap, 2 * cap])("is exact in pieces of %i bytes", (size) => {
    assert.isTrue(passes(padded("200 OK", cap - 1), size))
    assert.isTrue(passes(padded("200 OK", cap), size))
    assert.isFalse(passes(padded("200 OK", cap + 1), size))
  })

  it.each([1, 1000, 16 * 1024])("ends padding that does not end, in pieces of %i bytes", (size) => {
    const text = padded("200 OK", 4 * cap).slice(0, -4)
    const scanner = HeadScanner.make(cap)
    let taken = 0
    while (taken < text.length && scanner.feed(Buffer.from(text.slice(taken, taken + size)))) taken += size
    assert.isAtMost(taken, cap)
  })

  it("leaves content in the piece of the head's end out of account", () => {
    const scanner = HeadScanner.make(cap)
    const head = padded("200 OK", cap)
    assert.isTrue(scanner.feed(Buffer.from(head + "x".repeat(cap))))
    assert.strictEqual(scanner.endHead(true), cap)
  })

  it("is one for each head", () => {
    const scanner = HeadScanner.make(cap)
    const head = padded("103 Early Hints", cap)
    for (let i = 0; i < 5; i++) {
      assert.isTrue(scanner.feed(Buffer.from(head)))
      assert.strictEqual(scanner.endHead(false), cap)
    }
    assert.isFalse(scanner.feed(Buffer.from(padded("200 OK", cap + 1))))
  })

  it("holds for a head that begins in the piece of another's end", () => {
    for (const over of [0, 1]) {
      const scanner = HeadScanner.make(cap)
      const last = padded("200 OK", cap + over)
      assert.isTrue(scanner.feed(Buffer.from(hints + last.slice(0, 1000))))
      assert.strictEqual(scanner.endHead(false), hints.length)
      assert.strictEqual(scanner.feed(Buffer.from(last.slice(1000))), over === 0)
    }
  })

  const Size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 70 }))
  const Length = Schema.Int.check(Schema.isBetween({ minimum: 30, maximum: 70 }))

  it.prop("does not depend on how a head is cut", [Size, Length], ([size, length]) => {
    assert.strictEqual(passes(padded("200 OK", length), size, 50), length <= 50)
  }, seeded(300))

  it("holds for what comes beside the content, and grows with it", () => {
    const scanner = HeadScanner.make(cap)
    assert.isTrue(scanner.feed(Buffer.from(final)))
    scanner.endHead(true)
    // Chunks of one byte, five bytes of frame each.
    for (let i = 0; i < 10 * cap; i++) {
      assert.isTrue(scanner.feed(Buffer.from("1\r\nx\r\n")))
      scanner.progress(1)
    }
    const extension = Buffer.from(`1;${"x".repeat(cap)}\r\nx\r\n`)
    const fed = Array.from({ length: 200 }, () => {
      const isWithin = scanner.feed(extension)
      scanner.progress(1)
      return isWithin
    })
    assert.isTrue(fed[0])
    assert.isFalse(fed.at(-1))
  })
})

describe("the status", () => {
  it("is there as soon as its line is, at every cut", () => {
    const text = "HTTP/1.1 401 Unauthorized\r\nX: y"
    for (let i = 0; i <= text.length; i++) {
      const scanner = HeadScanner.make(cap)
      scanner.feed(Buffer.from(text.slice(0, i)))
      assert.strictEqual(scanner.status(), i < 12 ? undefined : 401)
      scanner.feed(Buffer.from(text.slice(i)))
      assert.strictEqual(scanner.status(), 401)
    }
  })

  it.each([1, 7, 1000, cap])("is seen when the head overflows, in pieces of %i bytes", (size) => {
    const text = padded("403 Forbidden", cap + 1)
    const scanner = HeadScanner.make(cap)
    let at = 0
    while (scanner.feed(Buffer.from(text.slice(at, at + size)))) at += size
    assert.isAtMost(at, cap)
    assert.strictEqual(scanner.status(), 403)
  })

  it("is that of the head that is coming in", () => {
    for (const at of [0, 1, 11, 12, 20]) {
      const scanner = HeadScanner.make(cap)
      const refusal = "HTTP/1.1 401 Unauthorized\r\n"
      scanner.feed(Buffer.from(hints + refusal.slice(0, at)))
      assert.strictEqual(scanner.status(), 103)
      scanner.endHead(false)
      assert.strictEqual(scanner.status(), at < 12 ? undefined : 401)
      scanner.feed(Buffer.from(refusal.slice(at)))
      assert.strictEqual(scanner.status(), 401)
    }
  })

  it.each(["\r\n", "\r\n\r\n", "\r\n\r\n\r\n\r\n\r\n\r\n\r\n"])("is seen behind the blank lines %j", (blank) => {
    for (const size of [1, 5, cap]) {
      const text = `${blank}HTTP/1.1 401 Unauthorized\r\n`
      const scanner = HeadScanner.make(cap)
      for (let at = 0; at < text.length; at += size) scanner.feed(Buffer.from(text.slice(at, at + size)))
      assert.strictEqual(scanner.status(), 401, `in pieces of ${size} bytes`)
    }
  })

  it.each(["", "SSH-2.0-OpenSSH_9", "HTTP/1.1 abc", "HTTP/1.1  200", "HTTP/1.1 20", "http/1.1 200"])(
    "is none in %j",
    (text) => {
      const scanner = HeadScanner.make(cap)
      scanner.feed(Buffer.from(text))
      assert.isUndefined(scanner.status())
    }
  )
})
