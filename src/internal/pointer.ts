/**
 * Where something is in a value, for messages.
 */
import { printable } from "../errors/Printable.ts"

const maxSegments = 16
const maxSegmentLength = 60

/**
 * A JSON pointer (RFC 6901), with a slash alone for the whole; what is long is cut short, and what is unsafe to show
 * escaped.
 */
export const toPointer = (path: ReadonlyArray<PropertyKey>): string => {
  const shown = path.slice(0, maxSegments).map((segment) =>
    String(segment).slice(0, maxSegmentLength).replaceAll("~", "~0").replaceAll("/", "~1")
  )
  return printable(`/${shown.join("/")}${path.length > maxSegments ? "/…" : ""}`)
}
