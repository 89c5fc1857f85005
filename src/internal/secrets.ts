/**
 * Secrets of the application: what they say, and texts without them.
 */
import * as Redacted from "effect/Redacted"

/**
 * The text of a secret; `undefined` where it was wiped.
 */
export const reveal = (value: string | Redacted.Redacted): string | undefined => {
  try {
    return typeof value === "string" ? value : Redacted.value(value)
  } catch {
    return undefined
  }
}

/**
 * Shorter ones stand in any text by chance: without them it would say nothing any more, or give them away.
 */
const shortest = 4

/**
 * From so many characters on a line of a secret is a secret.
 */
const shortestLine = 8

const parts = (secret: string): ReadonlyArray<string> => {
  const lines = secret.split(/[\r\n]+/).map((line) => line.trim())
  return lines.length === 1 ? [secret] : [secret, ...lines.filter((line) => line.length >= shortestLine)]
}

/**
 * Takes secrets out of texts, and the lines of those that have several: programs log them with something before each.
 */
export const remover = (secrets: ReadonlyArray<string>): (text: string) => string => {
  // The longest first, since a secret may be the beginning of another.
  const wanted = [...new Set(secrets.flatMap(parts))]
    .filter(({ length }) => length >= shortest)
    .sort((one, other) => other.length - one.length)
  return (text) => wanted.reduce((rest, secret) => rest.replaceAll(secret, "<redacted>"), text)
}
