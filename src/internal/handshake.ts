/**
 * Finds out which era a server speaks, and agrees with it on a revision.
 *
 * Revision 2026-07-28, basic/versioning, "Backward Compatibility with Initialization-Based Versions", and revision
 * 2025-11-25, basic/lifecycle. What each answer to the first request means is one table: `afterDiscover`.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import {
  ConnectionFailed,
  type ConnectionFailedReason,
  type McpError,
  RpcError,
  ServerAnswered,
  type ServerAnsweredReason,
  Unreadable,
  UnsupportedVersion
} from "../errors/McpError.ts"
import * as Capabilities from "../schema/Capabilities.ts"
import { isJsonObject, type JsonObject } from "../schema/Json.ts"
import { errorCodes, type ErrorResponse } from "../schema/JsonRpc.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import type { Reply } from "../services/Transport.ts"
import { resultTypeOf } from "./resultType.ts"

/**
 * What `protocol` may be: find out, never ask modern servers, or insist on one revision.
 */
export type Protocol = "auto" | "legacy" | ProtocolVersion.ProtocolVersion

/**
 * What both ends know once they have agreed.
 */
export interface Negotiated {
  readonly version: ProtocolVersion.ProtocolVersion
  readonly serverInfo: Capabilities.Implementation | undefined
  readonly serverCapabilities: Capabilities.ServerCapabilities
  readonly instructions: string | undefined
}

/**
 * How the handshake talks: it knows methods and parameters, the caller knows envelopes and deadlines.
 */
export interface Channel {
  readonly server: string | undefined
  /**
   * `limit` is what it may take at most.
   */
  readonly request: (
    method: "server/discover" | "initialize",
    params: JsonObject,
    version: ProtocolVersion.ProtocolVersion | undefined,
    limit?: Duration.Duration
  ) => Effect.Effect<Reply, McpError>
  readonly notify: (
    method: "notifications/initialized",
    version: ProtocolVersion.ProtocolVersion
  ) => Effect.Effect<void, McpError>
  readonly clientInfo: Capabilities.Implementation
  readonly capabilities: (version: ProtocolVersion.Legacy) => JsonObject
  /**
   * How long silence lasts that says that a server is a legacy one; `undefined` where silence says nothing.
   */
  readonly probeTimeout: Duration.Duration | undefined
}

const operation = "connect"

const connectionFailed = (channel: Channel, reason: ConnectionFailedReason): ConnectionFailed =>
  new ConnectionFailed({ operation, server: channel.server, reason })

const serverAnswered = (channel: Channel, reason: ServerAnsweredReason): ServerAnswered =>
  new ServerAnswered({ operation, server: channel.server, reason })

const decodeImplementation = Schema.decodeUnknownOption(Capabilities.Implementation)

/**
 * A server that misspells its own name is still a server.
 */
const implementation = (value: unknown): Capabilities.Implementation | undefined =>
  value === undefined ? undefined : Option.getOrUndefined(decodeImplementation(value))

const text = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/**
 * Versions that a server names are its words: only strings count.
 */
const namedVersions = (versions: unknown): ReadonlyArray<string> =>
  Array.isArray(versions) ? versions.filter((version) => typeof version === "string") : []

const capabilitiesOf = (result: JsonObject): Capabilities.ServerCapabilities =>
  isJsonObject(result["capabilities"]) ? result["capabilities"] : {}

/**
 * The revisions that error -32022 names.
 */
const supportedBy = ({ data }: ErrorResponse["error"]): ReadonlyArray<string> =>
  namedVersions(isJsonObject(data) ? data["supported"] : undefined)

/**
 * What the answer to `server/discover` means. `Modern` carries what was agreed; `Initialize` says that a legacy
 * handshake is next; `Unsupported` says which revisions the server would speak; `Failed` ends it.
 */
type Verdict =
  | { readonly _tag: "Modern"; readonly negotiated: Negotiated }
  | { readonly _tag: "Initialize"; readonly supported: ReadonlyArray<string> }
  | { readonly _tag: "Unsupported"; readonly supported: ReadonlyArray<string> }
  | { readonly _tag: "Failed"; readonly error: McpError }

/**
 * A status that says "not here, or not so": what a server answers that has never heard of the modern era. 429 and the
 * gateways' statuses say nothing about the server's era.
 */
const meansLegacy = (status: number): boolean =>
  status === 202 || status === 204 || status === 500 || status === 501 ||
  (status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429)

/**
 * What is no answer, and says all the same that the server has never heard of the modern era.
 */
const isLegacyFailure = ({ probeTimeout }: Channel, error: McpError): boolean => {
  if (error._tag !== "ConnectionFailed") return false
  const { reason } = error
  return reason._tag === "HttpStatus"
    ? meansLegacy(reason.status)
    : probeTimeout !== undefined && (reason._tag === "TimedOut" || reason._tag === "ProcessExited")
}

const afterDiscover = (channel: Channel, outcome: Reply | McpError): Verdict => {
  if (!("response" in outcome)) {
    return isLegacyFailure(channel, outcome)
      ? { _tag: "Initialize", supported: [] }
      : { _tag: "Failed", error: outcome }
  }
  const { response, status } = outcome
  if ("error" in response) {
    const { error } = response
    switch (error.code) {
      case errorCodes.unsupportedProtocolVersion:
        return { _tag: "Unsupported", supported: supportedBy(error) }
      case errorCodes.headerMismatch:
      case errorCodes.missingRequiredClientCapability:
        return { _tag: "Failed", error: serverAnswered(channel, new RpcError({ ...error, status })) }
      default:
        return { _tag: "Initialize", supported: [] }
    }
  }
  const { _meta, instructions, supportedVersions } = response.result
  const supported = namedVersions(supportedVersions)
  const version = ProtocolVersion.modern.find((modern) => supported.includes(modern))
  if (version === undefined) return { _tag: "Initialize", supported }
  const type = resultTypeOf(response.result)
  if (Result.isFailure(type)) return { _tag: "Failed", error: serverAnswered(channel, type.failure) }
  if (type.success !== "complete") {
    const detail = "what a server can do may not depend on input"
    return { _tag: "Failed", error: serverAnswered(channel, new Unreadable({ detail })) }
  }
  return {
    _tag: "Modern",
    negotiated: {
      version,
      serverInfo: implementation(isJsonObject(_meta) ? _meta["io.modelcontextprotocol/serverInfo"] : undefined),
      serverCapabilities: capabilitiesOf(response.result),
      instructions: text(instructions)
    }
  }
}

const discover = (channel: Channel): Effect.Effect<Verdict> =>
  channel.request("server/discover", {}, ProtocolVersion.modern[0], channel.probeTimeout).pipe(
    Effect.match({
      onFailure: (error) => afterDiscover(channel, error),
      onSuccess: (reply) => afterDiscover(channel, reply)
    })
  )

/**
 * The legacy handshake. A server that answers with a revision that we did not list is not spoken to.
 */
export const initialize = Effect.fnUntraced(function*(
  channel: Channel,
  offered: ProtocolVersion.Legacy,
  accepted: ReadonlyArray<ProtocolVersion.Legacy>
): Effect.fn.Return<Negotiated, McpError> {
  const { capabilities, clientInfo } = channel
  const { response, status } = yield* channel.request(
    "initialize",
    { protocolVersion: offered, capabilities: capabilities(offered), clientInfo },
    undefined
  )
  if ("error" in response) {
    const { error } = response
    return yield* error.code === errorCodes.unsupportedProtocolVersion
      ? unsupported(channel, accepted, supportedBy(error))
      : Effect.fail(serverAnswered(channel, new RpcError({ ...error, status })))
  }
  const { instructions, protocolVersion, serverInfo } = response.result
  const version = accepted.find((known) => known === protocolVersion)
  if (version === undefined) {
    return yield* unsupported(channel, accepted, namedVersions([protocolVersion]))
  }
  yield* channel.notify("notifications/initialized", version)
  return {
    version,
    serverInfo: implementation(serverInfo),
    serverCapabilities: capabilitiesOf(response.result),
    instructions: text(instructions)
  }
})

const unsupported = (
  channel: Channel,
  offered: ReadonlyArray<string>,
  supported: ReadonlyArray<string>
): Effect.Effect<never, McpError> =>
  Effect.fail(connectionFailed(channel, new UnsupportedVersion({ offered, supported })))

const all: ReadonlyArray<string> = [...ProtocolVersion.modern, ...ProtocolVersion.legacy]

/**
 * Agrees on a revision with the server behind a channel.
 */
export const negotiate = Effect.fnUntraced(function*(
  channel: Channel,
  protocol: Protocol
): Effect.fn.Return<Negotiated, McpError> {
  if (ProtocolVersion.isLegacy(protocol)) return yield* initialize(channel, protocol, [protocol])
  const initializeAny = initialize(channel, ProtocolVersion.legacy[0], ProtocolVersion.legacy)
  if (protocol === "legacy") return yield* initializeAny

  const offered = protocol === "auto" ? all : ProtocolVersion.modern
  // Where there is nothing to fall back to, it is asked as everything else is.
  const asked = protocol === "auto" ? channel : { ...channel, probeTimeout: undefined }
  const first = yield* discover(asked)
  // A server that refused the revision and names it all the same is asked once more.
  const again = first._tag === "Unsupported" && first.supported.some(ProtocolVersion.isModern)
  const verdict = again ? yield* discover(asked) : first
  switch (verdict._tag) {
    case "Modern":
      return verdict.negotiated
    case "Failed":
      return yield* verdict.error
    case "Initialize":
      return protocol === "auto" ? yield* initializeAny : yield* unsupported(channel, offered, verdict.supported)
    case "Unsupported":
      return protocol === "auto" && !again && verdict.supported.some(ProtocolVersion.isLegacy)
        ? yield* initializeAny
        : yield* unsupported(channel, offered, verdict.supported)
  }
})
