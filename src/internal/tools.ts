/**
 * Listing and calling tools.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import {
  CapabilityMissing,
  InputRequired,
  InvalidInput,
  isMcpError,
  type McpError,
  PaginationLoop,
  TimedOut,
  Unreadable
} from "../errors/McpError.ts"
import type { JsonObject } from "../schema/Json.ts"
import { errorCodes } from "../schema/JsonRpc.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import * as Tool from "../schema/Tool.ts"
import type { ListOptions, Service } from "../services/McpConnection.ts"
import type { McpPolicy } from "../services/McpPolicy.ts"
import type { Reply, Transport } from "../services/Transport.ts"
import { type Arguments, read as readArguments } from "./arguments.ts"
import * as Deadline from "./deadline.ts"
import { note } from "./dropped.ts"
import { mayMirror, type MirroredParameter, parameterHeaders } from "./headers.ts"
import * as InputRounds from "./inputRounds.ts"
import type { Operation, Outcome, Requester } from "./requester.ts"
import * as ToolPage from "./toolPage.ts"

/**
 * How many refused entries of a page are logged one by one.
 */
const maxLogged = 16

const list = "tools/list"

/**
 * The part of a connection that is about tools.
 */
export const make = (
  requester: Requester,
  policy: McpPolicy,
  transport: Transport["Service"]
): Pick<Service, "listTools" | "callTool"> => {
  const { server } = transport
  const { serverCapabilities, version } = requester.negotiated
  const isMirroring = transport.hasHeaders && ProtocolVersion.isModern(version)

  // What the last listing said is mirrored, by tool.
  let mirrored: ReadonlyMap<string, ReadonlyArray<MirroredParameter>> = new Map()

  const invalid = (operation: string) => (detail: string): InvalidInput =>
    new InvalidInput({ operation, server, detail })

  const capable = (operation: string): Effect.Effect<void, CapabilityMissing> =>
    Object.hasOwn(serverCapabilities, "tools")
      ? Effect.void
      : Effect.fail(new CapabilityMissing({ operation, server, capability: "tools" }))

  const report = (
    refused: ReadonlyArray<Tool.Refused>,
    onRefused: ListOptions["onRefused"]
  ) =>
    Effect.gen(function*() {
      for (const { name, reason } of refused.slice(0, maxLogged)) {
        yield* note("tool refused", `${name ?? "(no name)"}: ${reason}`)
      }
      if (refused.length > maxLogged) yield* note("tool refused", `${refused.length - maxLogged} more on the same page`)
      if (onRefused !== undefined) yield* Effect.forEach(refused, onRefused, { discard: true })
    })

  const page = (
    operation: Operation,
    listing: ToolPage.Listing,
    cursor: string | undefined,
    onRefused: ListOptions["onRefused"]
  ): Effect.Effect<string | undefined, McpError> =>
    Effect.gen(function*() {
      const members = cursor === undefined ? "" : `"cursor":${JSON.stringify(cursor)}`
      const reply = yield* requester.send(operation, { method: list, members })
      const { result, type } = yield* requester.outcome(operation, reply)
      const added = type === "complete"
        ? ToolPage.add(listing, result, version, isMirroring && mayMirror(reply.text))
        : Result.fail("a listing may not ask for input")
      if (Result.isFailure(added)) {
        return yield* requester.answered(operation.name, new Unreadable({ detail: added.failure }))
      }
      const { nextCursor, refused } = added.success
      if (refused.length > 0) yield* requester.within(operation, report(refused, onRefused))
      return nextCursor
    })

  const listAll = (
    operation: Operation,
    onRefused: ListOptions["onRefused"]
  ): Effect.Effect<ReadonlyArray<Tool.Tool>, McpError> =>
    Effect.gen(function*() {
      const listing = ToolPage.empty()
      const { total } = operation.deadline
      let cursor: string | undefined
      let pages = 0
      const nextPage = Effect.suspend(() =>
        Effect.map(page(operation, listing, cursor, onRefused), (nextCursor) => {
          pages++
          cursor = nextCursor
          return { nextCursor }
        })
      )
      // No further page is begun once the time is up.
      yield* Effect.repeat(nextPage, Schedule.upTo(policy.pages, { duration: total })).pipe(
        Effect.mapError((error) => isMcpError(error) ? error : requester.answered(operation.name, error))
      )
      // A schedule may stop where it likes; a list is whole or it is none.
      if (cursor !== undefined) {
        return yield* (yield* Deadline.isOver(operation.deadline))
          ? requester.failed(operation.name, new TimedOut({ limit: total }))
          : requester.answered(operation.name, new PaginationLoop({ pages }))
      }
      mirrored = listing.mirrored
      return listing.tools
    })

  const headersFor = (
    operation: Operation,
    name: string,
    args: Arguments
  ): Effect.Effect<ReadonlyArray<string> | undefined, McpError> => {
    const parameters = isMirroring ? mirrored.get(name) : undefined
    return parameters === undefined
      ? Effect.undefined
      : Effect.mapError(
        Effect.fromResult(parameterHeaders(parameters, args.value())),
        invalid(operation.name)
      )
  }

  const sendCall = (
    operation: Operation,
    name: string,
    args: Arguments,
    members: string
  ): Effect.Effect<Reply, McpError> =>
    Effect.flatMap(
      headersFor(operation, name, args),
      (headers) => requester.send(operation, { method: "tools/call", members, name, parameterHeaders: headers })
    )

  /**
   * -32020: the tool's annotations have changed, or were never listed. They are listed, and the call is sent once more:
   * revision 2026-07-28, basic/transports/streamable-http, "Client Behavior".
   */
  const callOnce = (
    operation: Operation,
    name: string,
    args: Arguments,
    members: string
  ): Effect.Effect<Outcome, McpError> =>
    Effect.flatMap(sendCall(operation, name, args, members), (reply) => {
      if (!isMirroring || !("error" in reply.response) || reply.response.error.code !== errorCodes.headerMismatch) {
        return requester.outcome(operation, reply)
      }
      return listAll(operation, undefined).pipe(
        Effect.andThen(() => sendCall(operation, name, args, members)),
        Effect.flatMap((again) => requester.outcome(operation, again))
      )
    })

  const decode = (operation: Operation, result: JsonObject): Effect.Effect<Tool.CallResult, McpError> =>
    Effect.mapError(
      Effect.fromResult(Tool.callResultFromWire(result)),
      (detail) => requester.answered(operation.name, new Unreadable({ detail }))
    )

  return {
    listTools: (options) =>
      Effect.andThen(
        capable(list),
        requester.operation(list, { "mcp.method.name": list }, options, (operation) =>
          listAll(operation, options?.onRefused))
      ),
    callTool: (name, given, options) => {
      const title = `tools/call ${name}`
      const args = readArguments(given)
      if (Result.isFailure(args)) return Effect.fail(invalid(title)(args.failure))
      const { success } = args
      const members = `"name":${JSON.stringify(name)},"arguments":${success.text}`
      const attributes = { "mcp.method.name": "tools/call", "gen_ai.tool.name": name }
      return Effect.andThen(
        capable(title),
        requester.operation(title, attributes, options, (operation) =>
          callOnce(operation, name, success, members).pipe(
            Effect.flatMap((first) =>
              first.type === "complete"
                ? Effect.succeed(first.result)
                : InputRounds.run(first.result, policy, (more) => callOnce(operation, name, success, members + more))
            ),
            Effect.mapError((error) =>
              error instanceof InputRequired ? requester.answered(operation.name, error) : error
            ),
            Effect.flatMap((result) => decode(operation, result))
          ))
      )
    }
  }
}
