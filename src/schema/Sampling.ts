/**
 * What a server asks of a model: revision 2025-11-25, client/sampling; deprecated as of 2026-07-28.
 *
 * @since 0.1.0
 */
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import * as Content from "./Content.ts"
import { isString, optional, optionalMeta, optionalNumber, optionalString } from "./fields.ts"
import { isJsonObject, type JsonObject } from "./Json.ts"
import * as Tool from "./Tool.ts"

/**
 * A model wants a tool to be called.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolUse {
  readonly type: "tool_use"
  readonly id: string
  readonly name: string
  readonly input: JsonObject
  readonly meta?: JsonObject | undefined
}

/**
 * What a tool answered.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolResult {
  readonly type: "tool_result"
  readonly toolUseId: string
  readonly content: ReadonlyArray<Content.Content>
  readonly structuredContent?: unknown
  readonly isError: boolean
  readonly meta?: JsonObject | undefined
}

/**
 * A piece of a message.
 *
 * @category models
 * @since 0.1.0
 */
export type Block = Content.Content | ToolUse | ToolResult

/**
 * A message of the conversation so far. The server may send one block or several: here they are a list.
 *
 * @category models
 * @since 0.1.0
 */
export interface Message {
  readonly role: "user" | "assistant"
  readonly content: ReadonlyArray<Block>
  readonly meta?: JsonObject | undefined
}

/**
 * Which model the server would like. Priorities are from 0 to 1.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelPreferences {
  /**
   * Parts of names of models, the preferred one first.
   */
  readonly hints: ReadonlyArray<string>
  readonly costPriority?: number | undefined
  readonly speedPriority?: number | undefined
  readonly intelligencePriority?: number | undefined
}

/**
 * A message to be written by a model. All of it is the server's words, `systemPrompt` and `tools` among them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request {
  readonly messages: ReadonlyArray<Message>
  readonly modelPreferences?: ModelPreferences | undefined
  readonly systemPrompt?: string | undefined
  readonly includeContext?: "none" | "thisServer" | "allServers" | undefined
  readonly temperature?: number | undefined
  /**
   * To be respected: revision 2025-11-25, client/sampling, "Sampling Parameters".
   */
  readonly maxTokens: number
  readonly stopSequences?: ReadonlyArray<string> | undefined
  readonly metadata?: JsonObject | undefined
  /**
   * Tools that the model may want to call, and the server then calls. There only where the handler takes tools.
   */
  readonly tools?: ReadonlyArray<Tool.Tool> | undefined
  readonly toolChoice?: "auto" | "required" | "none" | undefined
}

/**
 * What the model wrote. Text alone may stand as a string.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sampled {
  /**
   * Default: `"assistant"`.
   */
  readonly role?: "user" | "assistant" | undefined
  readonly content: string | ReadonlyArray<Content.TextContent | Content.ImageContent | Content.AudioContent | ToolUse>
  /**
   * The name of the model.
   */
  readonly model: string
  /**
   * `"endTurn"`, `"stopSequence"`, `"maxTokens"`, `"toolUse"`, or another word for why it stopped.
   */
  readonly stopReason?: string | undefined
}

/**
 * What a request is answered with: a message, or that the user does not want it.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer = Sampled | { readonly action: "decline" }

/**
 * @category constructors
 * @since 0.1.0
 */
export const decline: Answer = { action: "decline" }

/**
 * Messages and their blocks together. More is no conversation that a model reads.
 */
const maxBlocks = 8192
const maxTools = 1000

const toolUse = (block: JsonObject): ToolUse | undefined => {
  const { id, input, name } = block
  return isString(id) && isString(name) && isJsonObject(input)
    ? { type: "tool_use", id, name, input, ...optionalMeta(block) }
    : undefined
}

const toolResult = (block: JsonObject): ToolResult | undefined => {
  const { content = [], isError, structuredContent, toolUseId } = block
  return isString(toolUseId) && Array.isArray(content)
    ? {
      type: "tool_result",
      toolUseId,
      content: content.map(Content.fromWire),
      isError: isError === true,
      ...(structuredContent === undefined ? {} : { structuredContent }),
      ...optionalMeta(block)
    }
    : undefined
}

const blockFromWire = (block: unknown): Block => {
  if (isJsonObject(block)) {
    if (block["type"] === "tool_use") return toolUse(block) ?? Content.fromWire(block)
    if (block["type"] === "tool_result") return toolResult(block) ?? Content.fromWire(block)
  }
  return Content.fromWire(block)
}

const innerBlocks = (block: unknown): number => {
  const inner = isJsonObject(block) ? block["content"] : undefined
  return Array.isArray(inner) ? inner.length : 0
}

const messagesFromWire = (given: ReadonlyArray<unknown>): Result.Result<ReadonlyArray<Message>, string> => {
  const messages: Array<Message> = []
  let blocks = given.length
  for (const message of given) {
    const role: unknown = isJsonObject(message) ? message["role"] : undefined
    if (!isJsonObject(message) || (role !== "user" && role !== "assistant")) {
      return Result.fail("a message of neither a user nor an assistant")
    }
    const { content } = message
    const list: ReadonlyArray<unknown> = Array.isArray(content) ? content : [content]
    blocks += list.length
    for (const block of list) blocks += innerBlocks(block)
    if (blocks > maxBlocks) return Result.fail(`more than ${maxBlocks} messages and blocks`)
    messages.push({ role, content: list.map(blockFromWire), ...optionalMeta(message) })
  }
  return Result.succeed(messages)
}

/**
 * Every use of a tool is followed by its result, and results stand by themselves: revision 2025-11-25, client/sampling,
 * "Message Content Constraints".
 */
const unbalanced = (messages: ReadonlyArray<Message>): string | undefined => {
  let open = new Set<string>()
  for (const { content, role } of messages) {
    const results = content.flatMap((block) => block.type === "tool_result" ? [block.toolUseId] : [])
    if (results.length > 0 && results.length < content.length) return "tool results mixed with other content"
    if (results.length > 0 && role !== "user") return "a tool result that is not the user's"
    if (open.size !== new Set(results).size || !results.every((id) => open.has(id))) return "tool result missing"
    open = new Set(content.flatMap((block) => block.type === "tool_use" ? [block.id] : []))
  }
  return open.size === 0 ? undefined : "tool result missing"
}

const preferencesFromWire = (given: JsonObject): ModelPreferences => {
  const { hints } = given
  const named = Array.isArray(hints) ? hints.slice(0, 64) : []
  return {
    hints: named.flatMap((hint: unknown) => isJsonObject(hint) && isString(hint["name"]) ? [hint["name"]] : []),
    ...optionalNumber("costPriority", given),
    ...optionalNumber("speedPriority", given),
    ...optionalNumber("intelligencePriority", given)
  }
}

const isContext = (value: unknown): value is "none" | "thisServer" | "allServers" =>
  value === "none" || value === "thisServer" || value === "allServers"

const isStrings = (value: unknown): value is ReadonlyArray<string> => Array.isArray(value) && value.every(isString)

const toolsFromWire = (params: JsonObject): Result.Result<Pick<Request, "tools" | "toolChoice">, string> => {
  const { toolChoice, tools } = params
  if (tools !== undefined && !Array.isArray(tools)) return Result.fail("tools is not an array")
  if (toolChoice !== undefined && !isJsonObject(toolChoice)) return Result.fail("toolChoice is not an object")
  if (tools !== undefined && tools.length > maxTools) return Result.fail(`more than ${maxTools} tools`)
  const mode: unknown = toolChoice?.["mode"] ?? "auto"
  if (mode !== "auto" && mode !== "required" && mode !== "none") return Result.fail("toolChoice has an unknown mode")
  const choice: Pick<Request, "toolChoice"> = toolChoice === undefined ? {} : { toolChoice: mode }
  if (tools === undefined) return Result.succeed(choice)
  const read: Array<Tool.Tool> = []
  for (const tool of tools) {
    const one = Tool.fromWire(tool)
    if (Result.isFailure(one)) return Result.fail(`a tool that cannot be used: ${one.failure}`)
    read.push(one.success)
  }
  return Result.succeed({ ...choice, tools: read })
}

/**
 * Whether a request is for a client that takes tools.
 *
 * @category guards
 * @since 0.1.0
 */
export const wantsTools = ({ toolChoice, tools }: JsonObject): boolean =>
  tools !== undefined || toolChoice !== undefined

/**
 * Reads the parameters of `sampling/createMessage`. The failure says what is wrong.
 *
 * @category decoding
 * @since 0.1.0
 */
export const requestFromWire = (params: JsonObject): Result.Result<Request, string> => {
  const { includeContext, maxTokens, messages: given, metadata, modelPreferences, stopSequences } = params
  if (!Array.isArray(given)) return Result.fail("messages is not an array")
  if (typeof maxTokens !== "number" || !(maxTokens > 0)) return Result.fail("maxTokens is not a number above 0")
  const messages = messagesFromWire(given)
  if (Result.isFailure(messages)) return Result.fail(messages.failure)
  const problem = unbalanced(messages.success)
  if (problem !== undefined) return Result.fail(problem)
  return Result.map(toolsFromWire(params), (tools) => ({
    messages: messages.success,
    maxTokens,
    ...(isJsonObject(modelPreferences) ? { modelPreferences: preferencesFromWire(modelPreferences) } : {}),
    ...optionalString("systemPrompt", params),
    ...optional("includeContext", includeContext, isContext),
    ...optionalNumber("temperature", params),
    ...optional("stopSequences", stopSequences, isStrings),
    ...optional("metadata", metadata, isJsonObject),
    ...tools
  }))
}

const blockToWire = (block: Exclude<Sampled["content"], string>[number]): JsonObject | undefined => {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text }
    case "image":
    case "audio":
      return { type: block.type, mimeType: block.mimeType, data: Base64.encode(block.data) }
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, input: block.input }
    default:
      return undefined
  }
}

/**
 * What the server is sent for a message: one block by itself, several as a list (which is what revisions before
 * 2025-11-25 know and do not know). The failure says what is wrong.
 *
 * @category encoding
 * @since 0.1.0
 */
export const toWire = ({ content, model, role, stopReason }: Sampled): Result.Result<JsonObject, string> => {
  const blocks = isString(content) ? [{ type: "text", text: content }] : content.map(blockToWire)
  if (blocks.length === 0) return Result.fail("a message without content")
  if (blocks.includes(undefined)) return Result.fail("a message with a block that no model writes")
  return Result.succeed({
    role: role ?? "assistant",
    content: blocks.length === 1 ? blocks[0] : blocks,
    model,
    ...(stopReason === undefined ? {} : { stopReason })
  })
}
