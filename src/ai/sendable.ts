/**
 * Whether JSON that a server sent can be sent on to a model.
 */
import * as Effect from "effect/Effect"
import type { JsonObject } from "../schema/Json.ts"

/**
 * `JSON.stringify` of Node 22 gives up somewhere above 3,000 levels, and throws; a provider's own walk earlier than
 * that. Real schemas have a dozen.
 */
const maxDepth = 1000

/**
 * Values that are looked at in one go.
 */
const maxWork = 16_384

const tooDeep = `more than ${maxDepth} levels of nesting`
const notUnicode = "text that is not well-formed Unicode"

/**
 * An object or a list that is being looked through, and how far.
 */
interface Opened {
  readonly keys: ReadonlyArray<string> | undefined
  readonly values: JsonObject | ReadonlyArray<unknown>
  readonly size: number
  at: number
}

const openUp = (node: object): Opened => {
  if (Array.isArray(node)) return { keys: undefined, values: node, size: node.length, at: 0 }
  const keys = Object.keys(node)
  return { keys, values: node as JsonObject, size: keys.length, at: 0 }
}

/**
 * Answers what JSON has in it that keeps it from being sent on, and `undefined` where it can be: too many levels to be
 * serialised, or text for which a provider refuses the whole request. Takes time by its size, and lets others have their
 * turn meanwhile.
 */
export const problemOf = Effect.fnUntraced(function*(value: unknown): Effect.fn.Return<string | undefined> {
  const open = [openUp([value])]
  let work = 0
  while (open.length > 0) {
    if (work++ > maxWork) {
      work = 0
      yield* Effect.yieldNow
    }
    const current = open.at(-1)!
    if (current.at === current.size) {
      open.pop()
      continue
    }
    const key = current.keys?.[current.at] ?? current.at
    const node = (current.values as JsonObject)[key]
    current.at++
    if (typeof key === "string" && !key.isWellFormed()) return notUnicode
    if (typeof node === "string") {
      if (!node.isWellFormed()) return notUnicode
    } else if (typeof node === "object" && node !== null) {
      if (open.length > maxDepth) return tooDeep
      open.push(openUp(node))
    }
  }
  return undefined
})
