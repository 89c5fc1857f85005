/**
 * Calls that servers make tasks, over stdio. What a task is and how it ends is the same over both transports: see
 * tasks.test.ts.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Elicitation, type McpConnection, McpPolicy } from "../src/index.ts"
import * as Stdio from "./support/stdio.ts"
import { child } from "./support/stdio.ts"
import { id } from "./support/taskServer.ts"

const policy = Stdio.quick({ taskPolling: McpPolicy.taskPolling({ minDelay: 1, delay: 1 }) })

const features = { elicitation: { form: () => Effect.succeed(Elicitation.accept({ name: "Ada" })) } }

/**
 * A server of either era, where "t" is a task that ends, "asks" one that wants a name first, and "endless" one that never
 * ends. "heard" tells what came.
 */
const server = (version: "2026-07-28" | "2025-11-25") =>
  child(
    ({ args: [taskId, era], legacy, result, serve, text }) => {
      const isModern = era === "2026-07-28"
      const heard: Array<unknown> = []
      const dates = { createdAt: "2026-07-28T10:30:00Z", lastUpdatedAt: "2026-07-28T10:40:00Z" }
      const task = (status: string, more: object = {}) => ({
        taskId,
        status,
        ...dates,
        ...(isModern ? { ttlMs: 60_000, pollIntervalMs: 0 } : { ttl: 60_000, pollInterval: 0 }),
        ...more
      })
      const done = (words: string) => ({ content: [{ type: "text", text: words }] })
      const schema = { type: "object", properties: { name: { type: "string" } } }
      const question = { method: "elicitation/create", params: { message: "Name?", requestedSchema: schema } }
      let called = ""
      let looks = 0
      let answer: any

      const state = () => {
        looks++
        if (called === "endless" || looks === 1) return task("working")
        if (!isModern) return task("completed")
        if (called === "asks" && answer === undefined) {
          return task("input_required", { inputRequests: { who: question } })
        }
        return task("completed", { result: done(answer === undefined ? "done" : answer.content.name) })
      }

      const capabilities = isModern
        ? { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } }
        : { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } }
      serve({
        ...(isModern
          ? {
            "server/discover": (message) =>
              result(message, { resultType: "complete", supportedVersions: [era], capabilities })
          }
          : {
            ...legacy,
            initialize: (message) => result(message, { protocolVersion: era, capabilities })
          }),
        "*": ({ method, params }) => {
          if (method?.startsWith("tasks/")) heard.push({ method, ...params, _meta: undefined })
        },
        "tools/list": (message) =>
          result(message, {
            resultType: "complete",
            tools: ["t", "asks", "endless", "heard"].map((name) => ({
              name,
              inputSchema: { type: "object" },
              execution: { taskSupport: name === "heard" ? "forbidden" : "required" }
            }))
          }),
        "tools/call": (message) => {
          if (message.params.name === "heard") {
            text(message, JSON.stringify(heard))
          } else {
            called = message.params.name
            result(message, isModern ? { resultType: "task", ...task("working") } : { task: task("working") })
          }
        },
        "tasks/get": (message) => result(message, { resultType: "complete", ...state() }),
        "tasks/result": (message) => result(message, done("done")),
        "tasks/update": (message) => {
          answer = message.params.inputResponses.who
          result(message, { resultType: "complete" })
        },
        "tasks/cancel": (message) => result(message, { resultType: "complete", ...task("cancelled") })
      })
    },
    id,
    version
  )

const heardBy = (
  connection: McpConnection.Service
): Effect.Effect<ReadonlyArray<{ readonly method: string; readonly [param: string]: unknown }>> =>
  Effect.orDie(Effect.map(connection.callTool("heard"), ({ text }) => JSON.parse(text)))

const connectTo = (version: "2026-07-28" | "2025-11-25") =>
  Effect.gen(function*() {
    const stdio = yield* Stdio.make
    const connection = yield* stdio.connect({ ...server(version), policy, features })
    assert.strictEqual(connection.protocolVersion, version)
    yield* connection.listTools()
    return connection
  })

const get = { method: "tasks/get", taskId: id }

describe("a task over stdio", () => {
  it.live("of the extension (2026-07-28) is polled to its end", () =>
    Effect.gen(function*() {
      const connection = yield* connectTo("2026-07-28")
      assert.strictEqual((yield* connection.callTool("t")).text, "done")
      assert.deepStrictEqual(yield* heardBy(connection), [get, get])
    }))

  it.live("of the extension is given the input that it asks for", () =>
    Effect.gen(function*() {
      const connection = yield* connectTo("2026-07-28")
      assert.strictEqual((yield* connection.callTool("asks")).text, "Ada")
      assert.deepStrictEqual(yield* heardBy(connection), [
        get,
        get,
        {
          method: "tasks/update",
          taskId: id,
          inputResponses: { who: { action: "accept", content: { name: "Ada" } } }
        },
        get
      ])
    }))

  it.live("of 2025-11-25 is polled to its end, and its result is fetched", () =>
    Effect.gen(function*() {
      const connection = yield* connectTo("2025-11-25")
      assert.strictEqual((yield* connection.callTool("t")).text, "done")
      assert.deepStrictEqual(yield* heardBy(connection), [get, get, { method: "tasks/result", taskId: id }])
    }))

  for (const version of ["2026-07-28", "2025-11-25"] as const) {
    it.live(`is cancelled at the server where the call is interrupted (${version})`, () =>
      Effect.gen(function*() {
        const connection = yield* connectTo(version)
        const calling = yield* Effect.forkChild(connection.callTool("endless"))
        yield* Effect.repeat(heardBy(connection), { until: (heard) => heard.length >= 3 })
        yield* Fiber.interrupt(calling)
        const heard = yield* Effect.repeat(heardBy(connection), {
          until: (all) => all.some(({ method }) => method === "tasks/cancel")
        })
        const cancels = heard.filter(({ method }) => method === "tasks/cancel")
        assert.deepStrictEqual(cancels, [{ method: "tasks/cancel", taskId: id }])
      }))
  }
})
