import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Net from "node:net"
import { EgressGuard } from "../../src/index.ts"
import { all, array, forAll, int, join, map, oneOf, pick, text, timeout } from "./support.ts"

type Four = readonly [number, number, number, number]

const octet = int(0, 255)
const range = (...fixed: ReadonlyArray<number>) =>
  map(
    all([octet, octet, octet, octet]),
    (octets): Four => octets.map((value, i) => fixed[i] ?? value) as unknown as Four
  )

const forbidden = oneOf(
  range(127),
  range(0),
  range(169, 254),
  map(all([int(224, 239), range()]), ([first, four]): Four => [first, four[1], four[2], four[3]]),
  pick<Four>([255, 255, 255, 255], [169, 254, 169, 254], [100, 100, 100, 200], [192, 0, 0, 192], [168, 63, 129, 16])
)

const isSpecial = ([a, b, c]: Four): boolean =>
  a === 0 || a === 10 || a === 127 || a >= 224 || (a === 100 && b >= 64 && b < 128) || (a === 169 && b === 254) ||
  (a === 172 && b >= 16 && b < 32) || (a === 192 && (b === 168 || (b === 0 && (c === 0 || c === 2)))) ||
  (a === 192 && b === 88 && c === 99) || (a === 198 && (b === 18 || b === 19 || (b === 51 && c === 100))) ||
  (a === 203 && b === 0 && c === 113) || (a === 168 && b === 63)

const open = map(range(), (four): Four => isSpecial(four) ? [8, 8, four[2], four[3]] : four)

// Spellings

const radix = (value: number, how: number, zeros: string): string =>
  how === 0
    ? String(value)
    : how === 1
    ? `0${zeros}${value.toString(8)}`
    : `0${how === 2 ? "x" : "X"}${zeros}${value.toString(16)}`

/**
 * One to four numbers, each in base ten, eight or sixteen, with zeros before it.
 */
const numeric = map(
  all([int(1, 4), array(int(0, 3), { minLength: 4, maxLength: 4 }), pick("", "0", "000")]),
  ([parts, bases, zeros]) => (four: Four): string => {
    const last = four.slice(parts - 1).reduce((sum, value) => sum * 256 + value, 0)
    return [...four.slice(0, parts - 1), last].map((value, i) => radix(value, bases[i]!, zeros)).join(".")
  }
)

/**
 * What a URL takes for the same letter.
 */
const letter = pick<(char: string) => string>(
  (char) => char,
  (char) => `%${char.charCodeAt(0).toString(16)}`,
  (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0),
  (char) => char === "." ? "。" : char,
  (char) => char === "0" ? "⓪" : /[1-9]/.test(char) ? String.fromCharCode(0x2460 + Number(char) - 1) : char
)

const spelt4 = map(
  all([numeric, array(letter, { minLength: 1, maxLength: 5 }), pick("", ".")]),
  ([write, letters, dot]) => (four: Four): string =>
    [...write(four)].map((char, i) => letters[i % letters.length]!(char)).join("") + dot
)

const hex = (...octets: ReadonlyArray<number>): ReadonlyArray<number> =>
  octets.flatMap((value, i) => i % 2 === 0 ? [value * 256 + octets[i + 1]!] : [])

/**
 * Eight groups: in full, or shortened, or with an IPv4 tail; in either case.
 */
const spelt6 = map(
  all([pick("short", "full", "tail"), pick("lower", "upper")]),
  ([form, letters]) => (groups: ReadonlyArray<number>): string => {
    const words = groups.map((group) => group.toString(16).padStart(form === "full" ? 4 : 1, "0"))
    if (form === "tail") {
      words.splice(6, 2, groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]).join("."))
    }
    const whole = words.join(":")
    const shortened = form === "full"
      ? whole
      : whole.replace(/(^|:)0(:0)+(?=:|$)/, (_, before) => before === "" ? ":" : "::").replace(":::", "::")
    const valid = Net.isIPv6(shortened) ? shortened : whole
    return letters === "upper" ? valid.toUpperCase() : valid
  }
)

type Embedding = (four: Four, other: Four, filler: ReadonlyArray<number>) => ReadonlyArray<number>

const inverted = (four: Four) => hex(...four.map((value) => value ^ 0xff))

/**
 * Every way to carry an IPv4 address in IPv6. `other` is an address that may be reached, where two are carried.
 */
const transparent: Readonly<Record<string, Embedding>> = {
  mapped: (four) => [0, 0, 0, 0, 0, 0xffff, ...hex(...four)],
  compatible: (four) => [0, 0, 0, 0, 0, 0, ...hex(...four)],
  translated: (four) => [0, 0, 0, 0, 0xffff, 0, ...hex(...four)],
  NAT64: (four) => [0x64, 0xff9b, 0, 0, 0, 0, ...hex(...four)],
  "6to4": (four, _, [a, b, c, d, e]) => [0x2002, ...hex(...four), a!, b! & 0xff00, c!, d!, e!],
  "Teredo's server": (four, other) => [0x2001, 0, ...hex(...four), 0x8000, 0x1234, ...inverted(other)],
  "Teredo's client": (four, other) => [0x2001, 0, ...hex(...other), 0x8000, 0x1234, ...inverted(four)],
  ISATAP: (four) => [0x2a00, 1, 2, 3, 0, 0x5efe, ...hex(...four)],
  "ISATAP, unique": (four) => [0x2a00, 1, 2, 3, 0x200, 0x5efe, ...hex(...four)]
}
const opaque: Readonly<Record<string, Embedding>> = {
  "local NAT64, /48": ([a, b, c, d], _, [e, f]) => [0x64, 0xff9b, 1, a * 256 + b, c, d * 256, e!, f!],
  "local NAT64, /56": ([a, b, c, d], _, [e, f]) => [0x64, 0xff9b, 1, a, b, c * 256 + d, e!, f!],
  "local NAT64, /64": ([a, b, c, d], _, [e, f]) => [0x64, 0xff9b, 1, e!, a, b * 256 + c, d * 256, f!],
  "local NAT64, /96": (four, _, [e, f]) => [0x64, 0xff9b, 1, e!, f! & 0xff, 0, ...hex(...four)]
}

const filler = array(int(0, 0xffff), { minLength: 5, maxLength: 5 })

const of = (policy: EgressGuard.Policy) => {
  const guard = EgressGuard.fromPolicy(policy)
  return {
    url: (host: string): boolean => Result.isSuccess(guard.vetUrl(new URL(`http://${host}/`))),
    address: (address: string): boolean => Result.isSuccess(guard.vetAddress("mcp.example", address))
  }
}
const standard = of(EgressGuard.standard)
const publicOnly = of(EgressGuard.publicOnly)

const judge = (expected: boolean, policy: typeof standard, host: string, address: string): void => {
  assert.strictEqual(policy.url(host), expected, `http://${host}/`)
  assert.strictEqual(policy.address(address), expected, address)
}

describe("the guard", () => {
  it.live(
    "refuses what is forbidden in every spelling, and allows what is public in the same ones",
    () =>
      forAll(all([forbidden, open, spelt4]), ([bad, good, spell]) => {
        for (const policy of [standard, publicOnly]) {
          judge(false, policy, spell(bad), bad.join("."))
          judge(true, policy, spell(good), good.join("."))
        }
      }),
    timeout
  )

  const embedded = all([forbidden, open, filler, spelt6])

  for (const [name, embed] of Object.entries({ ...transparent, ...opaque })) {
    it.live(`refuses what is forbidden inside IPv6: ${name}`, () =>
      forAll(embedded, ([bad, other, fill, spell]) => {
        const address = spell(embed(bad, other, fill))
        for (const policy of [standard, publicOnly]) judge(false, policy, `[${address}]`, address)
      }), timeout)
  }

  it.live(
    "allows what is public inside IPv6, where it carries nothing else",
    () =>
      forAll(all([open, open, filler, spelt6]), ([good, other, fill, spell]) => {
        for (const embed of Object.values(transparent)) {
          const address = spell(embed(good, other, fill))
          judge(true, standard, `[${address}]`, address)
        }
      }),
    timeout
  )

  const own = map(
    all([pick(0xfe80, 0xfebf, 0xff00, 0xff02, 0xffff), array(int(0, 0xffff), { minLength: 7, maxLength: 7 }), spelt6]),
    ([first, rest, spell]) => spell([first, ...rest])
  )

  it.live(
    "refuses link-local and multicast IPv6, with a zone or without",
    () =>
      forAll(
        all([own, pick("", "%eth0", "%25lo", "%1")]),
        ([address, zone]) => judge(false, standard, `[${address}]`, address + zone)
      ),
    timeout
  )

  const almost = join(
    oneOf(pick("127.0.0.1", "8.8.8.8", "::", ":", ".", "0x7f", "1", "ffff", "%eth0", " ", "\0"), text),
    5
  )

  it.live("refuses whatever a resolver says that is no address", () =>
    forAll(almost, (address) => {
      if (standard.address(address)) {
        assert.notStrictEqual(
          Net.isIP(address.replace(/%.*$/s, "").replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")),
          0,
          address
        )
      }
    }), timeout)
})
