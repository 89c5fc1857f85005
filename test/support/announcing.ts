/**
 * Servers that announce something, of either era.
 */
import { McpPolicy } from "../../src/index.ts"
import * as Raw from "./rawServer.ts"

export const capabilities = {
  logging: {},
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true }
}

export const event = (value: object, fields = ""): string =>
  `${fields}data: ${JSON.stringify({ jsonrpc: "2.0", ...value })}\n\n`

export const modernWith = (answers: Readonly<Record<string, Raw.Responder>>) =>
  Raw.make(Raw.modern({
    "server/discover": (socket, request) => Raw.sendResult(socket, request, { ...Raw.discoverResult, capabilities }),
    ...answers
  }))

export const legacyWith = (answers: Readonly<Record<string, Raw.Responder>>) =>
  Raw.make(Raw.legacy({
    initialize: (socket, request) =>
      Raw.sendResult(socket, request, { protocolVersion: "2025-11-25", capabilities, serverInfo: {} }),
    GET: (socket) => Raw.send(socket, 405, {}),
    "resources/subscribe": (socket, request) => Raw.sendResult(socket, request, {}),
    "resources/unsubscribe": (socket, request) => Raw.sendResult(socket, request, {}),
    "logging/setLevel": (socket, request) => Raw.sendResult(socket, request, {}),
    ...answers
  }))

export const quick = McpPolicy.make({
  requestTimeout: 300,
  resumption: McpPolicy.resumption({ minDelay: 5, delay: 5, maxIdle: 3 })
})

export const counted = (server: Raw.RawServer, method: string): number =>
  server.methods().filter((seen) => seen === method).length
