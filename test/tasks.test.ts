/**
 * Calls that servers make tasks: the extension of 2026-07-28, and the experiment of 2025-11-25.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import {
  type ClientFeatures,
  Elicitation,
  type McpConnection,
  type McpError,
  McpPolicy,
  type Notification
} from "../src/index.ts"
import { connect, failsWith, kind } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"
import * as Tasks from "./support/taskServer.ts"
import { until } from "./support/until.ts"

const quick = McpPolicy.make({ taskPolling: McpPolicy.taskPolling({ minDelay: 1, delay: 1 }) })

const call = (server: Raw.RawServer, options?: McpConnection.CallOptions, policy = quick) =>
  Effect.flatMap(connect(server.url, { policy }), (connection) => connection.callTool("t", { a: 1 }, options))

/**
 * How a call fails, once whatever else goes out has gone out: later requests that dial sockets of their own have been
 * answered.
 */
const failure = (server: Raw.RawServer) =>
  Effect.gen(function*() {
    const connection = yield* connect(server.url, { policy: quick })
    const error = yield* Effect.flip(connection.callTool("t"))
    const others = Array.from({ length: 4 }, () => Effect.ignore(connection.listTools()))
    yield* Effect.repeat(Effect.all(others, { concurrency: "unbounded" }), { times: 2 })
    return error
  })

const reasonOf = <Tag extends string>(error: McpError.McpError, tag: Tag) => {
  assert.strictEqual(error._tag, "ServerAnswered")
  const { reason } = error as McpError.ServerAnswered
  assert.strictEqual(reason._tag as string, tag)
  return reason as Extract<McpError.ServerAnsweredReason, { readonly _tag: Tag }>
}

const capabilitiesOf = ({ message }: Raw.RawRequest) =>
  message.params._meta["io.modelcontextprotocol/clientCapabilities"]

const nameSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] }

const { asked, content, fails, legacyTask, states, task } = Tasks

describe("a task of the extension (2026-07-28)", () => {
  it.live("is polled to its end, and its result is that of the call", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.modern({
        "tasks/get": states(task("working"), task("working"), task("completed", { result: content("done") }))
      }))
      const result = yield* call(server)
      assert.strictEqual(result.text, "done")
      assert.isFalse(result.isError)
      assert.deepStrictEqual(server.methods(), [
        "server/discover",
        "tools/call",
        "tasks/get",
        "tasks/get",
        "tasks/get"
      ])
      for (const { headers, message } of asked(server, "tasks/get")) {
        assert.strictEqual(message.params.taskId, Tasks.id)
        assert.strictEqual(headers["mcp-name"], Tasks.id)
        assert.strictEqual(headers["mcp-method"], "tasks/get")
      }
    }))

  it.live("is declared where the server has it, once the server is known", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.modern({ "tasks/get": states(task("completed", { result: content("") })) }))
      yield* call(server)
      const declared = { extensions: { [Tasks.extension]: {} } }
      assert.deepStrictEqual(server.requests.map(capabilitiesOf), [{}, declared, declared])
      assert.notProperty(asked(server, "tools/call")[0]?.message.params, "task")
    }))

  it.live("is not taken from a server that has not declared it", () =>
    Effect.gen(function*() {
      for (const extensions of [undefined, {}, null, [], { [Tasks.extension]: null }, { [Tasks.extension]: true }]) {
        const server = yield* Raw.make(Tasks.modern({
          "server/discover": (socket, request) =>
            Raw.sendResult(socket, request, { ...Raw.discoverResult, capabilities: { tools: {}, extensions } })
        }))
        const reason = reasonOf(yield* failure(server), "UnknownResultType")
        assert.strictEqual(reason.resultType, "task")
        assert.isTrue(server.requests.every((request) => Object.keys(capabilitiesOf(request)).length === 0))
        assert.deepStrictEqual([...new Set(server.methods())], ["server/discover", "tools/call", "tools/list"])
      }
    }))

  it.live("is not taken for another request than a call", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.modern({
        "tools/list": states({ resultType: "task", ...task("working"), tools: [] })
      }))
      const connection = yield* connect(server.url)
      reasonOf(yield* Effect.flip(connection.listTools()), "UnknownResultType")
      assert.deepStrictEqual(server.methods(), ["server/discover", "tools/list"])
    }))

  it.live("may follow rounds of input", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.modern({
        "tools/call": states({ resultType: "input_required", requestState: "s" }, {
          resultType: "task",
          ...task("working")
        }),
        "tasks/get": states(task("completed", { result: content("both") }))
      }))
      assert.strictEqual((yield* call(server)).text, "both")
    }))

  it.live("that is over when it is made is looked at once, without a wait", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.modern({
        "tools/call": states({ resultType: "task", ...task("completed", { pollIntervalMs: 60_000 }) }),
        "tasks/get": states(task("completed", { result: content("at once") }))
      }))
      assert.strictEqual((yield* call(server)).text, "at once")
      assert.strictEqual(asked(server, "tasks/get").length, 1)
    }))

  it.live("keeps the tool's verdict", () =>
    Effect.gen(function*() {
      const result = { resultType: "complete", ...content("no"), isError: true }
      const server = yield* Raw.make(Tasks.modern({ "tasks/get": states(task("completed", { result })) }))
      assert.isTrue((yield* call(server)).isError)
    }))

  it.live("that fails, fails as the call would have", () =>
    Effect.gen(function*() {
      const error = { code: -32050, message: "broken", data: { x: 1 } }
      const server = yield* Raw.make(Tasks.modern({ "tasks/get": states(task("failed", { error })) }))
      const { code, data, message } = reasonOf(yield* failure(server), "RpcError")
      assert.deepStrictEqual({ code, message, data }, error)
      assert.deepStrictEqual(asked(server, "tasks/cancel"), [])
    }))

  it.live("that the server cancels is TaskUnfinished, with its words", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.modern({
        "tasks/get": states(task("cancelled", { statusMessage: "maintenance\u001b[2J" }))
      }))
      const error = yield* failure(server)
      const reason = reasonOf(error, "TaskUnfinished")
      assert.strictEqual(reason.status, "cancelled")
      assert.include(error.message, "the server cancelled the task: maintenance")
      assert.notInclude(error.message, "\u001b")
      assert.deepStrictEqual(asked(server, "tasks/cancel"), [])
    }))

  it.live("tells of its status", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.modern({
        "tasks/get": states(
          task("working", { statusMessage: "half" }),
          task("working", { statusMessage: "half" }),
          task("working", { statusMessage: "nearly" }),
          task("completed", { statusMessage: "all", result: content("") })
        )
      }))
      const told: Array<Notification.Progress> = []
      yield* call(server, { onProgress: (progress) => Effect.sync(() => told.push(progress)) })
      assert.deepStrictEqual(told, [
        { progress: 1, message: "working" },
        { progress: 2, message: "half" },
        { progress: 3, message: "nearly" }
      ])
      assert.property(asked(server, "tools/call")[0]?.message.params._meta, "progressToken")
      assert.notProperty(asked(server, "tasks/get")[0]?.message.params._meta, "progressToken")
    }))

  it.live("waits as long as the server asks, within bounds", () =>
    Effect.gen(function*() {
      const policy = McpPolicy.make({
        taskPolling: McpPolicy.taskPolling({ minDelay: 50, maxDelay: 400, delay: 200 })
      })
      for (
        const [pollIntervalMs, expected] of [
          [300, 300],
          [0, 50],
          [0.5, 50],
          [-1, 200],
          [1e9, 400],
          ["1e400", 400],
          ["300", 200],
          [null, 200]
        ] as const
      ) {
        const server = yield* Raw.make(Tasks.modern({
          // No value of JavaScript's is written as 1e400.
          "tools/call": (socket, { message }) => {
            const result = { resultType: "task", ...task("working", { pollIntervalMs }) }
            const answer = JSON.stringify({ jsonrpc: "2.0", id: message.id, result }).replace(`"1e400"`, "1e400")
            Raw.send(socket, 200, { "content-type": "application/json" }, answer)
          },
          "tasks/get": states(task("completed", { result: content("") }))
        }))
        const [elapsed] = yield* Effect.timed(call(server, {}, policy))
        assert.isAtLeast(Duration.toMillis(elapsed), expected - 10)
        assert.isAtMost(Duration.toMillis(elapsed), expected + 200)
      }
    }))
})

describe("input for a task of the extension", () => {
  const asking = (inputRequests: unknown) => task("input_required", { inputRequests })
  const elicit = { method: "elicitation/create", params: { mode: "form", message: "Name?" } }

  it.live("that nobody gives is InputRequired, and the task is cancelled", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.modern({ "tasks/get": states(asking({ name: elicit })) }))
      const reason = reasonOf(yield* failure(server), "InputRequired")
      assert.deepStrictEqual(reason.requests, ["elicitation/create"])
      yield* until(() => asked(server, "tasks/cancel").length === 1)
      assert.deepStrictEqual(asked(server, "tasks/update"), [])
    }))

  it.live("is bounded as rounds are", () =>
    Effect.gen(function*() {
      for (
        const [inputRequests, looks] of [[{}, 3], [undefined, 1], [null, 1], [[], 1], [5, 1], [{ a: null }, 1]] as const
      ) {
        const server = yield* Raw.make(Tasks.modern({ "tasks/get": states(asking(inputRequests)) }))
        reasonOf(yield* failure(server), "InputRequired")
        assert.strictEqual(asked(server, "tasks/get").length, looks, JSON.stringify(inputRequests))
        yield* until(() => asked(server, "tasks/cancel").length === 1)
      }
    }))

  const roots = { method: "roots/list" }

  it.live("is given by the application's handlers, once for each key", () =>
    Effect.gen(function*() {
      let forms = 0
      const features: ClientFeatures.ClientFeatures = {
        roots: [{ uri: "file:///work" }],
        elicitation: { form: () => Effect.sync(() => Elicitation.accept({ name: `Ada ${++forms}` })) }
      }
      const asks = { method: "elicitation/create", params: { message: "Name?", requestedSchema: nameSchema } }
      const server = yield* Raw.make(Tasks.modern({
        "tasks/get": states(
          asking({ a: asks }),
          asking({ a: asks }),
          asking({ a: asks, b: roots }),
          task("completed", { result: content("answered") })
        )
      }))
      const connection = yield* connect(server.url, { policy: quick, features })
      assert.strictEqual((yield* connection.callTool("t")).text, "answered")
      assert.strictEqual(forms, 1)
      const updates = asked(server, "tasks/update")
      assert.deepStrictEqual(updates.map(({ message }) => message.params.inputResponses), [
        { a: { action: "accept", content: { name: "Ada 1" } } },
        { b: { roots: [{ uri: "file:///work" }] } }
      ])
      for (const { headers, message } of updates) {
        assert.strictEqual(message.params.taskId, Tasks.id)
        assert.strictEqual(headers["mcp-name"], Tasks.id)
      }
    }))

  it.live("is bounded where a task never has enough", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.modern({
        "tasks/get": (socket, request) => Raw.sendResult(socket, request, asking({ [`k${request.nth}`]: roots }))
      }))
      const connection = yield* connect(server.url, { policy: quick, features: { roots: [] } })
      const reason = reasonOf(yield* Effect.flip(connection.callTool("t")), "InputRequired")
      assert.strictEqual(reason.rounds, 10)
      assert.strictEqual(asked(server, "tasks/update").length, 9)
      yield* until(() => asked(server, "tasks/cancel").length === 1)
    }))

  it.live("that is being given ends with the call, and the task is cancelled", () =>
    Effect.gen(function*() {
      let ended = false
      const form = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => ended = true))
      const asks = { method: "elicitation/create", params: { message: "Name?", requestedSchema: nameSchema } }
      const server = yield* Raw.make(Tasks.modern({ "tasks/get": states(asking({ a: asks })) }))
      const connection = yield* connect(server.url, { policy: quick, features: { elicitation: { form } } })
      yield* failsWith(connection.callTool("t", {}, { timeout: 200 }), "ConnectionFailed/TimedOut")
      yield* until(() => ended && asked(server, "tasks/cancel").length === 1)
      assert.deepStrictEqual(asked(server, "tasks/update"), [])
    }))

  it.live("is not sent where the server refuses it, and the task is cancelled", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.modern({
        "tasks/get": states(asking({ a: roots })),
        "tasks/update": fails(-32602, "no such key")
      }))
      const connection = yield* connect(server.url, { policy: quick, features: { roots: [] } })
      reasonOf(yield* Effect.flip(connection.callTool("t")), "RpcError")
      yield* until(() => asked(server, "tasks/cancel").length === 1)
    }))
})

describe("a task of 2025-11-25", () => {
  it.live("is asked for where the listing says so, and its result is fetched", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.legacy({
        "tasks/get": states(legacyTask("working"), legacyTask("completed"))
      }))
      const connection = yield* connect(server.url, { policy: quick })
      yield* connection.listTools()
      assert.strictEqual((yield* connection.callTool("t", {}, { timeout: 5000 })).text, "done")
      assert.deepStrictEqual(server.methods().slice(3), [
        "tools/list",
        "tools/call",
        "tasks/get",
        "tasks/get",
        "tasks/result"
      ])
      assert.deepStrictEqual(asked(server, "tools/call")[0]?.message.params.task, { ttl: 5000 })
      assert.deepStrictEqual(asked(server, "tasks/result")[0]?.message.params, { taskId: Tasks.id })
    }))

  it.live("is found out about by listing the tools once, however many are called", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.legacy({}))
      const connection = yield* connect(server.url, { policy: quick })
      const results = yield* Effect.all(
        Array.from({ length: 8 }, () => connection.callTool("t")),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(results.map(({ text }) => text), Array.from({ length: 8 }, () => "done"))
      assert.strictEqual(asked(server, "tools/list").length, 1)
      assert.isTrue(asked(server, "tools/call").every(({ message }) => message.params.task !== undefined))
    }))

  it.live("is not asked for where it need not be", () =>
    Effect.gen(function*() {
      for (const taskSupport of ["optional", "forbidden", undefined, 5, null]) {
        const server = yield* Raw.make(Tasks.legacy({
          "tools/list": Tasks.listing(taskSupport),
          "tools/call": states(content("plain"))
        }))
        assert.strictEqual((yield* call(server)).text, "plain")
        assert.notProperty(asked(server, "tools/call")[0]?.message.params, "task")
      }
    }))

  it.live("is not asked for, nor the tools listed, at a server without the capability", () =>
    Effect.gen(function*() {
      for (
        const tasks of [undefined, null, {}, { requests: {} }, { requests: { tools: {} } }, {
          requests: { tools: { call: true } }
        }]
      ) {
        const server = yield* Raw.make(Tasks.legacy({ "tools/call": states(content("plain")) }, { tools: {}, tasks }))
        assert.strictEqual((yield* call(server)).text, "plain")
        assert.deepStrictEqual(server.methods().slice(3), ["tools/call"])
        assert.notProperty(asked(server, "tools/call")[0]?.message.params, "task")
      }
    }))

  it.live("is asked for after a new listing, where the tool has come to require it", () =>
    Effect.gen(function*() {
      for (const code of [-32601, -32600]) {
        const server = yield* Raw.make(Tasks.legacy({
          "tools/list": (socket, request) =>
            Tasks.listing(request.nth === 0 ? "forbidden" : "required")(socket, request),
          "tools/call": (socket, request) =>
            (request.message.params.task === undefined
              ? fails(code, "as a task")
              : states({ task: legacyTask("working") }))(
                socket,
                request
              )
        }))
        assert.strictEqual((yield* call(server)).text, "done")
        assert.deepStrictEqual(server.methods().slice(3, 7), ["tools/list", "tools/call", "tools/list", "tools/call"])
      }
    }))

  it.live("is not tried again where a new listing says nothing new", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.legacy({
        "tools/list": Tasks.listing("optional"),
        "tools/call": fails(-32601, "no")
      }))
      reasonOf(yield* failure(server), "RpcError")
      assert.deepStrictEqual(server.methods().slice(3, 6), ["tools/list", "tools/call", "tools/list"])
      assert.strictEqual(asked(server, "tools/call").length, 1)
    }))

  it.live("is done without where the tools cannot be listed", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.legacy({
        "tools/list": fails(-32603, "no"),
        "tools/call": states(content("plain"))
      }))
      const connection = yield* connect(server.url)
      assert.strictEqual((yield* connection.callTool("t")).text, "plain")
      assert.strictEqual((yield* connection.callTool("t")).text, "plain")
      assert.strictEqual(asked(server, "tools/list").length, 1)
    }))

  it.live("that was done at once is a result as any other", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.legacy({ "tools/call": states(content("at once")) }))
      assert.strictEqual((yield* call(server)).text, "at once")
    }))

  it.live("that fails has its own result, or its own error", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.legacy({
        "tasks/get": states(legacyTask("failed")),
        "tasks/result": states({ ...content("no"), isError: true })
      }))
      assert.isTrue((yield* call(server)).isError)
      const broken = yield* Raw.make(Tasks.legacy({
        "tasks/get": states(legacyTask("failed")),
        "tasks/result": fails(-32050, "broken")
      }))
      assert.strictEqual(reasonOf(yield* failure(broken), "RpcError").code, -32050)
      assert.deepStrictEqual([...asked(server, "tasks/cancel"), ...asked(broken, "tasks/cancel")], [])
    }))

  it.live("that needs input waits for its result, on whose stream the server asks", () =>
    Effect.gen(function*() {
      let answer: any
      let finish = () => {}
      const server = yield* Raw.make(Tasks.legacy({
        "tasks/get": states(legacyTask("input_required")),
        "tasks/result": (socket, request) => {
          Raw.openStream(socket)
          const say = (message: object) =>
            Raw.sendChunk(socket, `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`)
          finish = () => say({ id: request.message.id, result: content("without") })
          say({ id: "q", method: "elicitation/create", params: { message: "Name?", requestedSchema: {} } })
        },
        POST: (socket, request) => {
          answer = request.message
          Raw.send(socket, 202, {})
          finish()
        }
      }))
      // Longer than one request may take: it is the server that waits.
      const policy = McpPolicy.make({ ...quick, requestTimeout: 1000 })
      assert.strictEqual((yield* call(server, {}, policy)).text, "without")
      assert.strictEqual(answer.id, "q")
      assert.strictEqual(answer.error.code, -32601)
    }))

  it.live("has the time of its call while it waits for input", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.legacy({
        "tasks/get": states(legacyTask("input_required")),
        "tasks/result": () => {}
      }))
      const policy = McpPolicy.make({ ...quick, requestTimeout: 50, operationTimeout: 300 })
      const [elapsed] = yield* Effect.timed(failsWith(call(server, {}, policy), "ConnectionFailed/TimedOut"))
      assert.isAtLeast(Duration.toMillis(elapsed), 290)
      assert.isAtMost(Duration.toMillis(elapsed), 500)
      assert.strictEqual(asked(server, "tasks/result").length, 1)
      yield* until(() => asked(server, "tasks/cancel").length === 1)
    }))

  it.live("tells of its own progress beside its status", () =>
    Effect.gen(function*() {
      const related = { "io.modelcontextprotocol/related-task": { taskId: Tasks.id } }
      const progress = (taskId: string) => ({
        method: "notifications/progress",
        params: {
          progressToken: "t",
          progress: 40,
          total: 100,
          _meta: { "io.modelcontextprotocol/related-task": { taskId } }
        }
      })
      const server = yield* Raw.make(Tasks.legacy({
        "tasks/get": (socket, request) => {
          const status = ["working", "working", "completed"][request.nth]!
          if (request.nth !== 1) return Raw.sendResult(socket, request, legacyTask(status))
          Raw.openStream(socket)
          const say = (message: object) =>
            Raw.sendChunk(socket, `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`)
          say(progress("another"))
          say(progress(Tasks.id))
          say({ id: request.message.id, result: legacyTask(status, { statusMessage: "half" }) })
          Raw.endStream(socket)
        },
        "tasks/result": states({ ...content("done"), _meta: related })
      }))
      const told: Array<Notification.Progress> = []
      yield* call(server, { onProgress: (report) => Effect.sync(() => told.push(report)) })
      assert.deepStrictEqual(told, [
        { progress: 1, message: "working" },
        { progress: 40, total: 100 },
        { progress: 40, total: 100, message: "half" }
      ])
    }))
})

const eras = [
  ["2026-07-28", Tasks.modern, task],
  ["2025-11-25", Tasks.legacy, legacyTask]
] as const

describe.each(eras)("giving a task up (%s)", (version, serve, ofEra) => {
  const endless = { "tasks/get": states(ofEra("working")) }

  it.live("cancels it at the server where the call is interrupted", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(serve(endless))
      const connection = yield* connect(server.url, { policy: quick })
      const calling = yield* Effect.forkChild(connection.callTool("t"))
      yield* until(() => asked(server, "tasks/get").length >= 3)
      yield* Fiber.interrupt(calling)
      yield* until(() => asked(server, "tasks/cancel").length === 1)
      const [cancel] = asked(server, "tasks/cancel")
      assert.strictEqual(cancel?.message.params.taskId, Tasks.id)
      if (version === "2026-07-28") assert.strictEqual(cancel?.headers["mcp-name"], Tasks.id)
    }))

  it.live("cancels it where the deadline passes, off the caller's path", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(serve({ ...endless, "tasks/cancel": () => {} }))
      const scope = yield* Scope.make()
      const policy = McpPolicy.make({ ...quick, closeTimeout: 100 })
      const connection = yield* Scope.provide(connect(server.url, { policy }), scope)
      const calling = failsWith(connection.callTool("t", {}, { timeout: 200 }), "ConnectionFailed/TimedOut")
      const [elapsed] = yield* Effect.timed(calling)
      assert.isAtMost(Duration.toMillis(elapsed), 400)
      yield* until(() => asked(server, "tasks/cancel").length === 1)
      yield* Scope.close(scope, Exit.void)
      yield* server.quiet
    }))

  it.live("cancels it where the deadline passes between two looks", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(serve(endless))
      const policy = McpPolicy.make({ taskPolling: McpPolicy.taskPolling({ minDelay: "1 hour", maxDelay: "1 hour" }) })
      const [elapsed] = yield* Effect.timed(
        failsWith(call(server, { timeout: 200 }, policy), "ConnectionFailed/TimedOut")
      )
      assert.isAtMost(Duration.toMillis(elapsed), 400)
      assert.deepStrictEqual(asked(server, "tasks/get"), [])
      yield* until(() => asked(server, "tasks/cancel").length === 1)
    }))

  it.live("cancels it where the policy has had enough", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(serve(endless))
      const policy = McpPolicy.make({ taskPolling: McpPolicy.taskPolling({ minDelay: 1, maxTotal: 5 }) })
      const reason = reasonOf(yield* Effect.flip(call(server, {}, policy)), "TaskUnfinished")
      assert.strictEqual(reason.status, "working")
      assert.strictEqual(reason.looks, 5)
      assert.strictEqual(asked(server, "tasks/get").length, 4)
      yield* until(() => asked(server, "tasks/cancel").length === 1)
    }))

  it.live("takes a thousand looks without growing", () =>
    Effect.gen(function*() {
      const done = ofEra("completed", { result: content("done") })
      const server = yield* Raw.make(serve({
        "tasks/get": (socket, request) => Raw.sendResult(socket, request, request.nth < 1000 ? ofEra("working") : done)
      }))
      const policy = McpPolicy.make({ taskPolling: McpPolicy.taskPolling({ minDelay: 0 }) })
      assert.strictEqual((yield* call(server, {}, policy)).text, "done")
      assert.strictEqual(asked(server, "tasks/get").length, 1001)
    }), 30_000)

  it.live("survives looks that bring no answer, and not too many in a row", () =>
    Effect.gen(function*() {
      const done = ofEra("completed", { result: content("done") })
      const drops: Raw.Responder = (socket) => void socket.destroy()
      const busy: Raw.Responder = (socket) => Raw.send(socket, 429, { "retry-after": "0" })
      const answers = [drops, drops, busy, drops, states(ofEra("working")), drops, busy, states(done)]
      const server = yield* Raw.make(serve({
        "tasks/get": (socket, request) => answers[request.nth]!(socket, request)
      }))
      assert.strictEqual((yield* call(server)).text, "done")
      const gone = yield* Raw.make(serve({ "tasks/get": drops }))
      yield* failsWith(call(gone), "ConnectionFailed/Unreachable")
      assert.strictEqual(asked(gone, "tasks/get").length, 5)
      yield* until(() => asked(gone, "tasks/cancel").length === 1)
    }))
})

describe("a look that hangs", () => {
  it.live("is lost after the time of a request, whatever the call was given", () =>
    Effect.gen(function*() {
      const policy = McpPolicy.make({ ...quick, requestTimeout: 100 })
      const server = yield* Raw.make(Tasks.modern({
        "tasks/get": (socket, request) => {
          if (request.nth > 0) states(task("completed", { result: content("done") }))(socket, request)
        }
      }))
      const [elapsed, result] = yield* Effect.timed(call(server, { timeout: "1 hour" }, policy))
      assert.strictEqual(result.text, "done")
      assert.isBelow(Duration.toMillis(elapsed), 1000)
    }))

  it.live("costs no result of 2025-11-25 that is there already", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.legacy({
        "tasks/result": (socket, request) => {
          if (request.nth < 2) socket.destroy()
          else states(content("done"))(socket, request)
        }
      }))
      assert.strictEqual((yield* call(server)).text, "done")
      assert.strictEqual(asked(server, "tasks/result").length, 3)
      const gone = yield* Raw.make(Tasks.legacy({ "tasks/result": (socket) => void socket.destroy() }))
      assert.strictEqual(kind(yield* failure(gone)), "ConnectionFailed/Unreachable")
      assert.deepStrictEqual(asked(gone, "tasks/cancel"), [])
    }))
})

describe("a server of 2025-11-25 that takes no tasks/cancel", () => {
  it.live("is not sent one", () =>
    Effect.gen(function*() {
      const { cancel: _, ...tasks } = Tasks.legacyCapabilities.tasks
      const server = yield* Raw.make(Tasks.legacy({ "tasks/get": states(legacyTask("poem")) }, { tools: {}, tasks }))
      reasonOf(yield* failure(server), "Unreadable")
      assert.deepStrictEqual(asked(server, "tasks/cancel"), [])
    }))
})

describe.each(eras)("a hostile task (%s)", (version, serve, ofEra) => {
  const isModern = version === "2026-07-28"
  const created = (more: object): Raw.Responder =>
    states(isModern ? { resultType: "task", ...ofEra("working", more) } : { task: ofEra("working", more) })

  it.live("has an id that cannot be sent back", () =>
    Effect.gen(function*() {
      for (const taskId of [undefined, null, "", 5, {}, [], "x".repeat(1025), "x".repeat(2 ** 20), "\ud800"]) {
        const server = yield* Raw.make(serve({ "tools/call": created({ taskId }) }))
        reasonOf(yield* failure(server), "Unreadable")
        assert.deepStrictEqual(server.methods().filter((method) => method.startsWith("tasks/")), [])
      }
    }))

  it.live("has an id of any other kind, which goes back as it came", () =>
    Effect.gen(function*() {
      const ids = [
        "x".repeat(1024),
        "\r\nx-evil: 1",
        "\0",
        `"},{"`,
        "é\u{1f600}\u202e",
        "__proto__",
        "=?base64?eA==?=",
        " a "
      ]
      for (const taskId of ids) {
        const server = yield* Raw.make(serve({
          "tools/call": created({ taskId }),
          "tasks/get": states(ofEra("completed", { taskId, result: content("done") }))
        }))
        assert.strictEqual((yield* call(server)).text, "done")
        const [look] = asked(server, "tasks/get")
        assert.strictEqual(look?.message.params.taskId, taskId)
        assert.notProperty(look?.headers, "x-evil")
        if (!isModern) assert.notProperty(look?.headers, "mcp-name")
      }
    }))

  const unreadable: ReadonlyArray<readonly [string, object]> = [
    ["an unknown status", ofEra("poem")],
    ["no status", ofEra("working", { status: undefined })],
    ["a status of another type", ofEra("working", { status: ["working"] })],
    ["the status __proto__", ofEra("__proto__")],
    ["the state of another task", ofEra("completed", { taskId: "another", result: content("stolen") })],
    ["no id", ofEra("completed", { taskId: undefined, result: content("stolen") })],
    ["nothing", {}]
  ]
  for (const [what, state] of unreadable) {
    it.live(`that is answered with ${what} is Unreadable, and cancelled`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(serve({ "tasks/get": states(ofEra("working"), state) }))
        reasonOf(yield* failure(server), "Unreadable")
        yield* until(() => asked(server, "tasks/cancel").length === 1)
      }))
  }

  it.live("that begins with an unknown status is Unreadable, and cancelled", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(serve({ "tools/call": created({ status: "poem" }) }))
      reasonOf(yield* failure(server), "Unreadable")
      yield* until(() => asked(server, "tasks/cancel").length === 1)
      assert.deepStrictEqual(asked(server, "tasks/get"), [])
    }))

  it.live("that the server forgets is its error, and not cancelled", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(serve({ "tasks/get": fails(-32602, "Task not found") }))
      assert.strictEqual(reasonOf(yield* failure(server), "RpcError").code, -32602)
      assert.deepStrictEqual(asked(server, "tasks/cancel"), [])
    }))

  it.live("whose cancelling fails costs nobody anything", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(serve({
        "tasks/get": states(ofEra("poem")),
        "tasks/cancel": fails(-32602, "already in terminal status")
      }))
      const connection = yield* connect(server.url, { policy: quick })
      reasonOf(yield* Effect.flip(connection.callTool("t")), "Unreadable")
      yield* until(() => asked(server, "tasks/cancel").length === 1)
      assert.strictEqual((yield* connection.listTools()).length, 1)
    }))

  it.live("that goes back and forth between working and working is read to its end", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(serve({
        "tasks/get": states(
          ofEra("working", { lastUpdatedAt: "1970-01-01T00:00:00Z", statusMessage: "90 %" }),
          ofEra("working", { lastUpdatedAt: 5, createdAt: null, statusMessage: 5 }),
          ofEra("completed", { result: content("done") })
        )
      }))
      const policy = McpPolicy.make({ taskPolling: McpPolicy.taskPolling({ minDelay: 1, delay: 1, maxDelay: 5 }) })
      assert.strictEqual((yield* call(server, {}, policy)).text, "done")
    }))

  it.live("whose result is another task's, a task again, or none", () =>
    Effect.gen(function*() {
      const stolen = { ...content("stolen"), _meta: { "io.modelcontextprotocol/related-task": { taskId: "another" } } }
      const results = isModern
        ? [undefined, null, [], "done", 5, { resultType: "input_required", ...content("") }, {}]
        : [{}, { task: legacyTask("working") }, stolen]
      for (const result of results) {
        const server = yield* Raw.make(serve({
          "tasks/get": states(ofEra("completed", { result })),
          "tasks/result": states(result)
        }))
        reasonOf(yield* failure(server), "Unreadable")
        assert.deepStrictEqual(asked(server, "tasks/cancel"), [])
      }
    }))

  it.live("is over the budget like anything else", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(serve({
        "tasks/get": states(ofEra("working", { statusMessage: "x".repeat(100_000) }))
      }))
      const calling = Effect.flatMap(
        connect(server.url, { policy: quick, budget: { limit: 1_000_000 } }),
        (connection) => connection.callTool("t")
      )
      yield* failsWith(calling, "ConnectionFailed/BudgetExceeded")
      assert.isAtMost(asked(server, "tasks/get").length, 10)
    }))
})

describe("a task of the extension whose result", () => {
  it.live("is a task again is of no known type", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.modern({
        "tasks/get": states(task("completed", { result: { resultType: "task", ...task("working") } }))
      }))
      assert.strictEqual(reasonOf(yield* failure(server), "UnknownResultType").resultType, "task")
    }))

  it.live("is an error that is none is Unreadable", () =>
    Effect.gen(function*() {
      for (const error of [undefined, null, "no", {}, { code: "x" }, { code: 1.5 }]) {
        const server = yield* Raw.make(Tasks.modern({ "tasks/get": states(task("failed", { error })) }))
        reasonOf(yield* failure(server), "Unreadable")
      }
    }))

  it.live("comes with a look that is itself a task is of no known type", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Tasks.modern({ "tasks/get": states({ resultType: "task", ...task("working") }) }))
      reasonOf(yield* failure(server), "UnknownResultType")
      yield* until(() => asked(server, "tasks/cancel").length === 1)
    }))
})
