/**
 * A server asks back: for a form to be filled in, for a page to be visited, for a model's words, for the roots of the
 * work. The application answers with services of its own, which a test swaps as any other; what it has no handler for is
 * not even declared. The server is the official reference server, as a process of its own.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Context, Effect, Layer, SubscriptionRef } from "effect"
import { type ClientFeatures, EgressGuard, Elicitation, McpConnection, type Root, Sampling } from "effect-mcp-client"
import { NodeMcp } from "effect-mcp-client/node"
import * as Expect from "./support/expect.ts"
import * as Servers from "./support/servers.ts"

/**
 * Whoever sits before the application.
 */
class User extends Context.Service<User, {
  readonly fillIn: (
    question: string,
    fields: ReadonlyArray<Elicitation.Field>
  ) => Effect.Effect<Elicitation.FormAnswer>
  readonly agreesTo: (question: string) => Effect.Effect<boolean>
}>()("examples/User") {
  /**
   * Answers what it is asked for by name, and leaves the rest to the server's defaults.
   */
  static readonly layerScripted = Layer.succeed(User, {
    fillIn: (question, fields) => {
      const required = fields.filter((field) => field.required)
      const content = Object.fromEntries(required.map(({ name }) => [name, "Ada Lovelace"]))
      return Effect.as(Console.log(`  ${question}\n  → ${JSON.stringify(content)}`), Elicitation.accept(content))
    },
    agreesTo: (question) => Effect.as(Console.log(`  ${question}\n  → yes`), true)
  })
}

/**
 * What the application answers, and how. Every question says which server it comes from, and a page is shown by its whole
 * URL: it is the user who opens it.
 */
const makeFeatures = Effect.gen(function*() {
  const user = yield* User
  const roots = yield* SubscriptionRef.make<ReadonlyArray<Root.Root>>([{ uri: "file:///work/engine", name: "Engine" }])
  const features: ClientFeatures.ClientFeatures = {
    elicitation: {
      form: ({ fields, message }, { server }) => user.fillIn(`${server} asks: ${message}`, fields),
      url: ({ message, url }, { server }) =>
        Effect.map(
          user.agreesTo(`${server} asks: ${message} Open ${url.href} (${url.hostname})?`),
          (agrees) => agrees ? { action: "accept" } : Elicitation.decline
        )
    },
    // Here a model would write; nobody pays for a server's words without having been asked.
    sampling: ({ maxTokens }, { server }) =>
      Effect.map(
        user.agreesTo(`${server} wants ${maxTokens} tokens of a model's.`),
        (agrees) => agrees ? { model: "parrot-1", content: "Hello!", stopReason: "endTurn" } : Sampling.decline
      ),
    roots
  }
  return features
})

const program = Effect.gen(function*() {
  const { url } = yield* Servers.everything
  const features = yield* makeFeatures
  // A person takes longer than a server.
  const patient = { timeout: "10 minutes" } as const

  const ask = Effect.gen(function*() {
    const mcp = yield* McpConnection.McpConnection

    yield* Console.log("a form")
    const form = yield* mcp.callTool("trigger-elicitation-request", {}, patient)
    yield* Expect.that(form.text.includes("Name: Ada Lovelace"), "the server knows the name")
    yield* Expect.that(form.text.includes("It was a dark and stormy night."), "and has its own default for the rest")

    yield* Console.log("a page")
    const page = { url: "https://example.com/connect", message: "Connect your account." }
    const visited = yield* mcp.callTool("trigger-url-elicitation", page, patient)
    yield* Expect.that(visited.text.includes("completed"), "the user agreed")

    yield* Console.log("a page that is not encrypted: the user never sees it")
    const unsafe = yield* mcp.callTool("trigger-url-elicitation", { ...page, url: "http://example.com/" }, patient)
    yield* Expect.that(unsafe.text.includes("declined"), "it was declined")

    yield* Console.log("a message")
    const message = yield* mcp.callTool("trigger-sampling-request", { prompt: "Say hello", maxTokens: 20 }, patient)
    yield* Expect.that(message.text.includes("Hello!"), "the model's words arrived")

    yield* Console.log("the roots")
    const listed = yield* mcp.callTool("get-roots-list")
    yield* Expect.that(listed.text.includes("file:///work/engine"), "the server knows the root")
  })
  yield* Effect.provide(ask, NodeMcp.layerHttp({ url, guard: EgressGuard.allowLoopback, features }))
})

program.pipe(
  Effect.scoped,
  Effect.provide(Layer.merge(User.layerScripted, NodeServices.layer)),
  NodeRuntime.runMain
)
