/**
 * What a server says in `WWW-Authenticate` when it refuses: RFC 9110, sections 11.2 and 11.6.1.
 */

/**
 * One authentication challenge: a scheme, and either parameters or a single token68 value.
 *
 * Scheme and parameter names are in lower case. Everything in it was written by the server.
 *
 * @category models
 * @since 0.1.0
 */
export interface Challenge {
  readonly scheme: string
  readonly parameters: Readonly<Record<string, string>>
  readonly token68?: string | undefined
}

const isToken = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x5e && code <= 0x7a) ||
  code === 0x21 || (code >= 0x23 && code <= 0x27) || code === 0x2a || code === 0x2b || code === 0x2d ||
  code === 0x2e || code === 0x7c || code === 0x7e

const isToken68 = (code: number): boolean => isToken(code) || code === 0x2f || code === 0x3d

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09

const comma = 0x2c
const equals = 0x3d
const quote = 0x22
const backslash = 0x5c

/**
 * No server needs more; what is beyond stays unread, so that a header of any size costs the same.
 */
const maxLength = 16 * 1024
const maxChallenges = 16

/**
 * Reads the challenges of one or more `WWW-Authenticate` values. What is malformed is skipped and never fails: the
 * status has already said that we are not authorized. One pass, no backtracking.
 *
 * @category decoding
 * @since 0.1.0
 */
export const parse = (value: string | ReadonlyArray<string> | undefined): ReadonlyArray<Challenge> => {
  if (value === undefined) return []
  const text = (typeof value === "string" ? value : value.join(", ")).slice(0, maxLength)
  const length = text.length
  const challenges: Array<Challenge> = []
  let position = 0

  const skip = (accept: (code: number) => boolean): void => {
    while (position < length && accept(text.charCodeAt(position))) position++
  }
  const take = (accept: (code: number) => boolean): string => {
    const start = position
    skip(accept)
    return text.slice(start, position)
  }
  const quoted = (): string => {
    const pieces: Array<string> = []
    position++
    let start = position
    while (position < length) {
      const code = text.charCodeAt(position)
      if (code === quote) break
      if (code === backslash) {
        pieces.push(text.slice(start, position))
        position++
        start = position
      }
      position++
    }
    pieces.push(text.slice(start, position))
    position++
    return pieces.join("")
  }

  let parameters: Record<string, string> | undefined
  while (position < length && challenges.length < maxChallenges) {
    skip((code) => isSpace(code) || code === comma)
    const name = take(isToken)
    if (name === "") {
      position++
      continue
    }
    skip(isSpace)
    if (parameters !== undefined && text.charCodeAt(position) === equals) {
      position++
      skip(isSpace)
      const parameter = text.charCodeAt(position) === quote ? quoted() : take(isToken68)
      const key = name.toLowerCase()
      if (!Object.hasOwn(parameters, key)) parameters[key] = parameter
      continue
    }
    parameters = Object.create(null) as Record<string, string>
    // `Scheme token68` is told from `Scheme name=value` by what follows the run of token68 characters.
    const start = position
    const candidate = take(isToken68)
    skip(isSpace)
    const alone = candidate !== "" && (position >= length || text.charCodeAt(position) === comma) &&
      !/^[^=]+=[^=]/.test(candidate)
    if (alone) {
      challenges.push({ scheme: name.toLowerCase(), parameters, token68: candidate })
    } else {
      position = start
      challenges.push({ scheme: name.toLowerCase(), parameters })
    }
  }
  return challenges
}
