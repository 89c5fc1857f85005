/**
 * Results of tools as values of a type that the application has a schema for.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import { ServerAnswered, Unreadable } from "../errors/McpError.ts"
import { type CallResult, ToolFailed } from "../schema/Tool.ts"
import { toPointer } from "./pointer.ts"

/**
 * A schema that refers to itself decodes on the stack.
 */
const maxDepth = 256

const isDeeperThan = (value: unknown, depth: number): boolean =>
  typeof value === "object" && value !== null &&
  (depth === 0 || Object.values(value).some((inner) => isDeeperThan(inner, depth - 1)))

/**
 * Where the first thing that is wrong is, and of which kind. The values are left out, and so are the words of the
 * schema, which may quote them.
 */
const describe = (issue: SchemaIssue.Issue, path: ReadonlyArray<PropertyKey>): string => {
  switch (issue._tag) {
    case "Pointer":
      return describe(issue.issue, [...path, ...issue.path])
    case "Composite":
      return describe(issue.issues[0], path)
    case "Filter":
    case "Encoding":
      return describe(issue.issue, path)
    case "AnyOf":
      return issue.issues.length === 1
        ? describe(issue.issues[0]!, path)
        : `what is at ${toPointer(path)} is of no kind`
    case "MissingKey":
      return `${toPointer(path)} is missing`
    case "UnexpectedKey":
      return `${toPointer(path)} is one too many`
    case "InvalidType":
      return `what is at ${toPointer(path)} is of another type`
    default:
      return `what is at ${toPointer(path)} is not allowed`
  }
}

/**
 * Decodes what a tool answered.
 */
export const decode = <S extends Schema.Constraint>(
  schema: S,
  tool: string,
  result: CallResult
): Effect.Effect<S["Type"], ServerAnswered | ToolFailed, S["DecodingServices"]> => {
  const { isError, structuredContent } = result
  const unreadable = (detail: string): ServerAnswered =>
    new ServerAnswered({ operation: `tools/call ${tool}`, server: undefined, reason: new Unreadable({ detail }) })
  if (isError) return Effect.fail(new ToolFailed({ tool, result }))
  if (structuredContent === undefined) return Effect.fail(unreadable("no structuredContent"))
  if (isDeeperThan(structuredContent, maxDepth)) {
    return Effect.fail(unreadable(`structuredContent is more than ${maxDepth} deep`))
  }
  return Effect.mapError(
    Schema.decodeUnknownEffect(schema)(structuredContent),
    ({ issue }) => unreadable(`structuredContent is not what the caller expects: ${describe(issue, [])}`)
  )
}
