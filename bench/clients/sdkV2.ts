/**
 * The official TypeScript SDK, version 2, at its best:
 *
 * - the modern era, pinned, so that connecting takes one request; over the legacy one its calls cost about the same;
 * - the quickest `fetch` that it can be given, and redirects left to it, which saves a layer around each request;
 * - one JSON Schema validator for all clients, since each would make one of its own; no tool here has an output schema;
 * - listings without its cache, which would serialise them once more for nothing: the server allows no reuse.
 *
 * What it checks of each message and result cannot be switched off.
 */
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv"
import { server } from "../stdioServer.ts"
import { modernVersion } from "../tasks.ts"
import type { Client } from "./client.ts"
import * as KeepAliveFetch from "./fetch.ts"
import { fromSdk } from "./sdk.ts"

export const open = async (url: string): Promise<Client> => {
  const { close, fetch } = KeepAliveFetch.make()
  const jsonSchemaValidator = new AjvJsonSchemaValidator()

  const makeClient = () =>
    new McpClient(
      { name: "bench", version: "1.0.0" },
      { jsonSchemaValidator, versionNegotiation: { mode: { pin: modernVersion } } }
    )

  const connectStdio = async (): Promise<McpClient> => {
    const client = makeClient()
    await client.connect(new StdioClientTransport({ ...server, stderr: "ignore" }))
    return client
  }

  const connect = async (): Promise<McpClient> => {
    const client = makeClient()
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch, redirectPolicy: "follow" }))
    return client
  }

  const listTools = async (client: McpClient): Promise<ReadonlyArray<unknown>> =>
    (await client.listTools(undefined, { cacheMode: "bypass" })).tools

  return fromSdk(connect, connectStdio, listTools, close)
}
