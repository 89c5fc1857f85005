import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Dns from "effect/net/Dns"
import * as NetAddress from "effect/net/NetAddress"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Net from "node:net"
import { ByteBudget, EgressGuard, HttpExchange, McpConnection, type McpError } from "../src/index.ts"
import { NodeMcp } from "../src/node.ts"
import { failsWith, kind } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

/**
 * A port of this host, over both families where there are both.
 */
interface Door {
  readonly port: number
  /**
   * How many connections came in on it.
   */
  readonly connections: Effect.Effect<number>
}

const listen = (host: string, port: number, onConnection: (socket: Net.Socket) => void) =>
  Effect.acquireRelease(
    Effect.callback<Net.Server | undefined>((resume) => {
      const server = Net.createServer(onConnection)
      server.once("error", () => resume(Effect.undefined))
      server.listen(port, host, () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.callback<void>((resume) => {
        if (server === undefined) resume(Effect.void)
        else server.close(() => resume(Effect.void))
      })
  )

/**
 * A connection of our own, which ends when the other side has accepted and closed it.
 */
const knock = (host: string, port: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const socket = Net.connect(port, host)
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.void))
  })

const openDoor: Effect.Effect<Door, never, Scope.Scope> = Effect.gen(function*() {
  let accepted = 0
  let knocks = 0
  const onConnection = (socket: Net.Socket) => {
    accepted++
    socket.on("error", () => {})
    socket.destroy()
  }
  const four = yield* listen("127.0.0.1", 0, onConnection)
  const { port } = four!.address() as Net.AddressInfo
  const six = yield* listen("::1", port, onConnection)
  const hosts = six === undefined ? ["127.0.0.1"] : ["127.0.0.1", "::1"]
  // Connections are accepted in the order in which they came: once ours is there, so are all before it.
  const connections = Effect.forEach(hosts, (host) => {
    knocks++
    return knock(host, port)
  }).pipe(Effect.map(() => accepted - knocks))
  return { port, connections }
})

/**
 * A port that nothing listens on.
 */
const closedPort: Effect.Effect<number> = Effect.scoped(Effect.map(openDoor, ({ port }) => port))

const pool = (policy: EgressGuard.Policy, options?: NodeMcp.PoolOptions) =>
  NodeMcp.layerHttpExchange(options).pipe(
    Layer.provideMerge(EgressGuard.layer(policy)),
    Layer.merge(ByteBudget.layer())
  )

/**
 * A resolver that has an answer for the first look-up, the second, and so on; the last one stands for all after it.
 */
const resolver = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  const lookups: Array<string> = []
  const dns = Dns.make({
    lookup: (host) =>
      Effect.sync(() => {
        const answer = answers[Math.min(lookups.length, answers.length - 1)]!
        lookups.push(host)
        return answer.map(NetAddress.ipFromStringUnsafe)
      })
  })
  return { dns, lookups }
}

const unreachable = <A, R>(effect: Effect.Effect<A, McpError.McpError, R>, detail?: string) =>
  Effect.map(failsWith(effect, "ConnectionFailed/Unreachable"), (error) => {
    assert.deepNestedInclude(error, { "reason.delivered": "no", ...(detail && { "reason.detail": detail }) })
    return error
  })

const denied = <A, R>(effect: Effect.Effect<A, McpError.McpError, R>, host: string, address?: string) =>
  Effect.map(failsWith(effect, "ConnectionFailed/EgressDenied"), (error) => {
    assert.deepNestedInclude(error, { "reason.host": host, ...(address && { "reason.address": address }) })
    return error
  })

const only = (...allow: ReadonlyArray<string>) => EgressGuard.make({ allow })

describe("a URL that the standard guard refuses brings no connection", () => {
  it.live.each([
    "http://127.0.0.1:PORT/mcp",
    "http://127.0.0.1.:PORT/mcp",
    "http://127.1:PORT/mcp",
    "http://127.0.1:PORT/mcp",
    "http://127.255.255.254:PORT/mcp",
    "http://2130706433:PORT/mcp",
    "http://0x7f000001:PORT/mcp",
    "http://0x7f.1:PORT/mcp",
    "http://017700000001:PORT/mcp",
    "http://0177.0.0.01:PORT/mcp",
    "http://１２７.0.0.1:PORT/mcp",
    "http://①②⑦.⓪.⓪.①:PORT/mcp",
    "http://127。0。0。1:PORT/mcp",
    "http://%31%32%37.0.0.1:PORT/mcp",
    "http:127.0.0.1:PORT/mcp",
    "http:\\\\127.0.0.1:PORT\\mcp",
    " http://127.0.0.1:PORT/mcp",
    "http://localhost:PORT/mcp",
    "http://localhost.:PORT/mcp",
    "http://LOCALHOST:PORT/mcp",
    "http://a.localhost:PORT/mcp",
    "http://ⓛocalhost:PORT/mcp",
    "http://local\thost:PORT/mcp",
    "http://0.0.0.0:PORT/mcp",
    "http://0:PORT/mcp",
    "http://0x0:PORT/mcp",
    "http://[::]:PORT/mcp",
    "http://[::1]:PORT/mcp",
    "http://[0:0:0:0:0:0:0:1]:PORT/mcp",
    "http://[::0.0.0.1]:PORT/mcp",
    "http://[::ffff:127.0.0.1]:PORT/mcp",
    "http://[::ffff:7f00:1]:PORT/mcp",
    "http://[::ffff:0.0.0.0]:PORT/mcp",
    "http://[::127.0.0.1]:PORT/mcp",
    "http://[::ffff:0:127.0.0.1]:PORT/mcp",
    "http://[64:ff9b::127.0.0.1]:PORT/mcp",
    "http://[64:ff9b:1::127.0.0.1]:PORT/mcp",
    "http://[2002:7f00:1::]:PORT/mcp",
    "http://[2001:0:7f00:1::]:PORT/mcp",
    "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]:PORT/mcp",
    "http://[2001:db8::5efe:127.0.0.1]:PORT/mcp",
    "http://169.254.169.254:PORT/mcp",
    "http://0xa9fea9fe:PORT/mcp",
    "http://[fe80::1]:PORT/mcp",
    "http://[fd00:ec2::254]:PORT/mcp",
    "http://100.100.100.200:PORT/mcp",
    "http://224.0.0.1:PORT/mcp",
    "http://[ff02::1]:PORT/mcp",
    "http://255.255.255.255:PORT/mcp",
    "https://127.0.0.1:PORT/mcp",
    "https://localhost:PORT/mcp"
  ])("%s", (text) =>
    Effect.gen(function*() {
      const door = yield* openDoor
      const url = text.replace("PORT", String(door.port))
      const { hostname } = new URL(url)
      const host = hostname.replace(/^\[|[\].]+$/g, "")
      yield* denied(NodeMcp.connectHttp({ url, guard: EgressGuard.standard }), host)
      assert.strictEqual(yield* door.connections, 0)
    }))

  it.live.each(["http://user@127.0.0.1:PORT/mcp", "http://:secret@localhost:PORT/mcp", "http://u:secret@[::1]:PORT/"])(
    "%s",
    (text) =>
      Effect.gen(function*() {
        const door = yield* openDoor
        const url = text.replace("PORT", String(door.port))
        const error = yield* failsWith(NodeMcp.connectHttp({ url, guard: EgressGuard.standard }), "InvalidInput")
        assert.notInclude(error.message + JSON.stringify(error), "secret")
        assert.strictEqual(yield* door.connections, 0)
      })
  )
})

describe("the dial", () => {
  it.live.each([
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:0.0.0.0",
    "::127.0.0.1",
    "64:ff9b::127.0.0.1",
    "2002:7f00:1::",
    "169.254.169.254",
    "fe80::1",
    "fd00:ec2::254",
    "224.0.0.1"
  ])("refuses a name that resolves to %s", (address) =>
    Effect.gen(function*() {
      const door = yield* openDoor
      const { dns, lookups } = resolver([address])
      const canonical = NetAddress.formatIp(NetAddress.ipFromStringUnsafe(address))
      yield* denied(
        Effect.provide(
          McpConnection.connectHttp({ url: `http://mcp.example:${door.port}/mcp` }),
          pool(EgressGuard.standard, { dns })
        ),
        "mcp.example",
        canonical
      )
      assert.deepStrictEqual(lookups, ["mcp.example"])
      assert.strictEqual(yield* door.connections, 0)
    }))

  it.live.each(["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]"])(
    "refuses the literal %s, for which nothing is looked up, though nobody vetted the URL",
    (host) =>
      Effect.gen(function*() {
        const door = yield* openDoor
        const { dns, lookups } = resolver(["8.8.8.8"])
        const reason = yield* Effect.flip(HttpExchange.HttpExchange.use((exchange) =>
          exchange.send({
            method: "POST",
            url: new URL(`http://${host}:${door.port}/mcp`),
            headers: [],
            body: "{}",
            meter: ByteBudget.make().open(),
            onHead: () => "none"
          })
        )).pipe(Effect.provide(pool(EgressGuard.standard, { dns })))
        assert.strictEqual(reason._tag, "EgressDenied")
        assert.deepStrictEqual(lookups, [])
        assert.strictEqual(yield* door.connections, 0)
      })
  )

  it.live("refuses what the system's own resolver answers", () =>
    Effect.gen(function*() {
      const door = yield* openDoor
      yield* denied(
        Effect.provide(
          McpConnection.connectHttp({ url: `http://localhost:${door.port}/mcp` }),
          pool({ ...EgressGuard.standard, host: () => true })
        ),
        "localhost"
      )
      assert.strictEqual(yield* door.connections, 0)
    }))

  it.live("looks a name up once, dials what was vetted, and vets anew at the next dial", () =>
    Effect.gen(function*() {
      const close: Raw.Responder = (socket, request) => {
        const result = request.message.method === "tools/call" ? Raw.textResult("ok") : Raw.discoverResult
        const body = JSON.stringify({ jsonrpc: "2.0", id: request.message.id, result })
        Raw.send(socket, 200, { "content-type": "application/json", connection: "close" }, body)
        socket.end()
      }
      const server = yield* Raw.make(close)
      const { dns, lookups } = resolver(["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"])
      yield* Effect.gen(function*() {
        const connection = yield* McpConnection.connectHttp({ url: `http://mcp.example:${server.port}/mcp` })
        assert.strictEqual((yield* connection.callTool("t")).text, "ok")
        assert.lengthOf(lookups, 2)
        yield* denied(connection.callTool("t"), "mcp.example", "127.0.0.2")
      }).pipe(Effect.provide(pool(only("127.0.0.1/32"), { dns })))
      assert.deepStrictEqual(lookups, ["mcp.example", "mcp.example", "mcp.example"])
      assert.deepStrictEqual(server.methods(), ["server/discover", "tools/call"])
      assert.strictEqual(server.connections(), 2)
      assert.strictEqual(server.requests[0]?.headers["host"], `mcp.example:${server.port}`)
      yield* server.quiet
    }))

  it.live.each([
    { addresses: ["127.0.0.1", "::1"] },
    { addresses: ["::1", "127.0.0.1"] },
    { addresses: ["127.0.0.1", "127.0.0.1", "169.254.169.254"] }
  ])("refuses a name whole where one address of $addresses is refused", ({ addresses }) =>
    Effect.gen(function*() {
      const door = yield* openDoor
      const { dns, lookups } = resolver(addresses)
      const refused = addresses.find((address) => address !== "127.0.0.1")!
      yield* denied(
        Effect.provide(
          McpConnection.connectHttp({ url: `http://mcp.example:${door.port}/mcp` }),
          pool(only("127.0.0.1/32"), { dns })
        ),
        "mcp.example",
        refused
      )
      assert.lengthOf(lookups, 1)
      assert.strictEqual(yield* door.connections, 0)
    }))

  it.live("says of a name that nobody has that nothing was delivered", () =>
    Effect.gen(function*() {
      const dns = Dns.make({
        lookup: (hostname) => Effect.fail(new Dns.DnsError({ reason: "NotFound", method: "lookup", hostname }))
      })
      yield* unreachable(
        Effect.provide(
          McpConnection.connectHttp({ url: "http://mcp.example/mcp" }),
          pool(EgressGuard.standard, { dns })
        )
      )
    }))

  it.live.each([{ addresses: ["127.0.0.1"] }, { addresses: ["127.0.0.1", "::1"] }])(
    "says of a refused port, at $addresses, that nothing was delivered",
    ({ addresses }) =>
      Effect.gen(function*() {
        const port = yield* closedPort
        const { dns } = resolver(addresses)
        const layer = pool(EgressGuard.allowLoopback, { dns })
        for (const host of ["mcp.example", "127.0.0.1"]) {
          yield* unreachable(
            Effect.provide(McpConnection.connectHttp({ url: `http://${host}:${port}/mcp` }), layer),
            "ECONNREFUSED"
          )
        }
      })
  )
})

/**
 * A resolver that never answers for one name, has none for any other, and tells of what becomes of its look-ups.
 */
const hangingResolver = Effect.gen(function*() {
  const begun = yield* Deferred.make<void>()
  const given = yield* Deferred.make<void>()
  const dns = Dns.make({
    lookup: (host) =>
      host === "hangs.example"
        ? Deferred.succeed(begun, undefined).pipe(
          Effect.andThen(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(given, undefined))
        )
        : Effect.succeed([])
  })
  const isGivenUp = Effect.map(Effect.timeoutOption(Deferred.await(given), "1 second"), Option.isSome)
  return { dns, begun: Deferred.await(begun), isGivenUp }
})

describe("a dial that cannot be made", () => {
  const failing: ReadonlyArray<readonly [string, Parameters<typeof NodeMcp.layerHttpExchange>[0], string]> = [
    ["keys that are none", { tls: { key: "garbage", cert: "garbage" } }, "https://127.0.0.1:1/"],
    ["a resolver that throws", {
      dns: {
        ...Dns.make({ lookup: () => Effect.succeed([]) }),
        lookup: () => {
          throw new Error("no")
        }
      }
    }, "http://a.example/"],
    ["a resolver that dies", { dns: Dns.make({ lookup: () => Effect.die("no") }) }, "http://a.example/"],
    ["a resolver that interrupts itself", { dns: Dns.make({ lookup: () => Effect.interrupt }) }, "http://a.example/"]
  ]
  for (const [what, options, target] of failing) {
    it.live(`with ${what} is Unreachable at once, and nothing comes later`, () =>
      Effect.gen(function*() {
        yield* unreachable(McpConnection.connectHttp({ url: target }))
        // Past the limit of a dial, whose timer would go off.
        yield* Effect.sleep(80)
      }).pipe(Effect.scoped, Effect.provide(pool(EgressGuard.allowLoopback, { ...options, connectTimeout: 50 }))))
  }
})

describe("a dial that comes to nothing", () => {
  const connectTimeout = "300 millis"
  const url = "http://hangs.example/mcp"

  /**
   * Fails at the limit of a dial; the pool has been used before, so that nothing but the limit counts.
   */
  const atItsLimit = (options: McpConnection.HttpOptions) =>
    Effect.gen(function*() {
      yield* unreachable(McpConnection.connectHttp({ url: "http://warm.example/mcp" }))
      const startedAt = performance.now()
      yield* unreachable(McpConnection.connectHttp(options))
      const took = performance.now() - startedAt
      assert.isAtLeast(took, 295)
      assert.isAtMost(took, 400)
    })

  it.live("ends at its limit where the resolver hangs", () =>
    Effect.gen(function*() {
      const { dns } = yield* hangingResolver
      yield* Effect.provide(atItsLimit({ url }), pool(EgressGuard.standard, { dns, connectTimeout }))
    }))

  it.live("ends at its limit where the other side says nothing in TLS", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(() => {})
      const { dns } = yield* hangingResolver
      yield* Effect.provide(
        atItsLimit({ url: `https://127.0.0.1:${server.port}/mcp` }),
        pool(EgressGuard.allowLoopback, { dns, connectTimeout })
      )
      yield* server.quiet
    }))

  it.live("gives its look-up up at the limit", () =>
    Effect.gen(function*() {
      const { dns, isGivenUp } = yield* hangingResolver
      yield* Effect.gen(function*() {
        yield* unreachable(McpConnection.connectHttp({ url }))
        assert.isTrue(yield* isGivenUp)
      }).pipe(Effect.provide(pool(EgressGuard.standard, { dns, connectTimeout })))
    }))

  it.live("gives its look-up up when its caller is interrupted", () =>
    Effect.gen(function*() {
      const { begun, dns, isGivenUp } = yield* hangingResolver
      yield* Effect.gen(function*() {
        const fiber = yield* Effect.forkChild(McpConnection.connectHttp({ url }))
        yield* begun
        yield* Fiber.interrupt(fiber)
        assert.isTrue(yield* isGivenUp)
      }).pipe(Effect.provide(pool(EgressGuard.standard, { dns })))
    }))

  /**
   * A connection that is being made over a pool of its own, which `close` closes.
   */
  const underWay = (policy: EgressGuard.Policy, options: NodeMcp.PoolOptions, target: string) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(pool(policy, options), scope)
      const fiber = yield* Effect.forkChild(
        Effect.provideContext(McpConnection.connectHttp({ url: target }), context)
      )
      return { close: Scope.close(scope, Exit.void), outcome: Fiber.join(fiber) }
    })

  it.live("gives its look-up up when the pool is closed", () =>
    Effect.gen(function*() {
      const { begun, dns, isGivenUp } = yield* hangingResolver
      const { close, outcome } = yield* underWay(EgressGuard.standard, { dns }, url)
      yield* begun
      yield* close
      yield* unreachable(outcome)
      assert.isTrue(yield* isGivenUp)
    }))

  it.live("closes its socket when the pool is closed", () =>
    Effect.gen(function*() {
      const accepted = yield* Deferred.make<Net.Socket>()
      const server = yield* listen("127.0.0.1", 0, (socket) => {
        socket.resume()
        Deferred.doneUnsafe(accepted, Exit.succeed(socket))
      })
      const { port } = server!.address() as Net.AddressInfo
      const { close, outcome } = yield* underWay(EgressGuard.allowLoopback, {}, `https://127.0.0.1:${port}/mcp`)
      const socket = yield* Deferred.await(accepted)
      yield* close
      yield* unreachable(outcome)
      yield* Effect.timeout(
        Effect.callback<void>((resume) => {
          if (socket.closed) resume(Effect.void)
          else socket.on("close", () => resume(Effect.void))
        }),
        "1 second"
      )
      assert.isTrue(socket.closed)
    }))
})

describe("proxies", () => {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]

  const withEnvironment = (values: Readonly<Record<string, string>>) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const before = Object.keys(values).map((name) => [name, process.env[name]] as const)
        Object.assign(process.env, values)
        return before
      }),
      (before) =>
        Effect.sync(() => {
          for (const [name, value] of before) {
            if (value === undefined) delete process.env[name]
            else process.env[name] = value
          }
        })
    )

  it.live("that the environment names are not used", () =>
    Effect.gen(function*() {
      const proxy = yield* openDoor
      const server = yield* Raw.make(Raw.modern())
      const proxyUrl = `http://127.0.0.1:${proxy.port}`
      yield* withEnvironment({
        ...Object.fromEntries(names.map((name) => [name, proxyUrl])),
        NODE_USE_ENV_PROXY: "1",
        NO_PROXY: "",
        no_proxy: ""
      })
      const { dns } = resolver(["127.0.0.1"])
      yield* Effect.gen(function*() {
        for (const host of ["127.0.0.1", "mcp.example"]) {
          const connection = yield* McpConnection.connectHttp({ url: `http://${host}:${server.port}/mcp` })
          assert.strictEqual((yield* connection.callTool("t")).text, "ok")
        }
        const https = McpConnection.connectHttp({ url: `https://mcp.example:${yield* closedPort}/mcp` })
        yield* unreachable(https, "ECONNREFUSED")
      }).pipe(Effect.provide(pool(EgressGuard.allowLoopback, { dns })))
      assert.strictEqual(yield* proxy.connections, 0)
      assert.lengthOf(server.requests, 4)
    }))
})

describe("redirects", () => {
  const elsewhere = (target: number): ReadonlyArray<string> => [
    `http://127.0.0.1:${target}/mcp`,
    `//127.0.0.1:${target}/mcp`,
    `http://localhost:${target}/mcp`,
    "file:///etc/passwd",
    "javascript:alert(1)",
    "http://["
  ]

  const cases = [301, 302, 303, 307, 308].flatMap((status) =>
    (["never", "same-origin"] as const).map((redirects) => ({ status, redirects }))
  )

  it.live.each(cases)(
    "$status to elsewhere is not followed with redirects: $redirects",
    ({ redirects, status }) =>
      Effect.gen(function*() {
        const door = yield* openDoor
        for (const location of elsewhere(door.port)) {
          const server = yield* Raw.make((socket) => Raw.send(socket, status, { location }))
          const error = yield* failsWith(
            NodeMcp.connectHttp({ url: server.url, guard: EgressGuard.allowLoopback, redirects }),
            "ConnectionFailed/HttpStatus"
          )
          assert.nestedPropertyVal(error, "reason.status", status)
          assert.notInclude(error.message, "passwd")
          assert.deepStrictEqual(server.methods(), ["server/discover"])
        }
        assert.strictEqual(yield* door.connections, 0)
      })
  )

  const toSlash = (status: number, location: string): Raw.Responder => (socket, request) =>
    request.path === "/mcp" ? Raw.send(socket, status, { location }) : Raw.modern()(socket, request)

  it.live.each([307, 308])("%i to the own origin is not followed by default", (status) =>
    Effect.gen(function*() {
      const server = yield* Raw.make(toSlash(status, "/mcp/"))
      const error = yield* failsWith(
        NodeMcp.connectHttp({ url: server.url, guard: EgressGuard.allowLoopback }),
        "ConnectionFailed/HttpStatus"
      )
      assert.nestedPropertyVal(error, "reason.status", status)
      assert.lengthOf(server.requests, 1)
    }))

  it.live.each([
    { status: 307, location: "/mcp/" },
    { status: 308, location: "/mcp/" },
    { status: 307, location: "mcp/" },
    { status: 307, location: "/mcp/?a=b#c" }
  ])(
    "$status to $location is followed where it is asked for, method, headers and body kept",
    ({ location, status }) =>
      Effect.gen(function*() {
        const server = yield* Raw.make(toSlash(status, location))
        const connection = yield* NodeMcp.connectHttp({
          url: server.url,
          guard: EgressGuard.allowLoopback,
          redirects: "same-origin",
          headers: { "x-api-key": "k" }
        })
        assert.strictEqual((yield* connection.callTool("t", { a: 1 })).text, "ok")
        const target = location.startsWith("/") ? location.replace(/#.*/, "") : `/${location}`
        assert.deepStrictEqual(server.requests.map(({ path }) => path), ["/mcp", target, "/mcp", target])
        for (const at of [0, 2]) {
          const [sent, again] = server.requests.slice(at, at + 2)
          assert.deepInclude(again, { httpMethod: "POST", body: sent!.body, headers: sent!.headers })
          assert.strictEqual(again!.headers["x-api-key"], "k")
        }
      })
  )

  it.live.each([301, 302, 303])(
    "%i to the own origin is not followed where redirects are asked for",
    (status) =>
      Effect.gen(function*() {
        const server = yield* Raw.make(toSlash(status, "/mcp/"))
        yield* failsWith(
          NodeMcp.connectHttp({ url: server.url, guard: EgressGuard.allowLoopback, redirects: "same-origin" }),
          "ConnectionFailed/HttpStatus"
        )
        assert.lengthOf(server.requests, 1)
      })
  )

  it.live("without an end are followed three times", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make((socket) => Raw.send(socket, 307, { location: "/mcp" }))
      const error = yield* Effect.flip(
        NodeMcp.connectHttp({ url: server.url, guard: EgressGuard.allowLoopback, redirects: "same-origin" })
      )
      assert.strictEqual(kind(error), "ConnectionFailed/HttpStatus")
      assert.lengthOf(server.requests, 4)
    }))

  it.live("with userinfo are not followed, though the origin is the same", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make((socket, request) => {
        const location = `http://u:p@${request.headers["host"]}/mcp/`
        toSlash(307, location)(socket, request)
      })
      yield* failsWith(
        NodeMcp.connectHttp({ url: server.url, guard: EgressGuard.allowLoopback, redirects: "same-origin" }),
        "ConnectionFailed/HttpStatus"
      )
      assert.lengthOf(server.requests, 1)
    }))
})
