/**
 * Reads `text/event-stream`: HTML Living Standard, section 9.2.6.
 *
 * Effect's own parser is not used, since what a server sends must not cost a multiple of its size: that one keeps a
 * node for every line of `data` (a hundred megabytes for eight of short lines), and does not tell of an `id` that comes
 * without data, which is a place to resume from.
 */

/**
 * One event with data. `type` is `message` where the server names none.
 */
export interface Event {
  readonly type: string
  readonly data: string
}

/**
 * Follows one stream.
 */
export interface EventStream {
  /**
   * Takes decoded text, in pieces of any size. An event that its stream does not end with a blank line never comes.
   */
  readonly feed: (text: string) => void
  /**
   * So many characters are kept of the event that has not come whole.
   */
  readonly gathered: () => number
  /**
   * The id of the last event that came whole; `""` where there is none, or the server cleared it.
   */
  readonly lastEventId: () => string
  /**
   * The last `retry`, in milliseconds.
   */
  readonly retry: () => number | undefined
}

/**
 * So many pieces are joined into one at a time: a string of its own length, where a piece is a node or a slice.
 */
const joinEvery = 512

/**
 * A string that grows by pieces at the cost of their characters.
 */
const makeText = () => {
  let blocks: Array<string> = []
  let pieces: Array<string> = []
  let length = 0
  return {
    push: (piece: string): void => {
      length += piece.length
      if (pieces.push(piece) < joinEvery) return
      blocks.push(pieces.join(""))
      pieces = []
    },
    isEmpty: (): boolean => pieces.length === 0 && blocks.length === 0,
    length: (): number => length,
    take: (): string => {
      const text = blocks.length === 0 ? pieces.join("") : blocks.join("") + pieces.join("")
      blocks = []
      pieces = []
      length = 0
      return text
    }
  }
}

/**
 * A reader that tells of every event as its blank line comes. A stream that was resumed starts with the id that it was
 * resumed from.
 */
export const make = (onEvent: (event: Event) => void, resumedFrom = ""): EventStream => {
  const line = makeText()
  const data = makeText()
  let type = ""
  let id = resumedFrom
  // A field says what the id will be; it is so once its event has come whole.
  let lastEventId = resumedFrom
  let retry: number | undefined
  // A CR at the end of a piece has ended a line; an LF at the start of the next belongs to it.
  let skipLf = false

  const dispatch = (): void => {
    lastEventId = id
    const named = type === "" ? "message" : type
    type = ""
    if (!data.isEmpty()) onEvent({ type: named, data: data.take().slice(0, -1) })
  }

  const field = (name: string, value: string): void => {
    switch (name) {
      case "data":
        data.push(value)
        data.push("\n")
        break
      case "event":
        type = value
        break
      case "id":
        if (!value.includes("\0")) id = value
        break
      case "retry":
        if (/^\d{1,15}$/.test(value)) retry = Number(value)
        break
    }
  }

  const endLine = (text: string): void => {
    if (text === "") return dispatch()
    const colon = text.indexOf(":")
    if (colon === -1) return field(text, "")
    if (colon > 0) field(text.slice(0, colon), text.slice(text[colon + 1] === " " ? colon + 2 : colon + 1))
  }

  return {
    feed: (text) => {
      let start = skipLf && text.startsWith("\n") ? 1 : 0
      if (text !== "") skipLf = false
      let lf = text.indexOf("\n", start)
      let cr = text.indexOf("\r", start)
      while (lf !== -1 || cr !== -1) {
        const isCr = cr !== -1 && (lf === -1 || cr < lf)
        const end = isCr ? cr : lf
        const rest = text.slice(start, end)
        if (line.isEmpty()) {
          endLine(rest)
        } else {
          line.push(rest)
          endLine(line.take())
        }
        start = isCr && lf === cr + 1 ? end + 2 : end + 1
        if (isCr && start === text.length && lf !== cr + 1) skipLf = true
        if (lf !== -1 && lf < start) lf = text.indexOf("\n", start)
        if (cr !== -1 && cr < start) cr = text.indexOf("\r", start)
      }
      if (start < text.length) line.push(text.slice(start))
    },
    gathered: () => line.length() + data.length() + type.length + id.length,
    lastEventId: () => lastEventId,
    retry: () => retry
  }
}
