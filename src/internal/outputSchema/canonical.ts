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

const leaf = (value: unknown): string => typeof value === "string" ? JSON.stringify(value) : String(value)

/**
 * The text of a value. Takes a step a value, and one for each sixty-four characters.
 */
export const make: (value: unknown, work: Work, depth?: number) => Effect.Effect<string, string> = Effect.fnUntraced(
  function*(value: unknown, work: Work, depth = 0): Effect.fn.Return<string, string> {
    if (depth > maxDepth) return yield* Effect.fail(`compares a value that is more than ${maxDepth} deep`)
    const due = work.spend(1 + (typeof value === "string" ? value.length >> 6 : 0))
    if (due !== undefined) yield* due
    if (typeof value !== "object" || value === null) return leaf(value)
    const parts: Array<string> = []
    if (Array.isArray(value)) {
      for (const item of value) parts.push(yield* make(item, work, depth + 1))
      return `[${parts.join()}]`
    }
    const names = Object.keys(value)
    if (names.length > maxMembers) return yield* Effect.fail(`compares a value of more than ${maxMembers} members`)
    const dueForNames = work.spend(names.length)
    if (dueForNames !== undefined) yield* dueForNames
    for (const name of names.sort()) {
      parts.push(`${JSON.stringify(name)}:${yield* make((value as JsonObject)[name], work, depth + 1)}`)
    }
    return `{${parts.join()}}`
  }
)
