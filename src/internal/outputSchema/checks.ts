/**
 * What keywords say about a value by itself, without a schema for something in it, where saying so may take a while. The
 * answers are what is wrong, in our words; names that come from outside are cut and escaped.
 */
import * as Effect from "effect/Effect"
import { printable } from "../../errors/Printable.ts"
import { isJsonObject, type JsonObject } from "../../schema/Json.ts"
import * as Canonical from "./canonical.ts"
import type { Rule } from "./rules.ts"
import type { Work } from "./work.ts"

/**
 * What is wrong, and nothing where nothing is. The failure says why that cannot be said.
 */
type Checked = Effect.fn.Return<string | undefined, string>

const maxNameLength = 60

export const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []
export const membersOf = (value: unknown): JsonObject => isJsonObject(value) ? value : {}

/**
 * `enum` and `const`.
 */
export const checkAllowed = Effect.fnUntraced(function*(rule: Rule, value: unknown, work: Work): Checked {
  const { schema } = rule
  if (schema["enum"] !== undefined) {
    if (rule.allowed === undefined) {
      const allowed = new Set<string>()
      for (const one of listOf(schema["enum"])) allowed.add(yield* Canonical.make(one, work))
      rule.allowed = allowed
    }
    if (!rule.allowed.has(yield* Canonical.make(value, work))) return "is none of the values that are allowed"
  }
  if (!Object.hasOwn(schema, "const")) return undefined
  const wanted = yield* Canonical.make(schema["const"], work)
  return wanted === (yield* Canonical.make(value, work)) ? undefined : "is not the value that is allowed"
})

/**
 * So much of a text is gone through in one go.
 */
const piece = 2 ** 13

/**
 * In characters, of which some take two UTF-16 code units.
 */
const lengthOf = Effect.fnUntraced(function*(text: string, work: Work): Effect.fn.Return<number, string> {
  let length = text.length
  for (let start = 0; start < text.length; start += piece) {
    const due = work.spend(piece >> 4)
    if (due !== undefined) yield* due
    const end = Math.min(start + piece, text.length)
    for (let i = start; i < end; i++) if (text.codePointAt(i)! > 0xffff) length--
  }
  return length
})

/**
 * `minLength`, `maxLength` and `pattern`.
 */
export const checkText = Effect.fnUntraced(function*(
  { pattern, schema }: Rule,
  text: string,
  work: Work
): Checked {
  const { maxLength, minLength } = schema
  if (minLength !== undefined || maxLength !== undefined) {
    const length = yield* lengthOf(text, work)
    if (length < Number(minLength ?? 0)) return "is too short"
    if (length > Number(maxLength ?? length)) return "is too long"
  }
  return pattern === undefined || (yield* pattern.test(text, work)) ? undefined : "does not match the pattern"
})

/**
 * `minProperties`, `maxProperties`, `required`, and what is required where something else is there.
 */
export const checkNames = Effect.fnUntraced(function*(
  { schema }: Rule,
  value: JsonObject,
  names: ReadonlyArray<string>,
  work: Work
): Checked {
  const { dependencies, dependentRequired, maxProperties, minProperties, required } = schema
  if (names.length < Number(minProperties ?? 0)) return "has too few members"
  if (names.length > Number(maxProperties ?? names.length)) return "has too many members"
  const wanted = [listOf(required)]
  for (const depending of [dependentRequired, dependencies]) {
    if (depending === undefined) continue
    const due = work.spend(names.length)
    if (due !== undefined) yield* due
    const lists = membersOf(depending)
    for (const name of names) if (Object.hasOwn(lists, name)) wanted.push(listOf(lists[name]))
  }
  for (const list of wanted) {
    const due = work.spend(list.length)
    if (due !== undefined) yield* due
    const missing = list.find((name) => typeof name !== "string" || !Object.hasOwn(value, name))
    if (missing === undefined) continue
    if (typeof missing !== "string") return yield* Effect.fail("requires a member whose name is no text")
    return `lacks the member "${printable(missing, maxNameLength)}"`
  }
  return undefined
})
