/**
 * Answers written by hand: the bytes that go onto the socket, in the pieces and with the pauses that a case wants.
 */
import type * as Net from "node:net"
import type { RawRequest, Responder } from "../../support/rawServer.ts"

/**
 * One step of an answer: bytes, what is made of the request, or something other than bytes.
 */
export type Step = Bytes | ((request: RawRequest) => Bytes) | Action
export type Bytes = string | Uint8Array

export interface Action {
  readonly run: (socket: Net.Socket, next: () => void) => void
}

/**
 * Does its steps one after the other, for as long as the socket lives.
 */
export const script = (...steps: ReadonlyArray<Step>): Responder => (socket, request) => {
  const next = (at: number): void => {
    const step = steps[at]
    if (step === undefined || socket.destroyed) return
    if (typeof step === "object" && "run" in step) return step.run(socket, () => next(at + 1))
    socket.write(typeof step === "function" ? step(request) : step)
    next(at + 1)
  }
  next(0)
}

/**
 * Nothing for so many milliseconds.
 */
export const pause = (millis: number): Action => ({
  run: (socket, next) => {
    const timer = setTimeout(next, millis)
    socket.once("close", () => clearTimeout(timer))
  }
})

/**
 * Waits until what was written before has left, so that it arrives as a piece of its own.
 */
export const turn: Action = { run: (_, next) => setImmediate(next) }

/**
 * Repeats a piece until the other side has had enough; `times` bounds it all the same, at a gigabyte by default.
 */
export const flood = (piece: Bytes, times = Math.ceil(2 ** 30 / piece.length)): Action => ({
  run: (socket, next) => {
    let left = times
    const more = (): void => {
      while (left > 0 && !socket.destroyed) {
        left--
        if (!socket.write(piece)) return void socket.once("drain", more)
      }
      if (!socket.destroyed) next()
    }
    more()
  }
})

/**
 * Repeats a piece at an interval until the socket is closed.
 */
export const drip = (piece: Bytes, everyMillis: number): Action => ({
  run: (socket) => {
    const timer = setInterval(() => socket.write(piece), everyMillis)
    socket.once("close", () => clearInterval(timer))
  }
})

/**
 * One piece after the other at an interval, as long as there are any.
 */
export const trickle = (pieces: ReadonlyArray<Bytes>, everyMillis: number): Action => ({
  run: (socket, next) => {
    let at = 0
    const timer = setInterval(() => {
      const piece = pieces[at++]
      if (piece !== undefined) return void socket.write(piece)
      stop()
      socket.off("close", stop)
      next()
    }, everyMillis)
    const stop = (): void => clearInterval(timer)
    socket.once("close", stop)
  }
})

/**
 * Ends the connection in order, or by a reset.
 */
export const end: Action = { run: (socket) => void socket.end() }
export const reset: Action = { run: (socket) => void socket.resetAndDestroy() }

/**
 * A status line and headers; repeated headers are an array of values.
 */
export const head = (
  status: number,
  headers: Readonly<Record<string, string | ReadonlyArray<string>>> = {}
): string => {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}\r\n`)
  )
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`
}

/**
 * A whole answer whose length is said.
 */
export const whole = (status: number, type: string | undefined, body: Bytes = ""): Buffer => {
  const bytes = Buffer.from(body as string)
  const headers = { ...(type === undefined ? {} : { "content-type": type }), "content-length": String(bytes.length) }
  return Buffer.concat([Buffer.from(head(status, headers)), bytes])
}

/**
 * A whole answer with headers of its own, and its length.
 */
export const wholeWith = (status: number, headers: Parameters<typeof head>[1], body: Bytes = ""): Buffer => {
  const bytes = Buffer.from(body as string)
  return Buffer.concat([Buffer.from(head(status, { ...headers, "content-length": String(bytes.length) })), bytes])
}

export const jsonType = "application/json"
export const streamType = "text/event-stream"

/**
 * The head of an answer that comes in chunks.
 */
export const chunkedHead = (type: string, status = 200): string =>
  head(status, { "content-type": type, "transfer-encoding": "chunked" })

export const openStream = chunkedHead(streamType)

export const chunk = (piece: Bytes): Buffer => {
  const bytes = Buffer.from(piece as string)
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")])
}

export const lastChunk = "0\r\n\r\n"

/**
 * Cut into chunks of so many bytes, wherever that is.
 */
export const chunks = (bytes: Bytes, size: number): Buffer => {
  const all = Buffer.from(bytes as string)
  const count = Math.ceil(all.length / size)
  return Buffer.concat(Array.from({ length: count }, (_, i) => chunk(all.subarray(i * size, (i + 1) * size))))
}

/**
 * The good answer to a request, as JSON-RPC text; `result` is text, so that it can be anything.
 */
export const answer = (result: string) => (request: RawRequest): string =>
  `{"jsonrpc":"2.0","id":${request.message.id},"result":${result}}`

export const okResult = `{"resultType":"complete","content":[{"type":"text","text":"ok"}]}`
export const okAnswer = answer(okResult)

/**
 * As a whole JSON body, made of the request.
 */
export const json = (text: (request: RawRequest) => string, status = 200) => (request: RawRequest): Buffer =>
  whole(status, jsonType, text(request))

/**
 * One event in a chunk of its own.
 */
export const event = (text: (request: RawRequest) => string, fields = "") => (request: RawRequest): Buffer =>
  chunk(`${fields}data: ${text(request)}\n\n`)

/**
 * The text of an answer, or its bytes where they are no UTF-8.
 */
export type Text = (request: RawRequest) => Bytes

/**
 * Any text, with the id of the request for `$ID`.
 */
export const say = (text: string): Text => ({ message }) => text.replaceAll("$ID", String(message.id))

/**
 * The JSON-RPC error as text, so that it can be anything.
 */
export const errorAnswer = (error: string): Text => say(`{"jsonrpc":"2.0","id":$ID,"error":${error}}`)

/**
 * A whole answer in one piece: as a JSON body, and as a stream of one event.
 */
export const asBody = (text: Text, status = 200) => (request: RawRequest): Buffer =>
  whole(status, jsonType, text(request))
export const asStream = (text: Text) => (request: RawRequest): Buffer => {
  const data = Buffer.concat([Buffer.from("data: "), Buffer.from(text(request) as string), Buffer.from("\n\n")])
  return Buffer.concat([Buffer.from(openStream), chunk(data), Buffer.from(lastChunk)])
}

/**
 * The text of an event stream, made of the good answer, in chunks of so many bytes.
 */
export const events = (text: (answer: string) => Bytes, size = 64 * 1024) => (request: RawRequest): Buffer =>
  chunks(text(okAnswer(request)), size)

/**
 * The answer to `initialize`, with a session where there is an id for it.
 */
export const initialized = (result: string, sessionId?: string) => (request: RawRequest): Buffer =>
  wholeWith(
    200,
    { "content-type": jsonType, ...(sessionId === undefined ? {} : { "mcp-session-id": sessionId }) },
    answer(result)(request)
  )
