/**
 * Reads the JSON of messages. A short text costs nothing to speak of, whatever is in it; a long one can cost a second and
 * a hundred megabytes, and is therefore read in slices and within limits.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { BudgetExceeded } from "../errors/McpError.ts"
import type { Meter } from "../services/ByteBudget.ts"
import * as JsonSlices from "./jsonSlices.ts"

/**
 * Why a text could not be read, in our words, or because it is more than we are willing to read.
 */
export type Problem = string | BudgetExceeded

/**
 * Up to so many characters are read at once, whatever is in them.
 */
const short = 64 * 1024

/**
 * Up to so many are where they are as ordinary as a page of a listing: with a member here and there, and few arrays.
 */
const page = 96 * 1024
const maxMembers = 4096

/**
 * What is deeper takes whoever walks through it later unawares.
 */
const maxDepth = 32 * 1024

/**
 * A page that is deeper has more arrays than that: an array takes two characters, an object five.
 */
const maxArrays = maxDepth / 2

/**
 * Ordinary JSON takes some thirty bytes a value, and an object has a few dozen members. What a value costs in memory is
 * a multiple of what it costs on the wire where it is small.
 */
const limitsOf = ({ limit }: Meter): JsonSlices.Limits => ({
  maxValues: Math.max(2 ** 16, Math.floor(limit / 8)),
  maxMembers: Math.max(2 ** 16, Math.floor(limit / 128)),
  maxDepth
})

const hasMore = (text: string, what: string, limit: number): boolean => {
  let count = 0
  for (let at = text.indexOf(what); at !== -1; at = text.indexOf(what, at + 1)) {
    if (++count > limit) return true
  }
  return false
}

export const isShort = (text: string): boolean =>
  text.length <= short ||
  (text.length <= page && !hasMore(text, ":", maxMembers) && !hasMore(text, "[", maxArrays))

/**
 * Reads a text at once.
 */
export const parseShort = (text: string): Result.Result<unknown, Problem> => {
  try {
    return Result.succeed(JSON.parse(text))
  } catch {
    return Result.fail(text === "" ? "an empty body" : "a body that is not JSON")
  }
}

/**
 * Reads a long text, and lets others have their turn meanwhile.
 */
export const parseLong = (text: string, meter: Meter): Effect.Effect<Result.Result<unknown, Problem>> => {
  const limits = limitsOf(meter)
  return Effect.result(Effect.mapError(JsonSlices.parse(text, limits), (refusal): Problem => {
    switch (refusal) {
      case "malformed":
        return "a body that is not JSON"
      case "too many values":
        return new BudgetExceeded({ what: "values in one message", limit: limits.maxValues })
      case "too many members":
        return new BudgetExceeded({ what: "members of one object", limit: limits.maxMembers })
      case "too deep":
        return new BudgetExceeded({ what: "levels of nesting", limit: maxDepth })
    }
  }))
}
