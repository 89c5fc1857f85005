/**
 * The official TypeScript SDK, version 2, as its documentation has it, told to find out which era a server speaks: by
 * default it speaks the legacy one alone. Every request is given the deadline.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { type Open, resultValue, toolsValue } from "./client.ts"

export const open: Open = async ({ deadline, url }) => {
  const options = deadline === undefined ? {} : { timeout: deadline }
  const client = new Client({ name: "hostile", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)), options)
  return {
    list: async () => toolsValue((await client.listTools(undefined, options)).tools),
    call: async () => resultValue(await client.callTool({ name: "t", arguments: {} }, options)),
    close: () => client.close()
  }
}
