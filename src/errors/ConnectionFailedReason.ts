/**
 * Why no answer that belongs to the protocol was had: the reasons of `ConnectionFailed`.
 */
import * as ByteSize from "effect/ByteSize"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import { printable } from "./Printable.ts"

/**
 * The server could not be reached, or the connection broke.
 *
 * `delivered` is `"no"` where it is certain that the server never saw the request, so that sending it again is safe,
 * and `"unknown"` otherwise. `detail` is a short cause in our words, such as `ECONNREFUSED`.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Unreachable extends Data.TaggedError("Unreachable")<{
  readonly delivered: "no" | "unknown"
  readonly detail: string
}> {
  override get message(): string {
    return `no answer: ${this.detail} (${
      this.delivered === "no" ? "the request was not delivered" : "the request may have been delivered"
    })`
  }
}

/**
 * The egress guard refused the host, or an address that it resolved to. Nothing was sent.
 *
 * The message is the same for every rule, and says nothing about whether anything listens there.
 *
 * @category reasons
 * @since 0.1.0
 */
export class EgressDenied extends Data.TaggedError("EgressDenied")<{
  readonly host: string
  readonly address?: string | undefined
}> {
  override get message(): string {
    return `the egress guard refused ${
      printable(this.host, 100)
    } (for servers on this machine during development, see EgressGuard.allowLoopback)`
  }
}

/**
 * A deadline passed. `limit` is the deadline, counted from the start of what it bounds.
 *
 * @category reasons
 * @since 0.1.0
 */
export class TimedOut extends Data.TaggedError("TimedOut")<{
  readonly limit: Duration.Duration
}> {
  override get message(): string {
    return `no complete answer within ${Duration.format(this.limit)}`
  }

  override toJSON(): unknown {
    return { _tag: this._tag, limitMillis: Duration.toMillis(this.limit) }
  }
}

/**
 * The server sent more than it may. `what` names what was counted; `limit` is in bytes, or a number of what is named:
 * responses, values, members. The socket that carried it is closed.
 *
 * @category reasons
 * @since 0.1.0
 */
export class BudgetExceeded extends Data.TaggedError("BudgetExceeded")<{
  readonly what:
    | "response bytes"
    | "header block"
    | "bytes without content"
    | "bytes of one event"
    | "bytes of one line"
    | "informational responses"
    | "values in one message"
    | "members of one object"
    | "levels of nesting"
  readonly limit: number
}> {
  override get message(): string {
    const isOfBytes = this.what === "response bytes" || this.what === "header block" ||
      this.what === "bytes without content" || this.what === "bytes of one event" || this.what === "bytes of one line"
    return isOfBytes ? `more than ${formatBytes(this.limit)} of ${this.what}` : `more than ${this.limit} ${this.what}`
  }
}

/**
 * An HTTP status with nothing in it that belongs to the protocol. `retryAfter` is what `Retry-After` asked for, where it
 * made sense.
 *
 * @category reasons
 * @since 0.1.0
 */
export class HttpStatus extends Data.TaggedError("HttpStatus")<{
  readonly status: number
  readonly retryAfter?: Duration.Duration | undefined
}> {
  override get message(): string {
    return `HTTP status ${this.status}${
      this.retryAfter === undefined ? "" : ` (retry after ${Duration.format(this.retryAfter)})`
    }`
  }

  override toJSON(): unknown {
    return {
      _tag: this._tag,
      status: this.status,
      ...(this.retryAfter === undefined ? {} : { retryAfterMillis: Duration.toMillis(this.retryAfter) })
    }
  }
}

/**
 * What came back is not HTTP, not JSON-RPC, or not an answer to what was asked. `detail` says what is wrong, in our
 * words.
 *
 * @category reasons
 * @since 0.1.0
 */
export class ProtocolViolation extends Data.TaggedError("ProtocolViolation")<{
  readonly detail: string
}> {
  override get message(): string {
    return `not the protocol: ${this.detail}`
  }
}

/**
 * No revision in common. `offered` is what this client would speak, `supported` what the server named.
 *
 * @category reasons
 * @since 0.1.0
 */
export class UnsupportedVersion extends Data.TaggedError("UnsupportedVersion")<{
  readonly offered: ReadonlyArray<string>
  readonly supported: ReadonlyArray<string>
}> {
  constructor({ offered, supported }: {
    readonly offered: ReadonlyArray<string>
    readonly supported: ReadonlyArray<string>
  }) {
    super({ offered, supported: supported.slice(0, 16).map((version) => printable(version, 60)) })
  }

  override get message(): string {
    return `no protocol revision in common: offered ${this.offered.join(", ")}; the server named ${
      this.supported.length === 0 ? "none" : this.supported.join(", ")
    }`
  }
}

/**
 * The server forgot the session, a new one was opened, and it forgot that one as well.
 *
 * @category reasons
 * @since 0.1.0
 */
export class SessionExpired extends Data.TaggedError("SessionExpired") {
  override get message(): string {
    return "the server no longer knows the session"
  }
}

/**
 * The server's process has exited: with a code, or by a signal. `stderrTail` is the end of what it wrote to its standard
 * error, with what could move a cursor or turn text around escaped, and without the `Redacted` values that it was
 * started with. It is the server's own words.
 *
 * @category reasons
 * @since 0.1.0
 */
export class ProcessExited extends Data.TaggedError("ProcessExited")<{
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  readonly stderrTail: string
}> {
  constructor({ exitCode, signal, stderrTail }: {
    readonly exitCode: number | undefined
    readonly signal: string | undefined
    readonly stderrTail: string
  }) {
    super({ exitCode, signal, stderrTail: stderrTail.slice(-4096).split(/\r?\n/).map(printableLine).join("\n") })
  }

  override get message(): string {
    const how = this.signal === undefined ? `with code ${this.exitCode ?? "unknown"}` : `by ${this.signal}`
    const lastLine = this.stderrTail.trimEnd().split("\n").at(-1) ?? ""
    return `the server's process exited ${how}${lastLine === "" ? "" : `; its last words: ${printable(lastLine)}`}`
  }
}

const printableLine = (line: string): string => printable(line, line.length)

/**
 * The connection's scope was closed while this was under way, or before it began.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Closed extends Data.TaggedError("Closed") {
  override get message(): string {
    return "the connection is closed"
  }
}

const formatBytes = (bytes: number): string =>
  Number.isSafeInteger(bytes) ? ByteSize.format(ByteSize.bytes(bytes), { system: "binary" }) : `${bytes} bytes`

/**
 * @category reasons
 * @since 0.1.0
 */
export type ConnectionFailedReason =
  | Unreachable
  | EgressDenied
  | TimedOut
  | BudgetExceeded
  | HttpStatus
  | ProtocolViolation
  | UnsupportedVersion
  | SessionExpired
  | ProcessExited
  | Closed
