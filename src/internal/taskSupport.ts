/**
 * Whether a server and this client have tasks in common: at revision 2026-07-28 both declare the extension
 * `io.modelcontextprotocol/tasks`, at 2025-11-25 the server alone declares that it takes `tools/call` as a task.
 */
import { isJsonObject, type JsonObject } from "../schema/Json.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import type { Dialect } from "../schema/Task.ts"
import type { Negotiated } from "./handshake.ts"

const extension = "io.modelcontextprotocol/tasks"

const member = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce((at, key) => isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined, value)

/**
 * What is spoken with a server; `undefined` where there are no tasks.
 */
export const dialectOf = ({ serverCapabilities, version }: Negotiated): Dialect | undefined => {
  if (ProtocolVersion.isModern(version)) {
    return isJsonObject(member(serverCapabilities, "extensions", extension)) ? "extension" : undefined
  }
  return version === "2025-11-25" && isJsonObject(member(serverCapabilities, "tasks", "requests", "tools", "call"))
    ? "experiment"
    : undefined
}

/**
 * Whether a task can be cancelled.
 */
export const takesCancel = ({ serverCapabilities }: Negotiated, dialect: Dialect): boolean =>
  dialect === "extension" || isJsonObject(member(serverCapabilities, "tasks", "cancel"))

/**
 * What the client declares once it knows the server: the extension too, where the server has it.
 */
export const declare = (capabilities: JsonObject, negotiated: Negotiated): JsonObject => {
  if (dialectOf(negotiated) !== "extension") return capabilities
  const extensions = isJsonObject(capabilities["extensions"]) ? capabilities["extensions"] : {}
  return { ...capabilities, extensions: { ...extensions, [extension]: {} } }
}
