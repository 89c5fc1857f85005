/**
 * Finds the answer to one request in an HTTP response, be it JSON or an event stream.
 */
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import { type ConnectionFailedReason, HttpStatus, ProtocolViolation, Unreachable } from "../errors/McpError.ts"
import * as JsonRpc from "../schema/JsonRpc.ts"
import type { ProtocolVersion } from "../schema/ProtocolVersion.ts"
import { type BodyPlan, type Head, header, type HttpAnswer, isRefusal } from "../services/HttpExchange.ts"
import type { StreamEnd } from "../services/McpPolicy.ts"
import * as EventStream from "./eventStream.ts"
import { isHeaderValue } from "./headers.ts"

/**
 * Reads the response to one request.
 */
export interface ReplyReader {
  readonly onHead: (head: Head) => BodyPlan
  readonly onEnd: (answer: HttpAnswer) => Result.Result<JsonRpc.Response, ConnectionFailedReason>
  /**
   * What to do with a response to `GET` that resumes the stream.
   */
  readonly onResume: (head: Head) => BodyPlan
  /**
   * The id to resume from: `""` where there is none that can stand in a header, or the answer is there.
   */
  readonly resumeFrom: () => string
  /**
   * How the last stream ended, for the policy. Whether it brought anything is told once.
   */
  readonly streamEnd: () => StreamEnd
  /**
   * The message that brought the response, once there is one.
   */
  readonly text: () => string | undefined
  /**
   * What came and was not the answer, for the log.
   */
  readonly dropped: ReadonlyArray<string>
}

/**
 * More than this is counted by the first few all the same.
 */
const maxDropped = 8

/**
 * A server that puts more into an event's id would have it sent back to it with every resumption.
 */
const maxEventIdLength = 4096

const mediaType = (head: Head): string =>
  (header(head.headers, "content-type") ?? "").split(";", 1)[0]!.trim().toLowerCase()

const violation = (detail: string): Result.Result<never, ProtocolViolation> =>
  Result.fail(new ProtocolViolation({ detail }))

const parseJson = (text: string): Result.Result<unknown, string> => {
  try {
    return Result.succeed(JSON.parse(text))
  } catch {
    return Result.fail(text === "" ? "an empty body" : "a body that is not JSON")
  }
}

/**
 * Several messages in one array exist at 2025-03-26 alone; some servers wrap a single one at any revision.
 */
const messagesOf = (value: unknown, version: ProtocolVersion | undefined): ReadonlyArray<unknown> =>
  Array.isArray(value) && (value.length === 1 || version === "2025-03-26") ? value : [value]

/**
 * A reader for the response to the request with this id, under this revision.
 */
export const readReply = (
  request: { readonly id: number; readonly version: ProtocolVersion | undefined }
): ReplyReader => {
  const dropped: Array<string> = []
  let streamed = false
  let progressed = false
  let lastEventId = ""
  let retry: number | undefined
  let found: Result.Result<JsonRpc.Response, string> | undefined
  let text: string | undefined

  const drop = (what: string): void => {
    if (dropped.length < maxDropped) dropped.push(what)
  }

  /**
   * The first response wins, whether it can be used or not; what follows it is not read.
   */
  const take = (message: unknown): void => {
    const classified = JsonRpc.classify(message)
    if (Result.isFailure(classified)) drop(classified.failure)
    else if (classified.success._tag !== "Response") drop(classified.success.method)
    else if (found !== undefined) drop("a second response")
    else found = JsonRpc.readResponse(classified.success.message, request.id)
  }

  const readStream = (): (text: string) => boolean => {
    streamed = true
    const resumedFrom = lastEventId
    const events = EventStream.make(({ data, type }) => {
      // An event without data is a place to resume from.
      if (data === "" || found !== undefined) return
      if (type !== "message") return drop(`an event named ${type}`)
      const value = parseJson(data)
      if (Result.isFailure(value)) return drop("an event that is not JSON")
      messagesOf(value.success, request.version).forEach(take)
      if (found !== undefined) text = data
    }, resumedFrom)
    return (piece) => {
      events.feed(piece)
      lastEventId = events.lastEventId()
      retry = events.retry() ?? retry
      progressed = lastEventId !== resumedFrom
      return found !== undefined
    }
  }

  const readBody = (answer: HttpAnswer): Result.Result<JsonRpc.Response, string> => {
    const value = parseJson(answer.text)
    if (Result.isFailure(value)) return Result.fail(value.failure)
    messagesOf(value.success, request.version).forEach(take)
    text = answer.text
    return found ?? Result.fail(`no response in the body: ${dropped[0] ?? "an empty batch"}`)
  }

  const resumeFrom = (): string =>
    found === undefined && lastEventId.length <= maxEventIdLength && isHeaderValue(lastEventId) ? lastEventId : ""

  const encodingProblem = (head: Head): ProtocolViolation | undefined => {
    const encoding = header(head.headers, "content-encoding")
    return encoding === undefined || encoding.toLowerCase() === "identity"
      ? undefined
      : new ProtocolViolation({ detail: "a content encoding that was not asked for" })
  }

  return {
    dropped,
    text: () => text,
    resumeFrom,
    streamEnd: () => {
      const end: StreamEnd = resumeFrom() === ""
        ? { done: true }
        : { done: false, progressed, retry: retry === undefined ? undefined : Duration.millis(retry) }
      progressed = false
      return end
    },
    onResume: (head) => {
      if (isRefusal(head.status)) return "none"
      if (head.status !== 200) return new HttpStatus({ status: head.status })
      return encodingProblem(head) ?? (mediaType(head) === "text/event-stream"
        ? readStream()
        : new ProtocolViolation({ detail: "a resumption that is no event stream" }))
    },
    onHead: (head) => {
      if (isRefusal(head.status)) return "none"
      const problem = encodingProblem(head)
      if (problem !== undefined) return problem
      const type = mediaType(head)
      if (type === "application/json") return "text"
      return type === "text/event-stream" && head.status === 200 ? readStream() : "none"
    },
    onEnd: (answer) => {
      if (streamed) {
        return found === undefined
          ? Result.fail(
            new Unreachable({ delivered: "unknown", detail: "the event stream ended without an answer" })
          )
          : Result.mapError(found, (detail) => new ProtocolViolation({ detail }))
      }
      const json = mediaType(answer) === "application/json" && answer.status !== 202 && answer.status !== 204
      const response = json ? readBody(answer) : Result.fail("a content type that is neither JSON nor an event stream")
      if (Result.isSuccess(response)) return Result.succeed(response.success)
      return answer.status === 200
        ? violation(response.failure)
        : Result.fail(new HttpStatus({ status: answer.status }))
    }
  }
}
