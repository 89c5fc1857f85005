/**
 * The methods of the protocol, with good answers to them, for whatever carries them; and what docs/protocol.md says of
 * them.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type McpConnection, type McpError, ProtocolVersion } from "../../src/index.ts"
import * as Features from "./features.ts"

export type Revision = ProtocolVersion.ProtocolVersion

export const legacy: ReadonlyArray<Revision> = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
export const revisions: ReadonlyArray<Revision> = [...legacy, "2026-07-28"]

export const capabilities = {
  completions: {},
  logging: {},
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  tools: { listChanged: true }
}

export const serverInfo = { name: "raw", version: "1" }

/**
 * A result as a revision has it; a modern one may be kept.
 */
export const complete = (revision: Revision, result: object): object =>
  ProtocolVersion.isModern(revision)
    ? { resultType: "complete", ttlMs: 60_000, cacheScope: "private", ...result }
    : result

/**
 * A method that the client asks for.
 */
export interface Asked {
  readonly method: string
  readonly at: ReadonlyArray<Revision>
  readonly ask: (connection: McpConnection.Service) => Effect.Effect<unknown, McpError.McpError>
  readonly params: object
  /**
   * What modern requests name in a header.
   */
  readonly name?: string
  readonly result: object
  readonly brings: unknown
}

const tool = {
  name: "t",
  title: "T",
  inputSchema: { type: "object" },
  outputSchema: { type: "object", properties: { a: { type: "integer" } } },
  annotations: { readOnlyHint: true },
  icons: [{ src: "https://a.example/i.png" }]
}
const prompt = { name: "p", arguments: [{ name: "a", required: true }] }
const resource = { uri: "a:1", name: "r" }
const template = { uriTemplate: "a:{id}", name: "r" }
const completion = { values: ["typescript"], total: 1, hasMore: false }
const ref = { type: "ref/prompt", name: "p" } as const
const argument = { name: "a", value: "ty" }

export const asked: ReadonlyArray<Asked> = [
  {
    method: "tools/list",
    at: revisions,
    ask: (connection) => connection.listTools(),
    params: {},
    result: { tools: [tool] },
    brings: [tool]
  },
  {
    method: "tools/call",
    at: revisions,
    ask: (connection) => Effect.map(connection.callTool("t", { a: 1 }), ({ isError, text }) => ({ isError, text })),
    params: { name: "t", arguments: { a: 1 } },
    name: "t",
    result: { content: [{ type: "text", text: "ok" }], structuredContent: { a: 1 } },
    brings: { isError: false, text: "ok" }
  },
  {
    method: "prompts/list",
    at: revisions,
    ask: (connection) => connection.listPrompts(),
    params: {},
    result: { prompts: [prompt] },
    brings: [prompt]
  },
  {
    method: "prompts/get",
    at: revisions,
    ask: (connection) => Effect.map(connection.getPrompt("p", { a: "1" }), ({ messages }) => messages),
    params: { name: "p", arguments: { a: "1" } },
    name: "p",
    result: { messages: [{ role: "user", content: { type: "text", text: "hi" } }] },
    brings: [{ role: "user", content: { type: "text", text: "hi" } }]
  },
  {
    method: "resources/list",
    at: revisions,
    ask: (connection) => connection.listResources(),
    params: {},
    result: { resources: [resource] },
    brings: [resource]
  },
  {
    method: "resources/templates/list",
    at: revisions,
    ask: (connection) => connection.listResourceTemplates(),
    params: {},
    result: { resourceTemplates: [template] },
    brings: [template]
  },
  {
    method: "resources/read",
    at: revisions,
    ask: (connection) => connection.readResource("a:1"),
    params: { uri: "a:1" },
    name: "a:1",
    result: { contents: [{ uri: "a:1", text: "hi" }] },
    brings: [{ uri: "a:1", text: "hi" }]
  },
  {
    method: "completion/complete",
    at: revisions,
    ask: (connection) => connection.complete(ref, argument),
    params: { ref, argument },
    result: { completion },
    brings: completion
  },
  {
    method: "logging/setLevel",
    at: legacy,
    ask: (connection) => connection.setLogLevel("warning"),
    params: { level: "warning" },
    result: {},
    brings: undefined
  }
]

/**
 * What a server announces, and what comes of it.
 */
export const announced: ReadonlyArray<readonly [method: string, params: object, heard: object]> = [
  ["notifications/tools/list_changed", {}, { _tag: "ToolListChanged" }],
  ["notifications/prompts/list_changed", {}, { _tag: "PromptListChanged" }],
  ["notifications/resources/list_changed", {}, { _tag: "ResourceListChanged" }],
  ["notifications/resources/updated", { uri: "a:1" }, { _tag: "ResourceUpdated", uri: "a:1" }],
  ["notifications/message", { level: "info", data: 1 }, { _tag: "LoggingMessage", level: "info", data: 1 }]
]

/**
 * What a server asks, a legacy one by a request and a modern one in its answer, and what `Features.everything` answers.
 */
export interface Question {
  readonly method: string
  /**
   * What tells it from others of its method.
   */
  readonly kind?: string
  readonly at: ReadonlyArray<Revision>
  readonly params: object
  readonly answer: object
}

/**
 * Those that tell forms from pages, and take tools in sampling.
 */
export const withModes: ReadonlyArray<Revision> = ["2025-11-25", "2026-07-28"]

export const questions: ReadonlyArray<Question> = [
  { method: "roots/list", at: revisions, params: {}, answer: { roots: Features.roots } },
  { method: Features.sampling, at: revisions, params: Features.samplingParams, answer: Features.sampled },
  {
    method: Features.sampling,
    kind: ", with tools",
    at: withModes,
    params: { ...Features.samplingParams, tools: Features.tools, toolChoice: { mode: "auto" } },
    answer: Features.sampled
  },
  {
    method: Features.elicitation,
    at: ["2025-06-18", ...withModes],
    params: Features.formParams,
    answer: Features.filledIn
  },
  {
    method: Features.elicitation,
    kind: ", by URL",
    at: withModes,
    params: Features.pageParams,
    answer: { action: "accept" }
  }
]

/**
 * What `Features.everything` declares at a revision, with roots that change or not.
 */
export const declared = (revision: Revision, listChanged: boolean): object => {
  const hasModes = withModes.includes(revision)
  return {
    ...(hasModes ? { elicitation: { form: {}, url: {} } } : revision === "2025-06-18" ? { elicitation: {} } : {}),
    sampling: hasModes ? { tools: {} } : {},
    roots: listChanged && ProtocolVersion.isLegacy(revision) ? { listChanged } : {}
  }
}

/**
 * The `_meta` of a modern request.
 */
export const assertMeta = (meta: any, revision: Revision, declares: object): void => {
  assert.strictEqual(meta["io.modelcontextprotocol/protocolVersion"], revision)
  assert.isString(meta["io.modelcontextprotocol/clientInfo"].name)
  assert.isString(meta["io.modelcontextprotocol/clientInfo"].version)
  assert.deepStrictEqual(meta["io.modelcontextprotocol/clientCapabilities"], declares)
}

/**
 * Parameters without what is about the request itself.
 */
export const paramsOf = ({ params }: { readonly params?: any }): object => {
  const { _meta, ...others } = params
  return others
}

export const root = fileURLToPath(new URL("../..", import.meta.url))

/**
 * The cells of docs/protocol.md.
 */
export const rows: ReadonlyArray<ReadonlyArray<string>> = readFileSync(join(root, "docs", "protocol.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()))

const transports: ReadonlySet<string> = new Set(["HTTP", "stdio"])

/**
 * What docs/protocol.md says of the tests of a file: method, transport and revision.
 */
export const said = (file: string): ReadonlyArray<string> =>
  rows.filter(([, transport = ""]) => transports.has(transport)).flatMap(([method = "", transport, ...cells]) =>
    revisions.filter((_, index) => cells[index]?.includes(`(../test/${file})`))
      .map((revision) => `${method.replaceAll("`", "")} over ${transport} at ${revision}`)
  )
