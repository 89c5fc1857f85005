/**
 * The server that every client starts for itself: lines in, lines out, as little as Node allows. It speaks both eras.
 */
import { fileURLToPath } from "node:url"
import { answer, legacyVersion, modernVersion, tool } from "./tasks.ts"

/**
 * How it is started.
 */
export const server = { command: process.execPath, args: [fileURLToPath(import.meta.url)] }

const capabilities = { tools: {} }
const complete = { resultType: "complete" }
const cacheable = { ...complete, ttlMs: 0, cacheScope: "private" }
const serverInfo = { name: "bench-server", version: "1.0.0" }

const results: Record<string, string> = {
  "server/discover": JSON.stringify({
    ...cacheable,
    supportedVersions: [modernVersion],
    capabilities,
    _meta: { "io.modelcontextprotocol/serverInfo": serverInfo }
  }),
  initialize: JSON.stringify({ protocolVersion: legacyVersion, capabilities, serverInfo }),
  "tools/list": JSON.stringify({ ...cacheable, tools: [{ name: tool, inputSchema: { type: "object" } }] }),
  "tools/call": JSON.stringify({ ...complete, content: [{ type: "text", text: answer }] })
}

const serve = (): void => {
  let rest = ""
  process.stdin.setEncoding("utf8")
  process.stdin.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop()!
    for (const line of lines) {
      const { id, method } = JSON.parse(line) as { readonly id?: number | string; readonly method: string }
      const result = results[method]
      if (id === undefined) continue
      process.stdout.write(
        result === undefined
          ? `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"not here"}}\n`
          : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}\n`
      )
    }
  })
}

if (import.meta.main) serve()
