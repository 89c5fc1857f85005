/**
 * Measures header blocks as they come off the wire, before a parser sees them.
 *
 * A parser shows names and values. It does not show what it skips: padding, a block that never ends, chunk extensions.
 * All of that costs us time, and none of it may go uncounted.
 */

const terminator = "\r\n\r\n"
const CR = 13
const LF = 10

/**
 * How far `bytes` have got through the terminator of a header block, given how far the ones before had.
 */
const advance = (matched: number, byte: number): number =>
  byte === CR ? (matched === 2 ? 3 : 1) : byte === LF && (matched === 1 || matched === 3) ? matched + 1 : 0

/**
 * Follows the raw bytes of one response.
 */
export interface HeadScanner {
  /**
   * Takes the next bytes off the wire. `false` says that a header block has grown past the cap, or that what is not
   * content has grown past the cap and `framing` bytes for every byte of content.
   */
  readonly feed: (chunk: Uint8Array) => boolean
  /**
   * The parser has read a header block to its end: answers how many bytes that was. After the last one comes content.
   */
  readonly endHead: (isLast: boolean) => number
  /**
   * The parser has handed over so many bytes of content.
   */
  readonly progress: (bytes: number) => void
  /**
   * The status in the first line of the block that is coming in, once it is there.
   */
  readonly status: () => number | undefined
}

/**
 * undici ends the connection at a `100 Continue` that nobody asked for, which RFC 9110, section 15.2 has clients pass
 * over. `103` says as little and is passed over. Goes through all informational blocks that begin here.
 */
const disarm = (chunk: Buffer, begin: number): void => {
  for (let from = begin; /^HTTP\/1\.\d 1\d\d/.test(chunk.toString("latin1", from, from + 12));) {
    if (chunk.toString("latin1", from + 9, from + 12) === "100") chunk.write("103", from + 9, "latin1")
    const at = chunk.indexOf(terminator, from, "latin1")
    if (at === -1) return
    from = at + terminator.length
  }
}

/**
 * A chunk of one byte takes five more; servers may pad its size a little.
 */
const framing = 8

/**
 * A scanner with a cap, in bytes, for each header block and for what comes beside the content.
 */
export const make = (cap: number): HeadScanner => {
  let inHead = true
  let size = 0
  let content = 0
  let matched = 0
  let firstLine = ""
  // Parsers pass over line breaks before a status line.
  let hasBegun = false
  let chunk: Buffer = Buffer.alloc(0)
  // Where in `chunk` the current block goes on, and where it ends; -1 while that has not come.
  let start = 0
  let end = -1

  const look = (): void => {
    end = -1
    let from = start
    while (!hasBegun && from < chunk.length) {
      if (chunk[from] === CR || chunk[from] === LF) from++
      else hasBegun = true
    }
    if (firstLine.length < 12) firstLine += chunk.toString("latin1", from, from + 12 - firstLine.length)
    if (matched === 0) {
      const at = chunk.indexOf(terminator, from, "latin1")
      if (at !== -1) {
        end = at + terminator.length
        return
      }
    }
    // The terminator may be cut in two: go through what could be its beginning byte by byte.
    for (let i = matched === 0 ? Math.max(from, chunk.length - 3) : from; i < chunk.length; i++) {
      matched = advance(matched, chunk[i]!)
      if (matched === terminator.length) {
        end = i + 1
        return
      }
    }
  }

  return {
    feed: (bytes) => {
      if (!inHead) {
        const isWithin = size - content <= cap + framing * content
        size += bytes.length
        return isWithin
      }
      size += chunk.length - start
      chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      start = 0
      const isFirst = size === 0
      look()
      if (isFirst) disarm(chunk, 0)
      else if (end !== -1) disarm(chunk, end)
      return size + (end === -1 ? chunk.length : end) <= cap
    },
    endHead: (isLast) => {
      const stop = end === -1 ? chunk.length : end
      const total = size + stop - start
      size = 0
      matched = 0
      firstLine = ""
      hasBegun = false
      start = stop
      inHead = !isLast
      if (isLast) chunk = Buffer.alloc(0)
      else look()
      return total
    },
    progress: (bytes) => {
      content += bytes
    },
    status: () => {
      const digits = /^HTTP\/\d\.\d (\d{3})$/.exec(firstLine)
      return digits === null ? undefined : Number(digits[1])
    }
  }
}
