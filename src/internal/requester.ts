/**
 * Requests on one connection: ids, envelopes, deadlines, the meter, and what the server says in between.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import {
  CapabilityMissing,
  Closed,
  ConnectionFailed,
  type ConnectionFailedReason,
  InvalidInput,
  type McpError,
  RpcError,
  ServerAnswered,
  type ServerAnsweredReason
} from "../errors/McpError.ts"
import type { Implementation } from "../schema/Capabilities.ts"
import { isJsonObject, type JsonObject } from "../schema/Json.ts"
import type { RawNotification } from "../schema/JsonRpc.ts"
import type { LoggingLevel, Progress } from "../schema/Notification.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import type { ByteBudget, Meter } from "../services/ByteBudget.ts"
import type { ClientFeatures } from "../services/ClientFeatures.ts"
import { overBudget } from "../services/HttpExchange.ts"
import type { McpPolicy } from "../services/McpPolicy.ts"
import type { Reply, Request, ServerRequest, Transport } from "../services/Transport.ts"
import * as Announcements from "./announcements.ts"
import { read as readArguments } from "./arguments.ts"
import * as Deadline from "./deadline.ts"
import * as Dropped from "./dropped.ts"
import * as Envelope from "./envelope.ts"
import * as Features from "./features.ts"
import * as Freshness from "./freshness.ts"
import * as Handshake from "./handshake.ts"
import * as OwnStream from "./ownStream.ts"
import * as ProgressReports from "./progressReports.ts"
import * as Renewal from "./renewal.ts"
import { resultTypeOf } from "./resultType.ts"
import * as Retrying from "./retrying.ts"
import * as Roots from "./roots.ts"
import * as ServerRequests from "./serverRequests.ts"
import * as TaskSupport from "./taskSupport.ts"
import { traced } from "./tracing.ts"

/**
 * One operation of the application, which may take several requests.
 */
export interface Operation {
  readonly name: string
  readonly deadline: Deadline.Deadline
  readonly meter: Meter
  readonly meta: Envelope.Meta | undefined
  /**
   * Hears what the server announces while a request of the operation is under way.
   */
  readonly hear?: Hearing | undefined
}

/**
 * Hears an announcement, and says whether it was wanted. `id` and `ownTime` are those of the request under way.
 */
export type Hearing = (notification: RawNotification, id: number, ownTime: Deadline.OwnTime) => boolean

/**
 * One request of an operation. `members` is the text between the braces of `params`.
 */
export interface Call {
  readonly method: string
  readonly members: string
  readonly name?: string | undefined
  readonly parameterHeaders?: ReadonlyArray<string> | undefined
  /**
   * Whether the server answers when something has come to its end, so that the request has the time of its operation.
   */
  readonly waits?: boolean | undefined
}

/**
 * A result: the final one, one that asks for input (revision 2026-07-28, basic/patterns/mrtr), or a task that will have
 * it.
 */
export interface Outcome {
  readonly type: "complete" | "input_required" | "task"
  readonly result: JsonObject
}

/**
 * What an operation may be told.
 */
export interface OperationOptions {
  readonly timeout?: Duration.Input | undefined
  readonly meta?: JsonObject | undefined
  /**
   * Instead of `timeout`: what the operation may take, and what each of its requests.
   */
  readonly bounds?: Pick<Deadline.Deadline, "total" | "each"> | undefined
  readonly logLevel?: LoggingLevel | undefined
  readonly onProgress?: ((progress: Progress) => Effect.Effect<void>) | undefined
}

/**
 * @see make
 */
export interface Requester {
  readonly negotiated: Handshake.Negotiated
  /**
   * What the server did not declare, and an operation needs: a capability, or a feature of one.
   */
  readonly missing: (
    operation: string,
    capability: string | undefined,
    feature?: string
  ) => CapabilityMissing | undefined
  /**
   * Opens an operation: its span, its deadline and, where the budget is one an operation, its meter.
   */
  readonly operation: <A>(
    name: string,
    attributes: Record<string, unknown>,
    options: OperationOptions | undefined,
    run: (operation: Operation) => Effect.Effect<A, McpError>
  ) => Effect.Effect<A, McpError>
  /**
   * Sends a request and brings its reply, errors among them.
   */
  readonly send: (operation: Operation, call: Call) => Effect.Effect<Reply, McpError>
  /**
   * As `send`, and fails where the server has forgotten the session, rather than have another one opened.
   */
  readonly sendInSession: (operation: Operation, call: Call) => Effect.Effect<Reply, McpError>
  /**
   * Says what is to be done in every new session, on a fiber of the connection. It must have no session opened itself.
   */
  readonly onRenewed: (run: Effect.Effect<void>) => void
  /**
   * What the server may ask.
   */
  readonly features: Features.Features
  /**
   * Runs something that is no request in what is left of an operation's time.
   */
  readonly within: <A>(operation: Operation, effect: Effect.Effect<A, McpError>) => Effect.Effect<A, McpError>
  /**
   * Reads a reply: an error fails, and so does a result of a type that nobody knows. A task may be answered to some
   * requests alone.
   */
  readonly outcome: (operation: Operation, reply: Reply, mayBeTask?: boolean) => Effect.Effect<Outcome, McpError>
  /**
   * That of the connection.
   */
  readonly scope: Scope.Scope
  /**
   * Gives something that is no operation a meter.
   */
  readonly withMeter: <A>(run: (meter: Meter) => Effect.Effect<A, McpError>) => Effect.Effect<A, McpError>
  /**
   * The stream that a legacy server may have of its own.
   */
  readonly ownStream: OwnStream.OwnStream
  /**
   * What the server announces.
   */
  readonly announcements: Announcements.Announcements
  /**
   * From which level on the log is asked for with every request: at a modern revision.
   */
  readonly setLogLevel: (level: LoggingLevel) => void
  readonly failed: (operation: string, reason: ConnectionFailedReason) => ConnectionFailed
  readonly answered: (operation: string, reason: ServerAnsweredReason) => ServerAnswered
  readonly invalid: (operation: string, detail: string) => InvalidInput
}

/**
 * What a connection is made of.
 */
export interface Options {
  readonly transport: Transport["Service"]
  readonly budget: ByteBudget["Service"]
  readonly policy: McpPolicy
  readonly clientInfo: Implementation
  readonly protocol: Handshake.Protocol
  readonly features: ClientFeatures
  /**
   * For connecting.
   */
  readonly timeout: Duration.Input | undefined
}

const handshakes: ReadonlySet<string> = new Set(["server/discover", "initialize"])

/**
 * Connects: agrees on a revision over a transport, and is then ready for operations. Closing the scope fails what is
 * pending, and what is asked for later.
 */
export const make = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<Requester, McpError, Scope.Scope> {
  const { budget, clientInfo, policy, protocol, transport } = options
  const { server } = transport

  const failed = (operation: string, reason: ConnectionFailedReason): ConnectionFailed =>
    new ConnectionFailed({ operation, server, reason })
  const answered = (operation: string, reason: ServerAnsweredReason): ServerAnswered =>
    new ServerAnswered({ operation, server, reason })

  const invalid = (operation: string, detail: string): InvalidInput => new InvalidInput({ operation, server, detail })

  if (asJson(clientInfo) === undefined) {
    return yield* invalid("connect", "clientInfo is not one JSON object")
  }
  const scope = yield* Effect.scope
  const watch = yield* Effect.acquireRelease(Effect.sync(Deadline.watch), ({ close }) => Effect.sync(close))

  const connectionMeter = budget.scope === "connection"
    ? yield* Effect.acquireRelease(Effect.sync(budget.open), (meter) => Effect.sync(meter.close))
    : undefined
  const withMeter = <A>(run: (meter: Meter) => Effect.Effect<A, McpError>): Effect.Effect<A, McpError> => {
    if (connectionMeter !== undefined) return run(connectionMeter)
    return Effect.suspend(() => {
      const meter = budget.open()
      return Effect.ensuring(run(meter), Effect.sync(meter.close))
    })
  }

  const open = <A>(
    name: string,
    { bounds, meta, timeout }: Pick<OperationOptions, "timeout" | "bounds"> & {
      readonly meta?: Envelope.Meta | undefined
    },
    run: (operation: Operation) => Effect.Effect<A, McpError>
  ): Effect.Effect<A, McpError> => {
    const own = timeout === undefined ? undefined : readTimeout(timeout)
    if (timeout !== undefined && own === undefined) {
      return Effect.fail(invalid(name, "the timeout is not a duration"))
    }
    return Deadline.start(
      own ?? bounds?.total ?? policy.operationTimeout,
      own ?? bounds?.each ?? policy.requestTimeout,
      (deadline) => withMeter((meter) => run({ name, deadline, meter, meta }))
    )
  }

  const dropped = Dropped.make()
  const announcements = Announcements.make(dropped)

  const bounded = <A>(
    operation: Operation,
    run: (ownTime: Deadline.OwnTime) => Effect.Effect<A, McpError>
  ): Effect.Effect<A, McpError> => watch.limit(operation.deadline, run, (reason) => failed(operation.name, reason))

  /**
   * Tells the server that nobody waits for a request any more, where it has left: revision 2025-11-25,
   * basic/utilities/cancellation. Over HTTP at a modern revision the closed stream says it. The notice goes out on a fiber
   * of the connection.
   */
  const cancellable = (
    { id, method, version }: Pick<Request, "id" | "method" | "version">,
    send: (onSent: () => void) => Effect.Effect<Reply, McpError>
  ): Effect.Effect<Reply, McpError> => {
    let isSent = false
    const sending = send(() => {
      isSent = true
    })
    // A server that is only just being found out about had better not be told of anything else.
    if (handshakes.has(method) || (transport.hasHeaders && ProtocolVersion.isModern(version))) return sending
    return Effect.onInterrupt(sending, () => {
      if (!isSent) return Effect.void
      const body = Envelope.notification("notifications/cancelled", { requestId: id, reason: "no longer wanted" })
      const notice = open("cancel", {}, (operation) => notify(operation, "notifications/cancelled", body, version))
      return Effect.asVoid(Effect.forkIn(Effect.ignore(notice), scope))
    })
  }

  const exchange = (operation: Operation, writer: Envelope.Writer, call: Call): Effect.Effect<Reply, McpError> => {
    const once = attempt(operation, writer, call)
    const { retries } = policy
    if (retries === undefined) return once
    return bounded(operation, ({ hold }) => {
      // Every attempt has its own time; what lies between them has that of the operation.
      hold()
      return Retrying.run(once, retries)
    })
  }

  let lastId = 0
  const attempt = (
    operation: Operation,
    writer: Envelope.Writer,
    { members, method, name, parameterHeaders, waits }: Call
  ): Effect.Effect<Reply, McpError> =>
    Effect.suspend(() => {
      const { meta, meter } = operation
      // The answer could not be read, so that the server had better not be asked.
      if (meter.remaining() <= 0) return Effect.fail(failed(operation.name, overBudget(meter)))
      const id = ++lastId
      const { version } = writer
      const body = writer.request(id, method, members, meta)
      const { hear } = operation
      return bounded(operation, (time) => {
        const ownTime = waits === true ? { hold: time.hold, restart: time.hold } : time
        if (waits === true) ownTime.hold()
        const sent = cancellable({ id, method, version }, (onSent) =>
          transport.request({
            id,
            operation: operation.name,
            method,
            name,
            parameterHeaders,
            body,
            version,
            traceparent: meta?.traceparent,
            meter,
            ownTime,
            onSent
          }))
        return hear === undefined
          ? sent
          : announcements.during(sent, (notification) => hear(notification, id, ownTime))
      })
    })

  // A server may ask before the handshake is over.
  let agreed: ProtocolVersion.ProtocolVersion | undefined
  const features = Features.make(options.features, { server }, announcements, () => agreed)
  const newWriter = (version: ProtocolVersion.ProtocolVersion | undefined): Envelope.Writer =>
    Envelope.make(version, clientInfo, features.capabilities(version))

  let logLevel: LoggingLevel | undefined
  let lastWriter = newWriter(undefined)
  const writerFor = (wanted: ProtocolVersion.ProtocolVersion | undefined): Envelope.Writer => {
    if (lastWriter.version !== wanted) lastWriter = newWriter(wanted)
    return lastWriter
  }

  const notify = (
    operation: Operation,
    method: string,
    body: string,
    version: ProtocolVersion.ProtocolVersion | undefined
  ): Effect.Effect<void, McpError> =>
    bounded(
      operation,
      () => transport.notify({ operation: operation.name, method, body, version, meter: operation.meter })
    )

  const channel = (operation: Operation): Handshake.Channel => ({
    server,
    clientInfo,
    capabilities: features.capabilities,
    probeTimeout: transport.probeTimeout,
    request: (method, params, version, limit) =>
      exchange(limit === undefined ? operation : hastened(operation, limit), writerFor(version), {
        method,
        members: JSON.stringify(params).slice(1, -1)
      }),
    notify: (method, version) => notify(operation, method, Envelope.notification(method), version)
  })

  const serverRequests = yield* ServerRequests.make({
    features,
    grace: policy.handlerGrace,
    send: (answer) => open("answer", {}, (operation) => notify(operation, "response", answer, agreed))
  })
  announcements.listen(({ method, params }) =>
    method === "notifications/cancelled" && serverRequests.cancel(params["requestId"])
  )
  const takeRequest = (request: ServerRequest): void => {
    // Modern servers have no requests of their own, whatever brings them.
    if (ProtocolVersion.isModern(agreed)) dropped.add(request.method)
    else serverRequests.take(request)
  }
  transport.listen?.((message) => {
    if (message._tag === "Notification") announcements.take(message.notification)
    else takeRequest(message.request)
  })

  const followRoots = Roots.follow(options.features.roots)
  const { deadline, negotiated } = yield* open(
    "connect",
    { timeout: options.timeout },
    (operation) =>
      Effect.map(
        Handshake.negotiate(channel(operation), protocol),
        (agreement) => ({ deadline: operation.deadline, negotiated: agreement })
      )
  )
  const { version } = negotiated
  agreed = version
  serverRequests.release().forEach(takeRequest)
  const writer = Envelope.make(
    version,
    clientInfo,
    TaskSupport.declare(features.capabilities(version), negotiated)
  )
  const { follow } = transport
  const followed = ({ again, onOpen }: OwnStream.Following): Effect.Effect<void, McpError> => {
    if (follow === undefined) return Effect.void
    const once = withMeter((meter) => follow({ operation: "follow", version, meter, again, onOpen }))
    return renewing === undefined ? once : inNewSessions(renewing, once)
  }
  const inNewSessions = Renewal.ofStream()
  const ownStream = follow === undefined ? OwnStream.none : OwnStream.make(scope, followed)

  let afterRenewal: Effect.Effect<void> = Effect.void
  const renewing: Renewal.Renewing | undefined = ProtocolVersion.isLegacy(version)
    ? Renewal.make({
      scope,
      initialize: open("connect", {}, (operation) => Handshake.initialize(channel(operation), version, [version])).pipe(
        Effect.andThen(ownStream.renew),
        Effect.andThen(Effect.suspend(() => Effect.forkIn(afterRenewal, scope))),
        Effect.asVoid
      ),
      closed: failed("connect", new Closed())
    })
    : undefined

  if (ProtocolVersion.isLegacy(version)) {
    // Many servers ask on it, whatever their request has to do with one of ours.
    if (Object.keys(features.capabilities(version)).length > 0) {
      yield* ownStream.wanted({ lose: () => {}, wait: yield* Deadline.timeLeft(deadline) })
    }
    const method = "notifications/roots/list_changed"
    const tell = open("roots", {}, (operation) => notify(operation, method, Envelope.notification(method), version))
    yield* followRoots(tell)
  }

  const send = (operation: Operation, call: Call): Effect.Effect<Reply, McpError> => {
    const once = exchange(operation, writer, call)
    return renewing === undefined ? once : renewing(once, (renewed) => bounded(operation, () => renewed))
  }

  const readOutcome = (
    { name }: Operation,
    reply: Reply,
    mayBeTask: boolean | undefined
  ): Effect.Effect<Outcome, McpError> => {
    const { response, status } = reply
    if ("error" in response) return Effect.fail(answered(name, new RpcError({ ...response.error, status })))
    const { result } = response
    if (!ProtocolVersion.isModern(version)) return Effect.succeed({ type: "complete", result })
    const type = resultTypeOf(result, mayBeTask)
    return Result.isFailure(type)
      ? Effect.fail(answered(name, type.failure))
      : Freshness.heard({ type: type.success, result }, reply)
  }

  return {
    negotiated,
    failed,
    answered,
    invalid,
    send,
    sendInSession: (operation, call) => exchange(operation, writer, call),
    onRenewed: (run) => {
      afterRenewal = run
    },
    missing: (operation, capability, feature) => {
      const { serverCapabilities } = negotiated
      if (capability === undefined) return undefined
      const declared = Object.hasOwn(serverCapabilities, capability) ? serverCapabilities[capability] : undefined
      const isThere = feature === undefined
        ? Object.hasOwn(serverCapabilities, capability)
        : isJsonObject(declared) && declared[feature] === true
      return isThere
        ? undefined
        : new CapabilityMissing({
          operation,
          server,
          capability: feature === undefined ? capability : `${capability}.${feature}`
        })
    },
    features,
    within: (operation, effect) =>
      bounded(operation, ({ hold }) => {
        hold()
        return effect
      }),
    operation: (name, attributes, given, run) =>
      traced(name, { ...attributes, "server.address": server, "mcp.protocol.version": version }, (traceparent) => {
        const ownMeta = given?.meta === undefined ? undefined : asJson(given.meta)
        if (given?.meta !== undefined && ownMeta === undefined) {
          return Effect.fail(invalid(name, "meta is not one JSON object"))
        }
        const onProgress = given?.onProgress
        const level = given?.logLevel ?? logLevel
        const isPlain = ownMeta === undefined && traceparent === undefined && onProgress === undefined &&
          level === undefined
        const meta = isPlain
          ? undefined
          : { given: ownMeta, traceparent, logLevel: level, wantsProgress: onProgress !== undefined }
        return open(
          name,
          { meta, timeout: given?.timeout, bounds: given?.bounds },
          onProgress === undefined ?
            run :
            (operation) =>
              ProgressReports.during(
                onProgress,
                (hear) => run({ ...operation, hear }),
                (rest) => bounded(operation, () => rest)
              )
        )
      }),
    announcements,
    ownStream,
    scope,
    withMeter,
    setLogLevel: (level) => {
      logLevel = level
    },
    outcome: (operation, reply, mayBeTask) => {
      const read = readOutcome(operation, reply, mayBeTask)
      return dropped.isEmpty() ? read : Effect.andThen(dropped.note, read)
    }
  }
})

/**
 * The operation, with less time for each of its requests.
 */
const hastened = (operation: Operation, limit: Duration.Duration): Operation => ({
  ...operation,
  deadline: { ...operation.deadline, each: Duration.min(operation.deadline.each, limit) }
})

const readTimeout = (timeout: Duration.Input): Duration.Duration | undefined =>
  typeof timeout === "number" && Number.isNaN(timeout)
    ? undefined
    : Option.getOrUndefined(Option.filter(Duration.fromInput(timeout), (duration) => Duration.toMillis(duration) >= 0))

/**
 * An object as it is sent, whatever its `toJSON` makes of it; `undefined` where that is no object.
 */
const asJson = (value: JsonObject): JsonObject | undefined => {
  const read = readArguments(value)
  return Result.isSuccess(read) ? read.success.value() : undefined
}
