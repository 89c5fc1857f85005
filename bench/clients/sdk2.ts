/**
 * The official TypeScript SDK, version 2.
 */
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv"
import { args, checkAnswer, checkLarge, checkTools, firstText, largeTool, modernVersion, tool } from "../tasks.ts"
import { type Client, fromPromises } from "./client.ts"
import { keepAliveFetch } from "./fetch.ts"

export const open = async (url: string): Promise<Client> => {
  const { close, fetch } = keepAliveFetch()
  const jsonSchemaValidator = new AjvJsonSchemaValidator()

  const connect = async (): Promise<McpClient> => {
    const client = new McpClient(
      { name: "bench", version: "1.0.0" },
      { jsonSchemaValidator, versionNegotiation: { mode: process.env.LEG ? "legacy" : { pin: modernVersion } } }
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch, redirectPolicy: "follow" }))
    return client
  }

  const callTool = async (client: McpClient, name: string): Promise<unknown> => {
    const { content } = await client.callTool({ name, arguments: args })
    return firstText(content)
  }

  const shared = await connect()
  return fromPromises({
    call: async () => checkAnswer(await callTool(shared, tool)),
    list: async () => checkTools((await shared.listTools(undefined, { cacheMode: "bypass" })).tools),
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
