/**
 * A connection to one MCP server: the service that people use.
 *
 * Build it as a layer where the server is known when the program is written (`layerHttp`, or all wired by
 * `NodeMcp.layerHttp`), or in a scope where it is known at run time (`connectHttp`). Closing the scope ends the session
 * and fails what is pending with `ConnectionFailed`, reason `Closed`. A connection is safe for concurrent use.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Queue from "effect/Queue"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { McpError } from "../errors/McpError.ts"
import * as Completions from "../internal/completion.ts"
import * as Handshake from "../internal/handshake.ts"
import * as LegacySse from "../internal/legacySse.ts"
import * as Notifications from "../internal/notifications.ts"
import { inOwnScope } from "../internal/ownScope.ts"
import { packageVersion } from "../internal/packageVersion.ts"
import * as Prompts from "../internal/prompts.ts"
import * as Requester from "../internal/requester.ts"
import * as Resources from "../internal/resources.ts"
import * as ServerLog from "../internal/serverLog.ts"
import * as Tools from "../internal/tools.ts"
import * as TypedResult from "../internal/typedResult.ts"
import type { Implementation, ServerCapabilities } from "../schema/Capabilities.ts"
import type * as Completion from "../schema/Completion.ts"
import type { JsonObject, JsonText } from "../schema/Json.ts"
import type {
  ChangeNotification,
  LoggingLevel,
  Progress,
  ServerNotification,
  SubscriptionFilter
} from "../schema/Notification.ts"
import type { Prompt, PromptResult } from "../schema/Prompt.ts"
import { isModern, type ProtocolVersion } from "../schema/ProtocolVersion.ts"
import type { Resource, ResourceContents, ResourceTemplate } from "../schema/Resource.ts"
import type { CallResult, Refused, Tool, ToolFailed } from "../schema/Tool.ts"
import { ByteBudget } from "./ByteBudget.ts"
import { ClientFeatures } from "./ClientFeatures.ts"
import type { EgressGuard } from "./EgressGuard.ts"
import type { HttpExchange } from "./HttpExchange.ts"
import { McpPolicy } from "./McpPolicy.ts"
import * as Stdio from "./Stdio.ts"
import * as StreamableHttp from "./StreamableHttp.ts"
import { Transport } from "./Transport.ts"

/**
 * Options of a listing.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListOptions {
  /**
   * For the whole listing. Default: 2 minutes, and 30 seconds for each page.
   */
  readonly timeout?: Duration.Input | undefined
  /**
   * Sent as `_meta` with every page. Keys that belong to the protocol are left out.
   */
  readonly meta?: JsonObject | undefined
  /**
   * As in `CallOptions`.
   */
  readonly logLevel?: LoggingLevel | undefined
  readonly onProgress?: ((progress: Progress) => Effect.Effect<void>) | undefined
  /**
   * Told of every entry that was left out of the list, and why.
   */
  readonly onRefused?: ((refused: Refused) => Effect.Effect<void>) | undefined
}

/**
 * Options of a call.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallOptions {
  /**
   * For the whole call. Default: 2 minutes, and 30 seconds for each request that it takes. A call that the server makes a
   * task may want more: `"1 hour"`.
   */
  readonly timeout?: Duration.Input | undefined
  /**
   * Sent as `_meta`. Keys that belong to the protocol are left out.
   */
  readonly meta?: JsonObject | undefined
  /**
   * From which level on the server's log of this request is asked for, where `setLogLevel` said nothing else: at a modern
   * revision; a legacy server has one level for the connection.
   */
  readonly logLevel?: LoggingLevel | undefined
  /**
   * Asks for progress, and is told of it, one report after the other, before the answer is there. Each report gives the
   * request its time once more, within that of the call. Where the callback is slower than the server, older reports are
   * left out. Of a call that is a task, each new status is told as well, as the `message` of a report whose `progress`
   * counts them where the server counts nothing. Revision 2026-07-28, basic/patterns/progress.
   */
  readonly onProgress?: ((progress: Progress) => Effect.Effect<void>) | undefined
}

/**
 * Options of a call of a tool.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolCallOptions extends CallOptions {
  /**
   * Whether to check `structuredContent` against the tool's `outputSchema`, which then has to be there; a result with
   * `isError` is not checked. Default: `validateOutput` of the `McpPolicy`.
   *
   * The schema is that of the last listing. Where tools were not listed since the first check was asked for, they are
   * listed before the call; a tool that is not among them has declared nothing. List them again where the server says
   * that they have changed. JSON Schema 2020-12, and drafts 04, 06, 07 and 2019-09 where `$schema` says so; `format` is
   * not checked, and nothing fetched. Revision 2026-07-28, server/tools, "Output Schema", and basic/index, "JSON Schema
   * Usage".
   */
  readonly validateOutput?: boolean | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /**
   * The revision that both ends agreed on.
   */
  readonly protocolVersion: ProtocolVersion
  /**
   * The name that the server gives itself. Nothing verifies it.
   */
  readonly serverInfo: Implementation | undefined
  readonly serverCapabilities: ServerCapabilities
  /**
   * The server's advice to a model. It is text from outside: treat it as such.
   */
  readonly instructions: string | undefined
  /**
   * All tools, from every page. Entries that cannot be used are left out one by one; see `onRefused`.
   *
   * Fails with `CapabilityMissing` where the server declared no tools; with `ServerAnswered`, reason `PaginationLoop`,
   * where the listing does not end; and as every request does. Revision 2026-07-28, server/tools, "Listing Tools".
   */
  readonly listTools: (options?: ListOptions) => Effect.Effect<ReadonlyArray<Tool>, McpError>
  /**
   * Calls a tool. Arguments are a value, or `JsonText` whose bytes are sent unaltered; none are sent as `{}`.
   *
   * A server may make the call a task: it is polled under `McpPolicy.taskPolling` within the time of the call, and
   * cancelled at the server where the call is given up (not where the connection is closed). It fails with `ServerAnswered`, reason `TaskUnfinished`, where
   * the server cancels it, and `InputRequired`, where it asks for input that nobody gives. The extension
   * `io.modelcontextprotocol/tasks`, and revision 2025-11-25, basic/utilities/tasks.
   *
   * A result with `isError` is a success: it is the tool's verdict. Fails with `InvalidInput` for arguments that are not
   * one JSON object, with `CapabilityMissing` where the server declared no tools, with `ServerAnswered` where it refuses,
   * and as every request does; with `validateOutput`, also with `ServerAnswered`, reason `Unreadable`, for what is not as
   * the tool declared it or cannot be checked. Revision 2026-07-28, server/tools, "Calling Tools".
   */
  readonly callTool: (
    name: string,
    args?: JsonObject | JsonText,
    options?: ToolCallOptions
  ) => Effect.Effect<CallResult, McpError>
  /**
   * All prompts, from every page. Fails as `listTools` does. Revision 2026-07-28, server/prompts, "Listing Prompts".
   */
  readonly listPrompts: (options?: ListOptions) => Effect.Effect<ReadonlyArray<Prompt>, McpError>
  /**
   * Fills a prompt in. Fails with `CapabilityMissing` where the server declared no prompts, and as every request does; a
   * prompt that does not exist is `ServerAnswered`, reason `RpcError`. Revision 2026-07-28, server/prompts, "Getting a
   * Prompt".
   */
  readonly getPrompt: (
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: CallOptions
  ) => Effect.Effect<PromptResult, McpError>
  /**
   * All resources, from every page. Fails as `listTools` does. Revision 2026-07-28, server/resources, "Listing
   * Resources".
   */
  readonly listResources: (options?: ListOptions) => Effect.Effect<ReadonlyArray<Resource>, McpError>
  /**
   * All templates of resources, from every page; `Resource.expand` makes URIs of them. Fails as `listTools` does.
   * Revision 2026-07-28, server/resources, "Resource Templates".
   */
  readonly listResourceTemplates: (options?: ListOptions) => Effect.Effect<ReadonlyArray<ResourceTemplate>, McpError>
  /**
   * What a resource holds: one piece, or several where the URI names a collection. Fails with `CapabilityMissing` where
   * the server declared no resources, and as every request does; a resource that does not exist is `ServerAnswered`,
   * reason `RpcError`, with code -32602, or -32002 at a legacy revision. Revision 2026-07-28, server/resources, "Reading
   * Resources".
   */
  readonly readResource: (
    uri: string,
    options?: CallOptions
  ) => Effect.Effect<ReadonlyArray<ResourceContents>, McpError>
  /**
   * Completes the value of an argument of a prompt or of a template; `context` has the arguments that are settled
   * already. Fails with `CapabilityMissing` where the server declared no completions (revision 2024-11-05 has no
   * capability for them), and as every request does. Revision 2026-07-28, server/utilities/completion.
   */
  readonly complete: (
    ref: Completion.Reference,
    argument: Completion.Argument,
    context?: Readonly<Record<string, string>>,
    options?: CallOptions
  ) => Effect.Effect<Completion.Completion, McpError>
  /**
   * What the server announces while the connection lives: changes, its log, and what no revision defines. Every run of
   * the stream hears what comes from then on. A consumer that is too slow misses announcements; a change that waits to be
   * heard is not told of twice. Ends with the connection.
   */
  readonly notifications: Stream.Stream<ServerNotification>
  /**
   * Asks to be told of changes, and is told until the stream is left. At a modern revision that is one
   * `subscriptions/listen`, begun again under `McpPolicy.resumption` where it is lost; at a legacy one it is
   * `resources/subscribe`, and the stream of its own that such a server may have over HTTP.
   *
   * Ends where the server ends it, and with the connection. Fails with `CapabilityMissing` where the server did not
   * declare that it tells of this, with `ServerAnswered` where it refuses, and as every request does. A legacy server is
   * asked again in a new session; where it refuses then, or its stream, once open, is lost for good, this fails as well.
   * Leaving takes no time: the server is told afterwards, unless others wait for the same resource. Revision 2026-07-28,
   * basic/patterns/subscriptions; revision 2025-11-25, server/resources, "Subscriptions".
   */
  readonly subscribe: (filter: SubscriptionFilter) => Stream.Stream<ChangeNotification, McpError>
  /**
   * From which level on the server sends its log: with `logging/setLevel` at a legacy revision, and with every later
   * request at a modern one. Fails with `CapabilityMissing` where the server has no log, and as every request does.
   * Revision 2025-11-25 and 2026-07-28, server/utilities/logging.
   */
  readonly setLogLevel: (level: LoggingLevel) => Effect.Effect<void, McpError>
}

/**
 * @category services
 * @since 0.1.0
 */
export class McpConnection extends Context.Service<McpConnection, Service>()("effect-mcp-client/McpConnection") {}

/**
 * Calls a tool, and decodes its `structuredContent` by a schema of the application's.
 *
 * **When to use**
 *
 * Use where the program knows what the tool answers. The schema is the caller's own, and is what the program relies on;
 * `validateOutput` holds the server to the schema that it declared, and the two go together.
 *
 * **Details**
 *
 * Takes any connection, one of `MockServer` or a stand-in with a `callTool` among them. Fails as `callTool` does; with
 * `ToolFailed`, which has the whole result, where the tool says `isError`; and with `ServerAnswered`, reason `Unreadable`,
 * where there is no `structuredContent` or it does not fit, which names the place and never a value. Values more than 256
 * deep do not fit. The schema decodes at once, however large the value is. Revision 2026-07-28, server/tools, "Structured
 * Content".
 *
 * **Example** (A typed answer)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { McpConnection } from "effect-mcp-client"
 *
 * const Weather = Schema.Struct({ temperature: Schema.Finite, conditions: Schema.String })
 *
 * const temperature = Effect.gen(function*() {
 *   const mcp = yield* McpConnection.McpConnection
 *   const weather = yield* McpConnection.callToolAs(mcp, Weather, "weather", { city: "Oslo" })
 *   return weather.temperature
 * }).pipe(Effect.catchTag("ToolFailed", ({ result }) => Effect.succeed(result.text)))
 * ```
 *
 * @category calling
 * @since 0.1.0
 */
export const callToolAs = <S extends Schema.Constraint>(
  connection: Pick<Service, "callTool">,
  schema: S,
  name: string,
  args?: JsonObject | JsonText,
  options?: ToolCallOptions
): Effect.Effect<S["Type"], McpError | ToolFailed, S["DecodingServices"]> =>
  Effect.flatMap(connection.callTool(name, args, options), (result) => TypedResult.decode(schema, name, result))

/**
 * Options of every connection, whatever carries it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * How this client names itself. Default: this package's name and version.
   */
  readonly clientInfo?: Implementation | undefined
  /**
   * `"auto"` (default) finds out which era the server speaks; `"legacy"` never asks modern servers; a revision insists on
   * it.
   */
  readonly protocol?: Handshake.Protocol | undefined
  /**
   * What the server may ask, and who answers. Default: that of the `ClientFeatures` reference, which is nothing.
   */
  readonly features?: ClientFeatures | undefined
  /**
   * For connecting as a whole. Default: 2 minutes, and 30 seconds for each of its one to three requests.
   */
  readonly timeout?: Duration.Input | undefined
  /**
   * Default: that of the `McpPolicy` reference.
   */
  readonly policy?: McpPolicy | undefined
}

/**
 * Options of a connection over Streamable HTTP.
 *
 * @category models
 * @since 0.1.0
 */
export interface HttpOptions extends Options, StreamableHttp.Options {
  /**
   * Whether to go on, at a server that has no Streamable HTTP, with the HTTP+SSE transport of revision 2024-11-05: where
   * `initialize` is answered 400, 404 or 405, as revision 2025-11-25, basic/transports, "Backwards Compatibility" says.
   * Default: no.
   */
  readonly legacySse?: boolean | undefined
}

/**
 * Options of a connection to a child process.
 *
 * @category models
 * @since 0.1.0
 */
export interface StdioOptions extends Options, Stdio.Options {
  /**
   * Told of what the child writes to its standard error, as it comes. It is read whether or not anybody is told.
   */
  readonly onStderr?: ((text: string) => Effect.Effect<void>) | undefined
}

const packageInfo: Implementation = { name: "effect-mcp-client", version: packageVersion }

/**
 * Connects over whatever `Transport` is in the context. The connection lasts as long as the scope.
 *
 * Fails with `ConnectionFailed`, reason `UnsupportedVersion`, where no revision is had in common, and as every request
 * does.
 *
 * @category constructors
 * @since 0.1.0
 */
export const connect = Effect.fnUntraced(function*(
  options?: Options
): Effect.fn.Return<Service, McpError, Transport | ByteBudget | Scope.Scope> {
  const transport = yield* Transport
  const policy = options?.policy ?? (yield* McpPolicy)
  const requester = yield* Requester.make({
    transport,
    policy,
    budget: yield* ByteBudget,
    clientInfo: options?.clientInfo ?? packageInfo,
    features: options?.features ?? (yield* ClientFeatures),
    timeout: options?.timeout,
    protocol: options?.protocol ?? "auto"
  })
  const { instructions, serverCapabilities, serverInfo, version } = requester.negotiated
  return {
    protocolVersion: version,
    serverInfo,
    serverCapabilities,
    instructions,
    ...Tools.make(requester, policy, transport),
    ...Prompts.make(requester, policy),
    ...Resources.make(requester, policy),
    ...Completions.make(requester, policy),
    ...Notifications.make(requester, policy)
  }
})

/**
 * As `connect`, as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<McpConnection, McpError, Transport | ByteBudget> =>
  Layer.effect(McpConnection, connect(options))

/**
 * Connects over Streamable HTTP, and deletes the session of a legacy server when the scope closes. Where connecting
 * fails, nothing is left open.
 *
 * Takes one request at a modern server and three at a legacy one; two more where `legacySse` has to be tried. Fails with `InvalidInput` for a URL or header that
 * cannot be used, with `ConnectionFailed`, reason `EgressDenied`, where the guard refuses, with `Unauthorized`, and as
 * `connect` does.
 *
 * @category constructors
 * @since 0.1.0
 */
export const connectHttp = (
  options: HttpOptions
): Effect.Effect<Service, McpError, HttpExchange | EgressGuard | ByteBudget | Scope.Scope> => {
  const over = (
    carrier: Effect.Effect<Transport["Service"], McpError, HttpExchange | EgressGuard | Scope.Scope>,
    own: Options
  ) => inOwnScope(Effect.flatMap(carrier, (transport) => Effect.provideService(connect(own), Transport, transport)))
  const protocol = options.protocol ?? "auto"
  const streamable = over(StreamableHttp.make(options), options)
  const connecting = options.legacySse === true && !isModern(protocol)
    ? Effect.catchIf(
      streamable,
      isNotStreamable,
      () => over(LegacySse.make(options), { ...options, protocol: protocol === "auto" ? "legacy" : protocol })
    )
    : streamable
  return options.policy === undefined ? connecting : Effect.provideService(connecting, McpPolicy, options.policy)
}

const isNotStreamable = (error: McpError): boolean =>
  error._tag === "ConnectionFailed" && error.reason._tag === "HttpStatus" &&
  [400, 404, 405].includes(error.reason.status)

/**
 * As `connectHttp`, as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttp = (
  options: HttpOptions
): Layer.Layer<McpConnection, McpError, HttpExchange | EgressGuard | ByteBudget> =>
  Layer.effect(McpConnection, connectHttp(options))

/**
 * Starts a process and connects over its standard input and output; ends it, and all that it started, when the scope
 * closes. Where connecting fails it is killed.
 *
 * Takes one request at a modern server, and three at a legacy one, which has five seconds to answer the first. Fails with
 * `InvalidInput` for what is no command, with `ConnectionFailed`, reason `Unreachable`, where it cannot be started, with
 * `ProcessExited` where it exits, and as `connect` does.
 *
 * @category constructors
 * @since 0.1.0
 */
export const connectStdio = (
  options: StdioOptions
): Effect.Effect<Service, McpError, ChildProcessSpawner | ByteBudget | Scope.Scope> => {
  const { onStderr, policy } = options
  const connecting = inOwnScope(Effect.gen(function*() {
    const transport = yield* Stdio.make(options)
    if (onStderr !== undefined) yield* Effect.forkScoped(Stream.runForEach(transport.stderr, onStderr))
    // It has agreed to nothing yet, and nobody waits for it to end well.
    return yield* Effect.onError(
      Effect.provideService(connect(options), Transport, transport),
      () => transport.kill
    )
  }))
  return policy === undefined ? connecting : Effect.provideService(connecting, McpPolicy, policy)
}

/**
 * As `connectStdio`, as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStdio = (
  options: StdioOptions
): Layer.Layer<McpConnection, McpError, ChildProcessSpawner | ByteBudget> =>
  Layer.effect(McpConnection, connectStdio(options))

/**
 * What `callToolStream` brings: reports, and the result as the last element.
 *
 * @category models
 * @since 0.1.0
 */
export type CallEvent =
  | ({ readonly _tag: "Progress" } & Progress)
  | { readonly _tag: "Result"; readonly result: CallResult }

/**
 * Calls a tool as a stream: its progress as it comes, and the result at the end. Leaving the stream gives the call up.
 * Fails as `callTool` does.
 *
 * @category combinators
 * @since 0.1.0
 */
export const callToolStream = (
  connection: Service,
  name: string,
  args?: JsonObject | JsonText,
  options?: Omit<ToolCallOptions, "onProgress">
): Stream.Stream<CallEvent, McpError> =>
  Stream.callback<CallEvent, McpError>((queue) =>
    connection.callTool(name, args, {
      ...options,
      onProgress: (progress) => Effect.asVoid(Queue.offer(queue, { _tag: "Progress", ...progress }))
    }).pipe(
      Effect.flatMap((result) => Queue.offer(queue, { _tag: "Result", result })),
      Effect.andThen(Queue.end(queue))
    )
  )

/**
 * Writes the server's log into Effect's, for as long as the scope lives, under the name of its logger. The server's words
 * are escaped and cut to a line; what grade it gives them decides the level. See `Service.setLogLevel`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const forwardLogs = (connection: Service): Effect.Effect<void, never, Scope.Scope> =>
  Stream.runForEach(
    connection.notifications,
    (notification) => notification._tag === "LoggingMessage" ? ServerLog.write(notification) : Effect.void
  ).pipe(
    Effect.forkScoped({ startImmediately: true }),
    Effect.asVoid
  )
