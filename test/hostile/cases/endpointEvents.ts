/**
 * The endpoint event of HTTP+SSE, revision 2024-11-05: row 24.
 */
import { assert } from "@effect/vitest"
import type * as Net from "node:net"
import * as Raw from "../../support/rawServer.ts"
import { quotesNoSecret, secret } from "../kit/secret.ts"
import type { Case } from "../kit/suite.ts"
import {
  answer,
  type Bytes,
  chunk,
  drip,
  event,
  head,
  jsonType,
  lastChunk,
  okAnswer,
  openStream,
  pause,
  reset,
  script,
  type Step,
  streamType,
  whole
} from "../kit/wire.ts"

/**
 * What the stream of an HTTP+SSE server begins with, what comes on it instead of the answer to a call, and the status
 * that POST is refused with at the URL.
 */
interface Sse {
  readonly begin: ReadonlyArray<Step>
  readonly called?: (request: Raw.RawRequest) => Bytes
  readonly refusal?: number
}

const legacySse = { legacySse: true }

/**
 * A case at an HTTP+SSE server: GET opens the stream, and everything that is posted is answered on it.
 */
const httpSse = (
  { begin, called = event(okAnswer), refusal = 405 }: Sse,
  { answers, ...given }: Omit<Case, "row">
): Case => {
  let stream: Net.Socket | undefined
  const refuse: Raw.Responder = (socket) => Raw.send(socket, refusal, {})
  const accept: Raw.Responder = (socket) => Raw.send(socket, 202, {})
  const answering = (piece: (request: Raw.RawRequest) => Bytes): Raw.Responder => (socket, request) => {
    if (request.path === "/mcp") return refuse(socket, request)
    accept(socket, request)
    stream?.write(piece(request))
  }
  return {
    row: 24,
    options: legacySse,
    answers: {
      "server/discover": refuse,
      initialize: answering(event(answer(`{"protocolVersion":"2024-11-05","capabilities":{"tools":{}}}`))),
      "notifications/initialized": accept,
      "tools/call": answering(called),
      GET: (socket, request) => {
        stream = socket
        script(...begin)(socket, request)
      },
      ...answers
    },
    ...given
  }
}

/**
 * The event that says where messages go. `PORT` is the server's.
 */
const endpoint = (reference: string) =>
  event(({ headers }) => reference.replaceAll("PORT", headers["host"]!.split(":")[1]!), "event: endpoint\n")

const upToGet = ["server/discover", "initialize", "GET"]

/**
 * Ends at what the stream, or the answer to GET, begins with: nothing is sent after it.
 */
const endsAtGet = (
  name: string,
  outcome: string,
  begin: ReadonlyArray<Step>,
  given: Partial<Case> = {}
): Case => httpSse({ begin }, { name, outcome, act: "connect", sees: upToGet, check: quotesNoSecret, ...given })

// The server is reached at these too, so that it would see what is sent to them.
const sameServer = [
  "http://localhost:PORT/",
  "http://127.0.0.2:PORT/",
  "http://0.0.0.0:PORT/",
  "http://[::ffff:127.0.0.1]:PORT/",
  "//localhost:PORT/",
  "///localhost:PORT/",
  "/\\localhost:PORT/",
  "\\\\localhost:PORT\\",
  "\t//localhost:PORT/",
  "http://127.0.0.1:PORT@localhost:PORT/",
  `http://${secret}@127.0.0.1:PORT/`,
  `http://:${secret}@127.0.0.1:PORT/`,
  `//${secret}@127.0.0.1:PORT/`,
  "https://127.0.0.1:PORT/",
  "ws://127.0.0.1:PORT/",
  "ftp://127.0.0.1:PORT/",
  "blob:http://127.0.0.1:PORT/"
]

const otherPlaces = [
  "http://127.0.0.1/",
  "http://127.0.0.1:1/",
  "//evil.example/",
  "https://evil.example/",
  "http://127.0.0.1.evil.example:PORT/",
  "http://169.254.169.254/latest/meta-data/",
  "javascript:alert(1)//",
  "JavaScript:alert(1)//",
  " javascript:alert(1)//",
  "java\tscript:alert(1)//",
  "data:text/html,",
  "file:///etc/",
  "mailto:a@evil.example?",
  // No reference at all.
  "http://["
]

const endpointsElsewhere = [...sameServer, ...otherPlaces].map((reference) =>
  endsAtGet(`the endpoint ${JSON.stringify(reference)}`, "ConnectionFailed/EgressDenied", [
    openStream,
    endpoint(reference + secret)
  ])
)

const throughGet = [...upToGet.slice(1), "initialize", "notifications/initialized"]

/**
 * Connects over HTTP+SSE and calls the tool. One socket has the stream, the other all messages.
 */
const callOverSse = (name: string, sse: Sse, given: Partial<Case> = {}): Case =>
  httpSse(sse, { name, outcome: "ok", sees: [...throughGet, "tools/call"], dials: 2, ...given })

const atHome = [openStream, endpoint("/messages")]

const postedTo = (path: string) => (_: unknown, server: Raw.RawServer): void => {
  const posted = server.requests.slice(upToGet.length).map((request) => request.path)
  assert.deepStrictEqual(posted, [path, path, path])
}

const endpointsAtHome: ReadonlyArray<Case> = [
  ...([
    ["/messages?session=1", "/messages?session=1"],
    ["messages", "/messages"],
    ["./messages#x", "/messages"],
    ["?session=1", "/mcp?session=1"],
    ["http://127.0.0.1:PORT/messages", "/messages"],
    ["HTTP://127.1:PORT/messages", "/messages"],
    ["//127.0.0.1:PORT/messages", "/messages"],
    ["/messages?to=http://evil.example/", "/messages?to=http://evil.example/"]
  ] as const).map(([reference, path]) =>
    callOverSse(`the endpoint ${reference}`, { begin: [openStream, endpoint(reference)] }, { check: postedTo(path) })
  ),
  ...[400, 404].map((refusal) => callOverSse(`POST is answered ${refusal}`, { begin: atHome, refusal })),
  callOverSse("a comment before the endpoint", { begin: [openStream, chunk(": hi\n\n"), endpoint("/messages")] }),
  callOverSse("another event before the endpoint", {
    begin: [openStream, event(() => `{"jsonrpc":"2.0","method":"notifications/message"}`), endpoint("/messages")]
  }),
  callOverSse("a second endpoint", { begin: [...atHome, endpoint("/others")] }, { check: postedTo("/messages") })
]

const redirected: Raw.Responder = (socket, { path }) =>
  Raw.send(socket, path === "/mcp" ? 405 : 307, { location: "http://evil.example/" })

const streamsWithoutEndpoint: ReadonlyArray<Case> = [
  endsAtGet("no event", "ConnectionFailed/TimedOut", [openStream], { deadline: 200 }),
  endsAtGet("no answer to GET", "ConnectionFailed/TimedOut", [], { deadline: 200 }),
  endsAtGet("comments and no event", "ConnectionFailed/TimedOut", [openStream, drip(chunk(": hi\n\n"), 20)], {
    deadline: 200
  }),
  endsAtGet("comments without end", "ConnectionFailed/BudgetExceeded", [
    openStream,
    drip(chunk(`: ${"x".repeat(8000)}\n\n`), 1)
  ], { budget: { limit: "64 KiB" } }),
  endsAtGet("the stream ends first", "ConnectionFailed/Unreachable", [openStream, lastChunk]),
  endsAtGet("the stream ends without the endpoint's blank line", "ConnectionFailed/Unreachable", [
    openStream,
    chunk("event: endpoint\ndata: /messages\n"),
    lastChunk
  ]),
  endsAtGet("the stream breaks first", "ConnectionFailed/Unreachable", [openStream, pause(1), reset]),
  endsAtGet("GET is answered with JSON", "ConnectionFailed/ProtocolViolation", [whole(200, jsonType, "{}")]),
  endsAtGet("GET is answered 405", "ConnectionFailed/HttpStatus", [whole(405, undefined)]),
  endsAtGet("GET is answered 401", "Unauthorized", [whole(401, undefined)]),
  endsAtGet("GET is redirected", "ConnectionFailed/HttpStatus", [
    head(307, { location: `http://localhost/${secret}`, "content-length": "0" })
  ]),
  endsAtGet("a stream that is compressed", "ConnectionFailed/ProtocolViolation", [
    head(200, { "content-type": streamType, "content-encoding": "gzip", "transfer-encoding": "chunked" }),
    endpoint("/messages")
  ])
]

const afterTheEndpoint: ReadonlyArray<Case> = [
  callOverSse("the endpoint redirects elsewhere", { begin: atHome }, {
    answers: { initialize: redirected },
    act: "connect",
    sees: [...upToGet, "initialize"],
    outcome: "ConnectionFailed/HttpStatus"
  }),
  callOverSse("a second endpoint, elsewhere, instead of an answer", {
    begin: atHome,
    called: endpoint("http://localhost:PORT/messages")
  }, { outcome: "ConnectionFailed/EgressDenied", check: postedTo("/messages") }),
  callOverSse("a comment instead of an answer", { begin: atHome, called: () => chunk(": hi\n\n") }, {
    deadline: 200,
    outcome: "ConnectionFailed/TimedOut"
  }),
  callOverSse("the stream ends instead of an answer", { begin: atHome, called: () => lastChunk }, {
    outcome: "ConnectionFailed/Unreachable"
  })
]

const noGet: ReadonlyArray<Case> = [
  ...[400, 404, 405].map((refusal) =>
    httpSse({ begin: atHome, refusal }, {
      name: `not asked for, and POST is answered ${refusal}`,
      options: {},
      act: "connect",
      sees: ["server/discover", "initialize"],
      outcome: "ConnectionFailed/HttpStatus",
      check: ({ reason }) => assert.strictEqual(reason.status, refusal)
    })
  ),
  ...([[500, "ConnectionFailed/HttpStatus"], [401, "Unauthorized"], [429, "ConnectionFailed/HttpStatus"]] as const)
    .map(([status, outcome]) =>
      httpSse({ begin: atHome }, {
        name: `asked for, and initialize is answered ${status}`,
        answers: { initialize: (socket) => Raw.send(socket, status, {}) },
        act: "connect",
        sees: ["server/discover", "initialize"],
        outcome
      })
    ),
  ...(["2026-07-28", "2025-11-25"] as const).map((speaks): Case => ({
    row: 24,
    name: `asked for, at a server of ${speaks}`,
    speaks,
    options: legacySse,
    outcome: "ok"
  }))
]

export const endpointEvents: ReadonlyArray<Case> = [
  ...endpointsElsewhere,
  ...endpointsAtHome,
  ...streamsWithoutEndpoint,
  ...afterTheEndpoint,
  ...noGet
]
