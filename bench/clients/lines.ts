/**
 * The baseline over stdio: a child process, `JSON.stringify`, and `JSON.parse` of each line that comes back.
 */
import { spawn } from "node:child_process"
import { server } from "../stdioServer.ts"

type Result = { readonly content: unknown }

export const open = () => {
  const child = spawn(server.command, server.args, { stdio: ["pipe", "pipe", "ignore"] })
  const pending = new Map<number, (result: Result) => void>()
  let lastId = 0
  let rest = ""
  child.stdout.setEncoding("utf8")
  child.stdout.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop()!
    for (const line of lines) {
      const { id, result } = JSON.parse(line) as { readonly id: number; readonly result: Result }
      pending.get(id)!(result)
      pending.delete(id)
    }
  })
  return {
    send: (method: string, params: object): Promise<Result> =>
      new Promise((resolve) => {
        const id = ++lastId
        pending.set(id, resolve)
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
      })
  }
}
