/**
 * A caller's own `HttpClient` under the exchange: what is kept, and what is given up.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import { ByteBudget, EgressGuard, HttpExchange, McpConnection } from "../src/index.ts"
import { failsWith } from "./support/connect.ts"
import * as Raw from "./support/rawServer.ts"

const clients: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["fetch", FetchHttpClient.layer],
  ["undici", NodeHttpClient.layerUndici],
  [
    "undici with filterStatusOk",
    Layer.effect(
      HttpClient.HttpClient,
      Effect.map(HttpClient.HttpClient, HttpClient.filterStatusOk)
    ).pipe(Layer.provide(NodeHttpClient.layerUndici))
  ]
]

const wired = (client: Layer.Layer<HttpClient.HttpClient>, policy = EgressGuard.allowLoopback) =>
  Layer.mergeAll(
    HttpExchange.layerHttpClient.pipe(Layer.provide(client)),
    EgressGuard.layer(policy),
    ByteBudget.layer({ limit: 10_000 })
  )

for (const [name, client] of clients) {
  describe(`over ${name}`, () => {
    const call = (respond: Raw.Responder) =>
      Effect.gen(function*() {
        const server = yield* Raw.make(Raw.legacy({ "tools/call": respond }))
        const result = yield* Effect.scoped(Effect.gen(function*() {
          const connection = yield* McpConnection.connectHttp({ url: server.url })
          return yield* connection.callTool("t", {}, { timeout: 300 })
        }))
        assert.strictEqual(server.methods().at(-1), "DELETE")
        for (const { headers } of server.requests) {
          assert.notProperty(headers, "b3")
          assert.notProperty(headers, "traceparent")
        }
        return result.text
      }).pipe(Effect.provide(wired(client)))

    it.live("JSON and streams are read", () =>
      Effect.gen(function*() {
        const json = yield* call((socket, request) => Raw.sendResult(socket, request, Raw.textResult("grüße")))
        assert.strictEqual(json, "grüße")
        const streamed = yield* call((socket, request) => {
          Raw.openStream(socket)
          const result = Raw.textResult("streamed")
          Raw.sendChunk(socket, `data: ${JSON.stringify({ jsonrpc: "2.0", id: request.message.id, result })}\n\n`)
          // Never ended: the answer is enough.
        })
        assert.strictEqual(streamed, "streamed")
      }))

    const failures: ReadonlyArray<readonly [string, Raw.Responder, string]> = [
      ["a 401", (socket) => Raw.send(socket, 401, {}), "Unauthorized"],
      ["a 500", (socket) => Raw.send(socket, 500, {}), "ConnectionFailed/HttpStatus"],
      [
        "a JSON-RPC error at 400",
        (socket, request) => Raw.sendError(socket, request, { code: -1, message: "" }, 400),
        "ServerAnswered/RpcError"
      ],
      ["a closed connection", (socket) => socket.destroy(), "ConnectionFailed/Unreachable"],
      ["silence", () => {}, "ConnectionFailed/TimedOut"],
      [
        "too much, with a length",
        (socket, request) => Raw.sendResult(socket, request, Raw.textResult("x".repeat(20_000))),
        "ConnectionFailed/BudgetExceeded"
      ],
      ["too much, without end", (socket) => {
        Raw.openStream(socket)
        const timer = setInterval(() => Raw.sendChunk(socket, ": hi\n".repeat(500)), 1)
        socket.on("close", () => clearInterval(timer))
      }, "ConnectionFailed/BudgetExceeded"]
    ]
    for (const [what, respond, expected] of failures) {
      it.live(`${what} → ${expected}`, () => failsWith(call(respond), expected))
    }

    it.live("the guard vets URLs", () =>
      failsWith(
        Effect.scoped(McpConnection.connectHttp({ url: "http://127.0.0.1:1/" })),
        "ConnectionFailed/EgressDenied"
      ).pipe(Effect.provide(wired(client, EgressGuard.standard))))
  })
}
