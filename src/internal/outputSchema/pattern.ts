/**
 * Regular expressions of ECMAScript, matched in time that grows with the text and the pattern, and no faster: all states
 * that a match may be in are followed at once (Thompson, 1968), where the engine of the platform would try one way after
 * another, and take years for `^(a+)+$`. Lookarounds are matched first, each for the whole text; back references, which
 * nobody can match in such time, are refused.
 *
 * The engine of the platform says whether a pattern is one, and which characters a class has, one character at a time.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Work } from "./work.ts"

/**
 * A pattern that is ready to be matched.
 */
export interface Pattern {
  /**
   * What it takes to make and to keep, in instructions or the steps that led to them, whichever are more.
   */
  readonly size: number
  /**
   * Whether it matches anywhere in a text.
   */
  readonly test: (text: string, work: Work) => Effect.Effect<boolean, string>
}

type Position = (text: string, at: number, looks: ReadonlyArray<Uint8Array>) => boolean

type Node =
  | { readonly _tag: "Char"; readonly test: (codePoint: number) => boolean }
  | { readonly _tag: "Sequence"; readonly nodes: ReadonlyArray<Node> }
  | { readonly _tag: "Choice"; readonly nodes: ReadonlyArray<Node> }
  | { readonly _tag: "Repeat"; readonly node: Node; readonly min: number; readonly max: number }
  | { readonly _tag: "Position"; readonly holds: Position }

type Instruction =
  | { readonly _tag: "Char"; readonly test: (codePoint: number) => boolean }
  | { readonly _tag: "Position"; readonly holds: Position }
  | { readonly _tag: "Split"; first: number; second: number }
  | { readonly _tag: "Match" }

type Program = ReadonlyArray<Instruction>

/**
 * What is compiled of a pattern or of a lookaround in it. One that looks ahead is backward: it is matched from the end of
 * the text to its start.
 */
interface Compiled {
  readonly program: Program
  readonly isBackward: boolean
  readonly size: number
}

const maxLength = 2048
const maxInstructions = 4096

/**
 * Of compiling one program. Parts that are empty take steps, and become no instructions.
 */
const maxSteps = 4 * maxInstructions
const maxLooks = 16

const unsupported = "has a pattern with a back reference or a flag"
const tooLarge = "has a pattern that is too large"

// Reading

const flags = "u"

const isPattern = (source: string): boolean => {
  try {
    return new RegExp(source, flags) instanceof RegExp
  } catch {
    return false
  }
}

const isWordAt = (text: string, at: number): boolean => /^\w$/.test(text.charAt(at))
const isBoundary: Position = (text, at) => isWordAt(text, at - 1) !== isWordAt(text, at)

const positions: Readonly<Record<string, Position>> = {
  "^": (_, at) => at === 0,
  $: (text, at) => at === text.length,
  "\\b": isBoundary,
  "\\B": (text, at, looks) => !isBoundary(text, at, looks)
}

/**
 * The tokens of a pattern that is known to be one. A class is one token, as is an escape.
 */
const tokens =
  /\[(?:[^\\\]]|\\.)*\]|\\(?:[pP]\{[^}]*\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|k<[^>]*>|[1-9]\d*|.)|\((?:\?(?:<?[=!]|<[^>]*>|[^:)]*:))?|(?:[*+?]|\{\d+(?:,\d*)?\})\??|[^]/gu

const quantifier = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})/

const isQuantifier = (token: string | undefined): token is string => token !== undefined && quantifier.test(token)

const boundsOf = (token: string): { readonly min: number; readonly max: number } => {
  const [, sign, min = "", comma, max = ""] = quantifier.exec(token)!
  if (sign !== undefined) return { min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Number.POSITIVE_INFINITY }
  const from = Number(min)
  return { min: from, max: comma === "" ? from : max === "" ? Number.POSITIVE_INFINITY : Number(max) }
}

const asciiSize = 128

/**
 * What a class takes, in instructions.
 */
const classSize = 16

/**
 * A class as a predicate; what it says of ASCII is remembered.
 */
const classTest = (token: string): (codePoint: number) => boolean => {
  const matches = new RegExp(`^${token}$`, flags)
  const ask = (codePoint: number): boolean => matches.test(String.fromCodePoint(codePoint))
  const known: Array<boolean | undefined> = Array.from({ length: asciiSize })
  return (codePoint) => codePoint < asciiSize ? known[codePoint] ??= ask(codePoint) : ask(codePoint)
}

interface Parsed {
  readonly node: Node
  /**
   * Inner ones first.
   */
  readonly looks: ReadonlyArray<Compiled>
  /**
   * How many classes there are.
   */
  readonly classes: number
}

/**
 * Reads a pattern that is known to be one.
 */
const parse = (source: string): Result.Result<Parsed, string> => {
  const found = source.match(tokens) ?? []
  const looks: Array<Compiled> = []
  const classes = new Map<string, (codePoint: number) => boolean>()
  let at = 0
  let problem: string | undefined

  const char = (token: string): Node => {
    if (!/^(?:\.|\\|\[)/.test(token)) {
      const literal = token.codePointAt(0)!
      return { _tag: "Char", test: (codePoint) => codePoint === literal }
    }
    const test = classes.get(token) ?? classTest(token)
    classes.set(token, test)
    return { _tag: "Char", test }
  }

  const look = (node: Node, isAhead: boolean, isWanted: boolean): Node => {
    const index = looks.length
    const compiled = index < maxLooks ? compile(node, isAhead) : undefined
    if (compiled === undefined) problem = tooLarge
    else looks.push(compiled)
    return { _tag: "Position", holds: (_, position, tables) => (tables[index]![position] === 1) === isWanted }
  }

  const group = (open: string): Node => {
    const node = choice()
    at++
    switch (open) {
      case "(?=":
      case "(?!":
        return look(node, true, open === "(?=")
      case "(?<=":
      case "(?<!":
        return look(node, false, open === "(?<=")
      default:
        if (open.endsWith(":") && open !== "(?:") problem = unsupported
        return node
    }
  }

  const term = (): Node => {
    const token = found[at++]!
    if (token.startsWith("(")) return group(token)
    if (/^\\(?:k|[1-9])/.test(token)) {
      problem = unsupported
      return { _tag: "Sequence", nodes: [] }
    }
    return Object.hasOwn(positions, token) ? { _tag: "Position", holds: positions[token]! } : char(token)
  }

  const sequence = (): Node => {
    const nodes: Array<Node> = []
    while (at < found.length && found[at] !== "|" && found[at] !== ")") {
      let node = term()
      const next = found[at]
      if (isQuantifier(next)) {
        node = { _tag: "Repeat", node, ...boundsOf(next) }
        at++
      }
      nodes.push(node)
    }
    return { _tag: "Sequence", nodes }
  }

  const choice = (): Node => {
    const nodes = [sequence()]
    while (found[at] === "|") {
      at++
      nodes.push(sequence())
    }
    return nodes.length === 1 ? nodes[0]! : { _tag: "Choice", nodes }
  }

  const node = choice()
  return problem === undefined ? Result.succeed({ node, looks, classes: classes.size }) : Result.fail(problem)
}

// Compiling

/**
 * Nothing where it would be too large, or take too long.
 */
const compile = (node: Node, isBackward: boolean): Compiled | undefined => {
  const program: Array<Instruction> = []
  let steps = 0
  const isFull = (): boolean => program.length > maxInstructions || steps > maxSteps

  const split = (): { first: number; second: number } => {
    const instruction = { _tag: "Split" as const, first: program.length + 1, second: program.length + 1 }
    program.push(instruction)
    return instruction
  }

  const emitChoice = (nodes: ReadonlyArray<Node>): void => {
    const ends = nodes.map((alternative, i) => {
      const fork = i < nodes.length - 1 ? split() : undefined
      emit(alternative)
      const end = fork === undefined ? undefined : split()
      if (fork !== undefined) fork.second = program.length
      return end
    })
    for (const end of ends) if (end !== undefined) end.first = end.second = program.length
  }

  const emitRepeat = (repeated: Node, min: number, max: number): void => {
    for (let i = 0; i < min && !isFull(); i++) {
      const start = program.length
      emit(repeated)
      // What is empty is as empty a thousand million times.
      if (program.length === start) break
    }
    if (max === Number.POSITIVE_INFINITY) {
      const start = program.length
      const fork = split()
      emit(repeated)
      split().second = start
      fork.second = program.length
      return
    }
    const forks: Array<{ second: number }> = []
    for (let i = min; i < max && !isFull(); i++) {
      forks.push(split())
      emit(repeated)
    }
    for (const fork of forks) fork.second = program.length
  }

  const emit = (next: Node): void => {
    steps++
    if (isFull()) return
    switch (next._tag) {
      case "Sequence":
        for (const inner of isBackward ? next.nodes.toReversed() : next.nodes) emit(inner)
        return
      case "Choice":
        return emitChoice(next.nodes)
      case "Repeat":
        return emitRepeat(next.node, next.min, next.max)
      default:
        program.push(next)
    }
  }

  emit(node)
  program.push({ _tag: "Match" })
  return isFull() ? undefined : { program, isBackward, size: Math.max(program.length, steps) }
}

// Matching

const isPairAt = (text: string, at: number): boolean => text.codePointAt(at)! > 0xffff

/**
 * Follows all states from one end of a text to the other. Tells of every position at which something matches, until it
 * is told to stop.
 */
const scan = Effect.fnUntraced(function*(
  { isBackward, program }: Compiled,
  text: string,
  looks: ReadonlyArray<Uint8Array>,
  work: Work,
  onMatch: (at: number) => "go on" | "stop"
): Effect.fn.Return<void, string> {
  const addedAt = new Int32Array(program.length).fill(-1)
  const pending: Array<number> = []
  let isMatch = false
  let visited = program.length >> 4

  /**
   * Adds the states that can be reached without a character.
   */
  const reach = (state: number, at: number, states: Array<number>): void => {
    pending.push(state)
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (addedAt[next] === at) continue
      addedAt[next] = at
      visited++
      const instruction = program[next]!
      switch (instruction._tag) {
        case "Char":
          states.push(next)
          break
        case "Split":
          pending.push(instruction.second, instruction.first)
          break
        case "Position":
          if (instruction.holds(text, at, looks)) pending.push(next + 1)
          break
        case "Match":
          isMatch = true
      }
    }
  }

  let states: Array<number> = []
  for (let at = isBackward ? text.length : 0;;) {
    reach(0, at, states)
    const due = work.spend(1 + (visited >> 2))
    if (due !== undefined) yield* due
    visited = 0
    if (isMatch && onMatch(at) === "stop") return
    if (at === (isBackward ? 0 : text.length)) return
    const start = isBackward ? at - (at > 1 && isPairAt(text, at - 2) ? 2 : 1) : at
    const codePoint = text.codePointAt(start)!
    at = isBackward ? start : at + (isPairAt(text, at) ? 2 : 1)
    isMatch = false
    const next: Array<number> = []
    for (const state of states) {
      const instruction = program[state]!
      if (instruction._tag === "Char" && instruction.test(codePoint)) reach(state + 1, at, next)
    }
    states = next
  }
})

const matcher = (compiled: Compiled, looks: ReadonlyArray<Compiled>): Pattern["test"] =>
  Effect.fnUntraced(function*(text, work) {
    const tables: Array<Uint8Array> = []
    for (const look of looks) {
      const table = new Uint8Array(text.length + 1)
      yield* scan(look, text, tables, work, (at) => {
        table[at] = 1
        return "go on"
      })
      tables.push(table)
    }
    let isFound = false
    yield* scan(compiled, text, tables, work, () => {
      isFound = true
      return "stop"
    })
    return isFound
  })

/**
 * Reads a pattern. The failure says what a schema has that has it.
 */
export const make = (source: string): Result.Result<Pattern, string> => {
  if (source.length > maxLength) return Result.fail(`has a pattern longer than ${maxLength} characters`)
  if (!isPattern(source)) return Result.fail("has a pattern that is no regular expression")
  return Result.flatMap(parse(source), ({ classes, looks, node }) => {
    const compiled = compile(node, false)
    return compiled === undefined
      ? Result.fail(tooLarge)
      : Result.succeed({
        size: looks.reduce((size, look) => size + look.size, source.length + classes * classSize + compiled.size),
        test: matcher(compiled, looks)
      })
  })
}
