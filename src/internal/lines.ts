/**
 * Cuts bytes into lines, at the cost of the bytes, however they come.
 *
 * Lines are found before anything is decoded: a newline is never part of another character in UTF-8, and so a character
 * that is cut between two pieces is whole again by the time that it is read.
 */

const newline = 0x0a

/**
 * White space of JSON. A line of nothing else is blank.
 */
const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d

/**
 * What a gathered line may leave allocated for the next.
 */
const smallest = 4096
const largestKept = 64 * 1024

/**
 * Follows one stream. What it does not end with a newline never comes.
 */
export interface Lines {
  /**
   * Takes bytes, in pieces of any size, and gives the lines that they complete, without blank ones. `undefined` says that
   * a line is longer than it may be.
   */
  readonly feed: (bytes: Uint8Array) => ReadonlyArray<string> | undefined
}

/**
 * Nothing has come yet. Lines may have so many bytes, without the newline.
 */
export const make = (maxLength: number): Lines => {
  const decoder = new TextDecoder()
  let gathered = new Uint8Array(0)
  let length = 0

  const gather = (bytes: Uint8Array): void => {
    const needed = length + bytes.length
    if (needed > gathered.length) {
      const larger = new Uint8Array(Math.max(smallest, Math.min(2 * needed, maxLength)))
      larger.set(gathered.subarray(0, length))
      gathered = larger
    }
    gathered.set(bytes, length)
    length = needed
  }

  const takeGathered = (): Uint8Array => {
    const line = gathered.subarray(0, length)
    length = 0
    if (gathered.length > largestKept) gathered = new Uint8Array(0)
    return line
  }

  const addTo = (found: Array<string>, line: Uint8Array): void => {
    let start = 0
    while (start < line.length && isBlank(line[start]!)) start++
    if (start < line.length) found.push(decoder.decode(start === 0 ? line : line.subarray(start)))
  }

  return {
    feed: (bytes) => {
      const found: Array<string> = []
      let start = 0
      for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
        if (length + end - start > maxLength) return undefined
        if (length > 0) {
          gather(bytes.subarray(start, end))
          addTo(found, takeGathered())
        } else if (end > start) {
          addTo(found, bytes.subarray(start, end))
        }
        start = end + 1
      }
      if (length + bytes.length - start > maxLength) return undefined
      if (start < bytes.length) gather(start === 0 ? bytes : bytes.subarray(start))
      return found
    }
  }
}
