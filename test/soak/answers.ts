/**
 * The server's good answers, as bytes: whatever the request and the era, as JSON or as an event stream.
 */
import type { ProtocolVersion } from "../../src/index.ts"
import { answer, type Bytes, chunk, event, head, jsonType, lastChunk, openStream } from "../hostile/kit/wire.ts"
import { discoverResult, type RawRequest } from "../support/rawServer.ts"
import type { Random } from "./random.ts"

/**
 * One life of the client, as the server sees it: every life has a path of its own.
 */
export interface Life {
  readonly random: Random
  readonly era: ProtocolVersion.ProtocolVersion
  /**
   * Requests by id, so that a stream that broke can be taken up.
   */
  readonly asked: Map<number, RawRequest>
  sessions: number
}

export const eras = ["2026-07-28", "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const

/**
 * What a call asks to have said back, so that the client can tell its own answer from another's.
 */
export const echoOf = (request: RawRequest): string => String(request.message.params?.arguments?.echo)

const callResult = (request: RawRequest) => ({
  resultType: "complete",
  content: [{ type: "text", text: echoOf(request) }]
})

const lastPage = "3"

const listResult = (request: RawRequest) => {
  const page: string = request.message.params?.cursor ?? "1"
  const tools = Array.from({ length: 20 }, (_, i) => ({
    name: `tool-${page}-${i}`,
    description: "Searches the documents of the workspace",
    inputSchema: { type: "object", properties: { echo: { type: "string", "x-mcp-header": "Echo" } } }
  }))
  return { resultType: "complete", tools, ...(page === lastPage ? {} : { nextCursor: String(Number(page) + 1) }) }
}

const initializeResult = ({ era, random }: Life) => ({
  protocolVersion: era,
  // Once in a while a server has no tools.
  capabilities: random.chance(0.05) ? {} : { tools: {} },
  serverInfo: { name: "soak", version: "1" }
})

const result = (life: Life, request: RawRequest): string => {
  switch (request.message.method) {
    case "server/discover":
      return JSON.stringify(discoverResult)
    case "initialize":
      return JSON.stringify(initializeResult(life))
    case "tools/list":
      return JSON.stringify(listResult(request))
    default:
      return JSON.stringify(callResult(request))
  }
}

/**
 * The request that an answer belongs to: where it resumes a stream, the one that the stream was to answer.
 */
export const subject = (life: Life, request: RawRequest): RawRequest =>
  life.asked.get(Number(request.headers["last-event-id"])) ?? request

/**
 * The JSON-RPC message that answers a request.
 */
export const goodMessage = (life: Life, request: RawRequest): string => {
  const asked = subject(life, request)
  return answer(result(life, asked))(asked)
}

const progress = chunk(`data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n`)

const asStream = (life: Life, request: RawRequest): Buffer =>
  Buffer.concat([
    Buffer.from(openStream),
    ...(life.random.chance(0.5) ? [progress] : []),
    event(() => goodMessage(life, request))(request),
    // Some leave the stream open after the answer.
    Buffer.from(life.random.chance(0.5) ? lastChunk : "")
  ])

/**
 * A whole answer with these headers and its length.
 */
export const reply = (status: number, headers: Readonly<Record<string, string>>, body: Bytes = ""): Buffer => {
  const bytes = Buffer.from(body as string)
  return Buffer.concat([Buffer.from(head(status, { ...headers, "content-length": String(bytes.length) })), bytes])
}

export const jsonReply = (text: string, status = 200, headers: Readonly<Record<string, string>> = {}): Buffer =>
  reply(status, { "content-type": jsonType, ...headers }, text)

const neverHeardOf = ({ random }: Life): Buffer =>
  reply(random.pick([400, 404, 405]), { "content-type": "text/plain" }, "Bad Request")

/**
 * The whole answer that a server of this era gives.
 */
export const good = (life: Life, request: RawRequest): Buffer => {
  const { httpMethod, message: { id, method } } = request
  if (httpMethod === "DELETE") return reply(200, {})
  if (httpMethod === "GET") return asStream(life, request)
  if (id === undefined) return reply(202, {})
  if (method === "server/discover" && life.era !== "2026-07-28") return neverHeardOf(life)
  const text = goodMessage(life, request)
  if (method === "initialize") return jsonReply(text, 200, { "mcp-session-id": `session-${++life.sessions}` })
  return life.random.chance(0.7) ? jsonReply(text) : asStream(life, request)
}
