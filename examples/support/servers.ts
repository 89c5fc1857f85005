/**
 * The servers that the demo visits. Each goes with the scope that it was started in, however that scope ends.
 */
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server"
import { Effect, type PlatformError, Schedule, type Scope } from "effect"
import { EgressGuard, type McpError } from "effect-mcp-client"
import { NodeMcp } from "effect-mcp-client/node"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { Unexpected } from "./expect.ts"

/**
 * Where a server is, and what it calls the tools that the demo calls.
 */
export interface Server {
  readonly url: string
  readonly sumTool: string
  readonly imageTool: string
}

const startupLimit = "30 seconds"

const listen = (listener: Http.RequestListener): Effect.Effect<number, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<Http.Server>((resume) => {
        const server = Http.createServer(listener)
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    ),
    (server) => (server.address() as AddressInfo).port
  )

/**
 * The official reference server of the legacy era, as a process of its own.
 */
export const everything: Effect.Effect<
  Server,
  McpError.McpError | PlatformError.PlatformError | Unexpected,
  ChildProcessSpawner.ChildProcessSpawner | Scope.Scope
> = Effect.gen(function*() {
  // It prints no port that it chose by itself, so that it has to be given one that was free a moment ago.
  const port = yield* Effect.scoped(listen(() => {}))
  const url = `http://127.0.0.1:${port}/mcp`
  const entry = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"))
  const child = yield* ChildProcess.make(process.execPath, [entry, "streamableHttp"], {
    // It listens on every interface and has a tool that shows its environment: there is nothing of ours in it.
    env: { PORT: String(port), SystemRoot: process.env["SystemRoot"] },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
    forceKillAfter: "2 seconds"
  })
  const ready = NodeMcp.connectHttp({ url, guard: EgressGuard.allowLoopback }).pipe(
    Effect.scoped,
    Effect.retry({
      while: (error) => error._tag === "ConnectionFailed" && error.reason._tag === "Unreachable",
      schedule: Schedule.spaced("50 millis")
    }),
    Effect.timeoutOrElse({
      duration: startupLimit,
      orElse: () => Effect.fail(new Unexpected({ message: `the server was not ready within ${startupLimit}` }))
    })
  )
  const gone = Effect.flatMap(
    child.exitCode,
    (code) => Effect.fail(new Unexpected({ message: `the server ended with code ${code} before it was ready` }))
  )
  yield* Effect.raceFirst(ready, gone)
  return { url, sumTool: "get-sum", imageTool: "get-tiny-image" }
})

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const makeModern = (): McpServer => {
  const server = new McpServer({ name: "modern-demo", version: "1.0.0" })
  server.registerTool(
    "echo",
    {
      description: "Answers with the message that it was sent",
      inputSchema: fromJsonSchema<{ readonly message: string }>({
        type: "object",
        properties: { message: { type: "string" } },
        required: ["message"]
      })
    },
    ({ message }) => ({ content: [{ type: "text", text: `Echo: ${message}` }] })
  )
  server.registerTool(
    "sum",
    {
      description: "Adds two numbers",
      inputSchema: fromJsonSchema<{ readonly a: number; readonly b: number }>({
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" } },
        required: ["a", "b"]
      })
    },
    ({ a, b }) => ({ content: [{ type: "text", text: `${a} and ${b} make ${a + b}` }] })
  )
  server.registerTool(
    "pixel",
    { description: "Draws a picture of one pixel" },
    () => ({ content: [{ type: "image", mimeType: "image/png", data: pixel }] })
  )
  return server
}

/**
 * A server of revision 2026-07-28, made with the official SDK, in this process. It refuses whoever speaks an older one.
 */
export const modern: Effect.Effect<Server, never, Scope.Scope> = Effect.gen(function*() {
  const handler = yield* Effect.acquireRelease(
    Effect.sync(() => createMcpHandler(makeModern, { legacy: "reject" })),
    (started) => Effect.promise(() => started.close())
  )
  const handle = toNodeHandler(handler)
  // Its type of a request is Node's own but for `exactOptionalPropertyTypes`.
  const port = yield* listen((request, response) => void handle(request as NodeIncomingMessageLike, response))
  return { url: `http://127.0.0.1:${port}/mcp`, sumTool: "sum", imageTool: "pixel" }
})
