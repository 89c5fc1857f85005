/**
 * Listing and calling tools.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { McpError } from "../errors/McpError.ts"
import { errorCodes } from "../schema/JsonRpc.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import * as Tool from "../schema/Tool.ts"
import type { ListOptions, Service } from "../services/McpConnection.ts"
import type { McpPolicy } from "../services/McpPolicy.ts"
import type { Reply, Transport } from "../services/Transport.ts"
import { type Arguments, read as readArguments } from "./arguments.ts"
import * as Ask from "./ask.ts"
import { mayMirror, type MirroredParameter, mirroredParameters, parameterHeaders } from "./headers.ts"
import * as Listing from "./listing.ts"
import * as Outputs from "./outputs.ts"
import type { Operation, Outcome, Requester } from "./requester.ts"

const kind: Listing.Kind<Tool.Tool> = {
  method: "tools/list",
  entries: "tools",
  fromWire: Tool.fromWire,
  key: "name"
}

/**
 * The part of a connection that is about tools.
 */
export const make = (
  requester: Requester,
  policy: McpPolicy,
  transport: Transport["Service"]
): Pick<Service, "listTools" | "callTool"> => {
  const { version } = requester.negotiated
  const isMirroring = transport.hasHeaders && ProtocolVersion.isModern(version)

  // What the last listing said is mirrored, by tool.
  let mirrored: ReadonlyMap<string, ReadonlyArray<MirroredParameter>> = new Map()
  const outputs = Outputs.make(policy.validateOutput)

  const listAll = (
    operation: Operation,
    onRefused: ListOptions["onRefused"]
  ): Effect.Effect<ReadonlyArray<Tool.Tool>, McpError> =>
    Effect.suspend(() => {
      const found = new Map<string, ReadonlyArray<MirroredParameter>>()
      const inspect: Listing.Inspect<Tool.Tool> = ({ text }) =>
        mayMirror(text)
          ? ({ inputSchema, name }) => {
            const { parameters, problem, visited } = mirroredParameters(inputSchema)
            if (parameters.length > 0) found.set(name, parameters)
            return { problem, work: visited }
          }
          : undefined
      const listing = Listing.all(kind, requester, policy, operation, onRefused, isMirroring ? inspect : undefined)
      return Effect.map(listing, (tools) => {
        mirrored = found
        outputs.keep(tools.values())
        return [...tools.values()]
      })
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
        (detail) => requester.invalid(operation.name, detail)
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

  const ask = Ask.make(requester, policy)

  return {
    listTools: (options) =>
      Effect.andThen(
        requester.capable(kind.method, "tools"),
        requester.operation(kind.method, { "mcp.method.name": kind.method }, options, (operation) =>
          listAll(operation, options?.onRefused))
      ),
    callTool: (name, given, options) => {
      const title = `tools/call ${name}`
      const args = readArguments(given)
      if (Result.isFailure(args)) return Effect.fail(requester.invalid(title, args.failure))
      const { success } = args
      const isChecked = options?.validateOutput ?? policy.validateOutput
      const members = `"name":${JSON.stringify(name)},"arguments":${success.text}`
      return ask.one({
        title,
        capability: "tools",
        method: "tools/call",
        name,
        members,
        attributes: { "gen_ai.tool.name": name },
        read: Tool.callResultFromWire,
        send: (operation, more) => {
          const call = callOnce(operation, name, success, members + more)
          return isChecked
            ? Effect.andThen(requester.within(operation, outputs.ready(listAll(operation, undefined))), call)
            : call
        },
        check: isChecked ? (result) => outputs.check(name, result) : undefined
      }, options)
    }
  }
}
