/**
 * Texts that are equal where JSON values are: whatever the order of members, and however a number is written.
 */
import * as Effect from "effect/Effect"
import type { JsonObject } from "../../schema/Json.ts"
import type { Work } from "./work.ts"

const maxDepth = 512

/**
 * Names are sorted in one go.
 */
const maxMembers = 2 ** 14

/**
 * So many pieces are put together in one go.
 */
const maxPieces = 2 ** 12

/**
 * With its length before it, so that nothing in it need be escaped.
 */
const quoted = (text: string): string => `"${text.length}:${text}`

const stepsOf = (text: string): number => 1 + (text.length >> 6)

/**
 * The text of a value that has no others in it, and nothing for one that has.
 */
function* leaf(value: unknown, work: Work): Effect.fn.Return<string | undefined, string> {
  const due = work.spend(typeof value === "string" ? stepsOf(value) : 1)
  if (due !== undefined) yield* due
  if (typeof value === "string") return quoted(value)
  return typeof value === "object" && value !== null ? undefined : String(value)
}

/**
 * The text of a list or an object. All that is in it stays in pieces until all is written: put together at every level,
 * the innermost would be copied as often as it is deep.
 */
function* nested(whole: object, work: Work): Effect.fn.Return<string, string> {
  const texts: Array<string> = []
  let pieces: Array<string> = []

  const put = (piece: string): void => {
    if (pieces.push(piece) < maxPieces) return
    texts.push(pieces.join(""))
    pieces = []
  }

  function* write(value: unknown, depth: number): Effect.fn.Return<void, string> {
    const text = yield* leaf(value, work)
    if (text === undefined) yield* open(value as object, depth)
    else put(text)
    put(",")
  }

  function* open(value: object, depth: number): Effect.fn.Return<void, string> {
    if (depth > maxDepth) return yield* Effect.fail(`compares a value that is more than ${maxDepth} deep`)
    if (Array.isArray(value)) {
      put("[")
      for (const item of value) yield* write(item, depth + 1)
      return put("]")
    }
    const names = Object.keys(value)
    if (names.length > maxMembers) return yield* Effect.fail(`compares a value of more than ${maxMembers} members`)
    const due = work.spend(names.reduce((steps, name) => steps + stepsOf(name), 0))
    if (due !== undefined) yield* due
    put("{")
    for (const name of names.sort()) {
      put(quoted(name))
      yield* write((value as JsonObject)[name], depth + 1)
    }
    put("}")
  }

  yield* open(whole, 0)
  texts.push(pieces.join(""))
  return texts.join("")
}

/**
 * The text of a value. Takes a step a value and a name, and one for each sixty-four characters.
 */
export const make = Effect.fnUntraced(function*(value: unknown, work: Work): Effect.fn.Return<string, string> {
  return (yield* leaf(value, work)) ?? (yield* nested(value as object, work))
})
