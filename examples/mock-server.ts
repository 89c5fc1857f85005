/**
 * An application service over an MCP server, and its test. In production `Forecast.layer` reads the server's address
 * from the configuration; the test swaps that one layer for `MockServer.layerConnection`, and asserts what was answered,
 * what the server was asked, and what becomes of a fault.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Context, Effect, Layer, Schema } from "effect"
import { Credentials, McpConnection } from "effect-mcp-client"
import { NodeMcp } from "effect-mcp-client/node"
import { MockServer } from "effect-mcp-client/testing"
import * as assert from "node:assert/strict"

// -----------------------------------------------------------------------------
// The application
// -----------------------------------------------------------------------------

class ForecastUnavailable extends Schema.TaggedError<ForecastUnavailable>()("ForecastUnavailable", {
  city: Schema.String
}) {}

const Weather = Schema.Struct({ celsius: Schema.Finite, rain: Schema.Boolean })

export class Forecast extends Context.Service<Forecast, {
  readonly advice: (city: string) => Effect.Effect<string, ForecastUnavailable>
}>()("examples/Forecast") {
  /**
   * Over whatever connection there is: this is what the test takes.
   */
  static readonly layerNoDeps = Layer.effect(
    Forecast,
    Effect.gen(function*() {
      const mcp = yield* McpConnection.McpConnection
      const advice = Effect.fn("Forecast.advice")(
        function*(city: string) {
          const { structuredContent } = yield* mcp.callTool("weather", { city }, { timeout: "5 seconds" })
          const { celsius, rain } = yield* Schema.decodeUnknownEffect(Weather)(structuredContent)
          return rain ? "Take an umbrella." : celsius < 10 ? "Take a coat." : "Go as you are."
        },
        (effect, city) => Effect.mapError(effect, () => new ForecastUnavailable({ city }))
      )
      return Forecast.of({ advice })
    })
  )

  /**
   * Over the real server: guarded, budgeted, and connected once for the whole application.
   */
  static readonly layer = this.layerNoDeps.pipe(
    Layer.provide(Layer.unwrap(Effect.gen(function*() {
      const url = yield* Config.URL("WEATHER_MCP_URL")
      const token = yield* Config.Redacted("WEATHER_MCP_TOKEN")
      // The connection lasts as long as the application, so that every operation has a budget of its own.
      return NodeMcp.layerHttp({ url, credentials: Credentials.bearer(token), budget: { scope: "operation" } })
    })))
  )
}

// -----------------------------------------------------------------------------
// Its test
// -----------------------------------------------------------------------------

const cities: Readonly<Record<string, typeof Weather.Type>> = {
  Bergen: { celsius: 12, rain: true },
  Oslo: { celsius: 4, rain: false }
}

/**
 * A mock of its own for every test, built anew each time that it is provided.
 */
const layerTest = Forecast.layerNoDeps.pipe(
  Layer.provideMerge(MockServer.layerConnection({
    tools: { weather: ({ city }) => ({ structuredContent: cities[String(city)] }) }
  }))
)

const testAnswer = Effect.gen(function*() {
  const { advice } = yield* Forecast
  const mock = yield* MockServer.MockServer

  assert.equal(yield* advice("Bergen"), "Take an umbrella.")
  assert.equal(yield* advice("Oslo"), "Take a coat.")

  assert.deepEqual(yield* mock.calls("weather"), [{ city: "Bergen" }, { city: "Oslo" }])
  const received = yield* mock.received
  assert.deepEqual(received.map(({ operation }) => operation), [
    "server/discover",
    "tools/call weather",
    "tools/call weather"
  ])
  assert.equal(received[1]?.headers["mcp-protocol-version"], "2026-07-28")
  yield* Console.log("ok  answers, and asks the server once a city")
}).pipe(Effect.provide(layerTest))

const testFault = Effect.gen(function*() {
  const { advice } = yield* Forecast
  const mock = yield* MockServer.MockServer

  yield* mock.inject("tools/call weather", MockServer.status(502), MockServer.rpcError(-32603, "no data today"))
  const first = yield* Effect.flip(advice("Oslo"))
  const second = yield* Effect.flip(advice("Oslo"))
  assert.deepEqual([first._tag, second._tag], ["ForecastUnavailable", "ForecastUnavailable"])

  assert.equal(yield* advice("Oslo"), "Take a coat.")
  assert.equal((yield* mock.calls("weather")).length, 3)
  yield* Console.log("ok  says so where the server fails, and goes on when it is well again")
}).pipe(Effect.provide(layerTest))

NodeRuntime.runMain(Effect.andThen(testAnswer, testFault))
