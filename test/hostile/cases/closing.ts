/**
 * Interrupting and closing at every step: what of row 39 takes a scope by hand.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { McpConnection, type McpError, McpPolicy } from "../../../src/index.ts"
import { certificate } from "../../support/certificate.ts"
import { connect, failsWith } from "../../support/connect.ts"
import * as Raw from "../../support/rawServer.ts"
import {
  type Case,
  eventually,
  handshake,
  interruptedWhen,
  type Other,
  responderOf,
  services,
  takesNoTime,
  turns
} from "../kit/suite.ts"
import { drip, head, initialized, openStream, script, type Step, whole } from "../kit/wire.ts"
import {
  announcing,
  type Connecting,
  connectings,
  discovering,
  initializing,
  type Waiting,
  waitings
} from "./waiting.ts"

const closed = "ConnectionFailed/Closed"

type Client = Pick<Case, "speaks" | "answers" | "tls" | "url" | "pool" | "options">

const legacy = { speaks: "2025-11-25" } as const

/**
 * A server, and connecting to it in a scope that `close` closes.
 */
interface InScope {
  readonly server: Raw.RawServer
  readonly connecting: Effect.Effect<McpConnection.Service, McpError.McpError>
  readonly close: Effect.Effect<void>
  /**
   * Connects in a scope of its own, and closes it.
   */
  readonly visit: Effect.Effect<unknown, McpError.McpError>
}

/**
 * Runs a test over a pool of its own. Once it is done, so many sockets lie idle, and none once the pool is gone.
 */
const inScope = (
  given: Client,
  idle: number,
  body: (inScope: InScope) => Effect.Effect<unknown, unknown, Scope.Scope>
): Other["test"] =>
  Effect.gen(function*() {
    const server = yield* Raw.make(responderOf(given), { tls: given.tls })
    const connectHttp = McpConnection.connectHttp({ url: given.url?.(server) ?? server.url, ...given.options })
    yield* Effect.scoped(Effect.gen(function*() {
      const pool = yield* Layer.build(services(given))
      const scope = yield* Scope.make()
      const connecting = Effect.provideContext(connectHttp, pool)
      yield* body({
        server,
        connecting: Scope.provide(connecting, scope),
        close: Scope.close(scope, Exit.void),
        visit: Effect.scoped(connecting)
      })
      yield* server.atMost(idle)
    }))
    yield* server.quiet
  })

const interruptedConnect = ({ afterwards, dials, idle, isWaiting, name, sees, ...given }: Connecting): Other => ({
  row: 39,
  name: `connecting is interrupted: ${name}`,
  test: inScope(given, idle, ({ connecting, server }) =>
    Effect.gen(function*() {
      const exit = yield* interruptedWhen(connecting, () => isWaiting(server))
      assert.isTrue(Exit.hasInterrupts(exit), "it had ended before")
      assert.deepStrictEqual(server.methods(), [...sees, ...afterwards])
      assert.strictEqual(server.connections(), dials)
    }))
})

/**
 * Closes the scope while something in it waits. That fails at once.
 */
const closedWhile = (
  name: string,
  given: Client & Pick<Waiting, "isWaiting" | "idle" | "sees">,
  act: (connecting: InScope["connecting"]) => Effect.Effect<unknown, McpError.McpError>
): Other => ({
  row: 39,
  name,
  test: inScope(given, given.idle, ({ close, connecting, server }) =>
    Effect.gen(function*() {
      const pending = yield* Effect.forkChild(failsWith(act(connecting), closed))
      yield* eventually(() => given.isWaiting(server) ? undefined : "it never came to what would be closed")
      yield* turns(5)
      yield* takesNoTime(close)
      yield* Fiber.join(pending)
      assert.deepStrictEqual(server.methods(), given.sees)
    }))
})

const closedConnect = ({ name, ...given }: Connecting): Other =>
  closedWhile(
    `the scope is closed in connecting: ${name}`,
    { ...given, sees: [...given.sees, ...given.afterwards] },
    (connecting) => connecting
  )

const closedCall = ({ act, name, ...given }: Waiting): Other => {
  const sees = [...handshake(given), ...given.sees]
  return closedWhile(
    `the scope is closed in a call: ${name}`,
    // The end of a session leaves a socket.
    given.speaks === undefined ? { ...given, sees } : { ...given, sees: [...sees, "DELETE"], idle: 1 },
    Effect.flatMap(act)
  )
}

const calls = (connection: McpConnection.Service, count: number) =>
  Effect.all(Array.from({ length: count }, () => failsWith(connection.callTool("t"), closed)), {
    concurrency: "unbounded"
  })

/**
 * Closes the scope while 20 calls are pending. All fail, and so do those that come later, which nobody sees.
 */
const closedCalls = (name: string, given: Client): Other => ({
  row: 39,
  name: `the scope is closed with 20 calls pending: ${name}`,
  test: inScope(given, given.speaks === undefined ? 0 : 1, ({ close, connecting, server }) =>
    Effect.gen(function*() {
      const connection = yield* connecting
      const requests = handshake(given).length + 20
      const pending = yield* Effect.forkChild(calls(connection, 20))
      yield* eventually(() => server.requests.length === requests ? undefined : "20 calls were not sent")
      yield* takesNoTime(close)
      yield* Fiber.join(pending)
      yield* takesNoTime(calls(connection, 1))
      yield* takesNoTime(failsWith(connection.listTools(), closed))
      assert.deepStrictEqual(server.methods().slice(requests), given.speaks === undefined ? [] : ["DELETE"])
    }))
})

const silent: Raw.Responder = () => {}

const hurried = { policy: McpPolicy.make({ closeTimeout: 50 }) }

/**
 * Interrupts closing while the end of the session is answered so. The bound of closing holds.
 */
const interruptedClose = (name: string, steps: ReadonlyArray<Step>): Other => ({
  row: 39,
  name: `closing is interrupted: ${name}`,
  test: inScope(
    { ...legacy, answers: { DELETE: script(...steps) }, options: hurried },
    0,
    ({ server, visit }) =>
      Effect.gen(function*() {
        yield* interruptedWhen(visit, () => server.methods().includes("DELETE"))
        assert.deepStrictEqual(server.methods(), [...announcing, "DELETE"])
      })
  )
})

/**
 * Closes the scope twice. The session is ended once.
 */
const closedTwice = (
  name: string,
  twice: (close: Effect.Effect<void>) => Effect.Effect<unknown>,
  answers?: Case["answers"]
): Other => ({
  row: 39,
  name: `the scope is closed twice: ${name}`,
  test: inScope(
    { ...legacy, answers, options: hurried },
    answers === undefined ? 1 : 0,
    ({ close, connecting, server }) =>
      Effect.gen(function*() {
        yield* connecting
        yield* takesNoTime(twice(close))
        assert.deepStrictEqual(server.methods(), [...announcing, "DELETE"])
      })
  )
})

const oneByOne = (close: Effect.Effect<void>) => Effect.andThen(close, close)
const together = (close: Effect.Effect<void>) => Effect.all([close, close], { concurrency: 2 })

/**
 * Connecting fails in a scope that lives on. What it had opened is gone already.
 */
const failedConnect = (name: string, given: Pick<Case, "answers" | "outcome" | "sees">): Other => ({
  row: 39,
  name: `connecting fails, and its scope lives on: ${name}`,
  test: Effect.gen(function*() {
    const server = yield* Raw.make(responderOf({ ...legacy, ...given }))
    const policy = McpPolicy.make({ requestTimeout: 100 })
    yield* failsWith(connect(server.url, { policy }), given.outcome)
    yield* server.quiet
    assert.deepStrictEqual(server.methods(), given.sees)
  })
})

const noSession = script(initialized(`{"protocolVersion":"9999","capabilities":{}}`, "s1"))

/**
 * Interrupts a client that connects, calls and closes after no turn of the event loop, after one, and so on, until it is
 * done before: each meets it at another step. A session that the server was told of is ended every time.
 */
const interruptedEverywhere = (name: string, given: Client): Other => ({
  row: 39,
  name: `connecting, calling and closing are interrupted after every number of turns: ${name}`,
  test: Effect.gen(function*() {
    const server = yield* Raw.make(responderOf(given), { tls: given.tls })
    const client = Effect.scoped(
      Effect.flatMap(McpConnection.connectHttp({ url: server.url }), (connection) => connection.callTool("t"))
    )
    const interruptedAfter = (count: number) =>
      Effect.gen(function*() {
        const fiber = yield* Effect.forkChild(client)
        yield* turns(count)
        yield* takesNoTime(Fiber.interrupt(fiber))
        yield* server.atMost(1)
        return Exit.isSuccess(yield* Fiber.await(fiber))
      }).pipe(Effect.provide(services(given)), Effect.ensuring(server.quiet))
    let count = 0
    while (!(yield* interruptedAfter(count))) count++
    assert.isAbove(count, 5)
    const sessions = (isEnd: boolean) =>
      new Set(
        server.requests.filter(({ httpMethod }) => (httpMethod === "DELETE") === isEnd)
          .flatMap(({ headers }) => headers["mcp-session-id"] ?? [])
      )
    assert.includeMembers([...sessions(true)], [...sessions(false)])
  })
})

export const closing: ReadonlyArray<Other> = [
  ...waitings().map(closedCall),
  ...connectings().map(interruptedConnect),
  ...connectings().map(closedConnect),
  interruptedClose("no answer", []),
  interruptedClose("half a head", ["HTTP/1.1 200 OK\r\n"]),
  interruptedClose("informational responses", [drip(head(102), 10)]),
  closedCalls("modern", { answers: { "tools/call": silent } }),
  closedCalls("on event streams", { answers: { "tools/call": script(openStream) } }),
  closedCalls("legacy", { ...legacy, answers: { "tools/call": silent } }),
  closedTwice("one by one", oneByOne),
  closedTwice("at once", together),
  closedTwice("at once, and the session's end is never answered", together, { DELETE: silent }),
  {
    row: 39,
    name: "a scope that is closed already",
    test: inScope({}, 0, ({ close, connecting, server }) =>
      Effect.gen(function*() {
        yield* close
        yield* takesNoTime(failsWith(connecting, closed))
        assert.strictEqual(server.connections(), 0)
      }))
  },
  failedConnect("server/discover is refused", {
    answers: { "server/discover": script(whole(401, undefined)) },
    outcome: "Unauthorized",
    sees: discovering
  }),
  failedConnect("initialize is never answered", {
    answers: { initialize: silent },
    outcome: "ConnectionFailed/TimedOut",
    sees: initializing
  }),
  failedConnect("the version is none", {
    answers: { initialize: noSession },
    outcome: "ConnectionFailed/UnsupportedVersion",
    sees: [...initializing, "DELETE"]
  }),
  failedConnect("notifications/initialized is refused", {
    answers: { "notifications/initialized": script(whole(503, undefined)) },
    outcome: "ConnectionFailed/HttpStatus",
    sees: [...announcing, "DELETE"]
  }),
  failedConnect("notifications/initialized is never answered", {
    answers: { "notifications/initialized": silent },
    outcome: "ConnectionFailed/TimedOut",
    sees: [...announcing, "DELETE"]
  }),
  interruptedEverywhere("modern", {}),
  interruptedEverywhere("legacy", legacy),
  interruptedEverywhere("over TLS", { tls: true, pool: { tls: { ca: certificate.cert } } })
]
