/**
 * Who is at each end, and what each can do: `server/discover` (revision 2026-07-28, server/discover) and `initialize`
 * (revision 2025-11-25, basic/lifecycle).
 *
 * Decoded once a connection. Whatever is not understood is kept.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const rest = [Schema.Record(Schema.String, Schema.Unknown)] as const

/**
 * The name and version that an end gives itself. Nothing verifies it: it is for display and for logs.
 *
 * @category models
 * @since 0.1.0
 */
export const Implementation = Schema.StructWithRest(
  Schema.Struct({
    name: Schema.String,
    version: Schema.String,
    title: Schema.optionalKey(Schema.String)
  }),
  rest
)

/**
 * @category models
 * @since 0.1.0
 */
export type Implementation = typeof Implementation.Type

/**
 * What a server offers, by name (`tools`, `resources`, `prompts`, `logging`, `completions`, `extensions`, …). A name that
 * is present is offered.
 *
 * @category models
 * @since 0.1.0
 */
export const ServerCapabilities = Schema.Record(Schema.String, Schema.Unknown)

/**
 * @category models
 * @since 0.1.0
 */
export type ServerCapabilities = typeof ServerCapabilities.Type
