/**
 * The server that every client talks to: as little as node:http allows, so that what is measured is the clients.
 *
 * Results are serialised once, when it starts. It speaks both eras, and tells them apart as the specification says: by
 * the `mcp-protocol-version` header of each request.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { answer, largeLength, largeTool, legacyVersion, modernVersion, pages, tool, toolsPerPage } from "./tasks.ts"

interface Message {
  readonly id?: number | string
  readonly method: string
  readonly params?: {
    readonly name?: string
    readonly cursor?: string
    readonly protocolVersion?: string
  }
}

const serverInfo = { name: "bench-server", version: "1.0.0" }
const capabilities = { tools: {} }

const toolEntry = (name: string) => ({
  name,
  title: name.replaceAll("_", " "),
  description:
    "Searches the documents of the workspace and returns the best matches with title, date and a short summary of each.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", description: "What to look for, in plain words", minLength: 1 },
      limit: { type: "integer", description: "How many results at most", minimum: 1, maximum: 100, default: 20 },
      includeArchived: { type: "boolean", description: "Whether archived documents count" },
      tags: { type: "array", items: { type: "string" }, description: "Only documents with all of these tags" }
    },
    required: ["query"],
    additionalProperties: false
  },
  annotations: { readOnlyHint: true, openWorldHint: false }
})

const page = (index: number) => ({
  tools: Array.from({ length: toolsPerPage }, (_, i) => {
    const number = index * toolsPerPage + i
    return toolEntry(number === 0 ? tool : number === 1 ? largeTool : `${tool}_${number}`)
  }),
  ...(index + 1 < pages ? { nextCursor: `page-${index + 1}` } : {})
})

const largeText = (): string => {
  const lines: Array<string> = []
  for (let length = 0, row = 0; length < largeLength; row++) {
    const line = `${row};2026-07-28T09:30:00Z;"EMEA, north";${row * 37 % 9973};confirmed by the regional desk\n`
    lines.push(line)
    length += line.length
  }
  return lines.join("").slice(0, largeLength)
}

const textResult = (text: string) => ({ content: [{ type: "text", text }], isError: false })

/**
 * The results of one era, as the bytes that are sent.
 */
const results = (modern: boolean) => {
  const complete = modern ? { resultType: "complete" } : {}
  // No hint of freshness: a client that serves a listing from its cache would be measured without the server.
  const cacheable = modern ? { ...complete, ttlMs: 0, cacheScope: "private" } : {}
  const bytes = (value: object): Buffer => Buffer.from(JSON.stringify(value))
  return {
    discover: bytes({
      ...cacheable,
      supportedVersions: [modernVersion],
      capabilities,
      _meta: { "io.modelcontextprotocol/serverInfo": serverInfo }
    }),
    initialize: bytes({ protocolVersion: legacyVersion, capabilities, serverInfo }),
    pages: Array.from({ length: pages }, (_, index) => bytes({ ...page(index), ...cacheable })),
    call: bytes({ ...textResult(answer), ...complete }),
    large: bytes({ ...textResult(largeText()), ...complete })
  }
}

const modernResults = results(true)
const legacyResults = results(false)

const resultOf = ({ method, params }: Message, modern: boolean): Buffer | undefined => {
  const era = modern ? modernResults : legacyResults
  switch (method) {
    case "tools/call":
      return params?.name === largeTool ? era.large : era.call
    case "tools/list":
      return era.pages[params?.cursor === undefined ? 0 : Number(params.cursor.slice("page-".length))]
    case "server/discover":
      return modern ? era.discover : undefined
    case "initialize":
      return era.initialize
    default:
      return undefined
  }
}

const small = 16 * 1024
const tail = Buffer.from("}")

const sendJson = (response: Http.ServerResponse, head: string, result: Buffer): void => {
  const length = head.length + result.length + tail.length
  response.writeHead(200, ["content-type", "application/json", "content-length", String(length)])
  if (result.length < small) {
    response.end(`${head}${result.toString("latin1")}}`, "latin1")
    return
  }
  response.write(head)
  response.write(result)
  response.end(tail)
}

const respond = (request: Http.IncomingMessage, response: Http.ServerResponse, body: string): void => {
  const message = JSON.parse(body) as Message
  if (message.id === undefined) {
    response.writeHead(202, ["content-length", "0"]).end()
    return
  }
  const id = JSON.stringify(message.id)
  const result = resultOf(message, request.headers["mcp-protocol-version"] === modernVersion)
  if (result === undefined) {
    sendJson(response, `{"jsonrpc":"2.0","id":${id},"error":`, Buffer.from(`{"code":-32601,"message":"not here"}`))
  } else {
    sendJson(response, `{"jsonrpc":"2.0","id":${id},"result":`, result)
  }
}

const server = Http.createServer((request, response) => {
  if (request.method !== "POST") {
    // No stream to listen on, no session to delete.
    response.writeHead(405, ["content-length", "0"]).end()
    return
  }
  let body = ""
  request.setEncoding("utf8")
  request.on("data", (chunk: string) => {
    body += chunk
  })
  request.on("end", () => respond(request, response, body))
})

// Sockets outlive the pauses between two turns of a client, so that nobody pays for dials within a task.
server.keepAliveTimeout = 600_000
server.headersTimeout = 0
server.requestTimeout = 0

server.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` })
})
process.once("disconnect", () => process.exit(0))
