/**
 * What a server announces, as streams: revision 2026-07-28, basic/patterns/subscriptions; revision 2025-11-25,
 * server/resources, "Subscriptions".
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type McpError, Unreadable } from "../errors/McpError.ts"
import { isJsonObject, type JsonObject } from "../schema/Json.ts"
import type { RawNotification } from "../schema/JsonRpc.ts"
import * as Notification from "../schema/Notification.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import type { Service } from "../services/McpConnection.ts"
import type { McpPolicy, StreamEnd } from "../services/McpPolicy.ts"
import * as Announcements from "./announcements.ts"
import * as Ask from "./ask.ts"
import { warn } from "./dropped.ts"
import type { Hearing, Requester } from "./requester.ts"
import * as ResourceSubscriptions from "./resourceSubscriptions.ts"

/**
 * What waits for one consumer. What comes while it is full is dropped, and counted: who reads on finds out that something
 * has changed, if not how often.
 */
const capacity = 256

const subscriptionKey = "io.modelcontextprotocol/subscriptionId"

const subscriptionOf = ({ params }: RawNotification): unknown =>
  isJsonObject(params["_meta"]) ? params["_meta"][subscriptionKey] : undefined

/**
 * Two announcements with one key say the same thing.
 */
const keyOf = (notification: Notification.ServerNotification): string | undefined => {
  switch (notification._tag) {
    case "ToolListChanged":
    case "PromptListChanged":
    case "ResourceListChanged":
      return notification._tag
    case "ResourceUpdated":
      return `${notification._tag} ${notification.uri}`
    default:
      return undefined
  }
}

type Mailbox<A, E> = Queue.Queue<A, E | Cause.Done>

/**
 * Hands announcements to a consumer. A change that waits already is not told of twice.
 */
const mailbox = <A extends Notification.ServerNotification, E>(
  connection: Scope.Scope,
  fill: (offer: (notification: A) => boolean, queue: Mailbox<A, E>) => Effect.Effect<unknown, E, Scope.Scope>
): Stream.Stream<A, E> =>
  Stream.unwrap(Effect.gen(function*() {
    const queue = yield* Effect.acquireRelease(Queue.dropping<A, E | Cause.Done>(capacity), Queue.shutdown)
    const waiting = new Set<string>()
    const offer = (notification: A): boolean => {
      const key = keyOf(notification)
      if (key !== undefined && waiting.has(key)) return true
      const isTaken = Queue.offerUnsafe(queue, notification)
      if (isTaken && key !== undefined) waiting.add(key)
      return isTaken
    }
    // The connection's end is that of the stream.
    const own = yield* Effect.acquireRelease(Scope.fork(connection), (scope) => Scope.close(scope, Exit.void))
    yield* Scope.addFinalizer(own, Queue.end(queue))
    yield* fill(offer, queue)
    return Stream.map(Stream.fromQueue(queue), (notification) => {
      const key = keyOf(notification)
      if (key !== undefined) waiting.delete(key)
      return notification
    })
  }))

const isChange = (
  notification: Notification.ServerNotification
): notification is Notification.ChangeNotification =>
  notification._tag !== "LoggingMessage" && notification._tag !== "Unknown"

/**
 * What has been asked for, and the capability that it takes.
 */
const needs = (filter: Notification.SubscriptionFilter): ReadonlyArray<readonly [string, string]> => [
  ...(filter.toolsListChanged === true ? [["tools", "listChanged"] as const] : []),
  ...(filter.promptsListChanged === true ? [["prompts", "listChanged"] as const] : []),
  ...(filter.resourcesListChanged === true ? [["resources", "listChanged"] as const] : []),
  ...((filter.resourceSubscriptions?.length ?? 0) > 0 ? [["resources", "subscribe"] as const] : [])
]

/**
 * A server may tell of a part of what was asked for.
 */
const isWanted = (
  filter: Notification.SubscriptionFilter,
  notification: Notification.ChangeNotification
): boolean => {
  switch (notification._tag) {
    case "ToolListChanged":
      return filter.toolsListChanged === true
    case "PromptListChanged":
      return filter.promptsListChanged === true
    case "ResourceListChanged":
      return filter.resourcesListChanged === true
    case "ResourceUpdated":
      return filter.resourceSubscriptions?.some((uri) => notification.uri.startsWith(uri)) === true
  }
}

const isLost = (error: McpError): boolean => error._tag === "ConnectionFailed" && error.reason._tag === "Unreachable"

/**
 * The part of a connection that is about what the server announces.
 */
export const make = (
  requester: Requester,
  policy: McpPolicy
): Pick<Service, "notifications" | "subscribe" | "setLogLevel"> => {
  const { announcements, negotiated, scope } = requester
  const ask = Ask.make(requester, policy)
  const askInSession = Ask.make({ ...requester, send: requester.sendInSession }, policy)

  const heard = (listener: Announcements.Listener): Effect.Effect<unknown, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => announcements.listen(listener)),
      (stop) => Effect.sync(stop)
    )

  const capable = (operation: string, filter: Notification.SubscriptionFilter): Effect.Effect<void, McpError> =>
    Effect.forEach(
      needs(filter),
      ([capability, feature]) => requester.missing(operation, capability, feature) ?? Effect.void,
      { discard: true }
    )

  /**
   * One `subscriptions/listen`, to its end.
   */
  const listenOnce = (
    filter: Notification.SubscriptionFilter,
    offer: (change: Notification.ChangeNotification) => boolean,
    onAcknowledged: () => void
  ): Effect.Effect<void, McpError> => {
    const method = "subscriptions/listen"
    const bounds = { total: Duration.infinity, each: policy.requestTimeout }
    return requester.operation(
      method,
      { "mcp.method.name": method },
      { bounds },
      (operation) =>
        Effect.gen(function*() {
          // The server may end it by a notice instead of an answer.
          const ended = yield* Deferred.make<void, McpError>()
          let isAcknowledged = false
          const acknowledge = (honoured: unknown): void => {
            isAcknowledged = true
            onAcknowledged()
            const granted = isJsonObject(honoured) ? Object.keys(honoured).length : 0
            if (granted > 0) return
            const detail = "the server tells of nothing that was asked for"
            Deferred.doneUnsafe(ended, Effect.fail(requester.answered(method, new Unreadable({ detail }))))
          }
          const hear: Hearing = (notification, id, ownTime) => {
            if (notification.method === "notifications/cancelled" && notification.params["requestId"] === id) {
              return Deferred.doneUnsafe(ended, Effect.void)
            }
            if (subscriptionOf(notification) !== id) return false
            if (notification.method === "notifications/subscriptions/acknowledged") {
              // It lasts from now on.
              ownTime.hold()
              acknowledge(notification.params["notifications"])
              return true
            }
            const change = Notification.fromWire(notification)
            return isAcknowledged && isChange(change) && isWanted(filter, change) && offer(change)
          }
          const members = `"notifications":${JSON.stringify(filter)}`
          const answered = Effect.flatMap(
            requester.send({ ...operation, hear }, { method, members }),
            (reply) => requester.outcome(operation, reply)
          )
          yield* Effect.raceFirst(answered, Deferred.await(ended))
        })
    )
  }

  /**
   * Listens, and listens again where the stream was lost, as the policy has it for every stream.
   */
  const listen = (
    filter: Notification.SubscriptionFilter,
    offer: (change: Notification.ChangeNotification) => boolean
  ): Effect.Effect<void, McpError> =>
    Effect.suspend(() => {
      let lost: McpError | undefined
      let progressed = false
      const once: Effect.Effect<StreamEnd, McpError> = Effect.suspend(() => {
        lost = undefined
        progressed = false
        return listenOnce(filter, offer, () => {
          progressed = true
        })
      }).pipe(
        Effect.map((): StreamEnd => ({ done: true })),
        Effect.catchIf(isLost, (error) => {
          lost = error
          return Effect.succeed<StreamEnd>({ done: false, progressed, retry: undefined })
        })
      )
      return Effect.andThen(
        Effect.repeat(once, policy.resumption),
        Effect.suspend(() => lost === undefined ? Effect.void : Effect.fail(lost))
      )
    })

  /**
   * Tells a legacy server something that needs no answer but that it was understood.
   */
  const tell = (by: Ask.Ask, method: string, capability: string, params: JsonObject): Effect.Effect<void, McpError> =>
    by.one({
      title: method,
      capability,
      method,
      members: JSON.stringify(params).slice(1, -1),
      attributes: {},
      read: () => Result.void
    }, undefined)

  const resources = ResourceSubscriptions.make(scope, {
    subscribe: (uri) => tell(ask, "resources/subscribe", "resources", { uri }),
    subscribeAgain: (uri) => tell(askInSession, "resources/subscribe", "resources", { uri }),
    unsubscribe: (uri) => tell(askInSession, "resources/unsubscribe", "resources", { uri })
  })

  let legacyLevel: Notification.LoggingLevel | undefined
  const setLegacyLevel = (by: Ask.Ask, level: Notification.LoggingLevel): Effect.Effect<void, McpError> =>
    tell(by, "logging/setLevel", "logging", { level })
  const levelAgain = Effect.suspend(() => {
    if (legacyLevel === undefined) return Effect.void
    return setLegacyLevel(askInSession, legacyLevel).pipe(
      Effect.catch((error) => warn("level of the log not renewed", error.message))
    )
  })
  // A new session knows nothing of what the old one was told.
  requester.onRenewed(Effect.all([resources.renew, levelAgain], { concurrency: 2, discard: true }))

  const subscribeLegacy = (
    filter: Notification.SubscriptionFilter,
    offer: (change: Notification.ChangeNotification) => boolean,
    lose: ResourceSubscriptions.Lose
  ): Effect.Effect<void, McpError, Scope.Scope> =>
    Effect.gen(function*() {
      yield* heard((notification) => {
        const change = Notification.fromWire(notification)
        return isChange(change) && isWanted(filter, change) && offer(change)
      })
      yield* requester.ownStream.wanted({ lose })
      yield* Effect.forEach(filter.resourceSubscriptions ?? [], (uri) => resources.hold(uri, lose), { discard: true })
    })

  return {
    notifications: Announcements.withSource(
      mailbox(
        scope,
        (offer) =>
          heard((notification) =>
            notification.method !== "notifications/progress" && offer(Notification.fromWire(notification))
          )
      ),
      announcements
    ),
    subscribe: (filter) =>
      mailbox(scope, (offer, queue) =>
        Effect.andThen(
          capable("subscribe", filter),
          ProtocolVersion.isModern(negotiated.version)
            ? Effect.forkScoped(
              Effect.onExit(
                listen(filter, offer),
                (exit) => Exit.isSuccess(exit) ? Queue.end(queue) : Queue.failCause(queue, exit.cause)
              )
            )
            : subscribeLegacy(filter, offer, (error) => Queue.failCauseUnsafe(queue, Cause.fail(error)))
        )),
    setLogLevel: (level) => {
      const method = "logging/setLevel"
      if (!Notification.isLoggingLevel(level)) {
        return Effect.fail(requester.invalid(method, "the level is none of the eight"))
      }
      if (ProtocolVersion.isLegacy(negotiated.version)) {
        return Effect.map(setLegacyLevel(ask, level), () => {
          legacyLevel = level
        })
      }
      return requester.missing(method, "logging") ?? Effect.sync(() => requester.setLogLevel(level))
    }
  }
}
