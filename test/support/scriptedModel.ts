/**
 * A language model that says what a test has it say, and the loop that an application runs around one.
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import type { McpToolkit } from "../../src/ai.ts"

/**
 * What the model says in one turn: calls of tools, or its last words.
 */
export type Turn = string | ReadonlyArray<readonly [tool: string, params: unknown]>

export interface ScriptedModel {
  readonly model: LanguageModel.LanguageModel
  /**
   * What the provider was given, turn by turn.
   */
  readonly asked: ReadonlyArray<LanguageModel.ProviderOptions>
}

const parts = (turn: Turn | undefined, nth: number): Array<Response.PartEncoded> =>
  turn === undefined || typeof turn === "string"
    ? [{ type: "text", text: turn ?? "" }]
    : turn.map(([name, params], index) => ({ type: "tool-call", id: `call-${nth}-${index}`, name, params }))

export const make = (...turns: ReadonlyArray<Turn>): Effect.Effect<ScriptedModel> =>
  Effect.gen(function*() {
    const asked: Array<LanguageModel.ProviderOptions> = []
    const model = yield* LanguageModel.make({
      generateText: (options) => Effect.sync(() => parts(turns[asked.push(options) - 1], asked.length)),
      streamText: () => {
        throw new Error("not scripted")
      }
    })
    return { model, asked }
  })

type Result = Response.ToolResultParts<McpToolkit.McpTools>

/**
 * Asks, has the tools called, feeds what they answered back, and asks again, until the model calls none. Answers its last
 * words, and the results of all tools.
 */
export const converse = Effect.fnUntraced(function*(
  { model }: ScriptedModel,
  toolkit: McpToolkit.McpToolkit,
  question = "Go"
) {
  let prompt = Prompt.make(question)
  const results: Array<Result> = []
  for (;;) {
    const response = yield* model.generateText({ prompt, toolkit })
    results.push(...response.toolResults)
    if (response.toolCalls.length === 0) return { text: response.text, results }
    prompt = Prompt.concat(prompt, Prompt.fromResponseParts(response.content))
  }
})

/**
 * What the model was told of its last calls.
 */
export const told = ({ asked }: ScriptedModel): ReadonlyArray<Prompt.ToolResultPart> => {
  const last = asked.at(-1)!.prompt.content.findLast((message) => message.role === "tool")
  return (last?.content ?? []).filter((part) => part.type === "tool-result")
}
