/**
 * Listing and calling tools.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { McpError } from "../errors/McpError.ts"
import { isJsonObject } from "../schema/Json.ts"
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
import * as Tasks from "./tasks.ts"
import * as TaskSupport from "./taskSupport.ts"
import * as TaskTools from "./taskTools.ts"

const kind: Listing.Kind<Tool.Tool> = {
  method: "tools/list",
  entries: "tools",
  fromWire: Tool.fromWire,
  key: "name"
}

/**
 * What came of sending a call, and whether it was sent as a task.
 */
interface Sent {
  readonly reply: Reply
  readonly isTask: boolean
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

  const dialect = TaskSupport.dialectOf(requester.negotiated)
  const followTask = dialect && Tasks.follow(requester, policy, dialect)
  const taskTools = dialect === "experiment"
    ? TaskTools.make(requester, (operation) => listAll(operation, undefined))
    : undefined

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
        const listed = [...tools.values()]
        taskTools?.take(listed)
        outputs.keep(listed)
        return listed
      })
    })

  const sendCall = (
    operation: Operation,
    name: string,
    args: Arguments,
    members: string
  ): Effect.Effect<Sent, McpError> => {
    const isTask = taskTools?.has(name) === true
    const send = (headers: ReadonlyArray<string> | undefined): Effect.Effect<Sent, McpError> =>
      Effect.map(
        requester.send(operation, {
          method: "tools/call",
          members: isTask ? members + TaskTools.member(operation) : members,
          name,
          parameterHeaders: headers
        }),
        (reply) => ({ reply, isTask })
      )
    const parameters = isMirroring ? mirrored.get(name) : undefined
    if (parameters === undefined) return send(undefined)
    const headers = parameterHeaders(parameters, args.value())
    return Result.isSuccess(headers)
      ? send(headers.success)
      : Effect.fail(requester.invalid(operation.name, headers.failure))
  }

  const readCall = (operation: Operation, { isTask, reply }: Sent): Effect.Effect<Outcome, McpError> => {
    const read = requester.outcome(operation, reply, dialect === "extension")
    return followTask === undefined
      ? read
      : Effect.flatMap(read, (outcome) => {
        const created = isTask ? outcome.result["task"] : outcome.type === "task" ? outcome.result : undefined
        return isJsonObject(created) ? followTask(operation, created) : Effect.succeed(outcome)
      })
  }

  /**
   * Lists the tools anew where the last listing may be why a call was refused, and says whether the call is to be sent
   * once more. -32020: the tool's annotations have changed, or were never listed: revision 2026-07-28,
   * basic/transports/streamable-http, "Client Behavior".
   */
  const listAgain = (operation: Operation, name: string, { isTask, reply }: Sent): Effect.Effect<boolean, McpError> => {
    const { response } = reply
    if (isMirroring && "error" in response && response.error.code === errorCodes.headerMismatch) {
      return Effect.as(listAll(operation, undefined), true)
    }
    return taskTools !== undefined && TaskTools.mayBeWhy(reply)
      ? Effect.map(taskTools.relearn(operation), () => taskTools.has(name) !== isTask)
      : Effect.succeed(false)
  }

  const callOnce = (
    operation: Operation,
    name: string,
    args: Arguments,
    members: string
  ): Effect.Effect<Outcome, McpError> =>
    Effect.flatMap(sendCall(operation, name, args, members), (sent) => {
      if (!("error" in sent.reply.response)) return readCall(operation, sent)
      return listAgain(operation, name, sent).pipe(
        Effect.flatMap((again) => again ? sendCall(operation, name, args, members) : Effect.succeed(sent)),
        Effect.flatMap((last) => readCall(operation, last))
      )
    })

  const ask = Ask.make(requester, policy)

  return {
    listTools: (options) =>
      requester.missing(kind.method, "tools") ??
        requester.operation(kind.method, { "mcp.method.name": kind.method }, options, (operation) =>
          listAll(operation, options?.onRefused)),
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
          const call = (): Effect.Effect<Outcome, McpError> => callOnce(operation, name, success, members + more)
          if (taskTools === undefined && !isChecked) return call()
          const learnt = taskTools === undefined ? Effect.void : taskTools.learn(operation)
          const ready = isChecked
            ? requester.within(operation, outputs.ready(listAll(operation, undefined)))
            : Effect.void
          // What was learnt decides how it is sent.
          return ready.pipe(Effect.andThen(learnt), Effect.andThen(Effect.suspend(call)))
        },
        check: isChecked ? (result) => outputs.check(name, result) : undefined
      }, options)
    }
  }
}
