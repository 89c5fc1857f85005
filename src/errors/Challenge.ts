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
 * Reads the challenges of one or more `WWW-Authenticate` values. What is malformed is skipped up to the next comma, and
 * never fails: the status has already said that we are not authorized. One pass, no backtracking.
 *
 * @category decoding
 * @since 0.1.0
 */
export const parse = (value: string | ReadonlyArray<string> | undefined): ReadonlyArray<Challenge> => {
  if (value === undefined) return []
  const text = (typeof value === "string" ? value : value.join(", ")).slice(0, maxLength)
  const challenges: Array<Challenge> = []
  let position = 0

  const at = (): number => text.charCodeAt(position)
  const isDone = (): boolean => position >= text.length
  const skip = (accept: (code: number) => boolean): void => {
    while (!isDone() && accept(at())) position++
  }
  const take = (accept: (code: number) => boolean): string => {
    const start = position
    skip(accept)
    return text.slice(start, position)
  }
  const quoted = (): string => {
    const pieces: Array<string> = []
    let start = ++position
    for (; !isDone() && at() !== quote; position++) {
      if (at() !== backslash) continue
      pieces.push(text.slice(start, position))
      start = ++position
    }
    pieces.push(text.slice(start, position++))
    return pieces.join("")
  }
  const isElementEnd = (): boolean => isDone() || at() === comma
  const skipElement = (): void => {
    while (!isElementEnd()) {
      if (at() === quote) quoted()
      else position++
    }
  }

  // An element is a scheme, a scheme with its first parameter or its token68, or a further parameter of the last scheme.
  let parameters: Record<string, string> | undefined
  const readParameter = (): void => {
    const name = take(isToken).toLowerCase()
    skip(isSpace)
    if (name === "" || at() !== equals) return skipElement()
    position++
    skip(isSpace)
    const read = at() === quote ? quoted() : take(isToken)
    if (!isElementEnd() && !isSpace(at())) return skipElement()
    if (parameters !== undefined && !Object.hasOwn(parameters, name)) parameters[name] = read
    skip(isSpace)
  }
  // Some servers forget the commas between parameters.
  const readParameters = (): void => {
    do readParameter()
    while (!isElementEnd())
  }
  const readChallenge = (scheme: string): void => {
    parameters = Object.create(null) as Record<string, string>
    const start = position
    const token68 = take(isToken68)
    skip(isSpace)
    if (token68 !== "" && isElementEnd() && isToken68Alone(token68)) {
      challenges.push({ scheme, parameters, token68 })
      parameters = undefined
      return
    }
    challenges.push({ scheme, parameters })
    position = start
    if (!isElementEnd()) readParameters()
  }

  while (!isDone() && challenges.length < maxChallenges) {
    skip((code) => isSpace(code) || code === comma)
    const start = position
    const name = take(isToken)
    const hasSpace = isSpace(at())
    skip(isSpace)
    if (at() === equals) {
      position = start
      readParameters()
    } else if (name !== "" && (hasSpace || isElementEnd())) {
      readChallenge(name.toLowerCase())
    } else {
      skipElement()
    }
  }
  return challenges
}

/**
 * `abc==` is a token68; `a=b` is a parameter.
 */
const isToken68Alone = (text: string): boolean => !/=[^=]/.test(text)
