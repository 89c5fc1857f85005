/**
 * Lists, from page to page: revision 2026-07-28, server/utilities/pagination.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { isMcpError, type McpError, PaginationLoop, TimedOut, Unreadable } from "../errors/McpError.ts"
import type { JsonObject } from "../schema/Json.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import type { Refused } from "../schema/Tool.ts"
import type { ListOptions } from "../services/McpConnection.ts"
import type { McpPolicy } from "../services/McpPolicy.ts"
import type { Reply } from "../services/Transport.ts"
import * as Deadline from "./deadline.ts"
import { warn } from "./dropped.ts"
import type { Operation, Requester } from "./requester.ts"

/**
 * What is listed.
 */
export interface Kind<A> {
  readonly method: string
  /**
   * The member of a page that has the entries, which is also what one may call them.
   */
  readonly entries: string
  /**
   * Reads an entry. The failure says why it cannot be offered.
   */
  readonly fromWire: (entry: unknown) => Result.Result<A, string>
  /**
   * The member that no two entries may share.
   */
  readonly key: string
}

/**
 * A second look at the entries of a page that are about to be listed. Answers why an entry cannot be after all, and how
 * much was looked at.
 */
export type Inspect<A> = (
  reply: Reply
) => ((entry: A) => { readonly problem: string | undefined; readonly work: number }) | undefined

/**
 * How many refused entries of a page are logged one by one.
 */
const maxLogged = 16

/**
 * What a page may hold, and how much of it is read in one go.
 */
const maxEntries = 16_384
const maxWork = 16_384

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

const keyOf = (entry: unknown, key: string): string | undefined => {
  const value = typeof entry === "object" && entry !== null ? (entry as JsonObject)[key] : undefined
  return typeof value === "string" ? value : undefined
}

interface Page {
  readonly nextCursor: string | undefined
  readonly refused: ReadonlyArray<Refused>
}

/**
 * Reads a page. A bad entry costs nobody but itself. The failure says why the page is none.
 */
const readPage = Effect.fnUntraced(function*<A>(
  kind: Kind<A>,
  listed: Map<string, A>,
  result: JsonObject,
  version: ProtocolVersion.ProtocolVersion,
  inspect: ReturnType<Inspect<A>>
): Effect.fn.Return<Page, string> {
  const entries = result[kind.entries]
  if (!Array.isArray(entries)) return yield* Effect.fail(`${kind.entries} is not an array`)
  if (entries.length > maxEntries) return yield* Effect.fail(`more than ${maxEntries} ${kind.entries} on one page`)
  const nextCursor = yield* Effect.fromResult(readCursor(result["nextCursor"], version))
  const refused: Array<Refused> = []
  const refuse = (entry: unknown, reason: string): void => {
    refused.push({ name: keyOf(entry, kind.key), reason, entry })
  }
  let work = 0
  for (const entry of entries) {
    if (work++ > maxWork) {
      work = 0
      yield* Effect.yieldNow
    }
    const read = kind.fromWire(entry)
    if (Result.isFailure(read)) {
      refuse(entry, read.failure)
      continue
    }
    const key = keyOf(entry, kind.key)!
    if (listed.has(key)) {
      refuse(entry, `the ${kind.key} is taken by another one`)
      continue
    }
    const inspected = inspect?.(read.success)
    work += inspected?.work ?? 0
    if (inspected?.problem === undefined) listed.set(key, read.success)
    else refuse(entry, inspected.problem)
  }
  return { nextCursor, refused }
})

const report = Effect.fnUntraced(function*(
  kind: string,
  refused: ReadonlyArray<Refused>,
  onRefused: ListOptions["onRefused"]
) {
  for (const { name, reason } of refused.slice(0, maxLogged)) {
    yield* warn(`${kind} refused`, `${name ?? "(no name)"}: ${reason}`)
  }
  if (refused.length > maxLogged) {
    yield* warn(`${kind} refused`, `${refused.length - maxLogged} more on the same page`, refused.length - maxLogged)
  }
  if (onRefused !== undefined) yield* Effect.forEach(refused, onRefused, { discard: true })
})

/**
 * Brings all entries, by their key. A list is whole or it is none: a schedule may stop where it likes, and what is left
 * then is a failure.
 */
export const all = Effect.fnUntraced(function*<A>(
  kind: Kind<A>,
  requester: Requester,
  policy: McpPolicy,
  operation: Operation,
  onRefused: ListOptions["onRefused"],
  inspect?: Inspect<A>
): Effect.fn.Return<ReadonlyMap<string, A>, McpError> {
  const { version } = requester.negotiated
  const { total } = operation.deadline
  const listed = new Map<string, A>()
  let cursor: string | undefined
  let pages = 0
  const nextPage = Effect.gen(function*() {
    const members = cursor === undefined ? "" : `"cursor":${JSON.stringify(cursor)}`
    const reply = yield* requester.send(operation, { method: kind.method, members })
    const { result, type } = yield* requester.outcome(operation, reply)
    const page = type === "complete"
      ? readPage(kind, listed, result, version, inspect?.(reply))
      : Effect.fail("a listing may not ask for input")
    const { nextCursor, refused } = yield* Effect.mapError(
      page,
      (detail) => requester.answered(operation.name, new Unreadable({ detail }))
    )
    if (refused.length > 0) yield* requester.within(operation, report(kind.entries, refused, onRefused))
    pages++
    cursor = nextCursor
    return { nextCursor }
  })
  // No further page is begun once the time is up.
  yield* Effect.repeat(nextPage, Schedule.upTo(policy.pages, { duration: total })).pipe(
    Effect.mapError((error) => isMcpError(error) ? error : requester.answered(operation.name, error))
  )
  if (cursor !== undefined) {
    return yield* (yield* Deadline.isOver(operation.deadline))
      ? requester.failed(operation.name, new TimedOut({ limit: total }))
      : requester.answered(operation.name, new PaginationLoop({ pages }))
  }
  return listed
})
