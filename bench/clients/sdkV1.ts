/**
 * The official TypeScript SDK, version 1, at its best:
 *
 * - the legacy era, the only one that it knows: connecting takes it three requests (`initialize`, the notification, and
 *   a GET for a stream that the server refuses), and the server gives it no session, so that closing takes none;
 * - the quickest `fetch` that it can be given, and redirects left to it;
 * - one JSON Schema validator for all clients, since each would make one of its own; no tool here has an output schema.
 */
import { Client as McpClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv"
import { server } from "../stdioServer.ts"
import type { Client } from "./client.ts"
import * as KeepAliveFetch from "./fetch.ts"
import { fromSdk } from "./sdk.ts"

export const open = async (url: string): Promise<Client> => {
  const { close, fetch } = KeepAliveFetch.make()
  const jsonSchemaValidator = new AjvJsonSchemaValidator()

  const connect = async (): Promise<McpClient> => {
    const client = new McpClient({ name: "bench", version: "1.0.0" }, { jsonSchemaValidator })
    const transport = new StreamableHTTPClientTransport(new URL(url), { fetch, redirectPolicy: "follow" })
    // Its own class does not satisfy its own interface under `exactOptionalPropertyTypes`.
    await client.connect(transport as Transport)
    return client
  }

  const connectStdio = async (): Promise<McpClient> => {
    const client = new McpClient({ name: "bench", version: "1.0.0" }, { jsonSchemaValidator })
    await client.connect(new StdioClientTransport({ ...server, stderr: "ignore" }))
    return client
  }

  const listTools = async (client: McpClient): Promise<ReadonlyArray<unknown>> => {
    const tools: Array<unknown> = []
    let cursor: string | undefined
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor })
      tools.push(...page.tools)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return tools
  }

  return fromSdk(connect, connectStdio, listTools, close)
}
