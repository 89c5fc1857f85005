/**
 * Why an answer that did arrive is of no use: the reasons of `ServerAnswered`.
 */
import * as Data from "effect/Data"
import { printable } from "./Printable.ts"

const maxMessageLength = 4096
const maxNamed = 16
const maxNameLength = 100

/**
 * The server answered with a JSON-RPC error.
 *
 * `message` and `data` are the server's own; control and direction characters in `message` are escaped, and what is past
 * 4096 characters is cut off. `toJSON` leaves `data` out, which may be of any size and depth. `status` is the HTTP status
 * that carried it, where there was one. Codes: revision 2026-07-28, basic/index, "Error Codes".
 *
 * @category reasons
 * @since 0.1.0
 */
export class RpcError extends Data.TaggedError("RpcError")<{
  readonly code: number
  readonly message: string
  readonly data?: unknown
  readonly status?: number | undefined
}> {
  constructor(props: {
    readonly code: number
    readonly message: string
    readonly data?: unknown
    readonly status?: number | undefined
  }) {
    super({ ...props, message: printable(props.message, maxMessageLength) })
  }

  override toJSON(): unknown {
    const { _tag, code, message, status } = this
    return { _tag, code, message, ...(status === undefined ? {} : { status }) }
  }
}

/**
 * The server needs input before it can finish, and did not get it: nobody handles what it asks for, or its handler
 * failed or did not want to (`requests` names the methods), or it asked for nothing (`requests` is empty), or it went on
 * asking past the bound.
 *
 * `rounds` is the number of answers that asked for input; of methods, sixteen are named at most. Revision 2026-07-28,
 * basic/patterns/mrtr.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InputRequired extends Data.TaggedError("InputRequired")<{
  readonly rounds: number
  readonly requests: ReadonlyArray<string>
}> {
  constructor({ requests, rounds }: { readonly rounds: number; readonly requests: ReadonlyArray<string> }) {
    super({ rounds, requests: requests.slice(0, maxNamed).map((request) => printable(request, maxNameLength)) })
  }

  override get message(): string {
    const rounds = `after ${this.rounds} ${plural(this.rounds, "round")}`
    return this.requests.length === 0
      ? `the server asks for input and does not say for what (${rounds})`
      : `the server asks for input that it did not get: ${this.requests.join(", ")} (${rounds})`
  }
}

/**
 * A listing does not end: a cursor was seen before, or there are more pages than the bound. `pages` is how many were
 * fetched. Nothing of the listing is returned, since a list cut short looks like a whole one.
 *
 * @category reasons
 * @since 0.1.0
 */
export class PaginationLoop extends Data.TaggedError("PaginationLoop")<{
  readonly pages: number
}> {
  override get message(): string {
    return `the listing does not end: given up after ${this.pages} ${plural(this.pages, "page")}`
  }
}

/**
 * The answer is JSON-RPC, and its result is not what the method returns. `detail` says what is missing or wrong, in our
 * words.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Unreadable extends Data.TaggedError("Unreadable")<{
  readonly detail: string
}> {
  override get message(): string {
    return `the result cannot be read: ${this.detail}`
  }
}

/**
 * The result has a `resultType` that no extension we declared defines: revision 2026-07-28, basic/index, "ResultType".
 *
 * @category reasons
 * @since 0.1.0
 */
export class UnknownResultType extends Data.TaggedError("UnknownResultType")<{
  readonly resultType: string
}> {
  constructor({ resultType }: { readonly resultType: string }) {
    super({ resultType: printable(resultType, maxNameLength) })
  }

  override get message(): string {
    return `the result is of an unknown type: ${this.resultType}`
  }
}

/**
 * The call was made a task, and that brings no result: the server has cancelled it (`status` is `"cancelled"`), or the
 * policy has given up (`status` is the last one seen) and the task was cancelled from here.
 *
 * `looks` is how often it was looked at. `statusMessage` is the server's own; it is escaped and cut off as the message of
 * `RpcError`. The extension `io.modelcontextprotocol/tasks`, and revision 2025-11-25, basic/utilities/tasks.
 *
 * @category reasons
 * @since 0.1.0
 */
export class TaskUnfinished extends Data.TaggedError("TaskUnfinished")<{
  readonly status: string
  readonly statusMessage: string | undefined
  readonly looks: number
}> {
  constructor(props: {
    readonly status: string
    readonly statusMessage: string | undefined
    readonly looks: number
  }) {
    const { statusMessage } = props
    super({ ...props, statusMessage: statusMessage && printable(statusMessage, maxMessageLength) })
  }

  override get message(): string {
    const said = this.statusMessage === undefined ? "" : `: ${this.statusMessage}`
    return this.status === "cancelled"
      ? `the server cancelled the task${said}`
      : `the task is not done: given up after ${this.looks} ${plural(this.looks, "look")} (${this.status})${said}`
  }
}

/**
 * @category reasons
 * @since 0.1.0
 */
export type ServerAnsweredReason =
  | RpcError
  | InputRequired
  | PaginationLoop
  | Unreadable
  | UnknownResultType
  | TaskUnfinished

const plural = (count: number, word: string): string => count === 1 ? word : `${word}s`
