import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { McpConnection, McpError } from "../../src/index.ts"
import {
  all,
  type Answer,
  answerJson,
  bytes,
  connect,
  cuts,
  deep,
  eras,
  forAll,
  int,
  join,
  json,
  list,
  map,
  mostly,
  object,
  oneOf,
  outcome,
  pick,
  quoted,
  rarely,
  serverOf,
  text,
  timeout
} from "./support.ts"

// Any answer at all: what comes of it is a result or one of our five errors, never a defect, a wait, or a secret told.

const status = mostly(
  pick(200),
  pick(202, 204, 301, 307, 400, 401, 403, 404, 405, 422, 429, 500, 501, 503, 999),
  int(200, 999)
)

const given = map(
  all({
    "mcp-session-id": rarely(text),
    "retry-after": rarely(oneOf(text, pick("1", "-1", "999999999999", "Wed, 21 Oct 2015 07:28:00 GMT"))),
    "www-authenticate": rarely(oneOf(text, pick("Bearer realm=\"x\", error=\"y\""))),
    "content-length": rarely(oneOf(text, pick("0", "5", "1e12", "999999999999"))),
    "content-encoding": rarely(pick("gzip", "identity")),
    location: rarely(oneOf(text, pick("/", "https://mcp.example/x", "file:///x")))
  }),
  (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""))
)
const headers = mostly<Readonly<Record<string, string>>>(pick({}), given)

const contentType = (usual: string) =>
  mostly<string | ReadonlyArray<string>>(
    pick(usual),
    pick(`${usual.toUpperCase()} ; charset=UTF-8`, "", "text/html", "application/json", "text/event-stream"),
    pick(["application/json", "text/html"]),
    text
  )

const answers = (usual: string, body: ReturnType<typeof oneOf<string | Buffer>>) =>
  map(
    all([status, headers, contentType(usual), body, cuts]),
    ([code, more, type, content, offsets]): Answer => ({
      status: code,
      headers: { ...more, "content-type": type },
      body: content,
      cuts: offsets
    })
  )

const block = object({
  type: pick("\"text\"", "\"image\"", "\"resource\""),
  text: quoted,
  data: pick("\"AA==\"", "\"!\""),
  mimeType: pick("\"a/b\"")
})

const tool = object({ name: oneOf(pick("\"t\"", "\"u\""), quoted), inputSchema: pick("{\"type\":\"object\"}") })

const version = pick("\"2026-07-28\"", "\"2025-11-25\"", "\"2025-03-26\"", "\"9999\"")

const result = object({
  supportedVersions: list(version),
  protocolVersion: version,
  capabilities: pick("{\"tools\":{}}"),
  serverInfo: pick("{\"name\":\"s\",\"version\":\"1\"}"),
  instructions: quoted,
  tools: list(tool),
  nextCursor: rarely(oneOf(pick("\"\"", "\"a\""), quoted)),
  content: list(block),
  isError: pick("true"),
  structuredContent: json(1),
  resultType: rarely(oneOf(pick("\"complete\"", "\"input_required\""), quoted)),
  inputRequests: rarely(pick("{}", "{\"a\":{\"method\":\"roots/list\"}}", "{\"a\":null}")),
  requestState: rarely(quoted)
})

const error = object({
  code: pick("-32601", "-32020", "-32021", "-32022", "1.5", "1e400"),
  message: quoted,
  data: oneOf(json(2), object({ supported: list(version) }))
})

const message = object({
  jsonrpc: pick("\"2.0\""),
  id: mostly(pick("$ID"), pick("null", "\"$ID\"", "0", "\"\"")),
  result,
  error: rarely(error),
  method: rarely(pick("\"notifications/progress\"", "\"ping\"", "\"\"", "5")),
  params: rarely(json(1))
})

const failing = object({ jsonrpc: pick("\"2.0\""), id: pick("$ID", "null"), error })

const messages = mostly(message, failing, json(3), list(message, 3))

const lineEnd = pick("\n", "\r\n", "\r")
const line = oneOf(
  map(messages, (value) => `data: ${value}`),
  map(messages, (value) => `data: ${value}\n`),
  map(text, (value) => `data:${value}`),
  map(text, (value) => `id: ${value}`),
  map(oneOf(text, pick("0", "-1", "1e3", "99999999999")), (value) => `retry: ${value}`),
  map(oneOf(text, pick("message", "ping")), (value) => `event: ${value}`),
  text,
  pick("", ":", "data", "id", "id: 1", "\ufeff")
)
const events = join(map(all([line, lineEnd, oneOf(lineEnd, pick(""))]), (parts) => parts.join("")), 8)

const someBytes = oneOf<string | Buffer>(
  bytes,
  text,
  // Good bytes with bad ones in the middle of them.
  map(
    all([message, bytes, int(0, 500)]),
    ([good, bad, at]) => Buffer.concat([Buffer.from(good.slice(0, at)), bad, Buffer.from(good.slice(at))])
  ),
  // A good beginning.
  map(all([message, int(0, 500)]), ([good, at]) => good.slice(0, at))
)

const kinds = {
  "any bytes as JSON": answers("application/json", someBytes),
  "any text as an event stream": answers("text/event-stream", oneOf<string | Buffer>(events, someBytes)),
  "anything like a JSON-RPC message": answers("application/json", messages)
}

const uses: Readonly<Record<string, (connection: McpConnection.Service) => Effect.Effect<unknown, McpError.McpError>>> =
  {
    listTools: (connection) => connection.listTools(),
    // Texts and bytes are read when they are asked for.
    callTool: (connection) =>
      Effect.tap(
        connection.callTool("t", { a: 1 }),
        ({ content, text: joined }) => Effect.sync(() => joined.length + JSON.stringify(content).length)
      )
  }

for (const [kind, answer] of Object.entries(kinds)) {
  describe(`${kind} is an answer or a typed error`, () => {
    const protocol = pick("auto", "legacy", "2026-07-28", "2025-03-26")

    it.live(
      "to connect",
      () =>
        forAll(
          all([answer, answer, protocol]),
          ([first, then, wanted]) =>
            outcome(connect(({ method }) => method === "server/discover" ? first : then, wanted))
        ),
      timeout
    )

    for (const [name, use] of Object.entries(uses)) {
      it.live(`to ${name}`, () =>
        forAll(
          all([pick(...eras), answer, answer]),
          ([era, first, then]) => {
            let asked = 0
            const server = serverOf(era, () => asked++ === 0 ? first : then)
            return outcome(Effect.flatMap(connect(server), use))
          }
        ), timeout)
    }
  })
}

describe("what is nested 100,000 deep", () => {
  const holding = (members: string): string => `{"jsonrpc":"2.0","id":$ID,"result":{${members}}}`
  const failure = (code: number, data: string): string =>
    `{"jsonrpc":"2.0","id":$ID,"error":{"code":${code},"message":"m","data":${data}}}`
  const places = [
    "$DEEP",
    "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":$DEEP}",
    "{\"jsonrpc\":$DEEP,\"id\":$DEEP,\"method\":$DEEP,\"params\":$DEEP}",
    failure(-32000, "$DEEP"),
    failure(-32022, "{\"supported\":$DEEP}"),
    holding("\"tools\":[$DEEP],\"content\":[$DEEP]"),
    holding(
      "\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"properties\":$DEEP,\"x\":$DEEP}}],\"structuredContent\":$DEEP"
    ),
    holding(
      "\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"x-mcp-header\":$DEEP}}],\"structuredContent\":{\"a\":$DEEP}"
    ),
    holding("\"resultType\":$DEEP"),
    holding("\"resultType\":\"input_required\",\"inputRequests\":{\"a\":$DEEP}"),
    holding(
      "\"supportedVersions\":[\"2026-07-28\",$DEEP],\"capabilities\":{\"tools\":$DEEP},\"_meta\":$DEEP,\"content\":[]"
    )
  ]
  for (const place of places) {
    it.live(`ends in a result or a typed error that can be logged: ${place}`, () => {
      const body = place.replaceAll("$DEEP", () => deep(100_000))
      const streamed = { status: 200, headers: { "content-type": "text/event-stream" }, body: `data: ${body}\n\n` }
      const servers = [answerJson(body), streamed].flatMap((answer) => [
        () => answer,
        serverOf("2026-07-28", () => answer),
        serverOf("2025-11-25", () => answer)
      ])
      return Effect.forEach(
        servers,
        (server) => Effect.forEach(Object.values(uses), (use) => outcome(Effect.flatMap(connect(server), use)))
      )
    }, timeout)
  }
})
