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
  }
> {
  readonly [TypeId] = TypeId

  /**
   * The first challenge, which is the only one for nearly every server.
   */
  get challenge(): Challenge | undefined {
    return this.challenges[0]
  }

  override get message(): string {
    switch (this.status) {
      case 401:
        return `${prefix(this)}the server wants credentials, or other ones (401)`
      case 403:
        return `${prefix(this)}access is forbidden with these credentials (403)`
      case undefined:
        return `${prefix(this)}no credentials could be had`
    }
  }

  override toJSON(): unknown {
    return {
      _tag: this._tag,
      operation: this.operation,
      server: this.server,
      status: this.status,
      schemes: this.challenges.map((challenge) => challenge.scheme)
    }
  }
}

/**
 * The server answered, and the answer is a refusal or of no use. The connection is fine.
 *
 * @category errors
 * @since 0.1.0
 */
export class ServerAnswered extends Data.TaggedError("ServerAnswered")<
  Where & { readonly reason: ServerAnsweredReason }
> {
  readonly [TypeId] = TypeId

  override get message(): string {
    const reason = this.reason
    return prefix(this) + (reason._tag === "RpcError"
      ? `error ${reason.code}: ${printable(reason.message)}`
      : reason.message)
  }
}

/**
 * No answer that belongs to the protocol was had.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConnectionFailed extends Data.TaggedError("ConnectionFailed")<
  Where & { readonly reason: ConnectionFailedReason }
> {
  readonly [TypeId] = TypeId

  override get message(): string {
    return prefix(this) + this.reason.message
  }
}

/**
 * The server never declared what this call needs. Nothing was sent.
 *
 * @category errors
 * @since 0.1.0
 */
export class CapabilityMissing extends Data.TaggedError("CapabilityMissing")<
  Where & { readonly capability: string }
> {
  readonly [TypeId] = TypeId

  override get message(): string {
    return `${prefix(this)}the server does not offer ${this.capability}`
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
  Where & { readonly detail: string }
> {
  readonly [TypeId] = TypeId

  override get message(): string {
    return prefix(this) + this.detail
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
