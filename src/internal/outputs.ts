/**
 * Checking what tools answer against what they declared: revision 2026-07-28, server/tools, "Output Schema".
 *
 * Schemas are kept from the moment that the first check is asked for, and those of the last listing alone. Where none was
 * listed since, the tools are listed once, before the call is sent: a call that has been made is not lost to a listing
 * that fails.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { JsonObject } from "../schema/Json.ts"
import type { CallResult, Tool } from "../schema/Tool.ts"
import * as Validator from "./outputSchema/validator.ts"
import { toPointer } from "./pointer.ts"

/**
 * The output schemas of one server's tools.
 */
export interface Outputs {
  /**
   * Keeps the schemas of a listing, if they are wanted.
   */
  readonly keep: (tools: Iterable<Tool>) => void
  /**
   * Sees to it that the schemas are there. `list` lists the tools, and has them kept.
   */
  readonly ready: <A, E>(list: Effect.Effect<A, E>) => Effect.Effect<void, E>
  /**
   * Checks what a tool answered. The failure says what is wrong with it, or why it cannot be checked.
   */
  readonly check: (tool: string, result: CallResult) => Effect.Effect<void, string>
}

/**
 * How many schemas are kept ready for use.
 */
const maxReady = 16

const toPath = (place: Validator.Place): ReadonlyArray<PropertyKey> => {
  const path: Array<PropertyKey> = []
  for (let at = place; at !== undefined; at = at.outer) path.push(at.key)
  return path.reverse()
}

/**
 * Keeps nothing until it is asked to. `always` asks from the start.
 */
export const make = (always: boolean): Outputs => {
  let isWanted = always
  let schemas: ReadonlyMap<string, JsonObject> | undefined
  const turn = Semaphore.makeUnsafe(1)

  // By the schema and not by its `$id`, which two tools may share. The last one used is the last to go.
  const validators = new Map<JsonObject, Result.Result<Validator.Validator, string>>()
  const validatorOf = (schema: JsonObject): Result.Result<Validator.Validator, string> => {
    const validator = validators.get(schema) ?? Validator.make(schema)
    validators.delete(schema)
    validators.set(schema, validator)
    if (validators.size > maxReady) validators.delete(validators.keys().next().value!)
    return validator
  }

  return {
    keep: (tools) => {
      if (!isWanted) return
      const found = new Map<string, JsonObject>()
      for (const { name, outputSchema } of tools) if (outputSchema !== undefined) found.set(name, outputSchema)
      schemas = found
      validators.clear()
    },
    ready: (list) => {
      if (schemas !== undefined) return Effect.void
      isWanted = true
      return turn.withPermit(Effect.suspend(() => schemas === undefined ? Effect.asVoid(list) : Effect.void))
    },
    check: (tool, { isError, structuredContent }) =>
      Effect.gen(function*() {
        const schema = schemas?.get(tool)
        // What went wrong is told in whatever form it likes.
        if (schema === undefined || isError) return
        if (structuredContent === undefined) {
          return yield* Effect.fail("no structuredContent, though the tool declares an outputSchema")
        }
        const mismatch = yield* Effect.fromResult(validatorOf(schema)).pipe(
          Effect.flatMap(({ check }) => check(structuredContent)),
          Effect.mapError((problem) => `structuredContent cannot be checked: the tool's outputSchema ${problem}`)
        )
        if (mismatch === undefined) return
        const where = toPointer(toPath(mismatch.place))
        return yield* Effect.fail(
          `structuredContent is not as the tool declared it: what is at ${where} ${mismatch.what}`
        )
      })
  }
}
