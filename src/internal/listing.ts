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
 * How much of a page is looked at in one go: entries, and what is looked at a second time.
 */
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

/**
 * Tells of entries that were refused; the first few of a page are logged one by one.
 */
export const reporter = (kind: string, onRefused: ListOptions["onRefused"]) => {
  let logged = 0
  return Effect.fnUntraced(function*(refused: ReadonlyArray<Refused>) {
    const told = refused.slice(0, maxLogged - logged)
    logged += told.length
    for (const { name, reason } of told) yield* warn(`${kind} refused`, `${name ?? "(no name)"}: ${reason}`)
    const more = refused.length - told.length
    if (more > 0) yield* warn(`${kind} refused`, `${more} more on the same page`, more)
    if (onRefused !== undefined) yield* Effect.forEach(refused, onRefused, { discard: true })
  })
}

/**
 * What the entries of a page are. A bad one costs nobody but itself.
 */
const reading = <A>({ fromWire, key }: Kind<A>, listed: Map<string, A>, inspect: ReturnType<Inspect<A>>) => {
  const refused: Array<Refused> = []
  const refuse = (entry: unknown, reason: string): number => refused.push({ name: keyOf(entry, key), reason, entry })
  return {
    refused,
    /**
     * Reads an entry, and answers how much was looked at.
     */
    read: (entry: unknown): number => {
      const read = fromWire(entry)
      if (Result.isFailure(read)) {
        refuse(entry, read.failure)
        return 1
      }
      const name = keyOf(entry, key)!
      if (listed.has(name)) {
        refuse(entry, `the ${key} is taken by another one`)
        return 1
      }
      const inspected = inspect?.(read.success)
      if (inspected?.problem === undefined) listed.set(name, read.success)
      else refuse(entry, inspected.problem)
      return 1 + (inspected?.work ?? 0)
    }
  }
}

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
  const unreadable = (detail: string) => requester.answered(operation.name, new Unreadable({ detail }))

  const nextPage = Effect.gen(function*() {
    const members = cursor === undefined ? "" : `"cursor":${JSON.stringify(cursor)}`
    const reply = yield* requester.send(operation, { method: kind.method, members })
    const { result, type } = yield* requester.outcome(operation, reply)
    if (type !== "complete") return yield* unreadable("a listing may not ask for input")
    const entries = result[kind.entries]
    if (!Array.isArray(entries)) return yield* unreadable(`${kind.entries} is not an array`)
    const nextCursor = readCursor(result["nextCursor"], version)
    if (Result.isFailure(nextCursor)) return yield* unreadable(nextCursor.failure)

    const report = reporter(kind.entries, onRefused)
    const { read, refused } = reading(kind, listed, inspect?.(reply))
    let work = 0
    for (const entry of entries) {
      work += read(entry)
      if (work < maxWork) continue
      work = 0
      yield* requester.within(operation, report(refused.splice(0)))
      yield* Effect.yieldNow
    }
    if (refused.length > 0) yield* requester.within(operation, report(refused))
    pages++
    cursor = nextCursor.success
    return { nextCursor: cursor }
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
