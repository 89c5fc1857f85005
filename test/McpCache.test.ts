import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ByteBudget, EgressGuard, type JsonText, McpCache, McpConnection, Transport } from "../src/index.ts"
import { NodeMcp } from "../src/node.ts"
import { connect, failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"
import { until } from "./support/until.ts"

const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true }
}

const complete = (value: object): Raw.Responder => (socket, request) =>
  Raw.sendResult(socket, request, { resultType: "complete", ...value })

const tool = (name: string) => ({ name, inputSchema: { type: "object" } })

const contentsOf = (uri: string, text = "hi") => ({ contents: [{ uri, text }] })

const read = (hint: object, text?: string): Raw.Responder => (socket, request) =>
  complete({ ...contentsOf(request.message.params.uri, text), ...hint })(socket, request)

const serve = (answers: Readonly<Record<string, Raw.Responder>>) =>
  Raw.make(Raw.modern({
    "server/discover": complete({ ...Raw.discoverResult, capabilities }),
    "tools/list": complete({ tools: [tool("t")], ttlMs: 60_000 }),
    "prompts/list": complete({ prompts: [{ name: "p" }], ttlMs: 60_000 }),
    "resources/list": complete({ resources: [{ uri: "a:1", name: "r" }], ttlMs: 60_000 }),
    "resources/templates/list": complete({ resourceTemplates: [{ uriTemplate: "a:{x}", name: "r" }], ttlMs: 60_000 }),
    "resources/read": read({ ttlMs: 60_000 }),
    ...answers
  }))

const cached = (server: Raw.RawServer, options?: McpCache.Options) =>
  Effect.flatMap(connect(server.url), (connection) => McpCache.make(connection, options))

const asked = (server: Raw.RawServer, method: string): number =>
  server.methods().filter((seen) => seen === method).length

const all = (connection: McpConnection.Service) => [
  connection.listTools(),
  connection.listPrompts(),
  connection.listResources(),
  connection.listResourceTemplates(),
  connection.readResource("a:1"),
  connection.readResource("b:1")
]

const methods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"]

/**
 * Counts what a second round of everything asks for.
 */
const askedAgain = (server: Raw.RawServer, connection: McpConnection.Service) =>
  Effect.gen(function*() {
    const before = methods.map((method) => asked(server, method))
    yield* Effect.all(all(connection))
    return methods.map((method, index) => asked(server, method) - before[index]!)
  })

describe("what the server says may be kept", () => {
  it.effect("is kept for so long, by what was asked, and no longer", () =>
    Effect.gen(function*() {
      const server = yield* serve({})
      const connection = yield* cached(server)
      const first = yield* Effect.all(all(connection))
      assert.deepStrictEqual(yield* askedAgain(server, connection), [0, 0, 0, 0, 0])
      assert.deepStrictEqual(yield* Effect.all(all(connection)), first)
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(yield* askedAgain(server, connection), [0, 0, 0, 0, 0])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* askedAgain(server, connection), [1, 1, 1, 1, 2])
    }))

  it.effect("is kept for the least of all pages", () =>
    Effect.gen(function*() {
      const server = yield* serve({
        "tools/list": (socket, request) =>
          complete(
            request.message.params.cursor === undefined
              ? { tools: [tool("a")], nextCursor: "2", ttlMs: 1000 }
              : { tools: [tool("b")], ttlMs: 60_000 }
          )(socket, request)
      })
      const connection = yield* cached(server)
      yield* connection.listTools()
      yield* TestClock.adjust(999)
      assert.deepStrictEqual((yield* connection.listTools()).map(({ name }) => name), ["a", "b"])
      assert.strictEqual(asked(server, "tools/list"), 2)
      yield* TestClock.adjust(1)
      yield* connection.listTools()
      assert.strictEqual(asked(server, "tools/list"), 4)
    }))

  it.effect.each<readonly [string, number]>([
    ["1e15", 3_600_000],
    ["1e400", 3_600_000],
    ["1.5", 1],
    ["0", 0],
    ["-1", 0],
    ["-1e15", 0],
    ["null", 0],
    ["true", 0],
    ["\"x\"", 0],
    ["\"60000\"", 0],
    ["[60000]", 0],
    ["{\"valueOf\":1}", 0]
  ])("a ttlMs of %s is kept for %d ms", ([ttlMs, kept]) =>
    Effect.gen(function*() {
      const server = yield* serve({
        "tools/list": (socket, { message: { id } }) =>
          Raw.send(
            socket,
            200,
            { "content-type": "application/json" },
            `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","tools":[],"ttlMs":${ttlMs},"cacheScope":5}}`
          )
      })
      const connection = yield* cached(server)
      yield* connection.listTools()
      yield* TestClock.adjust(Math.max(0, kept - 1))
      yield* connection.listTools()
      assert.strictEqual(asked(server, "tools/list"), kept === 0 ? 2 : 1)
      yield* TestClock.adjust(1)
      yield* connection.listTools()
      assert.strictEqual(asked(server, "tools/list"), kept === 0 ? 3 : 2)
    }))

  it.effect("is kept no longer than the application says", () =>
    Effect.gen(function*() {
      const server = yield* serve({})
      const connection = yield* cached(server, { maxAge: "1 second" })
      yield* connection.listTools()
      yield* TestClock.adjust("1 second")
      yield* connection.listTools()
      assert.strictEqual(asked(server, "tools/list"), 2)
    }))

  it.live("is nothing where no hint is given, and nothing at a legacy server, whatever it says", () =>
    Effect.gen(function*() {
      const modern = yield* serve({ "tools/list": complete({ tools: [] }), "resources/read": read({}) })
      const silent = yield* cached(modern)
      yield* Effect.all([
        silent.listTools(),
        silent.listTools(),
        silent.readResource("a:1"),
        silent.readResource("a:1")
      ])
      assert.deepStrictEqual([asked(modern, "tools/list"), asked(modern, "resources/read")], [2, 2])
      const legacy = yield* Raw.make(Raw.legacy({
        "tools/list": (socket, request) => Raw.sendResult(socket, request, { tools: [], ttlMs: 60_000 })
      }))
      const old = yield* connect(legacy.url)
      const unchanged = yield* McpCache.make(old)
      assert.strictEqual(unchanged, old)
      yield* Effect.all([unchanged.listTools(), unchanged.listTools()])
      assert.strictEqual(asked(legacy, "tools/list"), 2)
    }))

  it.live("is never what took rounds of input", () =>
    Effect.gen(function*() {
      const server = yield* serve({
        "resources/read": (socket, request) =>
          request.message.params.requestState === undefined
            ? complete({ resultType: "input_required", requestState: "s", ttlMs: 60_000 })(socket, request)
            : read({ ttlMs: 60_000 })(socket, request)
      })
      const connection = yield* cached(server)
      yield* connection.readResource("a:1")
      yield* connection.readResource("a:1")
      assert.strictEqual(asked(server, "resources/read"), 4)
    }))

  it.live("is never a failure", () =>
    Effect.gen(function*() {
      const server = yield* serve({
        "resources/read": (socket, request) =>
          request.nth === 0
            ? Raw.sendError(socket, request, { code: -32602, message: "no", data: { ttlMs: 60_000 } })
            : request.nth === 1
            ? complete({ contents: 5, ttlMs: 60_000 })(socket, request)
            : read({ ttlMs: 60_000 })(socket, request)
      })
      const connection = yield* cached(server)
      yield* failsWith(connection.readResource("a:1"), "ServerAnswered/RpcError")
      yield* failsWith(connection.readResource("a:1"), "ServerAnswered/Unreadable")
      assert.strictEqual((yield* connection.readResource("a:1"))[0]?.text, "hi")
      assert.strictEqual((yield* connection.readResource("a:1"))[0]?.text, "hi")
      assert.strictEqual(asked(server, "resources/read"), 3)
    }))

  it.live("is one connection's, though the server calls it public", () =>
    Effect.gen(function*() {
      const server = yield* serve({ "tools/list": complete({ tools: [], ttlMs: 60_000, cacheScope: "public" }) })
      for (const connection of [yield* cached(server), yield* cached(server)]) {
        yield* connection.listTools()
        yield* connection.listTools()
      }
      assert.strictEqual(asked(server, "tools/list"), 2)
    }))
})

describe("the bounds of a cache", () => {
  it.live("are entries: what was not asked for longest goes first", () =>
    Effect.gen(function*() {
      const server = yield* serve({})
      const connection = yield* cached(server, { capacity: 2 })
      for (const uri of ["a:1", "a:2", "a:1", "a:3", "a:1", "a:2"]) yield* connection.readResource(uri)
      assert.deepStrictEqual(
        server.requests.filter(({ message }) => message.method === "resources/read").map(({ message }) =>
          message.params.uri
        ),
        ["a:1", "a:2", "a:3", "a:2"]
      )
    }))

  it.live("are bytes: of all together, and of one that has no room by itself", () =>
    Effect.gen(function*() {
      const server = yield* serve({
        "resources/read": (socket, request) =>
          read({ ttlMs: 60_000 }, "x".repeat(request.message.params.uri === "large" ? 5000 : 1000))(socket, request)
      })
      const connection = yield* cached(server, { limit: "4 kB" })
      const reads = (...uris: ReadonlyArray<string>) =>
        Effect.forEach(uris, (uri) => connection.readResource(uri), { discard: true })
      yield* reads("a:1", "a:2", "a:3", "large", "a:1", "a:2", "a:3", "large")
      assert.strictEqual(asked(server, "resources/read"), 5)
      yield* reads("a:4", "a:2", "a:3", "a:4", "a:1")
      assert.strictEqual(asked(server, "resources/read"), 7)
    }))

  const nested = (depth: number): unknown => {
    let value: unknown = 1
    for (let i = 0; i < depth; i++) value = [value]
    return value
  }
  it.live.each<readonly [string, () => object, number]>([
    ["a short one is kept", () => ({}), 1],
    ["so is a deep one", () => ({ deep: nested(100_000) }), 1],
    ["one that is too long is not", () => ({ long: "x".repeat(1_000_001) }), 2],
    ["nor one of many values", () => ({ many: Array.from({ length: 300_000 }, () => 1) }), 2]
  ])("hold for a transport whose answers have no text: %s", ([, more, expected]) =>
    Effect.gen(function*() {
      let listings = 0
      const results: Readonly<Record<string, () => object>> = {
        "server/discover": () => ({ ...Raw.discoverResult, capabilities }),
        "tools/list": () => {
          listings++
          return { resultType: "complete", tools: [tool("t")], ttlMs: 60_000, ...more() }
        }
      }
      const transport: Transport.Transport["Service"] = {
        server: undefined,
        hasHeaders: false,
        request: ({ method }) =>
          Effect.sync(() => ({
            response: { result: results[method]!() as JsonText.JsonObject },
            text: undefined,
            status: undefined
          })),
        notify: () => Effect.void
      }
      const below = yield* McpConnection.connect().pipe(
        Effect.provideService(Transport.Transport, transport),
        Effect.provide(ByteBudget.layerUnlimited)
      )
      const connection = yield* McpCache.make(below, { limit: 1_000_000 })
      yield* connection.listTools()
      yield* connection.listTools()
      assert.strictEqual(listings, expected)
    }))

  it("are refused where they are none", () => {
    const connection = {} as McpConnection.Service
    for (const options of [{ capacity: 0 }, { capacity: Number.NaN }, { maxAge: -1 }, { maxAge: Number.NaN }]) {
      assert.throws(() => McpCache.make(connection, options), RangeError)
    }
    assert.throws(() => McpCache.make(connection, { limit: -1 }))
  })
})

/**
 * Announces something beside the answer to a call, in one piece with it: to nobody who listens but the cache.
 */
const announcing = (method: string, params: object = {}): Raw.Responder => (socket, { message }) => {
  Raw.openStream(socket)
  const messages = [{ method, params }, { id: message.id, result: Raw.textResult("ok") }]
  Raw.sendChunk(socket, messages.map((each) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...each })}\n\n`).join(""))
  Raw.endStream(socket)
}

describe("an announced change", () => {
  const announcements: ReadonlyArray<readonly [string, object, ReadonlyArray<number>]> = [
    ["notifications/tools/list_changed", {}, [1, 0, 0, 0, 0]],
    ["notifications/prompts/list_changed", {}, [0, 1, 0, 0, 0]],
    ["notifications/resources/list_changed", {}, [0, 0, 1, 1, 2]],
    ["notifications/resources/updated", { uri: "a:1" }, [0, 0, 0, 0, 1]],
    ["notifications/resources/updated", { uri: "a:1/below" }, [0, 0, 0, 0, 1]],
    ["notifications/resources/updated", { uri: "c:1" }, [0, 0, 0, 0, 0]],
    ["notifications/resources/updated", {}, [0, 0, 0, 0, 0]],
    ["notifications/message", { level: "info", data: 1 }, [0, 0, 0, 0, 0]]
  ]
  for (const [method, params, expected] of announcements) {
    it.live(`${method} ${JSON.stringify(params)} takes back what it is about`, () =>
      Effect.gen(function*() {
        const server = yield* serve({ "tools/call": announcing(method, params) })
        const connection = yield* cached(server)
        yield* Effect.all(all(connection))
        yield* connection.callTool("t")
        assert.deepStrictEqual(yield* askedAgain(server, connection), expected)
      }))
  }

  it.live("is acted on before a subscriber hears of it", () =>
    Effect.gen(function*() {
      const id = "io.modelcontextprotocol/subscriptionId"
      const server = yield* serve({
        "subscriptions/listen": (socket, { message }) => {
          const say = (method: string, params: object) =>
            Raw.sendChunk(
              socket,
              `data: ${
                JSON.stringify({ jsonrpc: "2.0", method, params: { ...params, _meta: { [id]: message.id } } })
              }\n\n`
            )
          Raw.openStream(socket)
          say("notifications/subscriptions/acknowledged", { notifications: { toolsListChanged: true } })
          say("notifications/tools/list_changed", {})
        }
      })
      const connection = yield* cached(server)
      yield* connection.listTools()
      yield* Stream.runDrain(
        Stream.take(connection.subscribe({ toolsListChanged: true }), 1).pipe(
          Stream.mapEffect(() => connection.listTools())
        )
      )
      assert.strictEqual(asked(server, "tools/list"), 2)
    }))

  it.live.each([undefined, { timeout: "1 minute" }] as const)(
    "keeps out what was asked for before it: %j",
    (options) =>
      Effect.gen(function*() {
        let answerFirst = () => {}
        const server = yield* serve({
          "tools/list": (socket, request) => {
            const answer = () => complete({ tools: [tool(`t${request.nth}`)], ttlMs: 60_000 })(socket, request)
            if (request.nth === 0) answerFirst = answer
            else answer()
          },
          "tools/call": announcing("notifications/tools/list_changed")
        })
        const connection = yield* cached(server)
        const before = yield* Effect.forkChild(connection.listTools(options), { startImmediately: true })
        yield* until(() => asked(server, "tools/list") === 1)
        yield* connection.callTool("t")
        answerFirst()
        assert.deepStrictEqual((yield* Fiber.join(before)).map(({ name }) => name), ["t0"])
        yield* connection.listTools()
        assert.deepStrictEqual((yield* connection.listTools()).map(({ name }) => name), ["t1"])
        assert.strictEqual(asked(server, "tools/list"), 2)
      })
  )

  it.live("is acted on a moment later where the application has made another stream of the announcements", () =>
    Effect.gen(function*() {
      const server = yield* serve({ "tools/call": announcing("notifications/tools/list_changed") })
      const below = yield* connect(server.url)
      const heard = yield* Deferred.make<void>()
      const connection = yield* McpCache.make({
        ...below,
        notifications: Stream.ensuring(
          Stream.flatMap(below.notifications, (one) => Stream.fromIterable([one, one])),
          Deferred.succeed(heard, undefined)
        ).pipe(Stream.take(2))
      })
      yield* connection.listTools()
      yield* connection.callTool("t")
      yield* Deferred.await(heard)
      yield* connection.listTools()
      assert.strictEqual(asked(server, "tools/list"), 2)
    }))
})

describe("equal requests at the same time", () => {
  const held = () => {
    const answers: Array<() => void> = []
    return {
      answers,
      respond: (hint: object): Raw.Responder => (socket, request) => {
        answers.push(() => complete({ tools: [tool(`t${request.nth}`)], ...hint })(socket, request))
      }
    }
  }

  it.live("are one, which goes on while one of the callers waits", () =>
    Effect.gen(function*() {
      const { answers, respond } = held()
      const server = yield* serve({ "tools/list": respond({ ttlMs: 60_000 }) })
      const connection = yield* cached(server)
      const [first, second, third] = yield* Effect.forEach(
        [1, 2, 3],
        () => Effect.forkChild(connection.listTools(), { startImmediately: true })
      )
      yield* until(() => answers.length > 0)
      yield* Fiber.interrupt(first!)
      yield* Fiber.interrupt(third!)
      answers[0]!()
      assert.deepStrictEqual((yield* Fiber.join(second!)).map(({ name }) => name), ["t0"])
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(first!)))
      yield* connection.listTools()
      assert.strictEqual(asked(server, "tools/list"), 1)
    }))

  it.live("are given up where nobody waits any more, and the next is asked anew", () =>
    Effect.gen(function*() {
      const { answers, respond } = held()
      const server = yield* serve({ "tools/list": respond({ ttlMs: 60_000 }) })
      const connection = yield* cached(server)
      const waiting = yield* Effect.forEach(
        [1, 2],
        () => Effect.forkChild(connection.listTools(), { startImmediately: true })
      )
      yield* until(() => answers.length > 0)
      yield* Fiber.interruptAll(waiting)
      yield* server.quiet
      const again = yield* Effect.forkChild(connection.listTools(), { startImmediately: true })
      yield* until(() => answers.length > 1)
      answers[1]!()
      assert.deepStrictEqual((yield* Fiber.join(again)).map(({ name }) => name), ["t1"])
    }))

  it.live("share a failure, and nothing of it stays", () =>
    Effect.gen(function*() {
      const failures: Array<() => void> = []
      const server = yield* serve({
        "tools/list": (socket, request) =>
          request.nth === 0
            ? failures.push(() => Raw.sendError(socket, request, { code: -32603, message: "no" }))
            : complete({ tools: [], ttlMs: 60_000 })(socket, request)
      })
      const connection = yield* cached(server)
      const both = yield* Effect.forEach(
        [1, 2],
        () => Effect.forkChild(connection.listTools(), { startImmediately: true })
      )
      yield* until(() => failures.length > 0)
      failures[0]!()
      for (const fiber of both) yield* failsWith(Fiber.join(fiber), "ServerAnswered/RpcError")
      assert.deepStrictEqual(yield* connection.listTools(), [])
      assert.strictEqual(asked(server, "tools/list"), 2)
    }))

  it.live("share nothing with what was asked for before a tool was called", () =>
    Effect.gen(function*() {
      const { answers, respond } = held()
      const server = yield* serve({ "tools/list": respond({ ttlMs: 0 }) })
      const connection = yield* cached(server)
      const before = yield* Effect.forkChild(connection.listTools(), { startImmediately: true })
      yield* until(() => answers.length > 0)
      yield* connection.callTool("t")
      const after = yield* Effect.forkChild(connection.listTools(), { startImmediately: true })
      yield* until(() => answers.length > 1)
      answers.forEach((answer) => answer())
      assert.deepStrictEqual((yield* Fiber.join(before)).map(({ name }) => name), ["t0"])
      assert.deepStrictEqual((yield* Fiber.join(after)).map(({ name }) => name), ["t1"])
    }))
})

describe("a call with options", () => {
  it.live("of its own goes past the cache, and leaves it as it is", () =>
    Effect.gen(function*() {
      const server = yield* serve({})
      const connection = yield* cached(server)
      const options: ReadonlyArray<McpConnection.ListOptions> = [
        { meta: { a: 1 } },
        { logLevel: "info" },
        { onProgress: () => Effect.void },
        { onRefused: () => Effect.void }
      ]
      for (const each of options) yield* connection.listTools(each)
      yield* connection.listTools()
      for (const each of options) yield* connection.listTools(each)
      yield* connection.listTools({ meta: undefined, onRefused: undefined })
      assert.strictEqual(asked(server, "tools/list"), 9)
    }))

  it.live("with a time of its own takes what is kept, or else keeps what it brings, and holds nobody else to it", () =>
    Effect.gen(function*() {
      const answers: Array<() => void> = []
      const server = yield* serve({
        "tools/list": (socket, request) =>
          request.nth < 2
            ? answers.push(() => complete({ tools: [], ttlMs: 60_000 })(socket, request))
            : complete({ tools: [], ttlMs: 60_000 })(socket, request),
        "prompts/list": complete({ prompts: [], ttlMs: 60_000 })
      })
      const connection = yield* cached(server)
      const patient = yield* Effect.forkChild(connection.listTools(), { startImmediately: true })
      yield* failsWith(connection.listTools({ timeout: 50 }), "ConnectionFailed/TimedOut")
      yield* until(() => answers.length > 1)
      answers[0]!()
      assert.deepStrictEqual(yield* Fiber.join(patient), [])
      assert.deepStrictEqual(yield* connection.listTools({ timeout: 50 }), [])
      assert.strictEqual(asked(server, "tools/list"), 2)
      yield* connection.listPrompts({ timeout: "10 seconds" })
      yield* connection.listPrompts()
      assert.strictEqual(asked(server, "prompts/list"), 1)
    }))
})

describe("the life of a cache", () => {
  it.live("ends with its connection: what was kept is no answer of a connection that is closed", () =>
    Effect.gen(function*() {
      const server = yield* serve({})
      const scope = yield* Scope.make()
      const below = yield* Scope.provide(connect(server.url), scope)
      const connection = yield* McpCache.make(below)
      yield* connection.listTools()
      yield* Scope.close(scope, Exit.void)
      yield* failsWith(connection.listTools(), "ConnectionFailed/Closed")
      yield* server.quiet
    }))

  it.live("ends with its scope: everything goes to the connection after that", () =>
    Effect.gen(function*() {
      const server = yield* serve({})
      const below = yield* connect(server.url)
      const connection = yield* Effect.scoped(Effect.tap(McpCache.make(below), ({ listTools }) => listTools()))
      yield* connection.listTools()
      yield* connection.listTools()
      assert.strictEqual(asked(server, "tools/list"), 3)
    }))

  it.live("is that of its layer", () =>
    Effect.gen(function*() {
      const server = yield* serve({})
      const layer = Layer.provide(
        McpCache.layer(),
        NodeMcp.layerHttp({ url: server.url, guard: EgressGuard.allowLoopback })
      )
      yield* Effect.gen(function*() {
        const connection = yield* McpConnection.McpConnection
        yield* Effect.all([connection.listTools(), connection.listTools()], { concurrency: 2 })
        yield* connection.listTools()
      }).pipe(Effect.provide(layer))
      assert.strictEqual(asked(server, "tools/list"), 1)
    }))
})
