import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { NodeMcp } from "../src/node.ts"
import { connect, failsWith, kind } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const legacyConnect = ["server/discover", "initialize", "notifications/initialized"]

const rpcError = (code: number, status = 200, data?: unknown): Raw.Responder => (socket, request) =>
  Raw.sendError(socket, request, { code, message: "no", ...(data === undefined ? {} : { data }) }, status)

const http = (status: number, type?: string, body = ""): Raw.Responder => (socket) =>
  Raw.send(socket, status, type === undefined ? {} : { "content-type": type }, body)

const discover = (result: unknown): Raw.Responder => (socket, request) => Raw.sendResult(socket, request, result)

const anonymousError = (id: unknown): Raw.Responder => (socket) =>
  Raw.sendJson(socket, { jsonrpc: "2.0", id, error: { code: -32000, message: "no session" } }, 400)

interface Case {
  readonly answer: string
  readonly respond: Raw.Responder
  readonly leadsTo: "2026-07-28" | "2025-11-25" | string
  readonly methods: ReadonlyArray<string>
}

/**
 * The table of design section 5, a row an answer to the first request.
 */
const cases: ReadonlyArray<Case> = [
  {
    answer: "a DiscoverResult naming a modern revision",
    respond: discover(Raw.discoverResult),
    leadsTo: "2026-07-28",
    methods: ["server/discover"]
  },
  {
    answer: "a DiscoverResult naming only legacy revisions",
    respond: discover({ ...Raw.discoverResult, supportedVersions: ["2025-11-25"] }),
    leadsTo: "2025-11-25",
    methods: legacyConnect
  },
  {
    answer: "a DiscoverResult naming none",
    respond: discover({ ...Raw.discoverResult, supportedVersions: [] }),
    leadsTo: "2025-11-25",
    methods: legacyConnect
  },
  {
    answer: "a result that is no DiscoverResult",
    respond: discover({}),
    leadsTo: "2025-11-25",
    methods: legacyConnect
  },
  {
    answer: "-32022 naming a modern revision, then a DiscoverResult",
    respond: (socket, request) =>
      request.nth === 0
        ? rpcError(-32022, 400, { supported: ["2026-07-28"] })(socket, request)
        : Raw.sendResult(socket, request, Raw.discoverResult),
    leadsTo: "2026-07-28",
    methods: ["server/discover", "server/discover"]
  },
  {
    answer: "-32022 twice",
    respond: rpcError(-32022, 400, { supported: ["2026-07-28"] }),
    leadsTo: "ConnectionFailed/UnsupportedVersion",
    methods: ["server/discover", "server/discover"]
  },
  {
    answer: "-32022 naming only legacy revisions",
    respond: rpcError(-32022, 400, { supported: ["2025-06-18"] }),
    leadsTo: "2025-11-25",
    methods: legacyConnect
  },
  ...[{ supported: ["1999-01-01"] }, { supported: [] }, undefined].map((data) => ({
    answer: `-32022 with data ${JSON.stringify(data)}`,
    respond: rpcError(-32022, 400, data),
    leadsTo: "ConnectionFailed/UnsupportedVersion",
    methods: ["server/discover"]
  })),
  ...[-32020, -32021].map((code) => ({
    answer: String(code),
    respond: rpcError(code, 400),
    leadsTo: "ServerAnswered/RpcError",
    methods: ["server/discover"]
  })),
  ...([[-32601, 200], [-32601, 404], [-32603, 500], [-32000, 400], [-32602, 422]] as const).map(([code, status]) => ({
    answer: `${code} at ${status}`,
    respond: rpcError(code, status),
    leadsTo: "2025-11-25",
    methods: legacyConnect
  })),
  ...[null, "", undefined].map((id) => ({
    answer: `an error with id ${JSON.stringify(id)} at 400`,
    respond: anonymousError(id),
    leadsTo: "2025-11-25",
    methods: legacyConnect
  })),
  ...[400, 404, 405, 406, 415, 422, 202, 204, 500, 501].map((status) => ({
    answer: `${status} without JSON-RPC`,
    respond: http(status, "text/html", status === 204 ? "" : "<html>"),
    leadsTo: "2025-11-25",
    methods: legacyConnect
  })),
  ...[401, 403].map((status) => ({
    answer: String(status),
    respond: http(status),
    leadsTo: "Unauthorized",
    methods: ["server/discover"]
  })),
  ...[401, 403].map((status) => ({
    answer: `-32601 at ${status}`,
    respond: rpcError(-32601, status),
    leadsTo: "Unauthorized",
    methods: ["server/discover"]
  })),
  ...[302, 429, 502, 503, 504].map((status) => ({
    answer: String(status),
    respond: http(status, "text/plain", "later"),
    leadsTo: "ConnectionFailed/HttpStatus",
    methods: ["server/discover"]
  })),
  ...([["text/html", "<html>"], [undefined, ""], ["application/json", ""], ["application/json", "{"]] as const).map((
    [type, body]
  ) => ({
    answer: `200 ${type} ${JSON.stringify(body)}`,
    respond: http(200, type, body),
    leadsTo: "ConnectionFailed/ProtocolViolation",
    methods: ["server/discover"]
  })),
  {
    answer: "a closed connection",
    respond: (socket) => socket.destroy(),
    leadsTo: "ConnectionFailed/Unreachable",
    methods: ["server/discover"]
  }
]

describe("the era of a server", () => {
  for (const { answer, leadsTo, methods, respond } of cases) {
    it.live(`${answer} → ${leadsTo}`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.legacy({ "server/discover": respond }))
        const outcome = yield* Effect.scoped(connect(server.url)).pipe(
          Effect.match({ onFailure: kind, onSuccess: (connection) => connection.protocolVersion })
        )
        assert.strictEqual(outcome, leadsTo)
        const session = leadsTo === "2025-11-25" ? ["DELETE"] : []
        assert.deepStrictEqual(server.methods(), [...methods, ...session])
        yield* server.quiet
      }))
  }
})

describe("initialize", () => {
  for (const version of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]) {
    it.live(`takes ${version}`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.legacy({}, version))
        const connection = yield* connect(server.url)
        assert.strictEqual(connection.protocolVersion, version)
        assert.strictEqual(server.requests[1]?.message.params.protocolVersion, "2025-11-25")
        assert.strictEqual(server.requests[2]?.headers["mcp-protocol-version"], version)
        assert.deepStrictEqual(connection.serverInfo, { name: "raw", version: "1" })
      }))
  }

  for (const version of ["9999", "", 5, "2026-07-28", null, {}]) {
    it.live(`refuses ${JSON.stringify(version)} and closes the session`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.legacy({}, version as string))
        yield* failsWith(connect(server.url), "ConnectionFailed/UnsupportedVersion")
        assert.deepStrictEqual(server.methods(), ["server/discover", "initialize", "DELETE"])
      }))
  }

  const insists: ReadonlyArray<readonly [NodeMcp.HttpOptions["protocol"], string, ReadonlyArray<string>]> = [
    ["legacy", "2025-11-25", ["initialize", "notifications/initialized"]],
    ["2025-11-25", "2025-11-25", ["initialize", "notifications/initialized"]],
    ["2025-06-18", "ConnectionFailed/UnsupportedVersion", ["initialize", "DELETE"]],
    ["2026-07-28", "ConnectionFailed/UnsupportedVersion", ["server/discover"]]
  ]
  for (const [protocol, leadsTo, methods] of insists) {
    it.live(`protocol ${protocol} at a server of 2025-11-25 → ${leadsTo}`, () =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.legacy({ "server/discover": rpcError(-32601) }))
        const outcome = yield* connect(server.url, { protocol }).pipe(
          Effect.match({ onFailure: kind, onSuccess: (connection) => connection.protocolVersion })
        )
        assert.strictEqual(outcome, leadsTo)
        assert.deepStrictEqual(server.methods(), methods)
      }))
  }

  it.live("fails where the server refuses it, and where its result has another shape", () =>
    Effect.gen(function*() {
      const refusing = yield* Raw.make(Raw.legacy({ initialize: rpcError(-32603) }))
      yield* failsWith(connect(refusing.url), "ServerAnswered/RpcError")
      const odd = yield* Raw.make(Raw.legacy({
        initialize: (socket, request) => Raw.sendResult(socket, request, { capabilities: 5 })
      }))
      yield* failsWith(connect(odd.url), "ConnectionFailed/UnsupportedVersion")
    }))

  it.live("keeps going where the server misspells what is only for display", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make(Raw.modern({
        "server/discover": discover({
          ...Raw.discoverResult,
          instructions: 5,
          _meta: { "io.modelcontextprotocol/serverInfo": { name: 7 } }
        })
      }))
      const connection = yield* connect(server.url)
      assert.isUndefined(connection.serverInfo)
      assert.isUndefined(connection.instructions)
    }))
})
