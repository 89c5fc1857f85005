/**
 * A model with the tools of two servers. The model here follows a script; any `LanguageModel` layer takes its place. Each
 * server's tools get a prefix, one tool needs a person's consent, and what fails is told to the model, which goes on.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer } from "effect"
import { EgressGuard } from "effect-mcp-client"
import { McpToolkit } from "effect-mcp-client/ai"
import { NodeMcp } from "effect-mcp-client/node"
import { MockServer } from "effect-mcp-client/testing"
import { LanguageModel, Prompt, type Response } from "effect/ai"
import * as Expect from "./support/expect.ts"

/**
 * More turns than any question of this application takes: a model must not go on for ever either.
 */
const maxTurns = 10

/**
 * Asks the model, has the tools called that it wants called, and asks again with what they answered, until it calls none.
 * Answers its last words.
 */
const answer = Effect.fn("answer")(function*(question: string, toolkit: McpToolkit.McpToolkit) {
  let prompt = Prompt.make(question)
  for (let turn = 0; turn < maxTurns; turn++) {
    const response = yield* LanguageModel.generateText({ prompt, toolkit })
    for (const { isFailure, name, result } of response.toolResults) {
      // The model reads it in any case. What is not the tool's own verdict concerns whoever runs this as well.
      const isOurs = isFailure && result instanceof McpToolkit.McpToolFailure && result.kind !== "ToolError"
      yield* isOurs
        ? Console.error(`${name}: ${result.message}`)
        : Console.log(`${name}: ${isFailure ? "not done" : "done"}`)
    }
    if (response.toolCalls.length === 0) return response.text
    const refusals = response.content.filter((part) => part.type === "tool-approval-request").map((part) =>
      Prompt.toolApprovalResponsePart({ approvalId: part.approvalId, approved: false, reason: "not today" })
    )
    prompt = Prompt.concat(prompt, Prompt.fromResponseParts(response.content))
    if (refusals.length > 0) prompt = Prompt.concat(prompt, [Prompt.toolMessage({ content: refusals })])
  }
  return "the model did not come to an end"
})

const program = Effect.gen(function*() {
  const { files, weather } = yield* servers
  const connect = (url: string) => NodeMcp.connectHttp({ url, guard: EgressGuard.allowLoopback })

  const toolkit = yield* McpToolkit.merge(
    yield* McpToolkit.make(yield* connect(weather.url), { prefix: "weather_" }),
    yield* McpToolkit.make(yield* connect(files.url), {
      prefix: "files_",
      exclude: ["format_disk"],
      // The server may call its tool harmless in `annotations`; this application knows better.
      needsApproval: ({ name }) => name === "delete"
    })
  )
  yield* Console.log("the model sees:", Object.keys(toolkit.tools).join(", "))

  const words = yield* answer("Do I need an umbrella in Bergen? If not, delete it.", toolkit)
  yield* Console.log(words)
  yield* Expect.that(words === "Take it: Bergen is wet, and I was not allowed to delete it.", "the model's last words")
  yield* Expect.that((yield* files.calls("delete")).length === 0, "nothing is deleted without consent")
}).pipe(Effect.scoped)

// -----------------------------------------------------------------------------
// The servers and the model of this example
// -----------------------------------------------------------------------------

const servers = Effect.gen(function*() {
  const weather = yield* MockServer.makeHttp({
    tools: {
      now: ({ city }) => `${String(city)}: 12 °C, rain`,
      "tomorrow.forecast": () => {
        throw new Error("nobody knows")
      }
    }
  })
  const files = yield* MockServer.makeHttp({ tools: { delete: () => "gone", format_disk: () => "all gone" } })
  return { files, weather }
})

const call = (name: string, params: object): Response.PartEncoded => ({ type: "tool-call", id: name, name, params })

const script: ReadonlyArray<ReadonlyArray<Response.PartEncoded>> = [
  // A dot is more than providers take in a name.
  [call("weather_now", { city: "Bergen" }), call("weather_tomorrow--2e-forecast", {})],
  [call("files_delete", { path: "umbrella.txt" })],
  [{ type: "text", text: "Take it: Bergen is wet, and I was not allowed to delete it." }]
]

const layerScripted = Layer.effect(
  LanguageModel.LanguageModel,
  Effect.suspend(() => {
    const turns = script.values()
    return LanguageModel.make({
      generateText: () => Effect.sync(() => [...turns.next().value ?? []]),
      streamText: () => {
        throw new Error("this example does not stream")
      }
    })
  })
)

NodeRuntime.runMain(Effect.provide(program, layerScripted))
