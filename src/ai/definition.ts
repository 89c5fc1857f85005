/**
 * What a provider is told of a tool.
 */
import type { JsonObject } from "../schema/Json.ts"
import type { Tool } from "../schema/Tool.ts"
import { modelName } from "./toolNames.ts"

export interface Definition {
  readonly name: string
  readonly description: string | undefined
  readonly parameters: JsonObject
}

/**
 * Everything but the name is the server's, verbatim: a schema is data here, nothing in it is resolved or compiled. Two
 * things are mended that would have a provider refuse the whole request: lone surrogates in the description, and a
 * schema without a `type`, which is then `"object"`, as the specification has it.
 */
export const definitionOf = ({ description, inputSchema, name }: Tool, prefix = ""): Definition => ({
  name: modelName(prefix + name),
  description: description?.toWellFormed(),
  parameters: inputSchema["type"] === undefined ? { type: "object", ...inputSchema } : inputSchema
})
