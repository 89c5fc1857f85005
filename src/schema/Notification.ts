/**
 * What a server announces: that something has changed, how far a request has got, what it logs.
 *
 * Revision 2026-07-28, basic/patterns/subscriptions, basic/patterns/progress and server/utilities/logging.
 *
 * @since 0.1.0
 */
import { isString, optionalMeta, optionalNumber, optionalString } from "./fields.ts"
import type { JsonObject } from "./Json.ts"
import type { RawNotification } from "./JsonRpc.ts"

/**
 * How grave a log message is: the levels of RFC 5424, the least first.
 *
 * @category models
 * @since 0.1.0
 */
export type LoggingLevel =
  | "debug"
  | "info"
  | "notice"
  | "warning"
  | "error"
  | "critical"
  | "alert"
  | "emergency"

const levels: ReadonlySet<string> = new Set([
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency"
])

/**
 * @category guards
 * @since 0.1.0
 */
export const isLoggingLevel = (u: unknown): u is LoggingLevel => isString(u) && levels.has(u)

/**
 * How far a request has got. `progress` grows; what it counts, and whether there is a `total`, is the server's affair.
 *
 * @category models
 * @since 0.1.0
 */
export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/**
 * A line of the server's log. `data` is of any shape.
 *
 * @category models
 * @since 0.1.0
 */
export interface LoggingMessage {
  readonly _tag: "LoggingMessage"
  readonly level: LoggingLevel
  readonly logger?: string | undefined
  readonly data: unknown
  readonly meta?: JsonObject | undefined
}

/**
 * That something is no longer as it was listed or read.
 *
 * @category models
 * @since 0.1.0
 */
export type ChangeNotification =
  | { readonly _tag: "ToolListChanged" }
  | { readonly _tag: "PromptListChanged" }
  | { readonly _tag: "ResourceListChanged" }
  | { readonly _tag: "ResourceUpdated"; readonly uri: string }

/**
 * What a server announces. What no revision defines, or is not as it is defined, is `Unknown` and kept.
 *
 * @category models
 * @since 0.1.0
 */
export type ServerNotification =
  | ChangeNotification
  | LoggingMessage
  | { readonly _tag: "Unknown"; readonly method: string; readonly params: JsonObject }

/**
 * What is wanted of a server's changes: kinds of lists, and resources by their URIs.
 *
 * @category models
 * @since 0.1.0
 */
export interface SubscriptionFilter {
  readonly toolsListChanged?: boolean | undefined
  readonly promptsListChanged?: boolean | undefined
  readonly resourcesListChanged?: boolean | undefined
  readonly resourceSubscriptions?: ReadonlyArray<string> | undefined
}

const unknown = ({ method, params }: RawNotification): ServerNotification => ({ _tag: "Unknown", method, params })

/**
 * Reads an announcement. Never fails.
 *
 * @category decoding
 * @since 0.1.0
 */
export const fromWire = (notification: RawNotification): ServerNotification => {
  const { method, params } = notification
  switch (method) {
    case "notifications/tools/list_changed":
      return { _tag: "ToolListChanged" }
    case "notifications/prompts/list_changed":
      return { _tag: "PromptListChanged" }
    case "notifications/resources/list_changed":
      return { _tag: "ResourceListChanged" }
    case "notifications/resources/updated":
      return isString(params["uri"]) ? { _tag: "ResourceUpdated", uri: params["uri"] } : unknown(notification)
    case "notifications/message":
      return isLoggingLevel(params["level"])
        ? {
          _tag: "LoggingMessage",
          level: params["level"],
          data: params["data"],
          ...optionalString("logger", params),
          ...optionalMeta(params)
        }
        : unknown(notification)
    default:
      return unknown(notification)
  }
}

/**
 * Reads how far a request has got; `undefined` where that is no number.
 */
export const progressFromWire = (params: JsonObject): Progress | undefined => {
  const { progress } = params
  return typeof progress === "number"
    ? { progress, ...optionalNumber("total", params), ...optionalString("message", params) }
    : undefined
}
