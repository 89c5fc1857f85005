/**
 * Everything that can go wrong, as five tags that say who acts.
 *
 * `Unauthorized` is for the operator, `ServerAnswered` for the model or whoever wrote the server, `ConnectionFailed` for
 * whoever runs it or for a retry, `CapabilityMissing` and `InvalidInput` for the caller. `ServerAnswered` and
 * `ConnectionFailed` carry a tagged `reason`, for `Effect.catchReason`.
 *
 * Every error names the operation and the server, the latter by scheme and host alone. None carries userinfo, a path, a
 * query, a token or a session id, in its message or in `toJSON`.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import { hasProperty } from "effect/Predicate"
import type { Challenge } from "./Challenge.ts"
import type { ConnectionFailedReason } from "./ConnectionFailedReason.ts"
import { printable } from "./Printable.ts"
import type { ServerAnsweredReason } from "./ServerAnsweredReason.ts"

export type { Challenge } from "./Challenge.ts"
export * from "./ConnectionFailedReason.ts"
export * from "./ServerAnsweredReason.ts"

const TypeId = "~effect-mcp-client/McpError"

/**
 * Where an error happened: the operation (`"connect"`, `"tools/call add"`), and the server as scheme and host, where one
 * was named.
 *
 * @category models
 * @since 0.1.0
 */
export interface Where {
  readonly operation: string
  readonly server: string | undefined
}

const prefix = (where: Where): string =>
  `${printable(where.operation, 160)}${where.server === undefined ? "" : ` at ${where.server}`}: `

/**
 * The exchange that failed was answered 401 or 403, or the application's credential provider failed before it was sent.
 *
 * `status` is the HTTP status, and absent where no credential could be had. `challenges` are those of
 * `WWW-Authenticate`, parsed; they are the server's words, and `toJSON` leaves their parameters out.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unauthorized extends Data.TaggedError("Unauthorized")<
  Where & {
    readonly status: 401 | 403 | undefined
    readonly challenges: ReadonlyArray<Challenge>
    readonly message: string
  }
> {
  constructor(props: Where & Pick<Unauthorized, "status" | "challenges">) {
    super({ ...props, message: prefix(props) + refusals[props.status ?? "none"] })
  }

  get [TypeId](): typeof TypeId {
    return TypeId
  }

  /**
   * The first challenge, which is the only one for nearly every server.
   */
  get challenge(): Challenge | undefined {
    return this.challenges[0]
  }

  override toJSON(): unknown {
    const { _tag, challenges, message, operation, server, status } = this
    return { _tag, operation, server, status, schemes: challenges.map(({ scheme }) => scheme), message }
  }
}

const refusals = {
  401: "the server wants credentials, or other ones (401)",
  403: "access is forbidden with these credentials (403)",
  none: "no credentials could be had"
}

/**
 * The server answered, and the answer is a refusal or of no use. The connection is fine.
 *
 * @category errors
 * @since 0.1.0
 */
export class ServerAnswered extends Data.TaggedError("ServerAnswered")<
  Where & { readonly reason: ServerAnsweredReason; readonly message: string }
> {
  constructor(props: Where & { readonly reason: ServerAnsweredReason }) {
    super({ ...props, message: prefix(props) + answerOf(props.reason) })
  }

  get [TypeId](): typeof TypeId {
    return TypeId
  }
}

const answerOf = (reason: ServerAnsweredReason): string =>
  reason._tag === "RpcError" ? `error ${reason.code}: ${printable(reason.message)}` : reason.message

/**
 * No answer that belongs to the protocol was had.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConnectionFailed extends Data.TaggedError("ConnectionFailed")<
  Where & { readonly reason: ConnectionFailedReason; readonly message: string }
> {
  constructor(props: Where & { readonly reason: ConnectionFailedReason }) {
    super({ ...props, message: prefix(props) + props.reason.message })
  }

  get [TypeId](): typeof TypeId {
    return TypeId
  }
}

/**
 * The server never declared what this call needs. Nothing was sent.
 *
 * @category errors
 * @since 0.1.0
 */
export class CapabilityMissing extends Data.TaggedError("CapabilityMissing")<
  Where & { readonly capability: string; readonly message: string }
> {
  constructor(props: Where & { readonly capability: string }) {
    super({ ...props, message: prefix(props) + `the server does not offer ${props.capability}` })
  }

  get [TypeId](): typeof TypeId {
    return TypeId
  }
}

/**
 * This call cannot be made as asked: a bad URL, arguments that are not one JSON object, a bad header. Nothing was sent.
 * `detail` never quotes the input.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidInput extends Data.TaggedError("InvalidInput")<
  Where & { readonly detail: string; readonly message: string }
> {
  constructor(props: Where & { readonly detail: string }) {
    super({ ...props, message: prefix(props) + props.detail })
  }

  get [TypeId](): typeof TypeId {
    return TypeId
  }
}

/**
 * Everything that a connection can fail with.
 *
 * @category errors
 * @since 0.1.0
 */
export type McpError = Unauthorized | ServerAnswered | ConnectionFailed | CapabilityMissing | InvalidInput

/**
 * @category guards
 * @since 0.1.0
 */
export const isMcpError = (u: unknown): u is McpError => hasProperty(u, TypeId)
