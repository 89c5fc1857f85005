/**
 * Base64 that a server sent.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { isString } from "./fields.ts"

/**
 * The decoder of a base64 text (standard alphabet, padded or not, line breaks allowed), or `undefined` where it is not
 * one. A look at the characters costs far less than decoding, which is left until somebody asks, and done once.
 */
export const base64 = (text: unknown): (() => Uint8Array) | undefined => {
  if (!isString(text)) return undefined
  const unfolded = /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, "") : text
  const digits = unfolded.length - (unfolded.endsWith("==") ? 2 : unfolded.endsWith("=") ? 1 : 0)
  const padded = unfolded.padEnd(Math.ceil(digits / 4) * 4, "=")
  if (digits % 4 === 1 || padded.length % 4 !== 0 || /[^A-Za-z0-9+/]/.test(unfolded.slice(0, digits))) return undefined
  let decoded: Uint8Array | undefined
  return () => decoded ??= Result.getOrElse(Base64.decode(padded), () => new Uint8Array(0))
}
