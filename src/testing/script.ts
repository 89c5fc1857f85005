/**
 * How a mock server answers: the protocol, without a carrier.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/encoding/Base64"
import { isJsonObject, type JsonObject, parseObject } from "../schema/Json.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import type { Fault } from "./Fault.ts"
import type { Options, Received, ToolDefinition } from "./MockServer.ts"

/**
 * An HTTP response, and how much of it is sent before the connection is closed.
 */
export interface Scripted {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly isCut: boolean
}

/**
 * What a carrier has read off the wire.
 */
export interface Incoming {
  readonly httpMethod: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * A mock server without a carrier.
 */
export interface Script {
  readonly received: Array<Received>
  readonly faults: Map<string, Array<Fault>>
  readonly handle: (incoming: Incoming) => Effect.Effect<Scripted>
}

const json = { "content-type": "application/json" }
const noContent: Scripted = { status: 202, headers: {}, body: "", isCut: false }

const toBlock = (bytes: Uint8Array): JsonObject => ({
  type: "image",
  mimeType: "application/octet-stream",
  data: Encoding.encode(bytes)
})

/**
 * What a plain function returned, as the result of `tools/call`.
 */
const toResult = (value: unknown): JsonObject => {
  if (typeof value === "string") return { content: [{ type: "text", text: value }] }
  if (value instanceof Uint8Array) return { content: [toBlock(value)] }
  if (isJsonObject(value) && (Array.isArray(value["content"]) || value["structuredContent"] !== undefined)) return value
  return { content: [{ type: "text", text: JSON.stringify(value) ?? "" }], structuredContent: value ?? null }
}

const toFailure = (error: unknown): JsonObject => ({
  content: [{ type: "text", text: error instanceof Error ? error.message : String(error) }],
  isError: true
})

const run = (tool: ToolDefinition, args: JsonObject): Effect.Effect<JsonObject> =>
  Effect.suspend(() => {
    const value = tool.call(args)
    return Effect.isEffect(value) ? value as Effect.Effect<unknown, unknown> : Effect.succeed(value)
  }).pipe(
    Effect.map(toResult),
    Effect.catchCause((cause) => Effect.succeed(toFailure(Cause.squash(cause))))
  )

interface RpcFailure {
  readonly code: number
  readonly message: string
}

const invalidParams = (message: string): Effect.Effect<never, RpcFailure> => Effect.fail({ code: -32602, message })

const define = (tool: NonNullable<Options["tools"]>[string]): ToolDefinition =>
  typeof tool === "function" ? { call: tool } : tool

/**
 * The operation that a message belongs to, as errors name it.
 */
const operationOf = (method: string, params: JsonObject): string =>
  method === "tools/call" && typeof params["name"] === "string" ? `tools/call ${params["name"]}` : method

/**
 * Makes a mock server out of its options.
 */
export const make = (options: Options): Script => {
  const version = options.protocol ?? ProtocolVersion.modern[0]
  const isModern = ProtocolVersion.isModern(version)
  const tools = new Map(Object.entries(options.tools ?? {}).map(([name, tool]) => [name, define(tool)]))
  const pageSize = options.pageSize ?? Number.POSITIVE_INFINITY
  const serverInfo = { name: options.name ?? "mock-server", version: "1.0.0" }
  const capabilities = options.capabilities ?? { tools: {} }
  const instructions = options.instructions === undefined ? {} : { instructions: options.instructions }

  const received: Array<Received> = []
  const faults = new Map<string, Array<Fault>>()
  const sessions = new Set<string>()
  let lastSession = 0

  const listed = [...tools].map(([name, definition]) => ({
    name,
    inputSchema: { type: "object" },
    ...definition,
    // JSON leaves it out.
    call: undefined
  }))

  const methods: Readonly<Record<string, (params: JsonObject) => Effect.Effect<JsonObject, RpcFailure>>> = {
    "tools/list": ({ cursor }) => {
      const from = cursor === undefined ? 0 : Number(cursor)
      if (!Number.isInteger(from / pageSize)) return invalidParams("Unknown cursor")
      const to = from + pageSize
      return Effect.succeed({
        tools: listed.slice(from, to),
        ...(to < listed.length ? { nextCursor: String(to) } : {})
      })
    },
    "tools/call": (params) => {
      const tool = tools.get(String(params["name"]))
      const args = isJsonObject(params["arguments"]) ? params["arguments"] : {}
      return tool === undefined ? invalidParams("Unknown tool") : run(tool, args)
    },
    ping: () => Effect.succeed({}),
    ...(isModern
      ? {
        "server/discover": () =>
          Effect.succeed({
            supportedVersions: [version],
            capabilities,
            ...instructions,
            _meta: { "io.modelcontextprotocol/serverInfo": serverInfo }
          })
      }
      : {
        initialize: () => Effect.succeed({ protocolVersion: version, capabilities, serverInfo, ...instructions })
      })
  }

  const openSession = (method: string): Readonly<Record<string, string>> => {
    if (isModern || method !== "initialize") return {}
    const id = `mock-session-${++lastSession}`
    sessions.add(id)
    return { "mcp-session-id": id }
  }

  const envelope = (
    content: JsonObject,
    id: unknown,
    headers: Readonly<Record<string, string>>,
    status = 200
  ): Scripted => {
    const message = JSON.stringify({ jsonrpc: "2.0", id, ...content })
    return options.answers === "sse" && status === 200
      ? {
        status,
        headers: { ...headers, "content-type": "text/event-stream" },
        body: `event: message\ndata: ${message}\n\n`,
        isCut: false
      }
      : { status, headers: { ...headers, ...json }, body: message, isCut: false }
  }

  const error = (id: unknown, code: number, message: string, status: number): Scripted =>
    envelope({ error: { code, message } }, id, {}, status)

  const answer = (message: JsonObject, method: string, params: JsonObject): Effect.Effect<Scripted> => {
    const { id } = message
    const respond = Object.hasOwn(methods, method) ? methods[method] : undefined
    if (respond === undefined) return Effect.succeed(error(id, -32601, "Method not found", isModern ? 404 : 400))
    return Effect.match(respond(params), {
      onFailure: (failure) => envelope({ error: failure }, id, {}),
      onSuccess: (result) =>
        envelope({ result: isModern ? { resultType: "complete", ...result } : result }, id, openSession(method))
    })
  }

  const withFault = (
    fault: Fault | undefined,
    id: unknown,
    well: Effect.Effect<Scripted>
  ): Effect.Effect<Scripted> => {
    switch (fault?._tag) {
      case undefined:
        return well
      case "Delay":
        return Effect.delay(well, fault.duration)
      case "Silence":
        return Effect.never
      case "HalfBody":
        return Effect.map(well, (scripted) => ({ ...scripted, isCut: true }))
      case "WrongId":
        return Effect.succeed(envelope({ result: {} }, 1_000_000_007, {}))
      case "Result":
        return Effect.succeed(envelope({ result: fault.result }, id, {}))
      case "RpcError": {
        const { code, data, message, status } = fault
        const content = { code, message, ...(data === undefined ? {} : { data }) }
        return Effect.succeed(envelope({ error: content }, id, {}, status))
      }
      case "Http":
        return Effect.succeed({ status: fault.status, headers: fault.headers, body: fault.body, isCut: false })
    }
  }

  const nextFault = (operation: string): Fault | undefined => faults.get(operation)?.shift()

  const knowsSession = (headers: Readonly<Record<string, string>>): boolean =>
    isModern || sessions.has(headers["mcp-session-id"] ?? "")

  return {
    received,
    faults,
    handle: ({ body, headers, httpMethod }) =>
      Effect.suspend(() => {
        const message = httpMethod === "POST" ? parseObject(body) : undefined
        const method = typeof message?.["method"] === "string" ? message["method"] : undefined
        const params = isJsonObject(message?.["params"]) ? message["params"] : {}
        const operation = method === undefined ? httpMethod : operationOf(method, params)
        received.push({ httpMethod, operation, method, params, headers, text: body })
        const fault = nextFault(operation)
        if (httpMethod === "DELETE") {
          const known = sessions.delete(headers["mcp-session-id"] ?? "")
          const status = isModern ? 405 : known ? 200 : 404
          return withFault(fault, null, Effect.succeed({ status, headers: {}, body: "", isCut: false }))
        }
        if (message === undefined || method === undefined) {
          return Effect.succeed(error(null, -32600, "Invalid request", 400))
        }
        const { id } = message
        const isOpening = method === "initialize" || method === "server/discover"
        const well = id === undefined
          ? Effect.succeed(noContent)
          : isOpening || knowsSession(headers)
          ? answer(message, method, params)
          : Effect.succeed(error(id, -32001, "Session not found", 404))
        return withFault(fault, id ?? null, well)
      })
  }
}
