/**
 * `JSON.parse`, a slice of work at a time.
 *
 * Eight megabytes can keep `JSON.parse` busy for two seconds, and nothing else in the process runs meanwhile: no timer,
 * no deadline, no other answer. Here that work is cut into slices of a few milliseconds. What is small is left to
 * `JSON.parse` as a whole, which is several times faster than anything written in JavaScript, and an ordinary answer is
 * made of small things. It also reads every string and number, so that there is no second opinion on what they are.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { endOfString, endOfWord, lookAhead } from "./jsonScanner.ts"

/**
 * How many values a text may have, containers among them, how many members one object, and how deep containers may
 * stand in each other. What is small is not looked at for its depth.
 */
export interface Limits {
  readonly maxValues: number
  readonly maxMembers: number
  readonly maxDepth?: number | undefined
}

/**
 * Why there is no value.
 */
export type Refusal = "malformed" | "too many values" | "too many members" | "too deep"

const malformed = Result.fail("malformed" as const)
const tooManyValues = Result.fail("too many values" as const)
const tooManyMembers = Result.fail("too many members" as const)
const tooDeep = Result.fail("too deep" as const)

/**
 * The work of a slice, in characters that are looked at, and what a value and a member cost beside their characters. The
 * worst of members gives its object a shape that no object had before, for which V8 takes two microseconds.
 */
const sliceWork = 256 * 1024
const valueWork = 32
const memberWork = 128

/**
 * A container of so many characters is small, unless it is so deep: those inside of others are looked through with each
 * of them.
 */
const smallLength = 4096
const smallDepth = 8

/**
 * The value of a text; `undefined` where it is not JSON.
 */
const parseWhole = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Adds a member as an object's own, whatever `Object.prototype` has by that name: it might be a setter, as for
 * `__proto__`, or frozen.
 */
const addMember = (object: Record<string, unknown>, key: string, value: unknown): void => {
  if (key in Object.prototype) {
    Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true })
  } else {
    object[key] = value
  }
}

/**
 * A container that has not ended: an object, or an array whose elements are those from `start` on.
 */
interface Open {
  readonly outer: Open | undefined
  readonly depth: number
  readonly object: Record<string, unknown> | undefined
  readonly start: number
  key: string
  members: number
}

/**
 * Parses one slice at each `next`. Tests make the sizes small.
 */
export function* slices(
  text: string,
  limits: Limits,
  work = sliceWork,
  small = smallLength
): Generator<void, Result.Result<unknown, Refusal>, void> {
  // The elements of all open arrays, so that each array can be made at its own length. The first is no number: an array
  // of a million numbers would be converted as a whole when something else came.
  const elements: Array<unknown> = [undefined]
  const { maxDepth = Number.POSITIVE_INFINITY } = limits
  let top = 0
  let open: Open | undefined
  let expected: "value" | "key" | "colon" | "comma" = "value"
  let values = 0
  let at = 0
  // So many characters on, and nearer for all other work.
  let pauseAt = work

  while (at < text.length) {
    if (at >= pauseAt) {
      yield
      pauseAt = at + work
    }
    const start = at++
    const char = text[start]!
    let value: unknown
    let count = 1
    switch (char) {
      case " ":
      case "\n":
      case "\r":
      case "\t":
        continue
      case ",":
        if (expected !== "comma" || open === undefined) return malformed
        expected = open.object === undefined ? "value" : "key"
        continue
      case ":":
        if (expected !== "colon") return malformed
        expected = "value"
        continue
      case "[":
      case "{": {
        if (expected !== "value") return malformed
        const ahead = lookAhead(text, start, small, smallDepth)
        pauseAt -= ahead.end - start
        if (ahead.isWhole && ahead.members <= limits.maxMembers) {
          at = ahead.end
          value = parseWhole(text.slice(start, at))
          count = ahead.values
          pauseAt -= ahead.members * memberWork
          break
        }
        if (++values > limits.maxValues) return tooManyValues
        pauseAt -= valueWork
        const depth = (open?.depth ?? 0) + 1
        if (depth > maxDepth) return tooDeep
        open = { outer: open, depth, object: char === "{" ? {} : undefined, start: top, key: "", members: 0 }
        expected = char === "{" ? "key" : "value"
        continue
      }
      case "]":
      case "}": {
        if (open === undefined || (open.object === undefined) !== (char === "]")) return malformed
        const isEmpty = open.object === undefined ? top === open.start : open.members === 0
        if (expected !== "comma" && !isEmpty) return malformed
        value = open.object ?? elements.slice(open.start, top)
        // It was counted when it was opened, as the value that was expected then.
        count = 0
        expected = "value"
        top = open.start
        open = open.outer
        break
      }
      case "\"": {
        let string = ""
        do {
          if (at >= pauseAt) {
            yield
            pauseAt = at + work
          }
          const end = endOfString(text, at, pauseAt)
          const piece = parseWhole(`"${text.slice(at, end)}"`)
          if (typeof piece !== "string" || end >= text.length) return malformed
          string += piece
          at = end
        } while (text[at] !== "\"")
        at++
        if (open !== undefined && expected === "key") {
          if (++open.members > limits.maxMembers) return tooManyMembers
          pauseAt -= memberWork
          open.key = string
          expected = "colon"
          continue
        }
        value = string
        break
      }
      default:
        for (at = endOfWord(text, start, pauseAt); at >= pauseAt; at = endOfWord(text, at, pauseAt)) {
          yield
          pauseAt = at + work
        }
        value = parseWhole(text.slice(start, at))
    }
    if (value === undefined || expected !== "value") return malformed
    values += count
    if (values > limits.maxValues) return tooManyValues
    pauseAt -= count * valueWork
    if (open?.object === undefined) elements[top++] = value
    else addMember(open.object, open.key, value)
    expected = "comma"
  }
  return expected === "comma" && open === undefined ? Result.succeed(elements[0]) : malformed
}

/**
 * Held from a slice to the next turn of the event loop: many texts at once take turns, and block no longer than one.
 */
const turn = Semaphore.makeUnsafe(1)

/**
 * The value that `JSON.parse` has for a text, or why there is none. It can be interrupted between slices.
 */
export const parse = (text: string, limits: Limits): Effect.Effect<unknown, Refusal> =>
  Effect.gen(function*() {
    const parsing = slices(text, limits)
    const slice = turn.withPermit(
      Effect.flatMap(Effect.sync(() => parsing.next()), (step) => Effect.as(Effect.yieldNow, step))
    )
    while (true) {
      const step = yield* slice
      if (step.done === true) return yield* Effect.fromResult(step.value)
    }
  })
