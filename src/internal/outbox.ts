/**
 * Lines that wait to be written, by one writer, one after another.
 *
 * Each belongs to somebody who waits for it, and who can take it back until it is being written: what waits at a reader
 * that does not read is no more than what somebody still wants to send.
 */
import * as Exit from "effect/Exit"

/**
 * A line, with its newline, and what whoever sends it is told of it.
 */
export interface Line<E> {
  readonly text: string
  /**
   * It cannot be taken back any more: whether it arrives or not, the other side may have some of it.
   */
  readonly onLeft?: (() => void) | undefined
  /**
   * The writer has had it, or never will.
   */
  readonly onWritten?: ((written: Exit.Exit<void, E>) => void) | undefined
}

/**
 * @see make
 */
export interface Outbox<E> {
  /**
   * Puts a line at the end. The answer takes it back, as long as it waits.
   */
  readonly push: (line: Line<E>) => () => void
  /**
   * For the one writer, who asks once what it was given is on its way: gives what is to be written, or `undefined` after
   * the last line once `end` was called. The answer takes the question back.
   */
  readonly next: (give: (text: string | undefined) => void) => () => void
  readonly end: () => void
  /**
   * Nobody writes any more.
   */
  readonly fail: (reason: E) => void
}

/**
 * Lines that are written at the same time, up to so many characters.
 */
const maxTogether = 64 * 1024

/**
 * Nothing waits yet.
 */
export const make = <E>(): Outbox<E> => {
  const waiting = new Set<Line<E>>()
  let writing: Array<Line<E>> = []
  let isEnded = false
  let failure: Exit.Exit<never, E> | undefined
  // The writer, while there is nothing to write. Once, since what it is given is its own: the next time there may be nobody
  // to have it.
  let idle: ((text: string | undefined) => void) | undefined

  const takeIdle = (): typeof idle => {
    const writer = idle
    idle = undefined
    return writer
  }

  const take = (line: Line<E>): string => {
    writing.push(line)
    line.onLeft?.()
    return line.text
  }

  const takeSome = (): string => {
    let together = ""
    for (const line of waiting) {
      if (together !== "" && together.length + line.text.length > maxTogether) break
      waiting.delete(line)
      together += take(line)
    }
    return together
  }

  const settle = (lines: Iterable<Line<E>>, written: Exit.Exit<void, E>): void => {
    for (const { onWritten } of lines) onWritten?.(written)
  }

  return {
    push: (line) => {
      if (failure !== undefined) {
        line.onWritten?.(failure)
        return () => {}
      }
      const give = takeIdle()
      if (give === undefined) waiting.add(line)
      else give(take(line))
      return () => waiting.delete(line)
    },
    next: (give) => {
      const written = writing
      writing = []
      settle(written, Exit.void)
      if (waiting.size > 0) give(takeSome())
      else if (isEnded) give(undefined)
      else idle = give
      return () => {
        if (idle === give) idle = undefined
      }
    },
    end: () => {
      isEnded = true
      takeIdle()?.(undefined)
    },
    fail: (reason) => {
      failure ??= Exit.fail(reason)
      const unsent = [...writing, ...waiting]
      writing = []
      waiting.clear()
      settle(unsent, failure)
    }
  }
}
