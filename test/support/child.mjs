/**
 * Run as a process of its own: a stdio server that a test wrote. `argv[2]` is the source of a function, which is given
 * what a server needs; see `stdio.ts`.
 */
const write = (text) => process.stdout.write(text)
const send = (message) => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
const result = ({ id }, value) => send({ id, result: value })
const error = ({ id }, code, message = "refused") => send({ id, error: { code, message } })
const text = (message, value) => result(message, { resultType: "complete", content: [{ type: "text", text: value }] })

const known = {
  "server/discover": (message) =>
    result(message, { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }),
  "tools/list": (message) =>
    result(message, { resultType: "complete", tools: [{ name: "t", inputSchema: { type: "object" } }] }),
  "tools/call": (message) => text(message, "ok")
}

const legacy = {
  "server/discover": (message) => error(message, -32601),
  initialize: (message) =>
    result(message, {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "c", version: "1" }
    }),
  "notifications/initialized": () => {}
}

const serve = (answers = {}) => {
  const all = { ...known, ...answers }
  // `node:readline` would take a line separator within a string for a line end.
  let rest = ""
  process.stdin.setEncoding("utf8").on("data", (chunk) => {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop()
    for (const line of lines) {
      const message = JSON.parse(line)
      all["*"]?.(message, line)
      all[message.method ?? "response"]?.(message, line)
    }
  })
}

const { default: run } = await import(`data:text/javascript,${encodeURIComponent(`export default ${process.argv[2]}`)}`)
await run({ write, send, result, error, text, legacy, serve, args: process.argv.slice(3) })
