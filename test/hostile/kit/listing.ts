/**
 * Listings, with all that is told of them.
 */
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import type { Tool } from "../../../src/index.ts"
import type { Act } from "./suite.ts"

/**
 * A line of the log.
 */
export interface Logged {
  readonly level: string
  readonly message: string
}

/**
 * Runs an effect, and brings everything that it logged beside its value.
 */
export const withLogs = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly value: A; readonly logs: ReadonlyArray<Logged> }, E, R> =>
  Effect.suspend(() => {
    const logs: Array<Logged> = []
    const logger = Logger.make(({ logLevel, message }) => {
      logs.push({ level: logLevel, message: String(message) })
    })
    return effect.pipe(
      Effect.map((value) => ({ value, logs })),
      Effect.provideService(References.CurrentLoggers, new Set([logger])),
      Effect.provideService(References.MinimumLogLevel, "All")
    )
  })

/**
 * What came of a listing.
 */
export interface Listed {
  readonly tools: ReadonlyArray<Tool.Tool>
  readonly refused: ReadonlyArray<Tool.Refused>
  readonly logs: ReadonlyArray<Logged>
}

/**
 * Lists, and brings the entries that were refused, and the log, beside the tools.
 */
export const listAndTell: Exclude<Act, string> = (connection) =>
  Effect.suspend(() => {
    const refused: Array<Tool.Refused> = []
    const onRefused = (each: Tool.Refused) => Effect.sync(() => void refused.push(each))
    return Effect.map(
      withLogs(connection.listTools({ onRefused })),
      ({ logs, value }): Listed => ({ tools: value, refused, logs })
    )
  })
