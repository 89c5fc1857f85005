/**
 * `McpToolkit`: the tools of servers as a toolkit of `effect/ai`, and as Anthropic's API has them.
 *
 * @since 0.1.0
 */
export * as McpToolkit from "./ai/McpToolkit.ts"
