/**
 * The official TypeScript SDK, version 1.
 */
import { Client as McpClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv"
import { args, checkAnswer, checkLarge, checkTools, firstText, largeTool, tool } from "../tasks.ts"
import { type Client, fromPromises } from "./client.ts"
import { keepAliveFetch } from "./fetch.ts"

export const open = async (url: string): Promise<Client> => {
  const { close, fetch } = keepAliveFetch()
  const jsonSchemaValidator = new AjvJsonSchemaValidator()

  const connect = async (): Promise<McpClient> => {
    const client = new McpClient({ name: "bench", version: "1.0.0" }, { jsonSchemaValidator })
    const transport = new StreamableHTTPClientTransport(new URL(url), { fetch, redirectPolicy: "follow" })
    // Its own class does not satisfy its own interface under `exactOptionalPropertyTypes`.
    await client.connect(transport as Transport)
    return client
  }

  const callTool = async (client: McpClient, name: string): Promise<unknown> => {
    const { content } = await client.callTool({ name, arguments: args })
    return firstText(content)
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

  const shared = await connect()
  return fromPromises({
    call: async () => checkAnswer(await callTool(shared, tool)),
    list: async () => checkTools(await listTools(shared)),
    large: async () => checkLarge(await callTool(shared, largeTool)),
    workItem: async () => {
      const client = await connect()
      checkAnswer(await callTool(client, tool))
      await client.close()
    }
  }, async () => {
    await shared.close()
    await close()
  })
}
