/**
 * Tasks: calls that a server finishes later. The extension `io.modelcontextprotocol/tasks` of revision 2026-07-28, and
 * the experiment of revision 2025-11-25, basic/utilities/tasks. They differ in names, and in where the result is found.
 */
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import { isString, optional, optionalString } from "./fields.ts"
import { isJsonObject, type JsonObject } from "./Json.ts"

/**
 * Which of the two is spoken.
 */
export type Dialect = "extension" | "experiment"

/**
 * How far a task has got. From `completed`, `failed` and `cancelled` it goes nowhere.
 */
export type Status = "working" | "input_required" | "completed" | "failed" | "cancelled"

const statuses: ReadonlySet<unknown> = new Set<Status>([
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled"
])

const isStatus = (value: unknown): value is Status => statuses.has(value)

/**
 * A task as it was when the server was last asked.
 */
export interface Task {
  readonly status: Status
  readonly statusMessage?: string
  /**
   * How long the server wants us to wait before it is asked again.
   */
  readonly pollInterval?: Duration.Duration
  /**
   * As they came; of the extension alone.
   */
  readonly inputRequests: unknown
  readonly result: unknown
  readonly error: unknown
}

export const isOver = ({ status }: Task): boolean =>
  status === "completed" || status === "failed" || status === "cancelled"

/**
 * An id goes back with every request, and into a header.
 */
const maxIdLength = 1024

/**
 * The id of a task. The failure says why it cannot be sent back as it came.
 */
export const idFromWire = (task: JsonObject): Result.Result<string, string> => {
  const { taskId } = task
  if (!isString(taskId) || taskId === "") return Result.fail("a task without an id")
  if (taskId.length > maxIdLength) return Result.fail(`a task whose id is longer than ${maxIdLength} characters`)
  return taskId.isWellFormed() ? Result.succeed(taskId) : Result.fail("a task whose id is no Unicode")
}

const interval = (value: unknown): Duration.Duration | undefined =>
  typeof value === "number" && value >= 0 ? Duration.millis(value) : undefined

/**
 * Reads a task that must have this id. The failure says what is wrong.
 */
export const fromWire = (task: JsonObject, id: string, dialect: Dialect): Result.Result<Task, string> => {
  const { error, inputRequests, result, status, taskId } = task
  if (taskId !== id) return Result.fail("the state of another task")
  if (!isStatus(status)) return Result.fail("a task whose status nobody knows")
  const pollInterval = interval(task[dialect === "extension" ? "pollIntervalMs" : "pollInterval"])
  return Result.succeed({
    status,
    ...optionalString("statusMessage", task),
    ...optional("pollInterval", pollInterval, Duration.isDuration),
    inputRequests,
    result,
    error
  })
}

/**
 * How a listing says that a tool can only be called as a task: revision 2025-11-25, basic/utilities/tasks, "Tool-Level
 * Negotiation".
 */
export const isRequiredBy = (tool: JsonObject): boolean =>
  isJsonObject(tool["execution"]) && tool["execution"]["taskSupport"] === "required"

const relatedKey = "io.modelcontextprotocol/related-task"

/**
 * The task that a message says it belongs to, at revision 2025-11-25.
 */
export const relatedTo = ({ _meta }: JsonObject): unknown => {
  const related = isJsonObject(_meta) ? _meta[relatedKey] : undefined
  return isJsonObject(related) ? related["taskId"] : undefined
}
