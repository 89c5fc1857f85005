/**
 * Servers that others wrote, over stdio.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Elicitation, type McpConnection, type McpError } from "../src/index.ts"
import * as Stdio from "./support/stdio.ts"

const require = createRequire(import.meta.url)

interface Server {
  readonly script: string
  readonly args: (folder: string) => ReadonlyArray<string>
  readonly env?: (folder: string) => Readonly<Record<string, string>>
  /**
   * A tool, its arguments, and what its text has in it.
   */
  readonly call: readonly [tool: string, args: (folder: string) => Record<string, unknown>, text: string]
}

const everything = require.resolve("@modelcontextprotocol/server-everything/dist/index.js")

const servers: Readonly<Record<string, Server>> = {
  "server-everything": {
    script: everything,
    args: () => ["stdio"],
    call: ["echo", () => ({ message: "hello" }), "Echo: hello"]
  },
  "server-filesystem": {
    script: require.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
    args: (folder) => [folder],
    call: ["list_allowed_directories", () => ({}), "Allowed directories"]
  },
  "server-memory": {
    script: require.resolve("@modelcontextprotocol/server-memory/dist/index.js"),
    args: () => [],
    env: (folder) => ({ MEMORY_FILE_PATH: join(folder, "memory.jsonl") }),
    call: ["read_graph", () => ({}), "entities"]
  },
  "server-sequential-thinking": {
    script: require.resolve("@modelcontextprotocol/server-sequential-thinking/dist/index.js"),
    args: () => [],
    call: [
      "sequentialthinking",
      () => ({ thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }),
      "thoughtNumber"
    ]
  }
}

const visit = (
  { call: [tool, args, expected] }: Server,
  connection: McpConnection.Service,
  folder: string
): Effect.Effect<void, McpError.McpError> =>
  Effect.gen(function*() {
    assert.strictEqual(connection.protocolVersion, "2025-11-25")
    assert.include((yield* connection.listTools()).map(({ name }) => name), tool)
    const { isError, text } = yield* connection.callTool(tool, args(folder))
    assert.isFalse(isError)
    assert.include(text, expected)
  })

describe("over stdio", () => {
  for (const [name, server] of Object.entries(servers)) {
    it.live(
      `${name}: connect, list, call, and nothing left`,
      () =>
        Effect.gen(function*() {
          const folder = yield* Effect.acquireRelease(
            Effect.sync(() => mkdtempSync(join(tmpdir(), "stdio-"))),
            (made) => Effect.sync(() => rmSync(made, { recursive: true }))
          )
          const stdio = yield* Stdio.make
          yield* Effect.scoped(Effect.flatMap(
            stdio.connect({
              command: process.execPath,
              args: [server.script, ...server.args(folder)],
              env: server.env?.(folder),
              policy: Stdio.quick({ exitTimeout: "2 seconds" })
            }),
            (connection) => visit(server, connection, folder)
          ))
          assert.strictEqual(stdio.pids.length, 1)
          yield* Stdio.nothingLeft(stdio)
        }),
      30_000
    )
  }

  it.live(
    "server-everything: two calls at once, in one process, each with its own answer",
    () =>
      Effect.gen(function*() {
        const stdio = yield* Stdio.make
        const connection = yield* stdio.connect({
          command: process.execPath,
          args: [everything, "stdio"]
        })
        const messages = ["one", "two", "three", "four"]
        const answers = yield* Effect.forEach(messages, (message) => connection.callTool("echo", { message }), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(answers.map(({ text }) => text), messages.map((message) => `Echo: ${message}`))
      }),
    30_000
  )

  it.live(
    "server-everything: a tool that has to be called as a task, which asks the user",
    () =>
      Effect.gen(function*() {
        const stdio = yield* Stdio.make
        const form = () => Effect.succeed(Elicitation.accept({ interpretation: "snake" }))
        const connection = yield* stdio.connect({
          command: process.execPath,
          args: [everything, "stdio"],
          policy: Stdio.quick({ exitTimeout: "2 seconds" }),
          features: { elicitation: { form } }
        })
        const { text } = yield* connection.callTool("simulate-research-query", { topic: "python", ambiguous: true })
        assert.include(text, "Research Report: python (snake)")
      }),
    30_000
  )
})
