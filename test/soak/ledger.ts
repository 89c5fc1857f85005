/**
 * What came of every operation, and what must never have.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { McpError } from "../../src/index.ts"
import { kind } from "../support/kind.ts"
import type { Pulse } from "./pulse.ts"
import { overshoot, type Report } from "./shared.ts"

/**
 * More are counted.
 */
const maxFaults = 20

const tags = new Set(["Unauthorized", "ServerAnswered", "ConnectionFailed", "CapabilityMissing", "InvalidInput"])

export interface Bounds {
  /**
   * What it may take by itself, in milliseconds.
   */
  readonly limit: number
  /**
   * After how many milliseconds it is interrupted, if it is.
   */
  readonly interruptedAfter?: number | undefined
  /**
   * When its connection was closed, if it was: it had to end then.
   */
  readonly closedAt?: (() => number | undefined) | undefined
}

export interface Ledger {
  /**
   * Runs an operation to its end, notes what came of it, and answers the value that it had.
   */
  readonly operation: <A>(
    name: string,
    bounds: Bounds,
    effect: Effect.Effect<A, McpError.McpError>
  ) => Effect.Effect<Option.Option<A>>
  readonly fault: (what: string) => void
  readonly entries: () => Pick<Report, "outcomes" | "faults" | "moreFaults" | "late" | "latest">
}

export const make = (pulse: Pulse): Ledger => {
  const outcomes: Record<string, number> = {}
  const faults: Array<string> = []
  let moreFaults = 0
  let late = 0
  let latest: Report["latest"] = { operation: "none", millis: 0 }

  const fault = (what: string): void => {
    if (faults.length < maxFaults) faults.push(what)
    else moreFaults++
  }

  const outcomeOf = (name: string, exit: Exit.Exit<Option.Option<unknown>, McpError.McpError>): string => {
    if (Exit.isSuccess(exit)) return Option.isSome(exit.value) ? "ok" : "interrupted"
    const error = Option.getOrUndefined(Exit.findErrorOption(exit))
    if (McpError.isMcpError(error) && tags.has(error._tag)) return kind(error)
    fault(`${name} ended with what is no error of ours: ${Cause.pretty(exit.cause)}`)
    return "a defect"
  }

  const checkTime = (name: string, outcome: string, dueAt: number, endedAt: number): void => {
    const millis = endedAt - dueAt - pulse.machineDelay(dueAt, endedAt)
    if (millis > latest.millis) latest = { operation: `${name}: ${outcome}`, millis }
    if (millis > overshoot) late++
  }

  return {
    fault,
    operation: (name, { closedAt, interruptedAfter, limit }, effect) =>
      Effect.suspend(() => {
        const startedAt = performance.now()
        const running = interruptedAfter === undefined
          ? Effect.asSome(effect)
          : Effect.timeoutOption(effect, interruptedAfter)
        return Effect.map(Effect.exit(running), (exit) => {
          const endedAt = performance.now()
          const outcome = outcomeOf(name, exit)
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
          const dueAt = Math.min(
            startedAt + Math.min(limit, interruptedAfter ?? limit),
            Math.max(startedAt, closedAt?.() ?? Number.POSITIVE_INFINITY)
          )
          checkTime(name, outcome, dueAt, endedAt)
          return Exit.isSuccess(exit) ? exit.value : Option.none()
        })
      }),
    entries: () => ({ outcomes, faults, moreFaults, late, latest })
  }
}
