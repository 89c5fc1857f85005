/**
 * What a mock server can be told to do instead of answering well.
 */
import type * as Duration from "effect/Duration"
import type { JsonObject } from "../schema/Json.ts"

/**
 * @category models
 * @since 0.1.0
 */
export type Fault =
  | { readonly _tag: "Delay"; readonly duration: Duration.Input }
  | { readonly _tag: "HalfBody" }
  | { readonly _tag: "WrongId" }
  | { readonly _tag: "Silence" }
  | { readonly _tag: "Result"; readonly result: unknown }
  | {
    readonly _tag: "RpcError"
    readonly code: number
    readonly message: string
    readonly data?: unknown
    readonly status?: number | undefined
  }
  | {
    readonly _tag: "Http"
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }

/**
 * Answers well, and late.
 *
 * @category faults
 * @since 0.1.0
 */
export const delay = (duration: Duration.Input): Fault => ({ _tag: "Delay", duration })

/**
 * Sends half of the answer and closes the connection.
 *
 * @category faults
 * @since 0.1.0
 */
export const halfBody: Fault = { _tag: "HalfBody" }

/**
 * Answers a request that nobody made.
 *
 * @category faults
 * @since 0.1.0
 */
export const wrongId: Fault = { _tag: "WrongId" }

/**
 * Takes the request, and never answers.
 *
 * @category faults
 * @since 0.1.0
 */
export const silence: Fault = { _tag: "Silence" }

/**
 * Answers with this `result`, whatever it is.
 *
 * @category faults
 * @since 0.1.0
 */
export const result = (value: JsonObject | null | ReadonlyArray<unknown>): Fault => ({ _tag: "Result", result: value })

/**
 * Answers with a JSON-RPC error, at HTTP status 200 where nothing else is said.
 *
 * @category faults
 * @since 0.1.0
 */
export const rpcError = (
  code: number,
  message: string,
  options?: { readonly data?: unknown; readonly status?: number | undefined }
): Fault => ({ _tag: "RpcError", code, message, ...options })

/**
 * Answers with an HTTP status and a body that is not the protocol's: an HTML page where nothing else is said.
 *
 * @category faults
 * @since 0.1.0
 */
export const status = (
  code: number,
  options?: { readonly headers?: Readonly<Record<string, string>> | undefined; readonly body?: string | undefined }
): Fault => ({
  _tag: "Http",
  status: code,
  headers: { "content-type": "text/html", ...options?.headers },
  body: options?.body ?? "<!doctype html><title>Not here</title>"
})
