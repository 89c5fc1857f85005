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
  /**
   * Whether progress is asked for, under the id of the request.
   */
  readonly wantsProgress?: boolean | undefined
  /**
   * From which level on the server's log is asked for. At a modern revision alone.
   */
  readonly logLevel?: string | undefined
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

const isReserved = (key: string, meta: Meta, isModern: boolean): boolean =>
  (isModern && key.startsWith("io.modelcontextprotocol/")) ||
  (isModern && key === "traceparent" && meta.traceparent !== undefined) ||
  (key === "progressToken" && meta.wantsProgress === true)

/**
 * The members of the application's own `_meta`, without the keys that are ours to write.
 */
const givenMembers = (meta: Meta, isModern: boolean): string => {
  if (meta.given === undefined) return ""
  const entries = Object.entries(meta.given).filter(([key]) => !isReserved(key, meta, isModern))
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
  const metaMembers = (id: number, meta: Meta | undefined): string => {
    if (meta === undefined) return base
    const { logLevel, traceparent, wantsProgress } = meta
    return joined(
      base,
      givenMembers(meta, isModern),
      isModern && logLevel !== undefined ? `"io.modelcontextprotocol/logLevel":${JSON.stringify(logLevel)}` : "",
      isModern && traceparent !== undefined ? `"traceparent":"${traceparent}"` : "",
      wantsProgress === true ? `"progressToken":${id}` : ""
    )
  }
  return {
    version,
    request: (id, method, members, meta) => {
      const inMeta = metaMembers(id, meta)
      const params = inMeta === "" ? members : `${members}${members === "" ? "" : ","}"_meta":{${inMeta}}`
      return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params}}}`
    }
  }
}

/**
 * A notification, most often without parameters.
 */
export const notification = (method: string, params?: JsonObject): string =>
  JSON.stringify({ jsonrpc: "2.0", method, params })
