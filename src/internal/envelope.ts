/**
 * Writes messages: one string, arguments verbatim, nothing serialised twice.
 */
import type { Implementation } from "../schema/Capabilities.ts"
import type { JsonObject } from "../schema/Json.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"

/**
 * What differs from request to request in `_meta`.
 */
export interface Meta {
  readonly given?: JsonObject | undefined
  readonly traceparent?: string | undefined
}

/**
 * Writes the requests of one revision.
 */
export interface Writer {
  readonly version: ProtocolVersion.ProtocolVersion | undefined
  /**
   * `members` is the text between the braces of `params`. Throws where `meta.given` has no JSON.
   */
  readonly request: (id: number, method: string, members: string, meta?: Meta) => string
}

const isReserved = (key: string): boolean => key.startsWith("io.modelcontextprotocol/")

/**
 * The members of the application's own `_meta`, without the keys that are the protocol's at a modern revision.
 */
const givenMembers = (meta: Meta | undefined, isModern: boolean): string => {
  if (meta?.given === undefined) return ""
  const entries = Object.entries(meta.given).filter(([key]) =>
    !isModern || !(isReserved(key) || (key === "traceparent" && meta.traceparent !== undefined))
  )
  return JSON.stringify(Object.fromEntries(entries)).slice(1, -1)
}

const joined = (...members: ReadonlyArray<string>): string => members.filter((text) => text !== "").join(",")

/**
 * A writer for a revision; `undefined` while none is agreed on. At a modern revision every request says who asks and
 * what it can do: revision 2026-07-28, basic/index, "Per-request protocol fields".
 */
export const make = (
  version: ProtocolVersion.ProtocolVersion | undefined,
  clientInfo: Implementation,
  capabilities: JsonObject
): Writer => {
  const isModern = ProtocolVersion.isModern(version)
  const base = isModern
    ? JSON.stringify({
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientInfo": clientInfo,
      "io.modelcontextprotocol/clientCapabilities": capabilities
    }).slice(1, -1)
    : ""
  const metaMembers = (meta: Meta | undefined): string => {
    if (meta === undefined) return base
    const trace = isModern && meta.traceparent !== undefined ? `"traceparent":"${meta.traceparent}"` : ""
    return joined(base, givenMembers(meta, isModern), trace)
  }
  return {
    version,
    request: (id, method, members, meta) => {
      const inMeta = metaMembers(meta)
      const params = inMeta === "" ? members : `${members}${members === "" ? "" : ","}"_meta":{${inMeta}}`
      return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params}}}`
    }
  }
}

/**
 * A notification without parameters.
 */
export const notification = (method: string): string => `{"jsonrpc":"2.0","method":"${method}"}`
