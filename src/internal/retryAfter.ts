/**
 * `Retry-After`: RFC 9110, section 10.2.3.
 */
import * as Duration from "effect/Duration"

/**
 * A server does not get to say more than this.
 */
const longest = Duration.seconds(30)

/**
 * Seconds or a date; `undefined` where it is neither, or lies in the past. `now` is in milliseconds since the epoch.
 */
export const parse = (value: string | undefined, now: number): Duration.Duration | undefined => {
  if (value === undefined || value.length > 64) return undefined
  const text = value.trim()
  const millis = /^\d+$/.test(text) ? Number(text) * 1000 : /^[A-Z][a-z]/.test(text) ? Date.parse(text) - now : NaN
  return millis >= 0 ? Duration.min(Duration.millis(millis), longest) : undefined
}
