/**
 * Names that model providers take.
 *
 * OpenAI and Anthropic want `^[a-zA-Z0-9_-]{1,64}$` (Anthropic's newer models take 128), MCP allows 128 characters and
 * dots, and servers send anything. One refused name costs the whole request, every other tool in it included.
 */

/**
 * What all providers take.
 */
const maxLength = 64

const mark = "--"

/**
 * No escape begins so, as `h` is no hexadecimal digit; and no other name does, as `mark` itself is escaped.
 */
const cutMark = `${mark}h`

/**
 * 41 bits in base 36.
 */
const hashLength = 8

const isTaken = (char: string): boolean => /^[a-zA-Z0-9_-]$/.test(char)

const escaped = (char: string): string => `${mark}${char.codePointAt(0)!.toString(16)}-`

/**
 * Escapes what providers refuse, and every hyphen that comes after another one: `mark` then stands for nothing else.
 */
const escape = (name: string): string => {
  // As a key, this one is no key at all.
  if (name === "__proto__") return `${escaped("_")}_proto__`
  let written = ""
  for (const char of name) {
    const isPlain = isTaken(char) && !(char === "-" && written.endsWith("-"))
    written += isPlain ? char : escaped(char)
  }
  return written
}

/**
 * The end of FNV-1a, 64 bits. Two names can be made to share it, and hardly do so by chance; whoever gathers tools refuses the second one.
 */
const hash = (text: string): string => {
  let state = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) {
    state = BigInt.asUintN(64, (state ^ BigInt(byte)) * 0x100000001b3n)
  }
  return state.toString(36).padStart(hashLength, "0").slice(-hashLength)
}

/**
 * The name that a model knows a tool by. It depends on the name alone, so that it is the same in every listing.
 *
 * A name of `a-z`, `A-Z`, `0-9`, `_` and single `-` stays as it is. Any other character becomes its code point in
 * hexadecimal between `--` and `-` (`files.read` is `files--2e-read`), which no two names share and which can be read
 * back. What is then longer than 64 characters keeps its first 53, `--h`, and a hash of the whole.
 */
export const modelName = (name: string): string => {
  const written = escape(name)
  return written.length <= maxLength
    ? written
    : `${written.slice(0, maxLength - cutMark.length - hashLength)}${cutMark}${hash(name)}`
}
