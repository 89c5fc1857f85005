/**
 * The URL of a server, as an application or its customer gave it.
 */
import * as Result from "effect/Result"

/**
 * Longer than any URL that a server has, and short enough to parse in no time.
 */
const maxLength = 8192

/**
 * Reads an http or https URL without userinfo. The failure says what is wrong and quotes nothing. The fragment, which is
 * never sent, is dropped.
 */
export const parse = (input: string | URL): Result.Result<URL, string> => {
  const text: unknown = typeof input === "string" ? input : input?.href
  if (typeof text !== "string") return Result.fail("the URL is none")
  if (text.length > maxLength) return Result.fail(`the URL is longer than ${maxLength} characters`)
  const url = URL.parse(text)
  if (url === null) return Result.fail("the URL cannot be parsed")
  if (url.protocol !== "http:" && url.protocol !== "https:") return Result.fail("the URL is neither http nor https")
  if (url.username !== "" || url.password !== "") {
    return Result.fail("the URL has userinfo; give credentials as Credentials")
  }
  if (text.includes("#")) url.hash = ""
  return Result.succeed(url)
}

/**
 * What messages may show of it.
 */
export const display = (url: URL): string => url.origin
