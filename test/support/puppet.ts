/**
 * A stdio server of one revision that says what it is told to, and tells what it has heard: one child for many tests.
 *
 * What is sent over stdio comes in the order in which it was sent, so that a test never waits longer than it must.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { type ClientFeatures, type McpConnection, type McpError, ProtocolVersion, type Root } from "../../src/index.ts"
import * as Features from "./features.ts"
import { asked, capabilities, complete, type Revision, serverInfo } from "./protocol.ts"
import * as Stdio from "./stdio.ts"
import { child } from "./stdio.ts"

/**
 * What it knows by heart are results by method. Its tools:
 *
 * - `say` sends messages, with the progress token of the call where they have "TOKEN";
 * - `heard` tells of the messages of a method with some of their parameters, or of the response under an id, as soon as
 *   there are any;
 * - `t` answers with a result that it was given, or else its own;
 * - `input` wants some first;
 * - `refuse` answers every other time with an error;
 * - `wait` never answers.
 */
const command = (revision: Revision) =>
  child(
    ({ args: [knowing = "{}"], send, serve, text, ...kit }) => {
      const results: Record<string, any> = JSON.parse(knowing)
      const messages: Array<any> = []
      let waiting: Array<Stdio.Message> = []
      const tell = () => {
        waiting = waiting.filter((call) => {
          const { atOnce = false, id, method, params = {} } = call.params.arguments
          const isWanted = (message: any) =>
            message.method === method && (id === undefined || message.id === id) &&
            Object.keys(params).every((key) => JSON.stringify(message.params[key]) === JSON.stringify(params[key]))
          const found = messages.filter(isWanted)
          const isAnswered = atOnce || found.length > 0
          if (isAnswered) text(call, JSON.stringify(found))
          return !isAnswered
        })
      }
      const hear = (message: Stdio.Message) => {
        messages.push(message)
        tell()
      }
      let isRefused = false
      const tools: Record<string, (call: Stdio.Message, given: any) => unknown> = {
        heard: (call) => {
          waiting.push(call)
          tell()
        },
        say: (call, given) => {
          const token = JSON.stringify(call.params._meta?.progressToken)
          JSON.parse(JSON.stringify(given.messages).replaceAll("\"TOKEN\"", token)).forEach(send)
          text(call, "said")
        },
        t: (call, given) => kit.result(call, given.result ?? results["tools/call"]),
        input: (call, { inputRequests }) =>
          call.params.requestState === undefined
            ? kit.result(call, { resultType: "input_required", inputRequests, requestState: "s" })
            : text(call, "had it"),
        refuse: (call, { error }) => {
          isRefused = !isRefused
          if (isRefused) send({ id: call.id, error })
          else text(call, "ok")
        },
        wait: () => {}
      }
      const answers = Object.entries(results).map(([method, result]) => [
        method,
        (message: Stdio.Message) => kit.result(message, result)
      ])
      serve({
        ...Object.fromEntries(answers),
        "*": hear,
        "tools/call": (call) => {
          tools[call.params.name]!(call, call.params.arguments)
        }
      })
    },
    JSON.stringify({
      ...(ProtocolVersion.isModern(revision)
        ? { "server/discover": complete(revision, { supportedVersions: [revision], capabilities }) }
        : {
          initialize: { protocolVersion: revision, capabilities, serverInfo },
          "resources/subscribe": {},
          "resources/unsubscribe": {}
        }),
      ...Object.fromEntries(asked.map(({ method, result }) => [method, complete(revision, result)]))
    })
  )

export interface Wanted {
  readonly method?: string
  readonly params?: object
  readonly id?: string
  /**
   * Whether to bring none where there are none yet.
   */
  readonly atOnce?: boolean
}

/**
 * A puppet, and a connection to it whose features answer everything. Where a server says "wait", they do.
 */
export class Puppet extends Context.Service<Puppet, {
  readonly connection: McpConnection.Service
  readonly roots: SubscriptionRef.SubscriptionRef<ReadonlyArray<Root.Root>>
  readonly say: (...messages: ReadonlyArray<object>) => Effect.Effect<void, McpError.McpError>
  /**
   * Waits until the server has heard such a message, and brings all of them.
   */
  readonly heard: (wanted: Wanted) => Effect.Effect<ReadonlyArray<any>, McpError.McpError>
  /**
   * The handler for sampling waits.
   */
  readonly isWaiting: Deferred.Deferred<void>
  readonly isInterrupted: Deferred.Deferred<void>
}>()("Puppet") {
  static readonly layer = (revision: Revision): Layer.Layer<Puppet, McpError.McpError> =>
    Layer.effect(
      Puppet,
      Effect.gen(function*() {
        const roots = yield* SubscriptionRef.make<ReadonlyArray<Root.Root>>(Features.roots)
        const isWaiting = yield* Deferred.make<void>()
        const isInterrupted = yield* Deferred.make<void>()
        const waits = Deferred.succeed(isWaiting, undefined).pipe(
          Effect.andThen(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(isInterrupted, undefined))
        )
        const features: ClientFeatures.ClientFeatures = {
          elicitation: {
            form: Features.fillIn,
            url: (page, from) =>
              page.message === "wait"
                ? Effect.as(from.completed, { action: "accept" })
                : Features.visit(page, from)
          },
          sampling: {
            handle: (request, from) => request.systemPrompt === "wait" ? waits : Features.sample(request, from),
            tools: true
          },
          roots
        }
        const stdio = yield* Stdio.make
        const connection = yield* stdio.connect({ ...command(revision), features, protocol: revision })
        return {
          connection,
          roots,
          isWaiting,
          isInterrupted,
          say: (...messages) => Effect.asVoid(connection.callTool("say", { messages })),
          heard: (wanted) =>
            Effect.map(connection.callTool("heard", { ...wanted }), ({ text }) => JSON.parse(text) as Array<any>)
        }
      })
    )
}
