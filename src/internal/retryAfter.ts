/**
 * `Retry-After`: RFC 9110, section 10.2.3.
 */
import * as Duration from "effect/Duration"

/**
 * A server does not get to say more than this.
 */
const longest = Duration.seconds(30)

// The three forms of an HTTP-date (RFC 9110, section 5.6.7): all are UTC, and the last one does not say so.
const fixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
const rfc850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

const parseDate = (text: string): number => {
  if (fixdate.test(text) || rfc850.test(text)) return Date.parse(text)
  return asctime.test(text) ? Date.parse(`${text} GMT`) : Number.NaN
}

/**
 * Seconds or a date; `undefined` where it is neither, or lies in the past. `now` is in milliseconds since the epoch.
 */
export const parse = (value: string | undefined, now: number): Duration.Duration | undefined => {
  if (value === undefined || value.length > 64) return undefined
  const text = value.trim()
  const millis = /^\d+$/.test(text) ? Number(text) * 1000 : parseDate(text) - now
  return millis >= 0 ? Duration.min(Duration.millis(millis), longest) : undefined
}
