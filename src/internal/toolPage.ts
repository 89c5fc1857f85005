/**
 * One page of `tools/list`: revision 2026-07-28, server/tools, "Listing Tools".
 */
import * as Result from "effect/Result"
import type { JsonObject } from "../schema/Json.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import * as Tool from "../schema/Tool.ts"
import { type MirroredParameter, mirroredParameters } from "./headers.ts"

/**
 * What has been listed so far.
 */
export interface Listing {
  readonly tools: Array<Tool.Tool>
  readonly names: Set<string>
  /**
   * Parameters to mirror, by tool; tools that mirror nothing are not in it.
   */
  readonly mirrored: Map<string, ReadonlyArray<MirroredParameter>>
}

/**
 * A listing with nothing in it.
 */
export const empty = (): Listing => ({ tools: [], names: new Set(), mirrored: new Map() })

/**
 * What one page added.
 */
export interface Added {
  readonly nextCursor: string | undefined
  readonly refused: ReadonlyArray<Tool.Refused>
}

const nameOf = (entry: unknown): string | undefined => {
  const name = typeof entry === "object" && entry !== null ? (entry as JsonObject)["name"] : undefined
  return typeof name === "string" ? name : undefined
}

/**
 * `""` ends a legacy listing: servers of that time end so, though a cursor is opaque. At a modern revision it is a cursor
 * as any other.
 */
const readCursor = (
  value: unknown,
  version: ProtocolVersion.ProtocolVersion
): Result.Result<string | undefined, string> => {
  if (value === undefined || value === null) return Result.succeed(undefined)
  if (typeof value !== "string") return Result.fail("nextCursor is not a string")
  return Result.succeed(value === "" && ProtocolVersion.isLegacy(version) ? undefined : value)
}

/**
 * Reads a page into a listing. A bad entry costs nobody but itself. `mirrors` says whether annotations of parameters
 * count. The failure says why the page is none.
 */
export const add = (
  listing: Listing,
  result: JsonObject,
  version: ProtocolVersion.ProtocolVersion,
  mirrors: boolean
): Result.Result<Added, string> => {
  const entries = result["tools"]
  if (!Array.isArray(entries)) return Result.fail("tools is not an array")
  const nextCursor = readCursor(result["nextCursor"], version)
  if (Result.isFailure(nextCursor)) return Result.fail(nextCursor.failure)
  const refused: Array<Tool.Refused> = []
  const refuse = (entry: unknown, reason: string): void => {
    refused.push({ name: nameOf(entry), reason, entry })
  }
  for (const entry of entries) {
    const tool = Tool.fromWire(entry)
    if (Result.isFailure(tool)) {
      refuse(entry, tool.failure)
      continue
    }
    const { inputSchema, name } = tool.success
    const mirrored = mirrors ? mirroredParameters(inputSchema) : undefined
    if (mirrored !== undefined && Result.isFailure(mirrored)) {
      refuse(entry, mirrored.failure)
      continue
    }
    const known = listing.names.size
    if (listing.names.add(name).size === known) {
      refuse(entry, "the name is taken by another tool")
      continue
    }
    listing.tools.push(tool.success)
    if (mirrored !== undefined && mirrored.success.length > 0) listing.mirrored.set(name, mirrored.success)
  }
  return Result.succeed({ nextCursor: nextCursor.success, refused })
}
