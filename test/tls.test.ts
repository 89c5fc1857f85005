import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Http2 from "node:http2"
import type * as Net from "node:net"
import { ByteBudget, EgressGuard, McpConnection, type McpError } from "../src/index.ts"
import { NodeMcp } from "../src/node.ts"
import { certificate } from "./support/certificate.ts"
import { failsWith } from "./support/connect.ts"
import { listen } from "./support/listen.ts"
import { discoverResult, textResult } from "./support/rawServer.ts"

const { cert, key } = certificate

type Respond = (response: Http2.Http2ServerResponse, id: number) => void

const json = (response: Http2.Http2ServerResponse, id: number, result: object): void => {
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
}

/**
 * A server that speaks HTTP/1 and HTTP/2 over TLS, and keeps which of them a request came by.
 */
const serve = (onCall: Respond) =>
  Effect.gen(function*() {
    const versions: Array<string> = []
    const sessions = new Set<Http2.ServerHttp2Session>()
    const sockets = new Set<Net.Socket>()
    const server = Http2.createSecureServer(
      { cert, key, allowHTTP1: true, maxSendHeaderBlockLength: 200_000 },
      (request, response) => {
        versions.push(request.httpVersion)
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const { id, method } = JSON.parse(Buffer.concat(chunks).toString())
          if (method === "server/discover") json(response, id, discoverResult)
          else onCall(response, id)
        })
      }
    )
    server.on("connection", (socket) => sockets.add(socket))
    server.on("session", (session) => {
      sessions.add(session)
      session.on("close", () => sessions.delete(session))
    })
    const port = yield* listen(server, () => sockets.forEach((socket) => socket.destroy()))
    return { url: `https://127.0.0.1:${port}/mcp`, versions, sessions }
  })

const ok: Respond = (response, id) => json(response, id, textResult("ok"))

const pool = (options: NodeMcp.PoolOptions) =>
  NodeMcp.layerHttpExchange(options).pipe(
    Layer.provideMerge(EgressGuard.layer(EgressGuard.allowLoopback)),
    Layer.merge(ByteBudget.layer())
  )

const call = (url: string, options?: McpConnection.CallOptions) =>
  Effect.scoped(
    Effect.flatMap(McpConnection.connectHttp({ url }), (connection) => connection.callTool("t", {}, options))
  )

describe("TLS", () => {
  it.live("a certificate that nobody vouches for is refused before anything is sent", () =>
    Effect.gen(function*() {
      const { url, versions } = yield* serve(ok)
      const error = yield* failsWith(call(url), "ConnectionFailed/Unreachable")
      const reason = (error as McpError.ConnectionFailed).reason as McpError.Unreachable
      assert.deepStrictEqual([reason.delivered, reason.detail], ["no", "DEPTH_ZERO_SELF_SIGNED_CERT"])
      assert.deepStrictEqual(versions, [])
    }).pipe(Effect.provide(pool({}))))

  it.live("an authority of one's own may vouch; HTTP/2 is not offered by itself", () =>
    Effect.gen(function*() {
      const { url, versions } = yield* serve(ok)
      assert.strictEqual((yield* call(url)).text, "ok")
      assert.deepStrictEqual(versions, ["1.1", "1.1"])
    }).pipe(Effect.provide(pool({ tls: { ca: cert } }))))
})

describe("HTTP/2, where it is asked for", () => {
  const http2 = pool({ http2: true, tls: { ca: cert } })

  it.live("carries many calls on one connection", () =>
    Effect.gen(function*() {
      const { sessions, url, versions } = yield* serve(ok)
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* McpConnection.connectHttp({ url })
        const results = yield* Effect.all(Array.from({ length: 20 }, () => connection.callTool("t")), {
          concurrency: "unbounded"
        })
        assert.isTrue(results.every(({ text }) => text === "ok"))
      }))
      assert.deepStrictEqual([...new Set(versions)], ["2.0"])
      assert.strictEqual(sessions.size, 1)
    }).pipe(Effect.provide(http2)))

  const failures: ReadonlyArray<readonly [string, Respond, string]> = [
    ["a header block of 90 KB", (response, id) => {
      for (let i = 0; i < 90; i++) response.setHeader(`x-${i}`, "y".repeat(1000))
      json(response, id, textResult("ok"))
    }, "ConnectionFailed/BudgetExceeded"],
    ["500 informational responses", (response, id) => {
      for (let i = 0; i < 500; i++) response.stream.additionalHeaders({ ":status": 103 })
      json(response, id, textResult("ok"))
    }, "ConnectionFailed/BudgetExceeded"],
    ["a body over the budget", ({ stream }) => {
      stream.respond({ ":status": 200, "content-type": "application/json" })
      stream.on("error", () => {})
      const more = (): void => {
        while (!stream.destroyed && !stream.closed && stream.write("[".repeat(65_536)));
      }
      stream.on("drain", more)
      more()
    }, "ConnectionFailed/BudgetExceeded"],
    ["silence", () => {}, "ConnectionFailed/TimedOut"],
    [
      "a reset stream",
      (response) => response.stream.close(Http2.constants.NGHTTP2_INTERNAL_ERROR),
      "ConnectionFailed/Unreachable"
    ],
    ["a 401", (response) => {
      response.statusCode = 401
      response.end()
    }, "Unauthorized"]
  ]
  for (const [what, respond, expected] of failures) {
    it.live(`${what} → ${expected}`, () =>
      Effect.gen(function*() {
        const { url } = yield* serve(respond)
        const [elapsed] = yield* Effect.timed(failsWith(call(url, { timeout: 500 }), expected))
        assert.isBelow(Duration.toMillis(elapsed), 1000)
      }).pipe(Effect.provide(http2)))
  }
})
