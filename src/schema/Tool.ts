/**
 * Tools, and the results of calling them: revision 2026-07-28, server/tools.
 *
 * Read by hand: a listing of a thousand tools would otherwise cost more than its transport (`npm run bench`).
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import { printable } from "../errors/Printable.ts"
import * as Content from "./Content.ts"
import { describing, mend } from "./fields.ts"
import { isJsonObject, type JsonObject, stringify } from "./Json.ts"

/**
 * A tool as the server describes it. Everything in it is the server's word, `annotations` above all. Fields that are not
 * named here are kept.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tool {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  /**
   * JSON Schema, 2020-12 unless it says otherwise. Passed through, never compiled, no `$ref` followed.
   */
  readonly inputSchema: JsonObject
  /**
   * As `inputSchema`, and used where `validateOutput` of a call asks for it.
   */
  readonly outputSchema?: JsonObject | undefined
  readonly annotations?: JsonObject | undefined
  readonly icons?: ReadonlyArray<unknown> | undefined
  readonly meta?: JsonObject | undefined
  readonly [key: string]: unknown
}

/**
 * A list entry that was left out, and why. `entry` is as the server sent it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Refused {
  readonly name: string | undefined
  readonly reason: string
  readonly entry: unknown
}

/**
 * What a tool answered.
 *
 * `isError: true` is the tool's own verdict, for a model to read; it is not a failure of the call.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallResult {
  readonly content: ReadonlyArray<Content.Content>
  readonly isError: boolean
  readonly structuredContent?: unknown
  readonly meta?: JsonObject | undefined
  /**
   * The text blocks, joined with newlines; the JSON of `structuredContent` where there is no content at all.
   */
  readonly text: string
}

/**
 * A tool's verdict, `isError`, where a value of some type was asked for and cannot be had.
 *
 * It is none of the five tags of `McpError`: those say that there is no verdict, and who can see to it. This one is the
 * tool's answer, in `result`, and whoever chose the tool and its arguments acts, which is often a model. `message` quotes
 * the tool, cut short and escaped; `toJSON` leaves the result out.
 *
 * @category errors
 * @since 0.1.0
 */
export class ToolFailed extends Data.TaggedError("ToolFailed")<{
  readonly tool: string
  readonly result: CallResult
  readonly message: string
}> {
  constructor({ result, tool }: { readonly tool: string; readonly result: CallResult }) {
    super({ tool, result, message: `the tool ${printable(tool, 160)} says: ${printable(result.text)}` })
  }

  override toJSON(): unknown {
    const { _tag, message, tool } = this
    return { _tag, tool, message }
  }
}

/**
 * Longer names are refused by every model provider, and by the specification's SHOULD.
 */
const maxNameLength = 128

const ordinary = /^[A-Za-z0-9_.\-/]+$/

// What could make one name look like another: control and format characters, line separators, lone surrogates.
const deceptive = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u

const nameProblem = (name: unknown): string | undefined => {
  if (typeof name !== "string") return "the name is not a string"
  if (name.length === 0) return "the name is empty"
  if (name.length > maxNameLength) return `the name is longer than ${maxNameLength} characters`
  if (!ordinary.test(name) && deceptive.test(name)) return "the name has control or format characters"
  return undefined
}

const schemaProblem = (schema: unknown): string | undefined => {
  if (!isJsonObject(schema)) return "the inputSchema is not an object"
  const type = schema["type"]
  return type === undefined || type === "object" ? undefined : "the inputSchema is not of type object"
}

const optionals = { ...describing, outputSchema: isJsonObject, annotations: isJsonObject }

/**
 * Reads one entry of a listing. The failure says why it cannot be offered. An entry with nothing to mend is not copied.
 *
 * @category decoding
 * @since 0.1.0
 */
export const fromWire = (entry: unknown): Result.Result<Tool, string> => {
  if (!isJsonObject(entry)) return Result.fail("not an object")
  const problem = nameProblem(entry["name"]) ?? schemaProblem(entry["inputSchema"])
  if (problem !== undefined) return Result.fail(problem)
  return Result.succeed(mend(entry, optionals) as Tool)
}

const joinText = (content: ReadonlyArray<Content.Content>): string => {
  const first = content[0]
  if (content.length === 1 && first?.type === "text") return first.text
  return content.flatMap((block) => block.type === "text" ? [block.text] : []).join("\n")
}

/**
 * Far more than a model would read.
 */
const maxBlocks = 16_384

/**
 * Reads the result of `tools/call`. The failure says what is wrong.
 *
 * @category decoding
 * @since 0.1.0
 */
export const callResultFromWire = (result: JsonObject): Result.Result<CallResult, string> => {
  const { _meta, content: blocks, structuredContent } = result
  if (blocks !== undefined && !Array.isArray(blocks)) return Result.fail("content is not an array")
  if (blocks !== undefined && blocks.length > maxBlocks) return Result.fail(`more than ${maxBlocks} content blocks`)
  if (blocks === undefined && structuredContent === undefined) {
    return Result.fail("neither content nor structuredContent")
  }
  const content = (blocks ?? []).map(Content.fromWire)
  const structured = structuredContent !== undefined
  let text: string | undefined
  return Result.succeed({
    content,
    isError: result["isError"] === true,
    ...(structured ? { structuredContent } : {}),
    ...(isJsonObject(_meta) ? { meta: _meta } : {}),
    get text() {
      return text ??= content.length === 0 && structured ? stringify(structuredContent) ?? "" : joinText(content)
    }
  })
}
