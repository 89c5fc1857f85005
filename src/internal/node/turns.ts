/**
 * Turns of the event loop, shared by all sockets of a pool.
 *
 * Node hands over what a socket has in one go, megabytes where the server is quick. To parse it can take far longer than
 * to receive it: small chunks and short lines cost a hundred times what long ones do. After a few milliseconds the
 * others get their turn, and what has not been read stays in its socket.
 */

/**
 * In milliseconds.
 */
const longest = 5

/**
 * @see make
 */
export interface Turns {
  /**
   * Parsing begins, and ends.
   */
  readonly enter: () => void
  readonly leave: () => void
  /**
   * Whether there is time left in this turn. Where there is none, `again` is called in the next one.
   */
  readonly isOpen: (again: () => void) => boolean
}

/**
 * Nothing has been parsed yet.
 */
export const make = (): Turns => {
  let enteredAt: number | undefined
  let spent = 0
  const waiting = new Set<() => void>()

  const next = (): void => {
    spent = 0
    const called = [...waiting]
    waiting.clear()
    for (const again of called) again()
  }

  return {
    enter: () => {
      enteredAt = performance.now()
    },
    leave: () => {
      if (enteredAt === undefined) return
      spent += performance.now() - enteredAt
      enteredAt = undefined
    },
    isOpen: (again) => {
      if (spent < longest && waiting.size === 0) return true
      if (waiting.size === 0) setImmediate(next)
      waiting.add(again)
      return false
    }
  }
}
