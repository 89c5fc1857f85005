/**
 * Keeps what a server says may be kept: its lists, and what its resources hold.
 *
 * A layer between an application and its connection, and as much of a connection as the one below: nothing else changes
 * in the program. It is for applications that list tools before every step, or read the same resources again and again,
 * and it keeps exactly as long as the server allows. Revision 2026-07-28, server/utilities/caching.
 *
 * **Details**
 *
 * - One cache is that of one connection and of its credentials, and goes with it. A result that the server calls
 *   `"public"` is shared no further than that. Where a provider of credentials changes whom the connection speaks for,
 *   there must be no cache before it.
 * - What is kept: `listTools`, `listPrompts`, `listResources`, `listResourceTemplates` and `readResource`, for the
 *   server's `ttlMs`, of which the least of all pages counts, within `maxAge`. A `ttlMs` that is none keeps nothing, and
 *   a failure is never kept. Legacy servers give no such hint: at their revisions there is no cache.
 * - What is given up: an announced change of the tools drops their list, and so for the prompts; one of the resources
 *   drops both lists and all that was read; one of a resource drops what was read of it, or of a URI that it lies under.
 *   Modern servers announce to those who `subscribe`. What is under way while a change is announced is not kept.
 * - Who asks for the same at the same time shares one request, and its failure. It goes on for as long as one of them
 *   waits. A call of a tool may change what is read: who asks after it shares nothing that was asked for before it ended.
 * - A call with `meta`, `logLevel`, `onProgress` or `onRefused` is between its caller and the server: it goes past the
 *   cache. One with a `timeout` takes what is kept, or else makes a request of its own, whose result is kept.
 * - What is kept is handed to everybody as it is: the bytes of a resource are for reading.
 *
 * **Example** (A connection whose lists are kept)
 *
 * ```ts
 * import { Layer } from "effect"
 * import { McpCache } from "effect-mcp-client"
 * import { NodeMcp } from "effect-mcp-client/node"
 *
 * const Server = McpCache.layer().pipe(
 *   Layer.provide(NodeMcp.layerHttp({ url: "https://mcp.example.com/mcp" }))
 * )
 * ```
 *
 * @since 0.1.0
 */
import * as ByteSize from "effect/ByteSize"
import * as Cache from "effect/Cache"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as MutableHashMap from "effect/MutableHashMap"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { McpError } from "../errors/McpError.ts"
import * as Announcements from "../internal/announcements.ts"
import { count, duration } from "../internal/bounds.ts"
import * as Freshness from "../internal/freshness.ts"
import * as Notification from "../schema/Notification.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import { type ListOptions, McpConnection, type Service } from "./McpConnection.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * How many lists and resources are kept; the one that was not asked for longest goes first. Default: 256.
   */
  readonly capacity?: number | undefined
  /**
   * What they may come to together, as the server wrote them, one byte a character. Default: 8 MiB.
   */
  readonly limit?: ByteSize.Input | undefined
  /**
   * How long anything is kept, whatever the server says. Default: 1 hour.
   */
  readonly maxAge?: Duration.Input | undefined
}

const defaultLimit = ByteSize.mebibytes(8)

/**
 * What can be kept, by what was asked.
 */
const tools = "tools/list"
const prompts = "prompts/list"
const resources = "resources/list"
const resourceTemplates = "resources/templates/list"
const reading = "resources/read "

/**
 * What an announcement takes back.
 */
const outdatedBy = (notification: Notification.ServerNotification): ((question: string) => boolean) | undefined => {
  switch (notification._tag) {
    case "ToolListChanged":
      return (question) => question === tools
    case "PromptListChanged":
      return (question) => question === prompts
    case "ResourceListChanged":
      return (question) => question.startsWith("resources/")
    case "ResourceUpdated":
      return (question) => question.startsWith(reading) && notification.uri.startsWith(question.slice(reading.length))
    default:
      return undefined
  }
}

/**
 * Whether a call is like every other of its kind.
 */
const isCommon = (options: ListOptions | undefined): boolean =>
  options?.meta === undefined && options?.logLevel === undefined && options?.onProgress === undefined &&
  options?.onRefused === undefined

/**
 * Puts a cache before a connection, for as long as the scope and the connection last; after that everything goes to the
 * connection. Never fails: what the methods fail with is what the connection fails with. Throws where a bound is none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (connection: Service, options?: Options): Effect.Effect<Service, never, Scope.Scope> => {
  const capacity = count(options?.capacity ?? 256, "capacity")
  const limit = Number(options?.limit === undefined ? defaultLimit : ByteSize.fromInputUnsafe(options.limit))
  const maxAge = Duration.toMillis(duration(options?.maxAge ?? "1 hour", "maxAge"))
  return ProtocolVersion.isLegacy(connection.protocolVersion)
    ? Effect.succeed(connection)
    : makeBounded(connection, { capacity, limit, maxAge })
}

const makeBounded = Effect.fnUntraced(function*(
  connection: Service,
  { capacity, limit, maxAge }: { readonly capacity: number; readonly limit: number; readonly maxAge: number }
): Effect.fn.Return<Service, never, Scope.Scope> {
  type Kept = Freshness.Measured<unknown>

  const directly = (question: string, options: ListOptions | undefined): Effect.Effect<unknown, McpError> => {
    switch (question) {
      case tools:
        return connection.listTools(options)
      case prompts:
        return connection.listPrompts(options)
      case resources:
        return connection.listResources(options)
      case resourceTemplates:
        return connection.listResourceTemplates(options)
      default:
        return connection.readResource(question.slice(reading.length), options)
    }
  }

  const lookup = (question: string, options?: ListOptions): Effect.Effect<Kept, McpError> =>
    Effect.flatMap(Freshness.measured(directly(question, options), maxAge), makeRoom)

  const cache: Cache.Cache<string, Kept, McpError> = yield* Cache.makeWith((question: string) => lookup(question), {
    capacity,
    timeToLive: (exit) => Exit.isSuccess(exit) ? exit.value.timeToLive : 0
  })

  /**
   * Gives up what was not asked for longest, until one more has room. What has none by itself is not kept.
   */
  const makeRoom = Effect.fnUntraced(function*(wanted: Kept) {
    if (wanted.timeToLive === 0) return wanted
    if (wanted.size > limit) return { ...wanted, timeToLive: 0 }
    const kept = [...yield* Cache.entries(cache)]
    let total = kept.reduce((sum, [, { size }]) => sum + size, wanted.size)
    for (const [question, { size }] of kept) {
      if (total <= limit) break
      yield* Cache.invalidate(cache, question)
      total -= size
    }
    return wanted
  })

  let isOpen = true
  // How often something was taken back: what was asked for before that is not kept after it.
  let changes = 0

  const drop = (isOutdated: (question: string) => boolean): void => {
    changes++
    for (const [question] of cache.map) if (isOutdated(question)) MutableHashMap.remove(cache.map, question)
  }

  const hear = (notification: Notification.ServerNotification): void => {
    const isOutdated = outdatedBy(notification)
    if (isOutdated !== undefined) drop(isOutdated)
  }

  /**
   * Nobody joins what is under way; those who wait for it already have it.
   */
  const startAnew = Effect.sync(() => {
    const pending = new Set<string>()
    for (const [question, { fiber }] of cache.map) if (fiber.pollUnsafe() === undefined) pending.add(question)
    drop((question) => pending.has(question))
  })

  /**
   * A request with a time of its own, in which nobody shares.
   */
  const alone = Effect.fnUntraced(function*(question: string, options: ListOptions | undefined) {
    const kept = yield* Cache.getSuccess(cache, question)
    if (Option.isSome(kept)) return kept.value.value
    const before = changes
    const found = yield* lookup(question, options)
    if (before === changes && isOpen) yield* Cache.set(cache, question, found)
    return found.value
  })

  const answer = <A>(question: string, options: ListOptions | undefined): Effect.Effect<A, McpError> =>
    Effect.suspend(() => {
      if (!isOpen || !isCommon(options)) return directly(question, options)
      return options?.timeout === undefined
        ? Effect.map(Cache.get(cache, question), ({ value }) => value)
        : alone(question, options)
      // What was asked says what was answered.
    }) as Effect.Effect<A, McpError>

  // A change may come in one piece with an answer, and whoever gets that answer must find nothing old. A stream that the
  // application has made something else of is heard as it is, a moment later.
  const announcements = Announcements.sourceOf(connection.notifications)
  if (announcements !== undefined) {
    const stop = announcements.listen((notification) => {
      hear(Notification.fromWire(notification))
      return false
    })
    yield* Effect.addFinalizer(() => Effect.sync(stop))
  }
  yield* Effect.forkScoped(
    Effect.ensuring(
      Stream.runForEach(
        connection.notifications,
        (notification) => announcements === undefined ? Effect.sync(() => hear(notification)) : Effect.void
      ),
      Effect.sync(() => {
        isOpen = false
        drop(() => true)
      })
    ),
    { startImmediately: true }
  )

  return {
    ...connection,
    listTools: (options) => answer(tools, options),
    listPrompts: (options) => answer(prompts, options),
    listResources: (options) => answer(resources, options),
    listResourceTemplates: (options) => answer(resourceTemplates, options),
    readResource: (uri, options) => answer(reading + uri, options),
    callTool: (name, args, options) => Effect.ensuring(connection.callTool(name, args, options), startAnew)
  }
})

/**
 * As `make`: takes the connection of the layer below, and provides one in its place.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<McpConnection, never, McpConnection> =>
  Layer.effect(McpConnection, Effect.flatMap(McpConnection, (connection) => make(connection, options)))
