/**
 * A server that is written by hand: HTTP over a raw socket, so that a test says every byte that goes out, and counts
 * every connection and request that comes in.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Net from "node:net"
import * as Tls from "node:tls"
import { certificate } from "./certificate.ts"
import { listen } from "./listen.ts"

export interface RawRequest {
  readonly httpMethod: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /**
   * The JSON-RPC message, where the body is one.
   */
  readonly message: { readonly id?: number; readonly method?: string; readonly params?: any }
  /**
   * How many requests of the same JSON-RPC method came before.
   */
  readonly nth: number
}

export interface RawServer {
  readonly url: string
  readonly port: number
  readonly requests: ReadonlyArray<RawRequest>
  /**
   * JSON-RPC methods in order; HTTP methods where there was no message.
   */
  readonly methods: () => ReadonlyArray<string>
  readonly connections: () => number
  readonly openSockets: () => number
  /**
   * Waits until the other side has closed every socket; dies where that takes longer than two seconds.
   */
  readonly quiet: Effect.Effect<void>
  /**
   * Waits until no more than so many are open: those that lie idle, while a connection lives.
   */
  readonly atMost: (sockets: number) => Effect.Effect<void>
}

export type Responder = (socket: Net.Socket, request: RawRequest) => void

const parseHead = (head: string) => {
  const [first = "", ...lines] = head.split("\r\n")
  const [httpMethod = "", path = ""] = first.split(" ")
  const headers = Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  }))
  return { httpMethod, path, headers }
}

const parseMessage = (body: string): RawRequest["message"] => {
  try {
    return JSON.parse(body)
  } catch {
    return {}
  }
}

/**
 * Listens on a free loopback port until the scope closes.
 */
export const make = (
  respond: Responder,
  { host = "127.0.0.1", tls = false }: { readonly host?: string | undefined; readonly tls?: boolean | undefined } = {}
): Effect.Effect<RawServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const sockets = new Set<Net.Socket>()
    const requests: Array<RawRequest> = []
    let connections = 0
    const onConnection = (socket: Net.Socket): void => {
      connections++
      sockets.add(socket)
      socket.on("close", () => sockets.delete(socket))
      socket.on("error", () => {})
      socket.setNoDelay(true)
      let buffered: Buffer = Buffer.alloc(0)
      socket.on("data", (chunk: Buffer) => {
        buffered = Buffer.concat([buffered, chunk])
        for (;;) {
          const end = buffered.indexOf("\r\n\r\n")
          if (end === -1) return
          const head = parseHead(buffered.toString("latin1", 0, end))
          const length = Number(head.headers["content-length"] ?? 0)
          if (buffered.length < end + 4 + length) return
          const body = buffered.toString("utf8", end + 4, end + 4 + length)
          buffered = buffered.subarray(end + 4 + length)
          const message = parseMessage(body)
          const nth = requests.filter((earlier) => earlier.message.method === message.method).length
          const request = { ...head, body, message, nth }
          requests.push(request)
          respond(socket, request)
        }
      })
    }
    const server = tls ? Tls.createServer(certificate, onConnection) : Net.createServer(onConnection)
    const port = yield* listen(server, () => sockets.forEach((socket) => socket.destroy()), host)
    const atMost = (limit: number) =>
      Effect.callback<void>((resume) => {
        const startedAt = Date.now()
        const timer = setInterval(() => {
          if (sockets.size <= limit) resume(Effect.void)
          else if (Date.now() - startedAt > 2000) resume(Effect.die(new Error(`${sockets.size} sockets are left open`)))
          else return
          clearInterval(timer)
        }, 5)
        return Effect.sync(() => clearInterval(timer))
      })
    return {
      url: `${tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}/mcp`,
      port,
      requests,
      methods: () => requests.map((request) => request.message.method ?? request.httpMethod),
      connections: () => connections,
      openSockets: () => sockets.size,
      quiet: atMost(0),
      atMost
    }
  })

/**
 * A whole response with a length.
 */
export const send = (
  socket: Net.Socket,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array = ""
): void => {
  const bytes = typeof body === "string" ? Buffer.from(body) : body
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("")
  socket.write(`HTTP/1.1 ${status} Status\r\n${lines}content-length: ${bytes.length}\r\n\r\n`)
  socket.write(bytes)
}

export const sendJson = (socket: Net.Socket, value: unknown, status = 200): void =>
  send(socket, status, { "content-type": "application/json" }, JSON.stringify(value))

/**
 * The good answer to a request: `result`, under its id.
 */
export const sendResult = (socket: Net.Socket, request: RawRequest, result: unknown): void =>
  sendJson(socket, { jsonrpc: "2.0", id: request.message.id, result })

export const sendError = (
  socket: Net.Socket,
  request: RawRequest,
  error: { readonly code: number; readonly message: string; readonly data?: unknown },
  status = 200
): void => sendJson(socket, { jsonrpc: "2.0", id: request.message.id, error }, status)

/**
 * The head of an event stream, chunked.
 */
export const openStream = (socket: Net.Socket): void => {
  socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
}

export const sendChunk = (socket: Net.Socket, text: string): void => {
  const bytes = Buffer.from(text)
  socket.write(`${bytes.length.toString(16)}\r\n`)
  socket.write(bytes)
  socket.write("\r\n")
}

export const endStream = (socket: Net.Socket): void => {
  socket.write("0\r\n\r\n")
}

export const textResult = (text: string) => ({ resultType: "complete", content: [{ type: "text", text }] })

/**
 * How long a result may be kept, which some clients insist on being told.
 */
const cacheable = { ttlMs: 0, cacheScope: "private" }

export const discoverResult = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  ...cacheable
}

const echo: Responder = (socket, request) => sendResult(socket, request, textResult("ok"))

const defaults: Readonly<Record<string, Responder>> = {
  "server/discover": (socket, request) => sendResult(socket, request, discoverResult),
  "tools/list": (socket, request) =>
    sendResult(socket, request, {
      resultType: "complete",
      tools: [{ name: "t", inputSchema: { type: "object" } }],
      ...cacheable
    }),
  "tools/call": echo
}

/**
 * A modern server with some of its answers replaced.
 */
export const modern = (replaced: Readonly<Record<string, Responder>> = {}): Responder => (socket, request) => {
  const method = request.message.method ?? request.httpMethod
  const respond = replaced[method] ?? defaults[method]
  if (respond === undefined) return sendError(socket, request, { code: -32601, message: "Method not found" }, 404)
  respond(socket, request)
}

/**
 * A legacy server with some of its answers replaced. It has a session, `s1`, `s2`, …, for every `initialize`.
 */
export const legacy = (
  replaced: Readonly<Record<string, Responder>> = {},
  version = "2025-11-25"
): Responder =>
(socket, request) => {
  const method = request.message.method ?? request.httpMethod
  const own: Readonly<Record<string, Responder>> = {
    ...defaults,
    "server/discover": (to) => send(to, 400, { "content-type": "text/plain" }, "Bad Request"),
    initialize: (to, { message, nth }) => {
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: message.id,
        result: { protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: "raw", version: "1" } }
      })
      send(to, 200, { "content-type": "application/json", "mcp-session-id": `s${nth + 1}` }, body)
    },
    "notifications/initialized": (to) => send(to, 202, {}),
    GET: (to) => send(to, 405, {}),
    DELETE: (to) => send(to, 200, {}),
    ...replaced
  }
  const respond = own[method]
  if (respond === undefined) return sendError(socket, request, { code: -32601, message: "Method not found" })
  respond(socket, request)
}
