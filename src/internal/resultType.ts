/**
 * What kind of result a modern server gave: revision 2026-07-28, basic/index, "ResultType".
 */
import * as Result from "effect/Result"
import { UnknownResultType, Unreadable } from "../errors/McpError.ts"
import type { JsonObject } from "../schema/Json.ts"

/**
 * A result that says nothing is complete. `task` is a type of the extension `io.modelcontextprotocol/tasks`, and known
 * where a task may be answered.
 */
export const resultTypeOf = (
  result: JsonObject,
  mayBeTask = false
): Result.Result<"complete" | "input_required" | "task", UnknownResultType | Unreadable> => {
  const type = result["resultType"] ?? "complete"
  if (type === "complete" || type === "input_required" || (type === "task" && mayBeTask)) return Result.succeed(type)
  return Result.fail(
    typeof type === "string"
      ? new UnknownResultType({ resultType: type })
      : new Unreadable({ detail: "resultType is not a string" })
  )
}
