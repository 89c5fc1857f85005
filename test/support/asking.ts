/**
 * Legacy servers that ask for something by themselves.
 */
import * as Raw from "./rawServer.ts"

/**
 * A message of the server's, as an event.
 */
export const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`

/**
 * A request of the server's, as an event.
 */
export const request = (id: unknown, method: string, params?: unknown): string =>
  event({ id, method, ...(params === undefined ? {} : { params }) })

export const notification = (method: string, params: unknown): string => event({ method, params })

/**
 * The answer to a call, as an event.
 */
export const okEvent = (call: Raw.RawRequest): string => event({ id: call.message.id, result: Raw.textResult("ok") })

/**
 * Puts these events before the answer to a call, in one piece with it, and holds the answer back until so many answers
 * of the client have come.
 */
export const asking = (events: string, answers: number): Readonly<Record<string, Raw.Responder>> => {
  let left = answers
  let answer = (): void => {}
  return {
    "tools/call": (socket, call) => {
      Raw.openStream(socket)
      Raw.sendChunk(socket, events)
      answer = () => {
        Raw.sendChunk(socket, okEvent(call))
        Raw.endStream(socket)
      }
      if (left === 0) answer()
    },
    POST: (socket) => {
      Raw.send(socket, 202, {})
      if (--left === 0) answer()
    }
  }
}

/**
 * What the client answered, and the end of its session.
 */
export const answersTo = (server: Raw.RawServer): ReadonlyArray<Raw.RawRequest> =>
  server.requests.filter(({ httpMethod, message }) => message.method === undefined && httpMethod !== "GET")

/**
 * What the client answered, by id.
 */
export const answersById = (server: Raw.RawServer): ReadonlyMap<unknown, any> =>
  new Map(
    answersTo(server).filter(({ httpMethod }) => httpMethod === "POST").map(({ body }) => {
      const answer = JSON.parse(body)
      return [answer.id, answer]
    })
  )
