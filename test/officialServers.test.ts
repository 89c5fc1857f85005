/**
 * Servers that others wrote.
 */
import { assert, describe, it } from "@effect/vitest"
import { toNodeHandler } from "@modelcontextprotocol/node"
import {
  acceptedContent,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  McpServer
} from "@modelcontextprotocol/server"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { spawn } from "node:child_process"
import * as Http from "node:http"
import { createRequire } from "node:module"
import * as Net from "node:net"
import { McpToolkit } from "../src/ai.ts"
import {
  type ClientFeatures,
  Elicitation,
  McpCache,
  McpConnection,
  type Notification,
  type Root
} from "../src/index.ts"
import { connect } from "./support/connect.ts"
import { listen } from "./support/listen.ts"
import * as ScriptedModel from "./support/scriptedModel.ts"
import { until } from "./support/until.ts"

const freePort: Effect.Effect<number> = Effect.callback((resume) => {
  const server = Net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as Net.AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})

/**
 * Forwards to another port, and keeps the request lines and methods that went through.
 */
const counting = (target: number) =>
  Effect.gen(function*() {
    const seen: Array<string> = []
    const server = Http.createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const body = Buffer.concat(chunks)
        const method: unknown = body.length === 0 ? undefined : JSON.parse(body.toString()).method
        seen.push(typeof method === "string" ? method : request.method!)
        const { headers, method: httpMethod, url } = request
        const onward = Http.request(
          { port: target, host: "127.0.0.1", path: url, method: httpMethod, headers },
          (from) => {
            response.writeHead(from.statusCode!, from.headers)
            from.pipe(response)
          }
        )
        onward.end(body)
      })
    })
    const port = yield* listen(server, () => server.closeAllConnections())
    return { url: `http://127.0.0.1:${port}/mcp`, seen }
  })

const everything = Effect.fnUntraced(function*(transport: "streamableHttp" | "sse") {
  const port = yield* freePort
  const script = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js")
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [script, transport], {
        env: { ...process.env, PORT: String(port) },
        stdio: "ignore"
      })
    ),
    (child) =>
      Effect.callback<void>((resume) => {
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGKILL")
      })
  )
  const listening = Effect.callback<void, Error>((resume) => {
    const socket = Net.connect(port, "127.0.0.1", () => {
      socket.destroy()
      resume(Effect.void)
    })
    socket.on("error", (error) => resume(Effect.fail(error)))
  })
  yield* Effect.orDie(Effect.retry(listening, Schedule.upTo(Schedule.spaced("50 millis"), { duration: "15 seconds" })))
  return port
})

const modern = Effect.gen(function*() {
  const handler = createMcpHandler(() => {
    const server = new McpServer(
      { name: "modern", version: "1.0.0" },
      { cacheHints: { "tools/list": { ttlMs: 60_000, cacheScope: "public" } } }
    )
    const sum = fromJsonSchema<{ a: number; b: number }>({
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"]
    })
    server.registerTool("confirm", { description: "Asks" }, (context) => {
      const { confirmed } = acceptedContent<{ confirmed?: boolean }>(context.mcpReq.inputResponses, "sure") ?? {}
      if (confirmed !== undefined) return { content: [{ type: "text", text: `confirmed: ${confirmed}` }] }
      return inputRequired({
        inputRequests: {
          sure: inputRequired.elicit({
            message: "Sure?",
            requestedSchema: { type: "object", properties: { confirmed: { type: "boolean" } }, required: ["confirmed"] }
          })
        }
      })
    })
    server.registerTool("sum", { description: "Adds", inputSchema: sum }, ({ a, b }) => ({
      content: [{ type: "text", text: String(a + b) }]
    }))
    return server
  })
  const respond = toNodeHandler(handler)
  const server = Http.createServer((request, response) =>
    void respond(request as Parameters<typeof respond>[0], response)
  )
  return { port: yield* listen(server, () => server.closeAllConnections()), notify: handler.notify }
})

describe("official servers", () => {
  it.live("everything (legacy, event streams): three requests to connect, and a DELETE", () =>
    Effect.gen(function*() {
      const { seen, url } = yield* counting(yield* everything("streamableHttp"))
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* connect(url)
        assert.strictEqual(connection.protocolVersion, "2025-11-25")
        assert.deepStrictEqual(seen, ["server/discover", "initialize", "notifications/initialized"])
        const tools = yield* connection.listTools()
        assert.includeMembers(tools.map(({ name }) => name), ["echo", "get-sum", "get-tiny-image"])
        assert.strictEqual((yield* connection.callTool("echo", { message: "hé" })).text, "Echo: hé")
        assert.include((yield* connection.callTool("get-sum", { a: 2, b: 3 })).text, "5")
        const image = (yield* connection.callTool("get-tiny-image")).content.find(({ type }) => type === "image")
        assert.deepStrictEqual(image?.type === "image" ? [...image.data.subarray(1, 4)] : [], [0x50, 0x4e, 0x47])
        const where = { location: "New York" }
        const structured = yield* connection.callTool("get-structured-content", where, { validateOutput: true })
        assert.property(structured.structuredContent, "temperature")
        const Weather = Schema.Struct({ temperature: Schema.Finite, conditions: Schema.String })
        const weather = yield* McpConnection.callToolAs(connection, Weather, "get-structured-content", where)
        assert.isString(weather.conditions)
      }))
      assert.strictEqual(seen.at(-1), "DELETE")
    }), 30_000)

  it.live("everything: a tool that has to be called as a task, and one that is given up", () =>
    Effect.gen(function*() {
      const { seen, url } = yield* counting(yield* everything("streamableHttp"))
      const connection = yield* connect(url)
      const told: Array<string | undefined> = []
      const result = yield* connection.callTool("simulate-research-query", { topic: "tea" }, {
        onProgress: ({ message }) => Effect.sync(() => told.push(message))
      })
      assert.include(result.text, "Research Report: tea")
      assert.includeMembers(told, ["Analyzing content..."])
      assert.includeMembers(seen, ["tools/list", "tools/call", "tasks/get", "tasks/result"])

      const calling = yield* Effect.forkChild(connection.callTool("simulate-research-query", { topic: "coffee" }))
      const before = seen.length
      yield* until(() => seen.slice(before).includes("tasks/get"))
      yield* Fiber.interrupt(calling)
      yield* until(() => seen.includes("tasks/cancel"))
    }), 30_000)

  it.live("everything: a task that asks the user", () =>
    Effect.gen(function*() {
      const form = () => Effect.succeed(Elicitation.accept({ interpretation: "snake" }))
      const url = `http://127.0.0.1:${yield* everything("streamableHttp")}/mcp`
      const connection = yield* connect(url, { features: { elicitation: { form } } })
      const { text } = yield* connection.callTool("simulate-research-query", { topic: "python", ambiguous: true })
      assert.include(text, "Research Report: python (snake)")
    }), 30_000)

  it.live("everything, as a model's toolkit", () =>
    Effect.gen(function*() {
      const connection = yield* connect(`http://127.0.0.1:${yield* everything("streamableHttp")}/mcp`)
      const toolkit = yield* McpToolkit.make(connection, { prefix: "everything_", exclude: ["get-env"] })
      assert.deepStrictEqual(toolkit.refused, [])
      assert.notProperty(toolkit.tools, "everything_get-env")
      const scripted = yield* ScriptedModel.make(
        [["everything_get-sum", { a: 2, b: 3 }]],
        [["everything_get-tiny-image", {}], ["everything_get-sum", { a: "two" }]],
        "Done"
      )
      const { results } = yield* ScriptedModel.converse(scripted, toolkit)
      const outcomes = results.map(({ isFailure, name, result }) => [name, isFailure, result] as const)
      const sums = outcomes.filter(([name]) => name === "everything_get-sum")
      assert.deepStrictEqual(sums.map(([, isFailure]) => isFailure), [false, true])
      const failure = sums[1]![2]
      assert.isTrue(failure instanceof McpToolkit.McpToolFailure && failure.message !== "")
      const image = ScriptedModel.told(scripted).find(({ name }) => name === "everything_get-tiny-image")
      assert.isTrue(image?.modelOutput?.some((part) => part.type === "file" && part.mediaType === "image/png"))
    }), 30_000)

  it.live("everything (HTTP+SSE of 2024-11-05)", () =>
    Effect.gen(function*() {
      const port = yield* everything("sse")
      const connection = yield* connect(`http://127.0.0.1:${port}/sse`, { legacySse: true })
      assert.includeMembers((yield* connection.listTools()).map(({ name }) => name), ["echo", "get-sum"])
      assert.strictEqual((yield* connection.callTool("echo", { message: "hé" })).text, "Echo: hé")
    }), 30_000)

  it.live("everything asks for forms, pages, messages and roots", () =>
    Effect.gen(function*() {
      const { seen, url } = yield* counting(yield* everything("streamableHttp"))
      const asked: Array<string> = []
      const roots = yield* SubscriptionRef.make<ReadonlyArray<Root.Root>>([{ uri: "file:///first", name: "First" }])
      const features: ClientFeatures.ClientFeatures = {
        elicitation: {
          form: ({ fields }) => {
            asked.push(...fields.map(({ name, type }) => `${name}: ${type}`))
            return Effect.succeed(Elicitation.accept({ name: "Ann", integer: 7 }))
          },
          url: ({ url: page }) => {
            asked.push(page.href)
            return Effect.succeed({ action: "accept" })
          }
        },
        sampling: ({ maxTokens, messages }) => {
          const [block] = messages[0]!.content
          return Effect.succeed({
            model: "parrot",
            content: `${maxTokens}: ${block?.type === "text" ? block.text : ""}`,
            stopReason: "endTurn"
          })
        },
        roots
      }
      const connection = yield* connect(url, { features })
      const names = (yield* connection.listTools()).map(({ name }) => name)
      assert.includeMembers(names, ["trigger-elicitation-request", "trigger-sampling-request", "get-roots-list"])

      const filled = (yield* connection.callTool("trigger-elicitation-request")).text
      assert.includeMembers(asked.splice(0), ["name: text", "integer: integer", "legacyTitledEnum: choice"])
      assert.include(filled, "- Name: Ann")
      assert.include(filled, "- Favorite Integer: 7")
      // Left to the server's defaults.
      assert.include(filled, "It was a dark and stormy night.")
      assert.include(filled, "fish-1")

      const sampled = (yield* connection.callTool("trigger-sampling-request", { prompt: "hé", maxTokens: 9 })).text
      assert.include(sampled, `"model": "parrot"`)
      assert.include(sampled, "9: Resource trigger-sampling-request context: hé")

      assert.include((yield* connection.callTool("get-roots-list")).text, "file:///first")
      const told = yield* Effect.forkChild(
        Effect.repeat(connection.callTool("get-roots-list"), {
          until: ({ text }) => text.includes("file:///second"),
          schedule: Schedule.spaced("20 millis")
        })
      )
      yield* SubscriptionRef.set(roots, [{ uri: "file:///second" }])
      yield* Fiber.join(told)
      assert.include(seen, "notifications/roots/list_changed")

      const page = { url: "https://a.example/x", message: "go" }
      assert.include((yield* connection.callTool("trigger-url-elicitation", page)).text, "User completed")
      const refused = { ...page, url: "http://a.example/x" }
      assert.include((yield* connection.callTool("trigger-url-elicitation", refused)).text, "User declined")
      assert.deepStrictEqual(asked.splice(0), ["https://a.example/x"])
      // Refused with -32042 first, and sent once more when the user has been there.
      const required = yield* connection.callTool("trigger-url-elicitation", { ...page, errorPath: true })
      assert.include(required.text, "User completed")
      assert.deepStrictEqual(asked, ["https://modelcontextprotocol.io/", "https://a.example/x"])
    }), 30_000)

  it.live("everything tells how far it has got, what has changed, and what it logs", () =>
    Effect.gen(function*() {
      const connection = yield* connect(`http://127.0.0.1:${yield* everything("streamableHttp")}/mcp`)
      const told: Array<Notification.Progress> = []
      const onProgress = (progress: Notification.Progress) => Effect.sync(() => void told.push(progress))
      yield* connection.callTool("trigger-long-running-operation", { duration: 0.1, steps: 2 }, { onProgress })
      assert.deepStrictEqual(told, [{ progress: 1, total: 2 }, { progress: 2, total: 2 }])

      const [resource] = yield* connection.listResources()
      const changes = connection.subscribe({ resourceSubscriptions: [resource!.uri] })
      const changed = yield* Deferred.make<Notification.ChangeNotification>()
      yield* Effect.forkChild(Stream.runForEach(changes, (change) => Deferred.succeed(changed, change)))
      const logged = yield* Effect.forkChild(Stream.runHead(
        Stream.filter(connection.notifications, ({ _tag }) => _tag === "LoggingMessage")
      ))
      yield* connection.setLogLevel("debug")
      // It tells once at once, and of what is subscribed to by then.
      yield* Effect.repeat(connection.callTool("toggle-subscriber-updates"), {
        while: () => Effect.map(Deferred.poll(changed), Option.isNone)
      })
      assert.deepStrictEqual(yield* Deferred.await(changed), { _tag: "ResourceUpdated", uri: resource!.uri })
      yield* connection.callTool("toggle-simulated-logging")
      assert.isTrue(Option.isSome(yield* Fiber.join(logged)))
    }), 30_000)

  it.live("everything asks over HTTP+SSE too", () =>
    Effect.gen(function*() {
      const port = yield* everything("sse")
      const features = { roots: [{ uri: "file:///work" }] }
      const connection = yield* connect(`http://127.0.0.1:${port}/sse`, { legacySse: true, features })
      assert.include((yield* connection.callTool("get-roots-list")).text, "file:///work")
    }), 30_000)

  it.live("@modelcontextprotocol/server (2026-07-28): one request to connect, and nothing to delete", () =>
    Effect.gen(function*() {
      const { seen, url } = yield* counting((yield* modern).port)
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* connect(url)
        assert.strictEqual(connection.protocolVersion, "2026-07-28")
        assert.deepStrictEqual(seen, ["server/discover"])
        assert.sameMembers((yield* connection.listTools()).map(({ name }) => name), ["confirm", "sum"])
        assert.strictEqual((yield* connection.callTool("sum", { a: 2, b: 3 })).text, "5")
      }))
      assert.deepStrictEqual(seen, ["server/discover", "tools/list", "tools/call"])
    }))

  it.live("@modelcontextprotocol/server (2026-07-28): a list is kept for as long as its hint says", () =>
    Effect.gen(function*() {
      const { seen, url } = yield* counting((yield* modern).port)
      const connection = yield* Effect.flatMap(connect(url), (below) => McpCache.make(below))
      const first = yield* connection.listTools()
      assert.strictEqual((yield* connection.callTool("sum", { a: 2, b: 3 })).text, "5")
      assert.deepStrictEqual(yield* connection.listTools(), first)
      assert.deepStrictEqual(seen, ["server/discover", "tools/list", "tools/call"])
    }))

  it.live(
    "@modelcontextprotocol/server (2026-07-28): input is given, and changes are told of",
    () =>
      Effect.gen(function*() {
        const { notify, port } = yield* modern
        const features: ClientFeatures.ClientFeatures = {
          elicitation: { form: () => Effect.succeed(Elicitation.accept({ confirmed: true })) }
        }
        const connection = yield* connect(`http://127.0.0.1:${port}/mcp`, { features })
        assert.strictEqual((yield* connection.callTool("confirm")).text, "confirmed: true")
        const changed = yield* Deferred.make<Notification.ChangeNotification>()
        yield* Effect.forkChild(Stream.runForEach(
          connection.subscribe({ toolsListChanged: true }),
          (change) => Deferred.succeed(changed, change)
        ))
        // It tells those who listen by then.
        yield* Effect.repeat(
          Effect.andThen(Effect.sync(() => notify.toolsChanged()), connection.callTool("sum", { a: 1, b: 1 })),
          {
            while: () => Effect.map(Deferred.poll(changed), Option.isNone)
          }
        )
        assert.deepStrictEqual(yield* Deferred.await(changed), { _tag: "ToolListChanged" })
      }),
    30_000
  )
})
