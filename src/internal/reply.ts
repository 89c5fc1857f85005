/**
 * Finds the answer to one request in an HTTP response, be it JSON or an event stream.
 */
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type ConnectionFailedReason, HttpStatus, ProtocolViolation, Unreachable } from "../errors/McpError.ts"
import * as JsonRpc from "../schema/JsonRpc.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import type { Meter } from "../services/ByteBudget.ts"
import { type BodyPlan, type Head, header, type HttpAnswer, isRefusal } from "../services/HttpExchange.ts"
import type { StreamEnd } from "../services/McpPolicy.ts"
import * as Dropped from "./dropped.ts"
import { isHeaderValue } from "./headers.ts"
import type * as Json from "./json.ts"
import * as MessageEvents from "./messageEvents.ts"

/**
 * Reads the response to one request.
 */
export interface ReplyReader {
  readonly onHead: (head: Head) => BodyPlan
  /**
   * Reads the answer that has ended. `body` is its text as JSON.
   */
  readonly onEnd: (
    answer: HttpAnswer,
    body: Result.Result<unknown, Json.Problem>
  ) => Result.Result<JsonRpc.Response, ConnectionFailedReason>
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
   * Tells of what came and was not the answer.
   */
  readonly dropped: Dropped.Dropped
}

/**
 * A server that puts more into an event's id would have it sent back to it with every resumption.
 */
const maxEventIdLength = 4096

const mediaType = (head: Head): string =>
  (header(head.headers, "content-type") ?? "").split(";", 1)[0]!.trim().toLowerCase()

/**
 * What a batch may hold; what is beyond is not read.
 */
const maxBatch = 16_384

/**
 * Several messages in one array exist at 2025-03-26 alone; some servers wrap a single one at any revision.
 */
export const messagesOf = (
  value: unknown,
  version: ProtocolVersion.ProtocolVersion | undefined
): ReadonlyArray<unknown> =>
  Array.isArray(value) && (value.length === 1 || version === "2025-03-26") ? value.slice(0, maxBatch) : [value]

const encodingProblem = (head: Head): ProtocolViolation | undefined => {
  const encoding = header(head.headers, "content-encoding")
  return encoding === undefined || encoding.toLowerCase() === "identity"
    ? undefined
    : new ProtocolViolation({ detail: "a content encoding that was not asked for" })
}

/**
 * What to do with the answer to a `GET` that is an event stream or nothing.
 */
export const streamPlan = (
  head: Head,
  read: () => (text: string) => boolean | Effect.Effect<boolean>
): BodyPlan => {
  // What another status means is for whoever asked.
  if (head.status !== 200) return "none"
  return encodingProblem(head) ?? (mediaType(head) === "text/event-stream"
    ? read()
    : new ProtocolViolation({ detail: "no event stream where one was asked for" }))
}

/**
 * The request that is to be answered.
 */
export interface Asked {
  readonly id: number
  readonly version: ProtocolVersion.ProtocolVersion | undefined
  readonly meter: Meter
}

/**
 * Why an answer cannot be used.
 */
export const toReason = (problem: Json.Problem): ConnectionFailedReason =>
  typeof problem === "string" ? new ProtocolViolation({ detail: problem }) : problem

/**
 * A reader for the response to a request. `receive` takes what the server says meanwhile.
 */
export const readReply = (
  { id, meter, version }: Asked,
  receive: (message: JsonRpc.ServerMessage) => void
): ReplyReader => {
  const dropped = Dropped.make()
  let first: string | undefined
  let streamed = false
  let progressed = false
  let lastEventId = ""
  let retry: number | undefined
  let found: Result.Result<JsonRpc.Response, Json.Problem> | undefined
  let text: string | undefined

  const drop = (what: string): void => {
    first ??= what
    dropped.add(what)
  }

  /**
   * The first response wins, whether it can be used or not; what follows it is not read.
   */
  const take = (message: unknown): void => {
    const classified = JsonRpc.classify(message)
    if (Result.isFailure(classified)) return drop(classified.failure)
    const known = classified.success
    switch (known._tag) {
      case "Response":
        if (found === undefined) found = JsonRpc.readResponse(known.message, id)
        else drop("a second response")
        break
      case "Request":
        // Modern servers have no requests of their own: revision 2026-07-28, basic/patterns/mrtr.
        if (ProtocolVersion.isModern(version)) drop(known.request.method)
        else receive(known)
        break
      case "Notification":
        receive(known)
    }
  }

  const readStream = (): (text: string) => boolean | Effect.Effect<boolean> => {
    streamed = true
    const resumedFrom = lastEventId
    const events = MessageEvents.make(
      {
        onMessage: (message, data) => {
          messagesOf(message, version).forEach(take)
          if (found !== undefined) text = data
        },
        onOther: ({ type }) => dropped.add(`an event named ${type}`),
        onDropped: dropped.add,
        onProblem: (problem) => {
          found ??= Result.fail(problem)
        },
        isDone: () => found !== undefined
      },
      meter,
      resumedFrom
    )
    return (piece) => {
      const isDone = events.feed(piece)
      lastEventId = events.lastEventId()
      retry = events.retry() ?? retry
      progressed = lastEventId !== resumedFrom
      return isDone
    }
  }

  const readBody = (
    answer: HttpAnswer,
    body: Result.Result<unknown, Json.Problem>
  ): Result.Result<JsonRpc.Response, Json.Problem> => {
    if (Result.isFailure(body)) return Result.fail(body.failure)
    messagesOf(body.success, version).forEach(take)
    text = answer.text
    return found ?? Result.fail(`no response in the body: ${first ?? "an empty batch"}`)
  }

  const resumeFrom = (): string =>
    found === undefined && lastEventId.length <= maxEventIdLength && isHeaderValue(lastEventId) ? lastEventId : ""

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
    onResume: (head) => streamPlan(head, readStream),
    onHead: (head) => {
      if (isRefusal(head.status)) return "none"
      const problem = encodingProblem(head)
      if (problem !== undefined) return problem
      const type = mediaType(head)
      if (type === "application/json") return "text"
      return type === "text/event-stream" && head.status === 200 ? readStream() : "none"
    },
    onEnd: (answer, body) => {
      if (streamed) {
        return found === undefined
          ? Result.fail(
            new Unreachable({ delivered: "unknown", detail: "the event stream ended without an answer" })
          )
          : Result.mapError(found, toReason)
      }
      const json = mediaType(answer) === "application/json" && answer.status !== 202 && answer.status !== 204
      const response = json
        ? readBody(answer, body)
        : Result.fail("a content type that is neither JSON nor an event stream")
      if (Result.isSuccess(response)) return Result.succeed(response.success)
      const { failure } = response
      return Result.fail(
        answer.status === 200 || typeof failure !== "string"
          ? toReason(failure)
          : new HttpStatus({ status: answer.status })
      )
    }
  }
}
