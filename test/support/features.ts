/**
 * Questions that servers ask, and handlers that answer them.
 */
import * as Effect from "effect/Effect"
import { type ClientFeatures, Elicitation } from "../../src/index.ts"
import * as Raw from "./rawServer.ts"

export const requestedSchema = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer", default: 30 } },
  required: ["name"]
}
export const formParams = { message: "who?", requestedSchema }
export const pageParams = { mode: "url", message: "go", url: "https://a.example/x", elicitationId: "e1" }
export const samplingParams = { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 9 }
export const tools = [{ name: "t", inputSchema: { type: "object" } }]

export const fillIn: ClientFeatures.FormHandler = () => Effect.succeed(Elicitation.accept({ name: "Ann" }))
export const visit: ClientFeatures.UrlHandler = () => Effect.succeed({ action: "accept" })
export const sample: ClientFeatures.SamplingHandler = () => Effect.succeed({ model: "m", content: "hello" })
export const roots = [{ uri: "file:///work" }]

export const everything: ClientFeatures.ClientFeatures = {
  elicitation: { form: fillIn, url: visit },
  sampling: { handle: sample, tools: true },
  roots
}

export const filledIn = { action: "accept", content: { name: "Ann", age: 30 } }
export const sampled = { role: "assistant", model: "m", content: { type: "text", text: "hello" } }

export const elicitation = "elicitation/create"
export const sampling = "sampling/createMessage"

export const withForm = (handler: ClientFeatures.FormHandler): ClientFeatures.ClientFeatures => ({
  elicitation: { form: handler }
})
export const withUrl = (handler: ClientFeatures.UrlHandler): ClientFeatures.ClientFeatures => ({
  elicitation: { url: handler }
})

export const failing = Effect.fail("secret")

/**
 * Answers the first request with this, and the next well.
 */
export const toModern = (input: unknown): Raw.Responder => (socket, call) =>
  Raw.sendResult(socket, call, call.nth === 0 ? input : Raw.textResult("ok"))

export const inputRequired = (inputRequests: unknown, requestState?: unknown) => ({
  resultType: "input_required",
  inputRequests,
  requestState
})
