/**
 * Servers whose one tool is a task, told state by state.
 */
import * as Raw from "./rawServer.ts"

export const id = "786512e2-9e0d-44bd-8f29-789f320fe840"

export const extension = "io.modelcontextprotocol/tasks"

const capabilities = { tools: {}, extensions: { [extension]: {} } }

export const legacyCapabilities = { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }

const common = {
  taskId: id,
  createdAt: "2026-07-28T10:30:00Z",
  lastUpdatedAt: "2026-07-28T10:40:00Z"
}

/**
 * A task of the extension, and of the experiment of 2025-11-25.
 */
export const task = (status: string, more: object = {}) => ({
  ...common,
  status,
  ttlMs: 60_000,
  pollIntervalMs: 0,
  ...more
})

export const legacyTask = (status: string, more: object = {}) => ({
  ...common,
  status,
  ttl: 60_000,
  pollInterval: 0,
  ...more
})

export const content = (text: string) => ({ content: [{ type: "text", text }] })

/**
 * Answers with one result after the other, and goes on with the last.
 */
export const states = (...results: ReadonlyArray<unknown>): Raw.Responder => (socket, request) =>
  Raw.sendResult(socket, request, results[Math.min(request.nth, results.length - 1)])

export const fails = (code: number, message: string): Raw.Responder => (socket, request) =>
  Raw.sendError(socket, request, { code, message })

export const ok: Raw.Responder = (socket, request) => Raw.sendResult(socket, request, { resultType: "complete" })

/**
 * A server of 2026-07-28 whose call is answered with a task.
 */
export const modern = (replaced: Readonly<Record<string, Raw.Responder>>): Raw.Responder =>
  Raw.modern({
    "server/discover": (socket, request) => Raw.sendResult(socket, request, { ...Raw.discoverResult, capabilities }),
    "tools/call": states({ resultType: "task", ...task("working") }),
    "tasks/cancel": ok,
    "tasks/update": ok,
    ...replaced
  })

export const listing = (taskSupport: unknown): Raw.Responder => (socket, request) =>
  Raw.sendResult(socket, request, {
    tools: [{ name: "t", inputSchema: { type: "object" }, execution: { taskSupport } }]
  })

/**
 * A server of 2025-11-25 whose tool has to be called as a task.
 */
export const legacy = (
  replaced: Readonly<Record<string, Raw.Responder>>,
  declared: object = legacyCapabilities
): Raw.Responder =>
  Raw.legacy({
    initialize: (socket, request) =>
      Raw.sendResult(socket, request, {
        protocolVersion: "2025-11-25",
        capabilities: declared,
        serverInfo: { name: "raw", version: "1" }
      }),
    "tools/list": listing("required"),
    "tools/call": (socket, request) =>
      request.message.params.task === undefined
        ? Raw.sendError(socket, request, { code: -32601, message: "requires task augmentation" })
        : Raw.sendResult(socket, request, { task: legacyTask("working") }),
    "tasks/get": states(legacyTask("completed")),
    "tasks/result": states(content("done")),
    "tasks/cancel": ok,
    "notifications/cancelled": (socket) => Raw.send(socket, 202, {}),
    ...replaced
  })

/**
 * The requests of one method.
 */
export const asked = (server: Raw.RawServer, method: string) =>
  server.requests.filter(({ message }) => message.method === method)
