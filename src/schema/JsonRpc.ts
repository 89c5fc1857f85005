/**
 * JSON-RPC 2.0 envelopes as the protocol uses them: revision 2026-07-28, basic/index, "Messages".
 *
 * Checked by hand and shallowly, since it is done for every message: four properties, by their exact names.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject } from "./Json.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface ResultResponse {
  readonly result: JsonObject
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ErrorResponse {
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }
  /**
   * Whether it named no request. It then belongs to the only request of its exchange.
   */
  readonly anonymous: boolean
}

/**
 * @category models
 * @since 0.1.0
 */
export type Response = ResultResponse | ErrorResponse

/**
 * What a server asks of its client by itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerRequest {
  readonly id: string | number
  readonly method: string
  readonly params: JsonObject
}

/**
 * What a server announces, as it came.
 *
 * @category models
 * @since 0.1.0
 */
export interface RawNotification {
  readonly method: string
  readonly params: JsonObject
}

/**
 * What a server says without having been asked.
 *
 * @category models
 * @since 0.1.0
 */
export type ServerMessage =
  | { readonly _tag: "Request"; readonly request: ServerRequest }
  | { readonly _tag: "Notification"; readonly notification: RawNotification }

/**
 * What a message is to somebody who waits for the answer to one request.
 */
export type Classified = ServerMessage | { readonly _tag: "Response"; readonly message: JsonObject }

/**
 * A number past what one can be, `1e400`, would be answered as `null`.
 */
const isUsableId = (id: unknown): id is string | number =>
  typeof id === "string" || typeof id === "number" && Number.isFinite(id)

/**
 * Tells responses from requests and notifications. The failure says what is wrong.
 */
export const classify = (value: unknown): Result.Result<Classified, string> => {
  if (!isJsonObject(value)) return Result.fail("not a JSON-RPC message")
  if (value["jsonrpc"] !== "2.0") return Result.fail("not a JSON-RPC 2.0 message")
  const { id, method, params } = value
  if (method === undefined) return Result.succeed({ _tag: "Response", message: value })
  if (typeof method !== "string") return Result.fail("a method that is not a string")
  const given = isJsonObject(params) ? params : {}
  if (id === undefined) return Result.succeed({ _tag: "Notification", notification: { method, params: given } })
  if (!isUsableId(id)) return Result.fail("a request without a usable id")
  return Result.succeed({ _tag: "Request", request: { id, method, params: given } })
}

/**
 * Whether an error without a readable id is the answer to the only request of its exchange: servers that could not read
 * a request, or have no session for it, answer with `null`, with nothing, or with an empty string.
 */
export const isNobodysId = (id: unknown): boolean => id === null || id === undefined || id === ""

/**
 * Reads an error. The failure says what is wrong.
 */
export const errorFromWire = (error: unknown): Result.Result<ErrorResponse["error"], string> => {
  if (!isJsonObject(error)) return Result.fail("an error that is not an object")
  const { code, data, message } = error
  if (typeof code !== "number" || !Number.isInteger(code)) return Result.fail("an error without an integer code")
  return Result.succeed({
    code,
    message: typeof message === "string" ? message : "",
    ...(data === undefined ? {} : { data })
  })
}

/**
 * Reads the response to the request with this id. The failure says what is wrong.
 */
export const readResponse = (message: JsonObject, id: number): Result.Result<Response, string> => {
  const result = message["result"]
  const error = message["error"]
  if (result !== undefined && error !== undefined) return Result.fail("a response with both a result and an error")
  if (error !== undefined) {
    const anonymous = isNobodysId(message["id"])
    if (message["id"] !== id && !anonymous) return Result.fail("a response to another request")
    return Result.map(errorFromWire(error), (read) => ({ anonymous, error: read }))
  }
  if (message["id"] !== id) return Result.fail("a response to another request")
  return isJsonObject(result)
    ? Result.succeed({ result })
    : Result.fail(result === undefined ? "a response with neither a result nor an error" : "a result that is no object")
}

/**
 * Error codes that decide what happens next: revision 2026-07-28, basic/index, "Error Codes".
 */
export const errorCodes = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  urlElicitationRequired: -32042,
  headerMismatch: -32020,
  missingRequiredClientCapability: -32021,
  unsupportedProtocolVersion: -32022
} as const
