/**
 * The tools of an MCP server as a toolkit of `effect/ai`, for a `LanguageModel` to call.
 *
 * Names are mapped to what model providers take, descriptions and input schemas are the server's, and what goes wrong
 * comes back as `McpToolFailure`, a result for the model to read. Only this module knows `effect/ai`, which is unstable.
 *
 * **Example** (A model with the tools of two servers)
 *
 * ```ts
 * import { Effect } from "effect"
 * import { LanguageModel } from "effect/ai"
 * import type { McpConnection } from "effect-mcp-client"
 * import { McpToolkit } from "effect-mcp-client/ai"
 *
 * const ask = Effect.fn(function*(prompt: string, files: McpConnection.Service, mail: McpConnection.Service) {
 *   const toolkit = yield* McpToolkit.merge(
 *     yield* McpToolkit.make(files, { prefix: "files_", include: ["read", "search"] }),
 *     yield* McpToolkit.make(mail, { prefix: "mail_", needsApproval: () => true })
 *   )
 *   return yield* LanguageModel.generateText({ prompt, toolkit })
 * })
 * ```
 *
 * @since 0.1.0
 */
import * as Prompt from "effect/ai/Prompt"
import * as AiTool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as JsonSchema from "effect/JsonSchema"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { type McpError, ServerAnswered, Unreadable } from "../errors/McpError.ts"
import { reporter } from "../internal/listing.ts"
import { isJsonObject, type JsonObject } from "../schema/Json.ts"
import type { CallResult, Refused, Tool } from "../schema/Tool.ts"
import { callResultFromWire } from "../schema/Tool.ts"
import type { CallOptions, ListOptions, Service } from "../services/McpConnection.ts"
import { definitionOf } from "./definition.ts"
import { modelContent, modelTexts } from "./modelContent.ts"
import { problemOf } from "./sendable.ts"

export * from "./anthropic.ts"

/**
 * Why a call brought nothing, for a model to read. It holds no secret: our errors have none in their messages.
 *
 * `kind` is `"ToolError"` where the tool itself says so (`isError`), and `message` is then its text; otherwise `kind` is
 * the tag of the `McpError`, `reason` that of its reason, and `message` its message. `tool` is the server's name of it.
 *
 * @category errors
 * @since 0.1.0
 */
export class McpToolFailure extends Schema.TaggedError<McpToolFailure>()("McpToolFailure", {
  tool: Schema.String,
  kind: Schema.Literals([
    "ToolError",
    "Unauthorized",
    "ServerAnswered",
    "ConnectionFailed",
    "CapabilityMissing",
    "InvalidInput"
  ]),
  reason: Schema.optionalKey(Schema.String),
  message: Schema.String
}) {}

/**
 * What a result is written as: its blocks as text, and its `structuredContent`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolResultEncoded {
  readonly content: ReadonlyArray<{ readonly type: "text"; readonly text: string }>
  readonly structuredContent?: unknown
}

const isCallResult = (value: unknown): value is CallResult =>
  isJsonObject(value) && Array.isArray(value["content"]) && typeof value["isError"] === "boolean"

/**
 * What a tool succeeds with: the `CallResult` as it is. Encoded, which is what a history keeps and what providers send
 * that take text alone, pictures and other bytes are only described: as base64 they would be a flood of tokens.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolResult: Schema.Codec<CallResult, ToolResultEncoded> = Schema.Struct({
  content: Schema.Array(Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })),
  structuredContent: Schema.optionalKey(Schema.Unknown)
}).pipe(Schema.decodeTo(Schema.declare(isCallResult), {
  decode: SchemaGetter.transformEffect((encoded) =>
    Effect.mapError(
      Effect.fromResult(callResultFromWire({ ...encoded })),
      (message) => new SchemaIssue.InvalidValue({ message })
    )
  ),
  encode: SchemaGetter.transform((result) => ({
    content: result.content.length === 0 ? [] : modelTexts(result),
    ...(result.structuredContent === undefined ? {} : { structuredContent: result.structuredContent })
  }))
}))

/**
 * A tool of a server, as `effect/ai` has it.
 *
 * @category models
 * @since 0.1.0
 */
export type McpTool = AiTool.Dynamic<string, {
  readonly parameters: JsonSchema.JsonSchema
  readonly success: typeof ToolResult
  readonly failure: typeof McpToolFailure
  readonly failureMode: "return"
}>

/**
 * Tools by the name that the model knows them by.
 *
 * @category models
 * @since 0.1.0
 */
export type McpTools = { readonly [name: string]: McpTool }

/**
 * Tools of one server, or of several, with all that they need: pass it as the `toolkit` of a `LanguageModel`.
 *
 * @category models
 * @since 0.1.0
 */
export interface McpToolkit extends Toolkit.WithHandler<McpTools> {
  /**
   * The server's description of each tool, by the name that the model knows it by.
   */
  readonly listed: ReadonlyMap<string, Tool>
  /**
   * What was left out, and why: by the listing, as nobody could use it; here, as no provider would take it or its name
   * is taken; and names in `include` that the server does not list.
   */
  readonly refused: ReadonlyArray<Refused>
  /**
   * The same without its handlers, for `Toolkit.merge` with tools of your own. Of two tools with one name that takes the
   * later.
   */
  readonly toolkit: Toolkit.Toolkit<McpTools>
  /**
   * The handlers, for `Effect.provide`.
   */
  readonly handlers: Context.Context<AiTool.HandlersFor<McpTools>>
}

/**
 * Which tools, by the server's names of them.
 *
 * @category models
 * @since 0.1.0
 */
export type Choice = ReadonlyArray<string> | ((tool: Tool) => boolean)

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * Put before every name as it is (`"files_"`), so that the tools of several servers do not collide. The names that a
   * server gives itself are not fit for it, as nothing keeps two servers from the same one.
   */
  readonly prefix?: string | undefined
  /**
   * Default: all.
   */
  readonly include?: Choice | undefined
  /**
   * Of those that are included. Default: none.
   */
  readonly exclude?: Choice | undefined
  /**
   * Whether a person has to approve a call before it is made. Default: no. The tool's `annotations` are the server's
   * word, like everything in it but what your own code knows of the server.
   */
  readonly needsApproval?: ((tool: Tool, params: unknown) => boolean | Effect.Effect<boolean>) | undefined
  /**
   * Whether to pass the server's titles and hints on as annotations of `effect/ai`: `Title`, `Readonly`, `Destructive`,
   * `Idempotent`, `OpenWorld`. Default: no, and a tool counts as one that destroys, since a server that means harm calls
   * its tools harmless. For servers that you vouch for.
   */
  readonly trustAnnotations?: boolean | undefined
  /**
   * For the listing.
   */
  readonly list?: ListOptions | undefined
  /**
   * For every call.
   */
  readonly call?: CallOptions | undefined
}

/**
 * More than any provider takes in one request, many times over.
 */
const maxTools = 4096

const isChosen = (choice: Choice): (tool: Tool) => boolean => {
  if (typeof choice === "function") return choice
  const names = new Set(choice)
  return ({ name }) => names.has(name)
}

const choose = (tools: ReadonlyArray<Tool>, { exclude = [], include = () => true }: Options): ReadonlyArray<Tool> => {
  const isIncluded = isChosen(include)
  const isExcluded = isChosen(exclude)
  return tools.filter((tool) => isIncluded(tool) && !isExcluded(tool))
}

/**
 * Names that were asked for and are not there: a typing error, or a tool that went away.
 */
const missing = (tools: ReadonlyArray<Tool>, include: Choice | undefined): ReadonlyArray<Refused> => {
  if (include === undefined || typeof include === "function") return []
  const names = new Set(tools.map(({ name }) => name))
  return include.filter((name) => !names.has(name)).map((name) => ({
    name,
    reason: "included, and not listed by the server",
    entry: undefined
  }))
}

const hints = [
  ["readOnlyHint", AiTool.Readonly],
  ["destructiveHint", AiTool.Destructive],
  ["idempotentHint", AiTool.Idempotent],
  ["openWorldHint", AiTool.OpenWorld]
] as const

const annotate = (aiTool: McpTool, { annotations = {}, title }: Tool): McpTool =>
  hints.reduce((annotated, [hint, reference]) => {
    const value = annotations[hint]
    return typeof value === "boolean" ? annotated.annotate(reference, value) as McpTool : annotated
  }, title === undefined ? aiTool : aiTool.annotate(AiTool.Title, title) as McpTool)

const toModelOutput = (result: CallResult): ReadonlyArray<Prompt.ToolModelOutputPart> =>
  modelContent(result).map((part) =>
    part.type === "text"
      ? Prompt.textPart({ text: part.text })
      : Prompt.filePart({ mediaType: part.mediaType, data: part.data })
  )

const toAiTool = (tool: Tool, { needsApproval, prefix, trustAnnotations }: Options): McpTool => {
  const { description, name, parameters } = definitionOf(tool, prefix)
  const aiTool = AiTool.dynamic(name, {
    description,
    parameters,
    success: ToolResult,
    failure: McpToolFailure,
    failureMode: "return",
    needsApproval: needsApproval === undefined ? undefined : (params) => needsApproval(tool, params),
    toModelOutput
    // Nobody wrote these schemas for the subset that the strict modes of providers take.
  }).annotate(AiTool.Strict, false) as McpTool
  return trustAnnotations === true ? annotate(aiTool, tool) : aiTool
}

const unsuccessful = (tool: string) => (error: McpError): McpToolFailure =>
  new McpToolFailure({
    tool,
    kind: error._tag,
    ...("reason" in error ? { reason: error.reason._tag } : {}),
    message: error.message
  })

const unreadable = (operation: string, detail: string): McpError =>
  new ServerAnswered({ operation, server: undefined, reason: new Unreadable({ detail }) })

/**
 * Calls the tool, whatever the model made of its arguments: what is not one JSON object is `InvalidInput`, which the
 * model can mend.
 */
const handlerOf = (connection: Service, { name }: Tool, options: CallOptions | undefined) =>
  Effect.fnUntraced(function*(params: unknown): Effect.fn.Return<CallResult, McpToolFailure> {
    const result = yield* Effect.mapError(
      connection.callTool(name, params as JsonObject, options),
      unsuccessful(name)
    )
    if (result.isError) {
      const message = modelTexts(result).map(({ text }) => text).join("\n")
      return yield* new McpToolFailure({ tool: name, kind: "ToolError", message })
    }
    const problem = yield* problemOf(result.structuredContent)
    if (problem === undefined) return result
    return yield* unsuccessful(name)(unreadable(`tools/call ${name}`, `structuredContent has ${problem}`))
  })

const bind = (
  toolkit: Toolkit.Toolkit<McpTools>,
  handlers: Context.Context<AiTool.HandlersFor<McpTools>>,
  listed: ReadonlyMap<string, Tool>,
  refused: ReadonlyArray<Refused>
): Effect.Effect<McpToolkit> =>
  Effect.map(Effect.provide(toolkit, handlers), (bound) => ({ ...bound, listed, refused, toolkit, handlers }))

/**
 * Lists the tools of a server, and makes a toolkit of them whose tools call that server for as long as the connection
 * lives. Make it again where the list has changed.
 *
 * The name that a model knows a tool by is `prefix` and the server's name, with what providers refuse escaped: they take
 * `a-z`, `A-Z`, `0-9`, `_` and `-`, up to 64. Another character is its code point in hexadecimal between `--` and `-`
 * (`files.read` is `files--2e-read`), a second hyphen in a row among them, so that no two names meet and each can be read
 * back. What is longer then keeps its first 53 characters, followed by `--h` and a hash of the whole. A name is mapped to
 * the same one in every listing.
 *
 * A tool is left out, and told of in `refused`, in the log and to `list.onRefused`, where two cut names share their hash,
 * and where its schema is nested more than 1,000 levels deep or is not Unicode, so that no request could carry it. Every
 * other schema passes through as it is.
 *
 * Fails as `listTools` does, and with `ServerAnswered`, reason `Unreadable`, where more than 4,096 tools are left: choose
 * with `include`. The tools themselves never fail: `McpToolFailure` is a result (`failureMode: "return"`). Revision
 * 2026-07-28, server/tools, "Tool Names".
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  connection: Service,
  options: Options = {}
): Effect.fn.Return<McpToolkit, McpError> {
  const { call, include, list } = options
  const refused: Array<Refused> = []
  const onRefused = (one: Refused): Effect.Effect<void> => {
    refused.push(one)
    return list?.onRefused?.(one) ?? Effect.void
  }
  const tools = yield* connection.listTools({ ...list, onRefused })
  const chosen = choose(tools, options)
  if (chosen.length > maxTools) return yield* unreadable("tools/list", `more than ${maxTools} tools`)

  const unusable: Array<Refused> = [...missing(tools, include)]
  const listed = new Map<string, Tool>()
  const aiTools: Array<McpTool> = []
  const handlers: Record<string, ReturnType<typeof handlerOf>> = Object.create(null)
  for (const tool of chosen) {
    const problem = yield* problemOf(tool.inputSchema)
    const aiTool = toAiTool(tool, options)
    if (problem !== undefined) {
      unusable.push({ name: tool.name, reason: `the inputSchema has ${problem}`, entry: tool })
    } else if (listed.has(aiTool.name)) {
      unusable.push({ name: tool.name, reason: nameTaken, entry: tool })
    } else {
      listed.set(aiTool.name, tool)
      aiTools.push(aiTool)
      handlers[aiTool.name] = handlerOf(connection, tool, call)
    }
  }
  yield* reporter("tools", onRefused)(unusable)
  const toolkit = Toolkit.make(...aiTools)
  return yield* bind(toolkit, yield* toolkit.toHandlers(handlers), listed, refused)
})

const noHandlers: McpToolkit["handlers"] = Context.makeUnsafe(new Map())

const nameTaken = "its name for the model is taken by another one"

/**
 * Makes one toolkit of several, each with a `prefix` of its own. Of two tools with one name the earlier toolkit's stays,
 * so that no server takes another's place, and the later one is in `refused`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const merge = Effect.fnUntraced(function*(
  ...toolkits: ReadonlyArray<McpToolkit>
): Effect.fn.Return<McpToolkit> {
  const listed = new Map<string, Tool>()
  const taken: Array<Refused> = []
  const parts = toolkits.map((part) => {
    const free = [...part.listed].filter(([name, tool]) => {
      if (!listed.has(name)) return true
      taken.push({ name: tool.name, reason: nameTaken, entry: tool })
      return false
    })
    for (const [name, tool] of free) listed.set(name, tool)
    return Toolkit.make(...free.map(([name]) => part.tools[name]!))
  })
  yield* reporter("tools", undefined)(taken)
  return yield* bind(
    Toolkit.merge(...parts),
    // Of two handlers the one that is merged last stays.
    toolkits.reduce((handlers, part) => Context.merge(part.handlers, handlers), noHandlers),
    listed,
    [...toolkits.flatMap(({ refused }) => refused), ...taken]
  )
})
