/**
 * The server's log in Effect's: revision 2026-07-28, server/utilities/logging.
 */
import * as Effect from "effect/Effect"
import { printable } from "../errors/Printable.ts"
import type { LoggingLevel, LoggingMessage } from "../schema/Notification.ts"

const levels: Readonly<Record<LoggingLevel, "Debug" | "Info" | "Warn" | "Error" | "Fatal">> = {
  debug: "Debug",
  info: "Info",
  notice: "Info",
  warning: "Warn",
  error: "Error",
  critical: "Fatal",
  alert: "Fatal",
  emergency: "Fatal"
}

const maxLength = 4096

/**
 * Values that are written out. Who logs more at once logs nothing that is read.
 */
const maxValues = 1000

/**
 * As text, where it has any that is short enough.
 */
const textOf = (data: unknown): string => {
  if (typeof data === "string") return data
  let values = 0
  try {
    return JSON.stringify(data, (_, value: unknown) => {
      if (++values > maxValues) throw new RangeError("too many values")
      return value
    }) ?? ""
  } catch {
    return "(too much to be written)"
  }
}

/**
 * Writes one line.
 */
export const write = ({ data, level, logger }: LoggingMessage): Effect.Effect<void> =>
  Effect.logWithLevel(levels[level])(printable(textOf(data), maxLength)).pipe(
    Effect.annotateLogs("mcp.logger", printable(logger ?? "server", 100))
  )
