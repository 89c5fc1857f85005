import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Raw from "./support/rawServer.ts"

const MiB = 1024 * 1024

const measure = (url: string): Effect.Effect<{ readonly outcome: string; readonly grew: number }> =>
  Effect.callback((resume) => {
    const script = fileURLToPath(new URL("./support/peakMemory.ts", import.meta.url))
    const child = spawn(process.execPath, [script, url], { stdio: ["ignore", "pipe", "inherit"] })
    let output = ""
    child.stdout.on("data", (chunk: Buffer) => output += chunk.toString())
    child.on("close", () => resume(Effect.sync(() => JSON.parse(output))))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const gigabyte = (type: string, piece: Uint8Array): Raw.Responder => (socket) => {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`)
  let left = 1024 * MiB
  const more = () => {
    while (left > 0 && !socket.destroyed) {
      left -= piece.length
      if (!socket.write(piece)) return
    }
  }
  socket.on("drain", more)
  more()
}

const framed = (piece: string): Uint8Array => Buffer.from(`${piece.length.toString(16)}\r\n${piece}\r\n`)

describe("a gigabyte of body costs less than 64 MiB of memory", () => {
  for (
    const [what, respond] of [
      ["as JSON", gigabyte("application/json", framed("[".repeat(65_536)))],
      ["as an event stream of one line", gigabyte("text/event-stream", framed("x".repeat(65_536)))],
      ["as JSON in pieces of one byte", gigabyte("application/json", Buffer.from("1\r\n[\r\n".repeat(8192)))],
      ["as an event stream of short lines", gigabyte("text/event-stream", framed("data: x\n".repeat(8192)))],
      [
        "as an event stream in pieces of one byte",
        gigabyte("text/event-stream", Buffer.from("1\r\nx\r\n".repeat(8192)))
      ]
    ] as const
  ) {
    it.live(what, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.modern({
          "tools/call": (socket, request) =>
            request.message.params.name === "warm"
              ? Raw.sendResult(socket, request, Raw.textResult("ok"))
              : respond(socket, request)
        }))
        const { grew, outcome } = yield* measure(server.url)
        assert.strictEqual(outcome, "ConnectionFailed/BudgetExceeded")
        assert.isBelow(grew, 64 * MiB)
        if (process.env["SHOW"]) console.log(what, grew / MiB)
      }), 60_000)
  }
})
