/**
 * Gathers a body at the cost of its bytes, whatever the pieces.
 *
 * A piece is a view of what came off the socket. Kept as it is, a body of one-byte pieces would cost a hundred times its
 * size, so small ones are copied together.
 */

const small = 4096
const largestBlock = 64 * 1024

/**
 * Bytes that are being gathered.
 */
export interface Gather {
  readonly push: (piece: Buffer) => void
  /**
   * All that was pushed since the last time.
   */
  readonly take: () => Buffer
}

/**
 * Nothing yet.
 */
export const make = (): Gather => {
  let pieces: Array<Buffer> = []
  let block: Buffer | undefined
  let used = 0
  let total = 0

  const closeBlock = (): void => {
    if (block !== undefined && used > 0) pieces.push(block.subarray(0, used))
    block = undefined
    used = 0
  }

  const copy = (piece: Buffer): void => {
    if (block === undefined || used + piece.length > block.length) {
      const size = block === undefined ? small : Math.min(block.length * 4, largestBlock)
      closeBlock()
      block = Buffer.allocUnsafeSlow(size)
    }
    used += piece.copy(block, used)
  }

  return {
    push: (piece) => {
      total += piece.length
      // The first piece is most often the only one.
      if (pieces.length === 0 && block === undefined) {
        pieces.push(piece)
      } else if (piece.length < small) {
        copy(piece)
      } else {
        closeBlock()
        pieces.push(piece)
      }
    },
    take: () => {
      closeBlock()
      const whole = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, total)
      pieces = []
      total = 0
      return whole
    }
  }
}

/**
 * Bytes as UTF-8, without a byte order mark. What is no UTF-8 becomes the replacement character.
 */
export const decode = (bytes: Buffer): string => {
  const text = bytes.toString("utf8")
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}
