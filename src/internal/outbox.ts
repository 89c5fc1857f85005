/**
 * Lines that wait to be written, by one writer, one after another.
 *
 * Each belongs to somebody who waits for it, and who can take it back until it is being written: what waits at a reader
 * that does not read is no more than what somebody still wants to send.
 */
import * as Exit from "effect/Exit"

/**
 * What whoever sends a line is told of it.
 */
export interface Told<E> {
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
   * Puts a line at the end, without its newline. The answer takes the line back, as long as it waits.
   */
  readonly push: (line: string, told?: Told<E>) => () => void
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

interface Waiting<E> extends Told<E> {
  readonly line: string
}

/**
 * Nothing waits yet.
 */
export const make = <E>(): Outbox<E> => {
  const waiting = new Set<Waiting<E>>()
  let writing: Array<Waiting<E>> = []
  let isEnded = false
  let failure: Exit.Exit<never, E> | undefined

  const takeSome = (): string => {
    let together = ""
    for (const each of waiting) {
      if (together !== "" && together.length + each.line.length > maxTogether) break
      waiting.delete(each)
      writing.push(each)
      each.onLeft?.()
      together += `${each.line}\n`
    }
    return together
  }

  const settle = (entries: Iterable<Waiting<E>>, written: Exit.Exit<void, E>): void => {
    for (const { onWritten } of entries) onWritten?.(written)
  }

  const take = (): string | undefined => waiting.size > 0 ? takeSome() : undefined

  const asleep = (): void => {}
  let wake = asleep

  return {
    push: (line, told) => {
      if (failure !== undefined) {
        told?.onWritten?.(failure)
        return () => {}
      }
      const added = { ...told, line }
      waiting.add(added)
      wake()
      return () => waiting.delete(added)
    },
    next: (give) => {
      const written = writing
      writing = []
      settle(written, Exit.void)
      if (waiting.size > 0 || isEnded) {
        give(take())
        return asleep
      }
      // Once, since what it takes is the writer's: the next time there may be nobody to have it.
      wake = () => {
        wake = asleep
        give(take())
      }
      return () => {
        wake = asleep
      }
    },
    end: () => {
      isEnded = true
      wake()
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
