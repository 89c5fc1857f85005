/**
 * `McpClient` of `effect/ai`, over the `HttpClient` that its documentation shows. Its user says which revision to speak,
 * and it knows two. Calls have a deadline only where they are given one, as they are here.
 */
import * as McpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import { Tool } from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { type Attempt, type Open, resultValue, toolsValue } from "./client.ts"
import { openScoped } from "./effects.ts"

const protocols: Partial<Record<Attempt["version"], McpProtocol.ProtocolAdapter<McpClient.ProtocolVersion>>> = {
  "2025-11-25": McpProtocol.v2025_11_25,
  "2026-07-28": McpProtocol.v2026_07_28
}

export const speaks = (version: Attempt["version"]): boolean => protocols[version] !== undefined

const tool = new Tool({ name: "t", inputSchema: { type: "object" } })

export const open: Open = ({ deadline, url, version }) => {
  const timeout = deadline === undefined ? {} : { timeout: deadline }
  const options = { name: "hostile", version: "1.0.0", url, protocol: protocols[version]!, ...timeout }
  const connect = McpClient.http(options).pipe(
    Effect.flatMap((transport) => Effect.provideService(McpClient.make(options), McpClient.Transport, transport)),
    Effect.provide(FetchHttpClient.layer)
  )
  return openScoped(connect, (client) => ({
    list: Effect.map(client.listTools(timeout), toolsValue),
    call: Effect.map(client.callTool({ tool, arguments: {} }, timeout), resultValue)
  }))
}
