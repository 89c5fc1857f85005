/**
 * Deadlines, and the schedules that bound every loop.
 *
 * A schedule here is a value to swap: each takes what a round brought as its input, stops when there is nothing more to
 * do, and fails where it must not go on.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { InputRequired, PaginationLoop } from "../errors/McpError.ts"
import { count, duration } from "../internal/bounds.ts"

/**
 * What one page of a listing says about the next.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page {
  /**
   * The cursor of the next page; `undefined` on the last.
   */
  readonly nextCursor: string | undefined
}

/**
 * An answer to a request: one that asks for input (`requests` names the methods asked for, and is absent where the
 * answer has no `inputRequests`; `unanswerable` names those of them that nobody here answers), or, with `done`, one that
 * does not.
 *
 * @category models
 * @since 0.1.0
 */
export type InputRound =
  | { readonly done: true }
  | {
    readonly done: false
    readonly requests: ReadonlyArray<string> | undefined
    readonly unanswerable: ReadonlyArray<string>
    readonly requestState: string | undefined
  }

/**
 * How an event stream ended: with the answer (`done`), or before it. `progressed` says whether it brought a new event,
 * `retry` how long the server wants us to wait.
 *
 * @category models
 * @since 0.1.0
 */
export type StreamEnd =
  | { readonly done: true }
  | { readonly done: false; readonly progressed: boolean; readonly retry: Duration.Duration | undefined }

/**
 * What a look at a task brought: that it is over (`done`), or that it is not, or, with `lost`, no answer at all.
 * `pollInterval` is how long the server wants us to wait before the next.
 *
 * @category models
 * @since 0.1.0
 */
export type TaskPoll =
  | { readonly done: true }
  | { readonly done: false; readonly lost: boolean; readonly pollInterval: Duration.Duration | undefined }

/**
 * @category models
 * @since 0.1.0
 */
export interface McpPolicy {
  /**
   * One request, its body included, where the operation has no deadline of its own.
   */
  readonly requestTimeout: Duration.Duration
  /**
   * A whole listing, or a whole call with all its rounds.
   */
  readonly operationTimeout: Duration.Duration
  /**
   * What closing a session may take.
   */
  readonly closeTimeout: Duration.Duration
  /**
   * What the application's handlers may take to end, once closing has interrupted them. What takes longer is left
   * behind.
   */
  readonly handlerGrace: Duration.Duration
  /**
   * How long a server may leave `server/discover` unanswered, over a transport where that means that it is a legacy one.
   */
  readonly probeTimeout: Duration.Duration
  /**
   * What the process of a server may take to exit after the end of its input, and again after SIGTERM. Then it is killed.
   */
  readonly exitTimeout: Duration.Duration
  /**
   * Goes from page to page of a listing. Where it stops although there is a next page, the listing fails: a list is
   * never cut short.
   */
  readonly pages: Schedule.Schedule<unknown, Page, PaginationLoop>
  /**
   * Goes from round to round of a request whose answers ask for input. Fails with `InputRequired`.
   */
  readonly inputRounds: Schedule.Schedule<unknown, InputRound, InputRequired>
  /**
   * Goes from one drop of a legacy server's event stream to its resumption. Where it gives up, the request fails with
   * `Unreachable`, and is not sent again; where it was the server's own stream, those who subscribed fail.
   */
  readonly resumption: Schedule.Schedule<unknown, StreamEnd>
  /**
   * Goes from one look at a task to the next. Where it gives up, the task is cancelled at the server, and the call fails
   * with `TaskUnfinished`, or as the last look did where that brought no answer.
   */
  readonly taskPolling: Schedule.Schedule<unknown, TaskPoll>
  /**
   * Goes from a request that may be sent again to its next attempt. Default: none, so that nothing is sent twice.
   */
  readonly retries: Schedule.Schedule<unknown, Refusal> | undefined
  /**
   * Whether what tools answer is checked against their `outputSchema`, where a call does not say.
   */
  readonly validateOutput: boolean
}

/**
 * That a request may be sent again: it was never delivered, or it was refused with 429 or 503. `retryAfter` is what
 * `Retry-After` asked for, at most 30 seconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Refusal {
  readonly retryAfter: Duration.Duration | undefined
}

/**
 * Options of `pages`.
 *
 * @category models
 * @since 0.1.0
 */
export interface PagesOptions {
  /**
   * Default: 100.
   */
  readonly maxPages?: number | undefined
  /**
   * `"unique"` (default): a cursor that was seen before in this listing is a loop, found at its second sighting.
   * `"opaque"`: cursors say nothing, and pages, time and bytes alone bound the listing, as revision 2026-07-28
   * (server/utilities/pagination) has it to the letter.
   */
  readonly cursors?: "unique" | "opaque" | undefined
}

/**
 * The page loop: stops when there is no next cursor; fails where a cursor comes back and where there are too many pages.
 * Throws where a bound is none.
 *
 * @category schedules
 * @since 0.1.0
 */
export const pages = (options?: PagesOptions): Schedule.Schedule<number, Page, PaginationLoop> => {
  const maxPages = count(options?.maxPages ?? 100, "maxPages")
  const unique = options?.cursors !== "opaque"
  return Schedule.fromStepWithMetadata(Effect.sync(() => {
    const seen = new Set<string>()
    return ({ attempt, input }: Schedule.InputMetadata<Page>) => {
      if (input.nextCursor === undefined) return Cause.done(attempt)
      if (attempt >= maxPages || (unique && seen.has(input.nextCursor))) {
        return Effect.fail(new PaginationLoop({ pages: attempt }))
      }
      seen.add(input.nextCursor)
      return Effect.succeed<[number, Duration.Duration]>([attempt, Duration.zero])
    }
  }))
}

/**
 * Options of `inputRounds`.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputRoundsOptions {
  /**
   * Default: 10.
   */
  readonly maxRounds?: number | undefined
  /**
   * Rounds in a row whose `inputRequests` is there and empty. Default: 3.
   */
  readonly maxEmptyRounds?: number | undefined
}

/**
 * The input loop: stops at an answer that asks for nothing more. Refuses at once what asks for input that nobody gives,
 * and what has neither `inputRequests` nor `requestState`; and, after its bound, what goes on asking. Throws where a bound
 * is none.
 *
 * @category schedules
 * @since 0.1.0
 */
export const inputRounds = (
  options?: InputRoundsOptions
): Schedule.Schedule<number, InputRound, InputRequired> => {
  const maxRounds = count(options?.maxRounds ?? 10, "maxRounds")
  const maxEmptyRounds = count(options?.maxEmptyRounds ?? 3, "maxEmptyRounds")
  return Schedule.fromStepWithMetadata(Effect.sync(() => {
    let empty = 0
    return ({ attempt, input }: Schedule.InputMetadata<InputRound>) => {
      if (input.done) return Cause.done(attempt)
      const { requestState, requests, unanswerable } = input
      if (unanswerable.length > 0) return Effect.fail(new InputRequired({ rounds: attempt, requests: unanswerable }))
      empty = requests?.length === 0 ? empty + 1 : 0
      const says = requests !== undefined || requestState !== undefined
      if (!says || attempt >= maxRounds || empty >= maxEmptyRounds) {
        return Effect.fail(new InputRequired({ rounds: attempt, requests: requests ?? [] }))
      }
      return Effect.succeed<[number, Duration.Duration]>([attempt, Duration.zero])
    }
  }))
}

/**
 * Options of `resumption`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResumptionOptions {
  /**
   * In a row, without a new event. Default: 5.
   */
  readonly maxIdle?: number | undefined
  /**
   * In all. Default: 100.
   */
  readonly maxTotal?: number | undefined
  /**
   * Bounds of the wait that a server asks for with `retry:`. Default: 100 ms and 30 s.
   */
  readonly minDelay?: Duration.Input | undefined
  readonly maxDelay?: Duration.Input | undefined
  /**
   * The wait where the server asks for none. Default: 1 s.
   */
  readonly delay?: Duration.Input | undefined
}

/**
 * The resumption loop: stops when the answer is there, and gives up after so many resumptions in a row that brought
 * nothing, and so many in all. Throws where a bound is none.
 *
 * @category schedules
 * @since 0.1.0
 */
export const resumption = (options?: ResumptionOptions): Schedule.Schedule<number, StreamEnd> => {
  const maxIdle = count(options?.maxIdle ?? 5, "maxIdle")
  const maxTotal = count(options?.maxTotal ?? 100, "maxTotal")
  const bounds = {
    minimum: duration(options?.minDelay ?? "100 millis", "minDelay"),
    maximum: duration(options?.maxDelay ?? "30 seconds", "maxDelay")
  }
  const delay = duration(options?.delay ?? "1 second", "delay")
  return Schedule.fromStepWithMetadata(Effect.sync(() => {
    let idle = 0
    return ({ attempt, input }: Schedule.InputMetadata<StreamEnd>) => {
      if (input.done) return Cause.done(attempt)
      idle = input.progressed ? 0 : idle + 1
      if (attempt > maxTotal || idle >= maxIdle) return Cause.done(attempt)
      return Effect.succeed<[number, Duration.Duration]>([attempt, Duration.clamp(input.retry ?? delay, bounds)])
    }
  }))
}

/**
 * Options of `taskPolling`.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskPollingOptions {
  /**
   * In a row, that brought no answer. Default: 5.
   */
  readonly maxLost?: number | undefined
  /**
   * In all. Default: 10,000.
   */
  readonly maxTotal?: number | undefined
  /**
   * Bounds of the wait that a server asks for with `pollIntervalMs` (`pollInterval` at revision 2025-11-25). Default:
   * 100 ms and 30 s.
   */
  readonly minDelay?: Duration.Input | undefined
  readonly maxDelay?: Duration.Input | undefined
  /**
   * The wait where the server asks for none. Default: 1 s.
   */
  readonly delay?: Duration.Input | undefined
}

/**
 * The polling loop of tasks: stops when the task is over, and gives up after so many looks in a row that brought no
 * answer, and so many in all. The deadline of the call goes before both. Throws where a bound is none. The extension
 * `io.modelcontextprotocol/tasks` of revision 2026-07-28, "Task Polling"; revision 2025-11-25, basic/utilities/tasks,
 * "Getting Tasks".
 *
 * @category schedules
 * @since 0.1.0
 */
export const taskPolling = (options?: TaskPollingOptions): Schedule.Schedule<number, TaskPoll> => {
  const maxLost = count(options?.maxLost ?? 5, "maxLost")
  const maxTotal = count(options?.maxTotal ?? 10_000, "maxTotal")
  const bounds = {
    minimum: duration(options?.minDelay ?? "100 millis", "minDelay"),
    maximum: duration(options?.maxDelay ?? "30 seconds", "maxDelay")
  }
  const delay = duration(options?.delay ?? "1 second", "delay")
  return Schedule.fromStepWithMetadata(Effect.sync(() => {
    let lost = 0
    return ({ attempt, input }: Schedule.InputMetadata<TaskPoll>) => {
      if (input.done) return Cause.done(attempt)
      lost = input.lost ? lost + 1 : 0
      if (attempt >= maxTotal || lost >= maxLost) return Cause.done(attempt)
      return Effect.succeed<[number, Duration.Duration]>([attempt, Duration.clamp(input.pollInterval ?? delay, bounds)])
    }
  }))
}

/**
 * Options of `retries`.
 *
 * @category models
 * @since 0.1.0
 */
export interface RetriesOptions {
  /**
   * Beside the first attempt. Default: 4.
   */
  readonly maxRetries?: number | undefined
  /**
   * The wait before the first retry, which doubles with each, and its bound. Default: 200 ms and 10 s.
   */
  readonly minDelay?: Duration.Input | undefined
  readonly maxDelay?: Duration.Input | undefined
}

/**
 * Retries of requests that were certainly not acted on. What the server asked for with `Retry-After` goes before the
 * doubling wait; the deadline of the operation goes before both. Throws where a bound is none.
 *
 * @category schedules
 * @since 0.1.0
 */
export const retries = (options?: RetriesOptions): Schedule.Schedule<number, Refusal> => {
  const maxRetries = count(options?.maxRetries ?? 4, "maxRetries")
  const minDelay = duration(options?.minDelay ?? "200 millis", "minDelay")
  const maxDelay = duration(options?.maxDelay ?? "10 seconds", "maxDelay")
  return Schedule.fromStepWithMetadata(Effect.succeed(({ attempt, input }: Schedule.InputMetadata<Refusal>) => {
    if (attempt > maxRetries) return Cause.done(attempt)
    const doubled = Duration.min(Duration.times(minDelay, 2 ** (attempt - 1)), maxDelay)
    return Effect.succeed<[number, Duration.Duration]>([attempt, input.retryAfter ?? doubled])
  }))
}

/**
 * The policy in force. Default: `defaults`.
 *
 * @category references
 * @since 0.1.0
 */
export const McpPolicy: Context.Reference<McpPolicy> = Context.Reference<McpPolicy>(
  "effect-mcp-client/McpPolicy",
  { defaultValue: () => defaults }
)

/**
 * @category constants
 * @since 0.1.0
 */
export const defaults: McpPolicy = {
  requestTimeout: Duration.seconds(30),
  operationTimeout: Duration.minutes(2),
  closeTimeout: Duration.seconds(5),
  handlerGrace: Duration.seconds(2),
  probeTimeout: Duration.seconds(5),
  exitTimeout: Duration.seconds(2),
  pages: pages(),
  inputRounds: inputRounds(),
  resumption: resumption(),
  taskPolling: taskPolling(),
  retries: undefined,
  validateOutput: false
}

/**
 * What `make` changes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly requestTimeout?: Duration.Input | undefined
  readonly operationTimeout?: Duration.Input | undefined
  readonly closeTimeout?: Duration.Input | undefined
  readonly handlerGrace?: Duration.Input | undefined
  readonly probeTimeout?: Duration.Input | undefined
  readonly exitTimeout?: Duration.Input | undefined
  readonly pages?: McpPolicy["pages"] | undefined
  readonly inputRounds?: McpPolicy["inputRounds"] | undefined
  readonly resumption?: McpPolicy["resumption"] | undefined
  readonly taskPolling?: McpPolicy["taskPolling"] | undefined
  readonly retries?: McpPolicy["retries"]
  readonly validateOutput?: boolean | undefined
}

/**
 * The defaults with some of them changed. Throws where a duration is none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): McpPolicy => ({
  requestTimeout: duration(options.requestTimeout ?? defaults.requestTimeout, "requestTimeout"),
  operationTimeout: duration(options.operationTimeout ?? defaults.operationTimeout, "operationTimeout"),
  closeTimeout: duration(options.closeTimeout ?? defaults.closeTimeout, "closeTimeout"),
  handlerGrace: duration(options.handlerGrace ?? defaults.handlerGrace, "handlerGrace"),
  probeTimeout: duration(options.probeTimeout ?? defaults.probeTimeout, "probeTimeout"),
  exitTimeout: duration(options.exitTimeout ?? defaults.exitTimeout, "exitTimeout"),
  pages: options.pages ?? defaults.pages,
  inputRounds: options.inputRounds ?? defaults.inputRounds,
  resumption: options.resumption ?? defaults.resumption,
  taskPolling: options.taskPolling ?? defaults.taskPolling,
  retries: options.retries ?? defaults.retries,
  validateOutput: options.validateOutput ?? defaults.validateOutput
})
