/**
 * The baseline: `undici.request` with `JSON.stringify` and `JSON.parse`, and the headers and `_meta` without which a
 * modern server may refuse. Nothing is checked that the protocol would have one check.
 */
import { Agent, request } from "undici"
import { args, checkAnswer, checkLarge, checkTools, firstText, largeTool, modernVersion, tool } from "../tasks.ts"
import { type Client, fromPromises, lazily } from "./client.ts"
import * as Lines from "./lines.ts"

interface Result {
  readonly content: unknown
  readonly tools: ReadonlyArray<unknown>
  readonly nextCursor?: string
}

const _meta = {
  "io.modelcontextprotocol/protocolVersion": modernVersion,
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {}
}

const headersOf = (method: string, name: string | undefined): Record<string, string> => ({
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": modernVersion,
  "mcp-method": method,
  ...(name === undefined ? {} : { "mcp-name": name })
})

export const open = async (url: string): Promise<Client> => {
  const dispatcher = new Agent()
  let lastId = 0

  const send = async (method: string, params: object, name?: string): Promise<Result> => {
    const { body } = await request(url, {
      method: "POST",
      headers: headersOf(method, name),
      body: JSON.stringify({ jsonrpc: "2.0", id: ++lastId, method, params: { ...params, _meta } }),
      dispatcher
    })
    return (JSON.parse(await body.text()) as { readonly result: Result }).result
  }

  const callTool = async (name: string): Promise<unknown> => {
    const { content } = await send("tools/call", { name, arguments: args }, name)
    return firstText(content)
  }

  const listTools = async (): Promise<ReadonlyArray<unknown>> => {
    const tools: Array<unknown> = []
    let cursor: string | undefined
    do {
      const page = await send("tools/list", cursor === undefined ? {} : { cursor })
      tools.push(...page.tools)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return tools
  }

  const lines = lazily(Lines.open)

  return fromPromises({
    echo: async () => {
      const { content } = await lines().send("tools/call", { name: tool, arguments: args, _meta })
      checkAnswer(firstText(content))
    },
    call: async () => checkAnswer(await callTool(tool)),
    list: async () => checkTools(await listTools()),
    large: async () => checkLarge(await callTool(largeTool)),
    workItem: async () => {
      await send("server/discover", {})
      checkAnswer(await callTool(tool))
    }
  }, () => dispatcher.close())
}
