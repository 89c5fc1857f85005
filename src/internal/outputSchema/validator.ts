/**
 * Checks values against a JSON Schema that may mean harm: 2020-12, and the drafts from 04 on where `$schema` names them.
 *
 * It interprets the schema and compiles none of it to code, counts what it does (`work`), matches patterns without
 * backtracking (`pattern`), fetches nothing (`references`), and follows schemas and values on the heap, by way of Effect,
 * and not on the stack. The interpreters that there are do the first of these: thirty nested references, a `uniqueItems`
 * or a pattern keep them busy for hours.
 *
 * `format`, `contentEncoding` and the like are annotations (2020-12, validation, sections 7 and 8), and not checked.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject } from "../../schema/Json.ts"
import * as Canonical from "./canonical.ts"
import { checkAllowed, checkNames, checkText, listOf, membersOf } from "./checks.ts"
import * as Keywords from "./keywords.ts"
import type { Scope } from "./references.ts"
import * as Rules from "./rules.ts"
import * as Work from "./work.ts"

/**
 * Where a value stands in the whole; `undefined` is the whole.
 */
export type Place = { readonly key: string | number; readonly outer: Place } | undefined

/**
 * What is wrong with which value, in our words; names from outside that stand in it are cut and escaped.
 */
export interface Mismatch {
  readonly place: Place
  readonly what: string
}

/**
 * A schema that is ready to be used.
 */
export interface Validator {
  /**
   * The first mismatch of a value, where there is one. The failure says why the value cannot be checked: what the schema
   * has or is, or does.
   */
  readonly check: (value: unknown) => Effect.Effect<Mismatch | undefined, string>
}

/**
 * Deeper than anybody nests: schemas in schemas, with references among them.
 */
const maxDepth = 512

/**
 * A set that is much larger grows by steps that others wait for.
 */
const maxUnique = 2 ** 16

/**
 * The value that is checked, on the way to it.
 */
interface Subject {
  readonly value: unknown
  readonly place: Place
}

/**
 * The schemas on the way to a value.
 */
interface Context {
  readonly rules: Rules.Rules
  readonly work: Work.Work
  readonly scope: Scope
  readonly depth: number
}

/**
 * Members and items that a keyword has said something of, for `unevaluatedProperties` and `unevaluatedItems`. Kept where
 * there is one of these to ask.
 */
type Evaluated = Set<string | number> | undefined

/**
 * At once, where that can be.
 */
type Answer = Mismatch | undefined | Effect.Effect<Mismatch | undefined, string>

type Checking<A = Mismatch | undefined> = Effect.fn.Return<A, string>

const isLater = (answer: Answer): answer is Effect.Effect<Mismatch | undefined, string> => Effect.isEffect(answer)

function* settle(answer: Answer): Checking {
  return isLater(answer) ? yield* answer : answer
}

const merge = Effect.fnUntraced(function*(from: Evaluated, to: Evaluated, work: Work.Work): Checking<void> {
  if (from === undefined || to === undefined) return
  for (const key of from) {
    const due = work.spend(1)
    if (due !== undefined) yield* due
    to.add(key)
  }
})

/**
 * Checks a value against what should be a schema.
 */
const apply = (schema: unknown, subject: Subject, context: Context, evaluated: Evaluated): Answer => {
  const due = context.work.spend(1)
  return due === undefined
    ? judge(schema, subject, context, evaluated)
    : Effect.andThen(due, Effect.gen(() => settle(judge(schema, subject, context, evaluated))))
}

const judge = (schema: unknown, subject: Subject, context: Context, evaluated: Evaluated): Answer => {
  if (schema === true) return undefined
  if (schema === false) return { place: subject.place, what: "is not allowed" }
  if (!isJsonObject(schema)) return Effect.fail("has something in it that is no schema")
  const rule = context.rules.of(schema)
  if (Result.isFailure(rule)) return Effect.fail(rule.failure)
  if (!rule.success.isImmediate) return applyRule(rule.success, schema, subject, context, evaluated)
  const what = Keywords.check(rule.success.schema, subject.value)
  return what === undefined ? undefined : { place: subject.place, what }
}

const applyRule = Effect.fnUntraced(function*(
  rule: Rules.Rule,
  schema: JsonObject,
  subject: Subject,
  { depth, rules, scope, work }: Context,
  outerEvaluated: Evaluated
): Checking {
  if (depth >= maxDepth) return yield* Effect.fail(`leads more than ${maxDepth} schemas deep`)
  const due = work.spend(4)
  if (due !== undefined) yield* due
  const { place, value } = subject
  const what = Keywords.check(rule.schema, value) ??
    (rule.allows ? yield* checkAllowed(rule, value, work) : undefined) ??
    (typeof value === "string" ? yield* checkText(rule, value, work) : undefined)
  if (what !== undefined) return { place, what }
  const context = { rules, work, scope: rules.references.enter(schema, scope), depth: depth + 1 }
  const evaluated = rule.hasUnevaluated ? new Set<string | number>() : outerEvaluated
  const mismatch = (rule.refers ? yield* applyReferences(rule, subject, context, evaluated) : undefined) ??
    (rule.combines ? yield* applyTogether(rule, subject, context, evaluated) : undefined) ??
    (Array.isArray(value)
      ? yield* applyToItems(rule, value, place, context, evaluated)
      : isJsonObject(value)
      ? yield* applyToMembers(rule, value, subject, context, evaluated)
      : undefined)
  if (mismatch === undefined && evaluated !== outerEvaluated) yield* merge(evaluated, outerEvaluated, work)
  return mismatch
})

/**
 * `$ref`, `$dynamicRef` and `$recursiveRef`.
 */
const applyReferences = Effect.fnUntraced(function*(
  { schema }: Rules.Rule,
  subject: Subject,
  context: Context,
  evaluated: Evaluated
): Checking {
  const { references } = context.rules
  const { scope, work } = context
  const { $dynamicRef, $recursiveRef, $ref } = schema
  for (const reference of [$ref, $dynamicRef, $recursiveRef]) {
    if (typeof reference !== "string") continue
    const due = work.spend(context.depth + (reference.length >> 3))
    if (due !== undefined) yield* due
    const target = reference === $ref
      ? references.resolve(reference, scope.resource)
      : references.resolveDynamic(reference, scope)
    if (target === undefined) return yield* Effect.fail("has a reference that leads nowhere in it")
    const mismatch = yield* settle(apply(target, subject, context, evaluated))
    if (mismatch !== undefined) return mismatch
  }
  return undefined
})

/**
 * Keywords that apply several schemas to the same value.
 */
const applyTogether = Effect.fnUntraced(function*(
  { schema }: Rules.Rule,
  subject: Subject,
  context: Context,
  evaluated: Evaluated
): Checking {
  const { place } = subject
  const { work } = context
  // What an alternative has said counts where it is the one.
  const fresh = (): Evaluated => evaluated === undefined ? undefined : new Set()

  for (const inner of listOf(schema["allOf"])) {
    const mismatch = yield* settle(apply(inner, subject, context, evaluated))
    if (mismatch !== undefined) return mismatch
  }
  for (const keyword of ["anyOf", "oneOf"]) {
    if (schema[keyword] === undefined) continue
    let matches = 0
    for (const inner of listOf(schema[keyword])) {
      const own = fresh()
      if ((yield* settle(apply(inner, subject, context, own))) !== undefined) continue
      matches++
      yield* merge(own, evaluated, work)
      if (keyword === "oneOf" ? matches > 1 : evaluated === undefined) break
    }
    if (matches === 0) return { place, what: `matches nothing of ${keyword}` }
    if (keyword === "oneOf" && matches > 1) return { place, what: "matches more than one of oneOf" }
  }
  if (schema["not"] !== undefined && (yield* settle(apply(schema["not"], subject, context, undefined))) === undefined) {
    return { place, what: "matches what it must not" }
  }
  if (schema["if"] === undefined) return undefined
  const own = fresh()
  const isSo = (yield* settle(apply(schema["if"], subject, context, own))) === undefined
  if (isSo) yield* merge(own, evaluated, work)
  return yield* settle(apply(schema[isSo ? "then" : "else"] ?? true, subject, context, evaluated))
})

/**
 * Keywords that apply schemas to the items of a list.
 */
const applyToItems = Effect.fnUntraced(function*(
  { schema }: Rules.Rule,
  list: ReadonlyArray<unknown>,
  place: Place,
  context: Context,
  evaluated: Evaluated
): Checking {
  const { additionalItems, contains, items, maxContains, minContains = 1, prefixItems, unevaluatedItems } = schema
  const item = (i: number): Subject => ({ value: list[i], place: { key: i, outer: place } })

  // Until 2019-09, `items` could be a list, and `additionalItems` what comes after it.
  const first = listOf(Array.isArray(items) ? items : prefixItems)
  const rest = Array.isArray(items) ? additionalItems : items
  const end = rest === undefined ? Math.min(first.length, list.length) : list.length
  for (let i = 0; i < end; i++) {
    const mismatch = yield* settle(apply(i < first.length ? first[i] : rest, item(i), context, undefined))
    if (mismatch !== undefined) return mismatch
    evaluated?.add(i)
  }
  if (contains !== undefined) {
    let found = 0
    for (let i = 0; i < list.length; i++) {
      if ((yield* settle(apply(contains, item(i), context, undefined))) !== undefined) continue
      found++
      evaluated?.add(i)
    }
    if (found < Number(minContains)) return { place, what: "does not contain what it must" }
    if (found > Number(maxContains ?? found)) return { place, what: "contains too many of what it must" }
  }
  if (schema["uniqueItems"] === true) {
    if (list.length > maxUnique) return yield* Effect.fail(`wants more than ${maxUnique} items to be unique`)
    const seen = new Set<string>()
    for (let i = 0; i < list.length; i++) {
      seen.add(yield* Canonical.make(list[i], context.work))
      if (seen.size <= i) return { place: item(i).place, what: "is there before" }
    }
  }
  if (unevaluatedItems === undefined) return undefined
  for (let i = 0; i < list.length; i++) {
    const wanted = evaluated?.has(i) === true ? true : unevaluatedItems
    const mismatch = yield* settle(apply(wanted, item(i), context, undefined))
    if (mismatch !== undefined) return mismatch
    evaluated?.add(i)
  }
  return undefined
})

/**
 * Keywords that apply schemas to the members of an object, and to their names.
 */
const applyToMembers = Effect.fnUntraced(function*(
  rule: Rules.Rule,
  object: JsonObject,
  subject: Subject,
  context: Context,
  evaluated: Evaluated
): Checking {
  const { patterns, schema } = rule
  const { additionalProperties, dependencies, dependentSchemas, propertyNames, unevaluatedProperties } = schema
  const { place } = subject
  const { work } = context
  const names = Object.keys(object)
  const due = work.spend(names.length)
  if (due !== undefined) yield* due
  const what = yield* checkNames(rule, object, names, work)
  if (what !== undefined) return { place, what }

  const properties = membersOf(schema["properties"])
  const member = (name: string): Subject => ({ value: object[name], place: { key: name, outer: place } })
  for (const name of names) {
    const inner = member(name)
    if (propertyNames !== undefined) {
      const misnamed = yield* settle(apply(propertyNames, { ...inner, value: name }, context, undefined))
      if (misnamed !== undefined) return { place: inner.place, what: `has a name that ${misnamed.what}` }
    }
    const applicable: Array<unknown> = Object.hasOwn(properties, name) ? [properties[name]] : []
    for (const [pattern, wanted] of patterns) if (yield* pattern.test(name, work)) applicable.push(wanted)
    if (applicable.length === 0) {
      if (additionalProperties === undefined) continue
      applicable.push(additionalProperties)
    }
    for (const wanted of applicable) {
      const mismatch = yield* settle(apply(wanted, inner, context, undefined))
      if (mismatch !== undefined) return mismatch
    }
    evaluated?.add(name)
  }
  for (const depending of [dependentSchemas, dependencies]) {
    const schemas = membersOf(depending)
    for (const name of depending === undefined ? [] : names) {
      // A list stands for names that are required.
      if (!Object.hasOwn(schemas, name) || Array.isArray(schemas[name])) continue
      const mismatch = yield* settle(apply(schemas[name], subject, context, evaluated))
      if (mismatch !== undefined) return mismatch
    }
  }
  if (unevaluatedProperties === undefined) return undefined
  for (const name of names) {
    const wanted = evaluated?.has(name) === true ? true : unevaluatedProperties
    const mismatch = yield* settle(apply(wanted, member(name), context, undefined))
    if (mismatch !== undefined) return mismatch
    evaluated?.add(name)
  }
  return undefined
})

/**
 * Gets a schema ready. The failure says what it has or is, that it cannot be used.
 */
export const make = (schema: JsonObject): Result.Result<Validator, string> =>
  Result.map(Rules.make(schema), (rules) => ({
    check: (value) =>
      Effect.gen(() =>
        settle(apply(
          schema,
          { value, place: undefined },
          { rules, work: Work.make(), scope: rules.references.scope, depth: 0 },
          undefined
        ))
      )
  }))
