/**
 * Tools and their results as the Messages API of Anthropic has them, for applications that talk to it by themselves.
 */
import * as Base64 from "effect/encoding/Base64"
import type { JsonObject } from "../schema/Json.ts"
import type { CallResult, Tool } from "../schema/Tool.ts"
import { definitionOf } from "./definition.ts"
import { type ImageType, modelContent } from "./modelContent.ts"

/**
 * An entry of `tools` in a request.
 *
 * @category anthropic
 * @since 0.1.0
 */
export interface AnthropicTool {
  readonly name: string
  readonly description?: string
  readonly input_schema: { readonly type: "object"; readonly [key: string]: unknown }
}

/**
 * A block of a `tool_result`.
 *
 * @category anthropic
 * @since 0.1.0
 */
export type AnthropicBlock =
  | { readonly type: "text"; readonly text: string }
  | {
    readonly type: "image"
    readonly source: { readonly type: "base64"; readonly media_type: ImageType; readonly data: string }
  }

/**
 * A tool as Anthropic's API wants it defined. The name is mapped as `make` does it, with `prefix` in front; a model that
 * calls the tool uses that name, so keep it beside the server's own. Description and schema are the server's, verbatim;
 * a schema without a `type` gets the one that it must have.
 *
 * Of a schema that is nested thousands deep this makes a definition as well, which `JSON.stringify` may refuse: `make`
 * leaves such tools out.
 *
 * **Example** (From the server's names to the model's and back)
 *
 * ```ts
 * const byName = new Map(tools.map((tool) => [McpToolkit.toAnthropicTool(tool).name, tool.name]))
 * ```
 *
 * @category anthropic
 * @since 0.1.0
 */
export const toAnthropicTool = (tool: Tool, options?: { readonly prefix?: string | undefined }): AnthropicTool => {
  const { description, name, parameters } = definitionOf(tool, options?.prefix)
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: parameters as JsonObject & { readonly type: "object" }
  }
}

/**
 * The result of a call as the rest of a `tool_result` block: `{ type: "tool_result", tool_use_id, ...this }`.
 *
 * Pictures are PNG, JPEG, GIF or WebP, as their bytes say whatever the server says, up to 5 MiB of base64 each and
 * twenty in all. What else there is becomes text: a resource its text, a link its URI, sound and other bytes what they
 * are. There is always a block, and none is empty: Anthropic's API refuses others.
 *
 * @category anthropic
 * @since 0.1.0
 */
export const toAnthropicContent = (
  result: CallResult
): { readonly content: ReadonlyArray<AnthropicBlock>; readonly is_error: boolean } => ({
  content: modelContent(result).map((part) =>
    part.type === "text"
      ? part
      : { type: "image", source: { type: "base64", media_type: part.mediaType, data: Base64.encode(part.data) } }
  ),
  is_error: result.isError
})
