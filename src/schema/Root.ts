/**
 * Roots: directories and files that the application is about, for servers to know where to look. They are advice, and
 * keep no server from anything. Revision 2025-11-25, client/roots; deprecated as of 2026-07-28.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type { JsonObject } from "./Json.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Root {
  /**
   * A `file:` URI.
   */
  readonly uri: string
  readonly name?: string | undefined
}

const isFileUri = (uri: string): boolean => URL.parse(uri)?.protocol === "file:"

/**
 * What the server is sent. The failure says what is wrong, and quotes no path.
 *
 * @category encoding
 * @since 0.1.0
 */
export const toWire = (roots: ReadonlyArray<Root>): Result.Result<JsonObject, string> =>
  roots.every(({ uri }) => isFileUri(uri))
    ? Result.succeed({ roots: roots.map(({ name, uri }) => ({ uri, ...(name === undefined ? {} : { name }) })) })
    : Result.fail("a root that is no file: URI")
