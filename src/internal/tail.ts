/**
 * The end of what was written, however much there was and however it was cut.
 */

/**
 * @see make
 */
export interface Tail {
  readonly push: (bytes: Uint8Array) => void
  /**
   * As UTF-8. Where more was written than is kept, it begins with a whole line.
   */
  readonly text: () => string
}

/**
 * Nothing yet. So many bytes are kept at most.
 */
export const make = (size: number): Tail => {
  // A ring: the next byte goes to `position`. Allocated in full once anything is written.
  let ring: Uint8Array | undefined
  let position = 0
  let isFull = false

  const put = (bytes: Uint8Array): void => {
    ring ??= new Uint8Array(size)
    const first = bytes.subarray(0, size - position)
    ring.set(first, position)
    ring.set(bytes.subarray(first.length), 0)
    if (position + bytes.length >= size) isFull = true
    position = (position + bytes.length) % size
  }

  return {
    push: (bytes) => put(bytes.length > size ? bytes.subarray(bytes.length - size) : bytes),
    text: () => {
      if (ring === undefined) return ""
      const decoder = new TextDecoder()
      if (!isFull) return decoder.decode(ring.subarray(0, position))
      const kept = new Uint8Array(size)
      kept.set(ring.subarray(position))
      kept.set(ring.subarray(0, position), size - position)
      const lineStart = kept.indexOf(0x0a) + 1
      return decoder.decode(kept.subarray(lineStart))
    }
  }
}
