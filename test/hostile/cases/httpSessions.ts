/**
 * HTTP: row 16, sessions.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { McpConnection } from "../../../src/index.ts"
import type { RawRequest, RawServer, Responder } from "../../support/rawServer.ts"
import {
  also,
  broken,
  type Expected,
  httpStatus,
  okText,
  refused,
  rpcError,
  timedOut,
  violation
} from "../kit/outcomes.ts"
import type { Case } from "../kit/suite.ts"
import { first, initialized, initializing, overTls, type Socket } from "../kit/variants.ts"
import {
  answer,
  chunk,
  chunkedHead,
  drip,
  end,
  flood,
  head,
  json,
  jsonType,
  okAnswer,
  reset,
  script,
  type Step,
  streamType,
  turn,
  whole,
  wholeWith
} from "../kit/wire.ts"

const row = 16
const okJson = script(json(okAnswer))
const terabyte = "1000000000000"
const MiB = 2 ** 20

const sessionsOf = ({ requests }: RawServer) => requests.map(({ headers }) => headers["mcp-session-id"])

/**
 * The sessions that requests named, one after the other from the notification on.
 */
const naming = (expected: Expected, ...sessions: ReadonlyArray<string | undefined>): Expected =>
  also(expected, (_, server) => assert.deepStrictEqual(sessionsOf(server), [undefined, undefined, ...sessions]))

const namingNone = (expected: Expected): Expected =>
  also(expected, (_, server) => assert.isTrue(sessionsOf(server).every((session) => session === undefined)))

const legacy = (name: string, rest: Omit<Case, "row" | "name" | "speaks">): Case => ({
  row,
  name,
  speaks: "2025-11-25",
  ...rest
})

/**
 * The good answer to `initialize`, with this session, or with none.
 */
const opening = (...ids: ReadonlyArray<string>): Responder => {
  const headers = ids.length === 0 ? {} : { "mcp-session-id": ids }
  return script((request) => wholeWith(200, { "content-type": jsonType, ...headers }, initialized(request)))
}

const errorText = (id: string) => `{"jsonrpc":"2.0",${id}"error":{"code":-32000,"message":"Session not found"}}`

const ownError = ({ message }: RawRequest): string => errorText(`"id":${message.id},`)

/**
 * How servers say that they have forgotten a session.
 */
const forgetting: Readonly<Record<string, readonly [Socket, ...steps: ReadonlyArray<Step>]>> = {
  "404": ["kept", whole(404, undefined)],
  "404 of text": ["kept", whole(404, "text/plain", "Session not found")],
  "404 of HTML": ["kept", whole(404, "text/html", "<html>")],
  "404 of an error": ["kept", json(ownError, 404)],
  "404 of an error with id null": ["kept", whole(404, jsonType, errorText(`"id":null,`))],
  "404 of JSON that is no JSON-RPC": ["kept", whole(404, jsonType, `{"error":"Session not found"}`)],
  "404 of JSON that is none": ["kept", whole(404, jsonType, "Session not found")],
  "404 of the good answer": ["kept", json(okAnswer, 404)],
  "404 under Connection: close": ["closed", head(404, { connection: "close", "content-length": "0" }), end],
  "404 that only a close would end": ["closed", head(404)],
  "404 of text without end": ["closed", chunkedHead("text/plain", 404), flood(chunk("x".repeat(32_768)))],
  "404 of an event stream without end": ["closed", chunkedHead(streamType, 404), flood(chunk(": hi\n".repeat(8000)))],
  "404 of JSON without end": ["closed", chunkedHead(jsonType, 404), flood(chunk("[".repeat(32_768)))],
  "404 of a terabyte of JSON": ["closed", head(404, { "content-type": jsonType, "content-length": terabyte })],
  "404 of JSON that never comes": ["closed", head(404, { "content-type": jsonType, "content-length": "9" })],
  "404 of JSON, a byte every 20 ms": ["closed", chunkedHead(jsonType, 404), drip(chunk("["), 20)],
  "404 of JSON that is cut short": ["closed", head(404, { "content-type": jsonType, "content-length": "9" }), "{", end],
  "404 of JSON that is reset": [
    "closed",
    head(404, { "content-type": jsonType, "content-length": "9" }),
    "{",
    turn,
    reset
  ],
  "404 of gzip": ["kept", wholeWith(404, { "content-type": jsonType, "content-encoding": "gzip" }, "x")],
  "400 of an error with id null": ["kept", whole(400, jsonType, errorText(`"id":null,`))],
  "400 of an error with id \"\"": ["kept", whole(400, jsonType, errorText(`"id":"",`))],
  "400 of an error without an id": ["kept", whole(400, jsonType, errorText(""))]
}

const openedAnew = ["tools/call", "initialize", "notifications/initialized", "tools/call"]

const forgotten: ReadonlyArray<Case> = Object.entries(forgetting).flatMap(([what, [socket, ...steps]]) => [
  legacy(`forgotten once: ${what}`, {
    answers: { "tools/call": first(script(...steps), okJson) },
    sees: openedAnew,
    dials: socket === "closed" ? 2 : 1,
    ...naming(okText, "s1", "s1", undefined, "s2", "s2", "s2")
  }),
  legacy(`forgotten each time: ${what}`, {
    answers: { "tools/call": script(...steps) },
    sees: openedAnew,
    dials: socket === "closed" ? 3 : 1,
    ...naming({ outcome: "ConnectionFailed/SessionExpired" }, "s1", "s1", undefined, "s2", "s2", "s2")
  })
])

const forget = script(whole(404, undefined))

/**
 * Calls twice, one after the other.
 */
const twice = (connection: McpConnection.Service) => Effect.andThen(connection.callTool("t"), connection.callTool("t"))

/**
 * Answers once so many requests have come.
 */
const together = (count: number, respond: Responder): Responder => {
  const waiting: Array<() => void> = []
  return (socket, request) => {
    waiting.push(() => respond(socket, request))
    if (waiting.length === count) waiting.forEach((each) => each())
  }
}

const manyCalls = Array.from({ length: 20 }, () => "tools/call")
const forgetTogether = together(manyCalls.length, forget)

const page = (tool: string, next?: string) =>
  script(
    json(
      answer(`{"tools":[{"name":"${tool}","inputSchema":{"type":"object"}}]${next ? `,"nextCursor":"${next}"` : ""}}`)
    )
  )

const forgottenOnce = legacy("forgotten once", {
  answers: { "tools/call": first(forget, okJson) },
  sees: openedAnew,
  ...okText
})

const inTheMiddle: ReadonlyArray<Case> = [
  legacy("forgotten once: a listing", {
    answers: { "tools/list": first(forget, page("a")) },
    act: "list",
    sees: ["tools/list", "initialize", "notifications/initialized", "tools/list"],
    outcome: "ok",
    check: (tools) => assert.lengthOf(tools, 1)
  }),
  legacy("forgotten between two pages of a listing", {
    answers: {
      "tools/list": (socket, request) => {
        const respond = request.message.params.cursor === undefined
          ? page("a", "2")
          : request.nth === 1
          ? forget
          : page("b")
        respond(socket, request)
      }
    },
    act: "list",
    sees: ["tools/list", "tools/list", "initialize", "notifications/initialized", "tools/list"],
    outcome: "ok",
    check: (tools) => assert.deepStrictEqual(tools.map(({ name }: { name: string }) => name), ["a", "b"])
  }),
  legacy("forgotten under two calls, one after the other", {
    answers: { "tools/call": (socket, request) => (request.nth % 2 === 0 ? forget : okJson)(socket, request) },
    act: twice,
    sees: [...openedAnew, ...openedAnew],
    ...naming(okText, "s1", "s1", undefined, "s2", "s2", "s2", undefined, "s3", "s3", "s3")
  }),
  legacy("forgotten under twenty calls at once", {
    answers: {
      "tools/call": (socket, request) =>
        (request.headers["mcp-session-id"] === "s1" ? forgetTogether : okJson)(socket, request)
    },
    act: (connection) => Effect.all(manyCalls.map(() => connection.callTool("t")), { concurrency: "unbounded" }),
    sees: [...manyCalls, "initialize", "notifications/initialized", ...manyCalls],
    dials: manyCalls.length,
    outcome: "ok",
    check: (results) => assert.isTrue(results.every(({ text }: { text: string }) => text === "ok"))
  }),
  ...(["2025-06-18", "2025-03-26"] as const).map((speaks): Case => ({
    ...forgottenOnce,
    name: `${speaks}: forgotten once`,
    speaks
  })),
  overTls(forgottenOnce),
  ...([
    ["401", 401, refused(401)],
    ["403", 403, refused(403)],
    ["400 of text", 400, httpStatus(400)],
    ["405", 405, httpStatus(405)],
    ["410", 410, httpStatus(410)],
    ["500", 500, httpStatus(500)]
  ] as const).map(([what, status, expected]) =>
    legacy(`not forgotten: ${what}`, {
      answers: { "tools/call": script(whole(status, "text/plain", "no")) },
      ...naming(expected, "s1", "s1", "s1")
    })
  ),
  legacy("not forgotten: 400 of an error with its own id", {
    answers: { "tools/call": script(json(ownError, 400)) },
    ...rpcError(400, -32000)
  }),
  legacy("not forgotten: 500 of an error with id null", {
    answers: { "tools/call": script(whole(500, jsonType, errorText(`"id":null,`))) },
    ...rpcError(500, -32000)
  }),
  legacy("the id of a forgotten session is not quoted", {
    answers: { initialize: opening("s3cr3t"), "tools/call": forget },
    sees: openedAnew,
    ...also(
      { outcome: "ConnectionFailed/SessionExpired" },
      (error) => assert.notInclude(`${error.message}${error.stack}${JSON.stringify(error)}`, "s3cr3t")
    )
  })
]

/**
 * A session that is forgotten, and whose successor is not had: `initialize` is answered so the second time.
 */
const notOpened = (name: string, again: Responder, expected: Expected, dials = 1): Case =>
  legacy(`forgotten, and not opened anew: ${name}`, {
    answers: { initialize: first(opening("s1"), again), "tools/call": forget },
    sees: ["tools/call", "initialize"],
    dials,
    ...expected
  })

const otherVersion = (request: RawRequest): string => initialized(request).replace("2025-11-25", "2025-06-18")

const successors: ReadonlyArray<Case> = [
  notOpened("401", script(whole(401, undefined)), refused(401)),
  notOpened("404", script(whole(404, undefined)), httpStatus(404)),
  notOpened("500", script(whole(500, undefined)), httpStatus(500)),
  notOpened("an error", script(json(ownError)), rpcError(200, -32000)),
  notOpened("HTML", script(whole(200, "text/html", "<html>")), violation(/content type/)),
  notOpened("an id with a space", opening("s 2"), violation(/session id/)),
  notOpened(
    "another revision",
    script((request) => wholeWith(200, { "content-type": jsonType, "mcp-session-id": "s2" }, otherVersion(request))),
    naming({ outcome: "ConnectionFailed/UnsupportedVersion" }, "s1", "s1", undefined, "s2")
  ),
  notOpened("reset", script(reset), broken, 2),
  notOpened("no answer at all", () => {}, timedOut(150), 2),
  legacy("forgotten, and its successor is forgotten by the notification", {
    answers: { "notifications/initialized": first(script(whole(202, undefined)), forget), "tools/call": forget },
    sees: ["tools/call", "initialize", "notifications/initialized"],
    ...httpStatus(404)
  }),
  legacy("forgotten, and its successor has no id", {
    answers: { initialize: first(opening("s1"), opening()), "tools/call": first(forget, okJson) },
    sees: openedAnew,
    sessionless: true,
    ...naming(okText, "s1", "s1", undefined, undefined, undefined)
  })
]

const malformed = violation(/session id|^malformed HTTP/)

/**
 * An answer that is Latin-1 from end to end.
 */
const openingInLatin1: Responder = script((request) => {
  const text = wholeWith(200, { "content-type": jsonType, "mcp-session-id": "\u00e9" }, initialized(request)).toString()
  return Buffer.from(text, "latin1")
})

const ids: ReadonlyArray<Case> = [
  ...Object.entries({
    "with a space": "s 1",
    "with a tab": "s\t1",
    "with an escape": "s\u001b1",
    "with U+0001": "\u0001",
    "with U+007F": "s\u007f",
    "with NUL": "s\0",
    "with a bare CR": "s\r1",
    "beyond ASCII, in UTF-8": "s\u00fc",
    "of an emoji": "\u{1f600}",
    "that is empty": "",
    "of 8 KiB": "s".repeat(8192),
    "of 1,025 characters": "s".repeat(1025)
  }).map(([what, id]): Case => ({ row, name: `an id ${what}`, ...initializing(opening(id)), ...malformed })),
  { row, name: "an id beyond ASCII, in Latin-1", ...initializing(openingInLatin1), ...malformed },
  { row, name: "two ids", ...initializing(opening("s1", "s2")), ...malformed },
  {
    row,
    name: "a malformed id is not quoted",
    ...initializing(opening("s3cr3t id")),
    ...also(malformed, (error) => assert.notInclude(`${error.message}${JSON.stringify(error)}`, "s3cr3t"))
  },
  ...Object.entries({
    "of 1,024 characters": "s".repeat(1024),
    "of all visible characters": String.fromCharCode(...Array.from({ length: 94 }, (_, at) => 0x21 + at)),
    "that looks like JSON": `{"a":"__proto__"}`
  }).map(([what, id]) =>
    legacy(`an id ${what}`, { answers: { initialize: opening(id) }, ...naming(okText, id, id, id) })
  ),
  legacy("blanks around an id", { answers: { initialize: opening("\t s1 ") }, ...naming(okText, "s1", "s1", "s1") }),
  {
    row,
    name: "an id beside an error",
    ...initializing(
      script((request) => wholeWith(200, { "content-type": jsonType, "mcp-session-id": "s1" }, ownError(request)))
    ),
    ...rpcError(200, -32000)
  }
]

/**
 * The good answer to a call, with a session.
 */
const okWith = (id: string): Responder =>
  script((request) => wholeWith(200, { "content-type": jsonType, "mcp-session-id": id }, okAnswer(request)))

const changed: ReadonlyArray<Case> = [
  ...["s9", "s 9", ""].map((id) =>
    legacy(`an answer that names another session: "${id}"`, {
      answers: { "tools/call": okWith(id) },
      act: twice,
      sees: ["tools/call", "tools/call"],
      ...naming(okText, "s1", "s1", "s1", "s1")
    })
  ),
  legacy("an answer to the notification that names another session", {
    answers: { "notifications/initialized": script(wholeWith(202, { "mcp-session-id": "s9" })) },
    ...naming(okText, "s1", "s1", "s1")
  }),
  legacy("no session, and an answer that names one", {
    answers: { initialize: opening(), "tools/call": okWith("s9") },
    act: twice,
    sees: ["tools/call", "tools/call"],
    sessionless: true,
    ...namingNone(okText)
  }),
  legacy("no session, and 404", {
    answers: { initialize: opening(), "tools/call": forget },
    sessionless: true,
    ...namingNone(httpStatus(404))
  }),
  legacy("no session, and 404 of an error", {
    answers: { initialize: opening(), "tools/call": script(json(ownError, 404)) },
    sessionless: true,
    ...namingNone(rpcError(404, -32000))
  }),
  legacy("no session, and 400 of an error with id null", {
    answers: { initialize: opening(), "tools/call": script(whole(400, jsonType, errorText(`"id":null,`))) },
    sessionless: true,
    ...namingNone(rpcError(400, -32000))
  })
]

const discovering = (id: string): Responder =>
  script((request) =>
    wholeWith(
      200,
      { "content-type": jsonType, "mcp-session-id": id },
      answer(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)(request)
    )
  )

const modern: ReadonlyArray<Case> = [
  ...["s1", "s 1", "s".repeat(8192)].map((id): Case => ({
    row,
    name: `modern: a session that nobody opened: "${id.slice(0, 8)}"`,
    answers: { "server/discover": discovering(id), "tools/call": okWith(id) },
    act: twice,
    sees: ["tools/call", "tools/call"],
    ...namingNone(okText)
  })),
  {
    row,
    name: "modern: a session that nobody opened, and 404",
    answers: { "server/discover": discovering("s1"), "tools/call": forget },
    ...namingNone(httpStatus(404))
  }
]

/**
 * A good session, whose end is answered so.
 */
const ended = (name: string, steps: ReadonlyArray<Step>, rest: Partial<Case> = {}): Case =>
  legacy(`DELETE: ${name}`, {
    answers: { DELETE: script(...steps) },
    policy: { closeTimeout: 100 },
    deadline: 300,
    ...okText,
    ...rest
  })

const endings: ReadonlyArray<Case> = [
  ...[202, 204, 302, 400, 401, 403, 404, 405, 429, 500, 503].map((status) =>
    ended(`${status}`, [whole(status, undefined)])
  ),
  ended("no answer at all", []),
  ended("no answer at all, where nothing was called", [], {
    act: "connect",
    sees: ["server/discover", "initialize", "notifications/initialized", "DELETE"],
    outcome: "ok",
    check: undefined
  }),
  ended("a head that never ends", ["HTTP/1.1 200 OK\r\n", drip("x: y\r\n", 20)]),
  ended("headers without end", ["HTTP/1.1 200 OK\r\n", flood("x: y\r\n".repeat(1000))]),
  ended("500 informational responses", ["HTTP/1.1 103 Early Hints\r\n\r\n".repeat(500)]),
  ended("a body without end", [chunkedHead(jsonType), flood(chunk("[".repeat(4096)))]),
  ended("a body that never comes", [head(200, { "content-type": jsonType, "content-length": terabyte })]),
  ended("an event stream, open and silent", [chunkedHead(streamType)]),
  ended("a content encoding", [wholeWith(200, { "content-encoding": "gzip" }, "x")]),
  ended("401 with 1 MB of challenge", [wholeWith(401, { "www-authenticate": "x".repeat(MiB) })]),
  ended("not HTTP", ["hello\r\n\r\n"]),
  ended("closed", [end]),
  ended("reset", [reset]),
  overTls(ended("no answer at all", [])),
  legacy("DELETE: no answer at all, behind a call that failed", {
    answers: { "tools/call": script(whole(500, undefined)), DELETE: () => {} },
    policy: { closeTimeout: 100 },
    deadline: 300,
    ...httpStatus(500)
  })
]

export const httpSessions: ReadonlyArray<Case> = [
  ...forgotten,
  ...inTheMiddle,
  ...successors,
  ...ids,
  ...changed,
  ...modern,
  ...endings
]
