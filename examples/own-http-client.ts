/**
 * A caller's own Effect `HttpClient`, here `fetch` with a middleware that counts requests, in place of the guarded pool:
 * for other platforms, or where an application's client does more than send. The guard and the budget are composed by
 * hand. Such a client hides its sockets, so that names are not vetted at the dial: see `HttpExchange.layerHttpClient`.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Context, Effect, Layer, Ref } from "effect"
import { ByteBudget, EgressGuard, HttpExchange, McpConnection } from "effect-mcp-client"
import { MockServer } from "effect-mcp-client/testing"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import * as Expect from "./support/expect.ts"

/**
 * How many requests were made.
 */
class Requests extends Context.Service<Requests, Ref.Ref<number>>()("examples/Requests") {
  static readonly layer = Layer.effect(Requests, Ref.make(0))
}

/**
 * The client of the application.
 */
const layerClient = Layer.effect(
  HttpClient.HttpClient,
  Effect.gen(function*() {
    const requests = yield* Requests
    const client = yield* HttpClient.HttpClient
    return client.pipe(
      HttpClient.tapRequest(() => Ref.update(requests, (count) => count + 1)),
      // `fetch` asks for compressed answers by itself, and what is compressed cannot be counted: it would be refused.
      HttpClient.mapRequest(HttpClientRequest.setHeader("accept-encoding", "identity"))
    )
  })
).pipe(
  Layer.provide(FetchHttpClient.layer),
  // `fetch` follows redirects by itself, past the guard.
  Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" }))
)

/**
 * What every connection of the application stands on.
 */
const layerExchange = Layer.mergeAll(
  HttpExchange.layerHttpClient.pipe(Layer.provide(layerClient)),
  EgressGuard.layer(EgressGuard.allowLoopback),
  ByteBudget.layer({ limit: "1 MiB" })
).pipe(Layer.provideMerge(Requests.layer))

const program = Effect.gen(function*() {
  const mock = yield* MockServer.MockServer
  const requests = yield* Requests
  const mcp = yield* McpConnection.connectHttp({ url: mock.url })

  const { text } = yield* mcp.callTool("greet", { name: "Ada" })
  yield* Console.log(`${text} (${yield* Ref.get(requests)} requests: one to connect, one to call)`)
  yield* Expect.that(text === "Good day, Ada." && (yield* Ref.get(requests)) === 2, "two requests")

  yield* McpConnection.connectHttp({ url: "http://169.254.169.254/" }).pipe(
    Expect.failure,
    Effect.catchReason("ConnectionFailed", "EgressDenied", (_, error) => Console.log(`guarded: ${error.message}`))
  )
  yield* mcp.callTool("export").pipe(
    Expect.failure,
    Effect.catchReason("ConnectionFailed", "BudgetExceeded", (_, error) => Console.log(`budgeted: ${error.message}`))
  )

  const received = yield* mock.received
  yield* Expect.that((yield* Ref.get(requests)) === received.length, "nothing was sent to the refused address")
  yield* Expect.that(received.every(({ headers }) => headers["accept-encoding"] === "identity"), "plain answers")
}).pipe(
  Effect.scoped,
  Effect.provide([
    layerExchange,
    MockServer.layerHttp({
      tools: {
        greet: ({ name }) => `Good day, ${String(name)}.`,
        export: () => "x".repeat(2 * 1024 * 1024)
      }
    })
  ])
)

NodeRuntime.runMain(program)
