/**
 * A word that no error may quote.
 */
import { assert } from "@effect/vitest"
import { inspect } from "node:util"

/**
 * Stands in whatever a case wants to be kept.
 */
export const secret = "s3cret"

/**
 * An error keeps it in all that it shows of itself.
 */
export const quotesNoSecret = (error: Error): void =>
  assert.notInclude(
    [error.message, error.stack, JSON.stringify(error), inspect(error, { depth: 9 })].join("\n"),
    secret
  )
