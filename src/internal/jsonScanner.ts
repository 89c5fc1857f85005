/**
 * Finds where things end in JSON, before anybody parses it.
 *
 * `JSON.parse` takes all of a text or none. Whoever would give it a part must know how far that goes. Nothing here says
 * that a text is JSON: where it is not, an end that was found means nothing, and `JSON.parse` will refuse what is there.
 */

const backslash = 0x5c
const u = 0x75

/**
 * What numbers, `true`, `false` and `null` are made of.
 */
const isWord = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a) || code === 0x2b || code === 0x2d || code === 0x2e ||
  code === 0x45

/**
 * Where a number or a name ends, or `to`.
 */
export const endOfWord = (text: string, from: number, to: number): number => {
  const end = Math.min(to, text.length)
  let at = from
  while (at < end && isWord(text.charCodeAt(at))) at++
  return at
}

/**
 * Whether an odd number of backslashes stands before this place.
 */
const isEscaped = (text: string, at: number): boolean => {
  let first = at
  while (first > 0 && text.charCodeAt(first - 1) === backslash) first--
  return (at - first) % 2 === 1
}

/**
 * The longest escape: a backslash, `u`, and four digits.
 */
const longestEscape = 6

/**
 * Where the quote is that ends a string, or else the first place from `to` on that is not inside of an escape. A search
 * for quotes is several times faster than a loop.
 */
export const endOfString = (text: string, from: number, to: number): number => {
  const window = text.slice(from, to)
  for (let at = window.indexOf("\""); at !== -1; at = window.indexOf("\"", at + 1)) {
    if (!isEscaped(window, at)) return from + at
  }
  const end = from + window.length
  for (let at = window.length - 1; at >= 0 && at > window.length - longestEscape; at--) {
    if (window.charCodeAt(at) !== backslash || isEscaped(window, at)) continue
    return Math.max(end, from + at + (text.charCodeAt(from + at + 1) === u ? longestEscape : 2))
  }
  return end
}

/**
 * How far a container was looked through, and what is in it as far as that.
 */
export interface Ahead {
  readonly isWhole: boolean
  readonly end: number
  /**
   * The container is one of them.
   */
  readonly values: number
  /**
   * Of all objects together.
   */
  readonly members: number
}

/**
 * Looks through the container that starts here, for so many characters and so many levels.
 */
export const lookAhead = (text: string, start: number, maxLength: number, maxDepth: number): Ahead => {
  const window = text.slice(start, start + maxLength)
  let at = 0
  let depth = 0
  let members = 0
  // Values, and the keys of members.
  let items = 0
  do {
    switch (window[at++]) {
      case " ":
      case "\n":
      case "\r":
      case "\t":
      case ",":
        break
      case ":":
        members++
        break
      case "[":
      case "{":
        items++
        depth++
        break
      case "]":
      case "}":
        depth--
        break
      case "\"": {
        items++
        // Most strings have no escaped quote, and a search is several times faster than a loop.
        const next = window.indexOf("\"", at)
        if (next === -1) at = window.length
        else at = (window[next - 1] === "\\" ? endOfString(window, at, window.length) : next) + 1
        break
      }
      default:
        items++
        at = endOfWord(window, at, window.length)
    }
  } while (depth > 0 && depth <= maxDepth && at < window.length)
  return { isWhole: depth === 0, end: start + at, values: items - members, members }
}
