/**
 * Requests and event ids from the server on the stream of an answer: row 9.
 */
import { assert } from "@effect/vitest"
import type { RawRequest, RawServer, Responder } from "../../support/rawServer.ts"
import {
  type Answers,
  broken,
  ending,
  enough,
  numbered,
  ok,
  onOneLine,
  overBudget,
  takenUp,
  timedOut,
  unreachable
} from "../kit/streams.ts"
import type { Case } from "../kit/suite.ts"
import {
  answer,
  chunk,
  event,
  flood,
  head,
  jsonType,
  lastChunk,
  okAnswer,
  openStream,
  reset,
  script,
  whole
} from "../kit/wire.ts"

/**
 * A request of the server's; `id` is JSON text.
 */
const asks = (id: string, method = "ping"): string => `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{}}`

const firstId = 1000

/**
 * So many pings, numbered from `firstId` on.
 */
const pings = (count: number): string =>
  Array.from({ length: count }, (_, i) => onOneLine(asks(`${firstId + i}`))).join("")

const endlessPings = script(openStream, flood(chunk(pings(50))))

/**
 * The server's words on a stream, and then the answer.
 */
const before = (text: (request: RawRequest) => string, result = okAnswer): Responder =>
  script(openStream, (request) => chunk(text(request)), event(result), lastChunk)

type Question = (request: RawRequest) => string

const underOurId: Question = ({ message }) => asks(`${message.id}`)

/**
 * Requests that are none, or that look like an answer.
 */
const oddQuestions: ReadonlyArray<readonly [name: string, Question]> = [
  ["a request under null", () => asks("null")],
  ["a request under an object", () => asks("{}")],
  ["a request under a list", () => asks("[1]")],
  ["a request under a fraction", () => asks("1.5")],
  ["a request with a result in it", ({ message }) => asks(`${message.id},"result":{}`)],
  ["a request with an error in it", ({ message }) => asks(`${message.id},"error":{"code":1,"message":"no"}`)]
]

const unknownMethod = { error: -32601 }
const done = { result: {} }

/**
 * What a legacy server asks, and the answer that it gets: a result, or the code of an error.
 */
const questions: ReadonlyArray<readonly [name: string, Question, answered: object]> = [
  ["ping", () => asks(`${firstId}`), { id: firstId, ...done }],
  ["ping under 0", () => asks("0"), { id: 0, ...done }],
  ["ping under a number below 0", () => asks("-1"), { id: -1, ...done }],
  ["ping under a string", () => asks(`"1"`), { id: "1", ...done }],
  ["ping under an empty string", () => asks(`""`), { id: "", ...done }],
  ["sampling/createMessage", () => asks("1", "sampling/createMessage"), { id: 1, ...unknownMethod }],
  ["elicitation/create", () => asks("1", "elicitation/create"), { id: 1, ...unknownMethod }],
  ["roots/list", () => asks("1", "roots/list"), { id: 1, ...unknownMethod }],
  ["tools/call", () => asks("1", "tools/call"), { id: 1, ...unknownMethod }],
  ["a method that nobody knows", () => asks("1", "x"), { id: 1, ...unknownMethod }],
  ["a method of a prototype's", () => asks("1", "constructor"), { id: 1, ...unknownMethod }]
]

const modern: ReadonlyArray<Case> = [
  ...[...questions, ...oddQuestions, ["ping under the id of ours", underOurId] as const].map((
    [name, question]
  ): Case => ({
    row: 9,
    name: `${name}: ignored`,
    answers: { "tools/call": before((request) => onOneLine(question(request))) },
    ...ok
  })),
  { row: 9, name: "a thousand requests", answers: { "tools/call": before(() => pings(1000)) }, ...ok },
  {
    row: 9,
    name: "a thousand requests before a listing",
    answers: { "tools/list": before(() => pings(1000), answer(`{"resultType":"complete","tools":[]}`)) },
    act: "list",
    outcome: "ok"
  },
  {
    row: 9,
    name: "a thousand requests while connecting",
    answers: {
      "server/discover": before(
        () => pings(1000),
        answer(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
      )
    },
    act: "connect",
    outcome: "ok"
  },
  { row: 9, name: "requests without end", answers: { "tools/call": endlessPings }, ...overBudget },
  {
    row: 9,
    name: "a server that waits for an answer",
    answers: { "tools/call": script(openStream, chunk(pings(1))) },
    ...timedOut
  },
  {
    row: 9,
    name: "event ids and waits before the answer",
    answers: { "tools/call": before(() => "retry: 0\nid: 7\ndata:\n\nid: 8\n\n") },
    ...ok
  },
  {
    row: 9,
    name: "event ids and the end: never resumed",
    answers: { "tools/call": ending("retry: 0\nid: 7\ndata:\n\nid: 8\n\n") },
    ...unreachable
  }
]

const accepted = script(whole(202, undefined))

/**
 * Asks something on the stream of an answer, and goes on to the answer once so many responses have come. `taken` is what
 * becomes of each of those.
 */
const asking = (
  text: (request: RawRequest) => string,
  responses = 1,
  taken: Responder = accepted,
  method = "tools/call"
): Answers => {
  let missing = responses
  let goOn = (): void => {}
  return {
    [method]: (socket, request) => {
      missing = responses
      goOn = () => script(event(okAnswer), lastChunk)(socket, request)
      script(openStream, chunk(text(request)))(socket, request)
    },
    POST: (socket, request) => {
      taken(socket, request)
      if (--missing === 0) goOn()
    }
  }
}

const posts = (server: RawServer): ReadonlyArray<RawRequest> =>
  server.requests.filter(({ httpMethod, message }) => httpMethod === "POST" && message.method === undefined)

interface Response {
  readonly id: number
  readonly result?: object
  /**
   * Its code alone.
   */
  readonly error?: number
}

/**
 * What the server was answered, in order. Each response is sent by itself, also where batches exist.
 */
const responsesTo = (server: RawServer): ReadonlyArray<Response> =>
  posts(server).map(({ body }) => {
    const response = JSON.parse(body)
    return response.error === undefined ? response : { ...response, error: response.error.code }
  })

const isRefusal = ({ error }: Response): boolean => error === -32603
const isPong = ({ result }: Response): boolean => result !== undefined

/**
 * Every ping was answered once: eight of them at least as they should be, and those that came while eight were under way
 * with a refusal.
 */
const isEachAnswered = (server: RawServer, count: number): void => {
  const responses = responsesTo(server)
  const ids = responses.map(({ id }) => id).sort((a, b) => a - b)
  assert.deepStrictEqual(ids, Array.from({ length: count }, (_, i) => firstId + i))
  const refusals = responses.filter(isRefusal).length
  assert.isAtLeast(refusals, 1)
  assert.isAtLeast(count - refusals, 8)
  assert.strictEqual(responses.filter(isPong).length, count - refusals)
}

/**
 * For the stream, eight answers under way, and a refusal.
 */
const mostSockets = 10

/**
 * While no response is taken, the first eight pings have their answers under way, and others are refused at most.
 */
const areEightUnderWay = (server: RawServer): void => {
  const responses = responsesTo(server)
  const isEarly = ({ id }: Response): boolean => id < firstId + 8
  for (const response of responses) assert.isTrue(isEarly(response) ? isPong(response) : isRefusal(response))
  assert.isAtMost(responses.length, mostSockets - 1)
}

const html = "<html></html>"
const sessionError = `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}`

/**
 * What may become of a response.
 */
const takers: ReadonlyArray<readonly [name: string, Responder]> = [
  ["200 with JSON", script(whole(200, jsonType, "null"))],
  ["200 with nothing", script(whole(200, undefined))],
  ["204", script(head(204))],
  ["400 with an error that names no request", script(whole(400, jsonType, sessionError))],
  ["401", script(whole(401, undefined))],
  ["404", script(whole(404, undefined))],
  ["500 with HTML", script(whole(500, "text/html", html))],
  ["HTML without end", script(head(200, { "content-type": "text/html" }), flood(html.repeat(300)))],
  ["an event stream of pings without end", endlessPings],
  ["a redirect", script(head(307, { location: "/elsewhere", "content-length": "0" }))],
  ["a reset", script(reset)],
  ["nothing at all", () => {}]
]

const legacyServer = { row: 9, speaks: "2025-11-25" } as const

/**
 * A legacy server whose requests are answered.
 */
const answered = { ...legacyServer, answersServer: true } as const

const notifications = ["notifications/cancelled", "notifications/message", "notifications/tools/list_changed", "ping"]

const resumedAsking = asking(() => pings(1), 1, accepted, "GET")

const legacy: ReadonlyArray<Case> = [
  ...questions.map(([name, question, response]): Case => ({
    ...answered,
    name: `legacy: ${name}: answered`,
    answers: asking((request) => onOneLine(question(request))),
    outcome: "ok",
    check: ({ text }, server) => {
      assert.strictEqual(text, "ok")
      assert.deepStrictEqual<unknown>(responsesTo(server), [{ jsonrpc: "2.0", ...response }])
      const { headers } = posts(server)[0]!
      assert.strictEqual(headers["mcp-session-id"], "s1")
      assert.strictEqual(headers["mcp-protocol-version"], "2025-11-25")
      assert.strictEqual(headers["content-type"], "application/json")
    }
  })),
  {
    ...answered,
    name: "legacy: ping under the id of ours: answered",
    answers: asking((request) => onOneLine(underOurId(request))),
    outcome: "ok",
    check: ({ text }, server) => {
      assert.strictEqual(text, "ok")
      const { message } = server.requests.find((request) => request.message.method === "tools/call")!
      assert.deepStrictEqual<unknown>(responsesTo(server), [{ jsonrpc: "2.0", id: message.id, result: {} }])
    }
  },
  ...(["2025-06-18", "2025-03-26", "2024-11-05"] as const).map((speaks): Case => ({
    ...answered,
    name: `${speaks}: ping: answered`,
    speaks,
    answers: asking(() => pings(1)),
    ...ok
  })),
  {
    ...answered,
    name: "2025-03-26: two pings in one batch: answered one by one",
    speaks: "2025-03-26",
    answers: asking(() => onOneLine(`[${asks("1")},${asks("2")}]`), 2),
    outcome: "ok",
    check: (_, server) => assert.sameMembers(responsesTo(server).map(({ id }) => id), [1, 2])
  },
  {
    ...answered,
    name: "2025-03-26: two pings and the answer in one batch",
    speaks: "2025-03-26",
    answers: {
      "tools/call": script(
        openStream,
        event((request) => `[${asks("1")},${asks("2")},${okAnswer(request)}]`),
        lastChunk
      ),
      POST: accepted
    },
    ...ok
  },
  {
    ...legacyServer,
    name: "legacy: two pings in one batch, where batches do not exist: ignored",
    answers: { "tools/call": before(() => onOneLine(`[${asks("1")},${asks("2")}]`)) },
    ...ok
  },
  ...oddQuestions.map(([name, question]): Case => ({
    ...answered,
    name: `legacy: ${name}`,
    answers: { "tools/call": before((request) => onOneLine(question(request))), POST: accepted },
    ...ok
  })),
  ...notifications.map((method): Case => ({
    ...legacyServer,
    name: `legacy: a notification of ${method}: never answered`,
    answers: { "tools/call": before(() => onOneLine(`{"jsonrpc":"2.0","method":"${method}"}`)) },
    ...ok
  })),
  ...takers.map(([name, taken]): Case => ({
    ...answered,
    name: `legacy: a response answered with ${name}`,
    answers: asking(() => pings(1), 1, taken),
    ...ok
  })),
  {
    ...answered,
    name: "legacy: requests before a listing",
    answers: { "tools/list": before(() => pings(20), answer(`{"tools":[]}`)), POST: accepted },
    act: "list",
    outcome: "ok"
  },
  {
    ...answered,
    name: "legacy: requests while connecting",
    answers: {
      initialize: before(() => pings(20), answer(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`)),
      POST: accepted
    },
    act: "connect",
    outcome: "ok"
  },
  {
    ...answered,
    name: "legacy: a request on a stream that was taken up: answered",
    answers: { ...resumedAsking, ...broken(numbered, resumedAsking["GET"]!) },
    ...takenUp(ok, "7")
  },
  {
    ...answered,
    name: "legacy: a thousand requests: each is answered, before the answer",
    answers: asking(() => pings(1000), 1000),
    deadline: enough,
    outcome: "ok",
    check: ({ text }, server) => {
      assert.strictEqual(text, "ok")
      isEachAnswered(server, 1000)
      assert.isAtMost(server.connections(), mostSockets)
    }
  },
  {
    ...answered,
    name: "legacy: a thousand requests, and the answer at once",
    answers: { "tools/call": before(() => pings(1000)), POST: accepted },
    ...ok
  },
  ...[20, 1000, 5000].map((count): Case => ({
    ...answered,
    name: `legacy: ${count} requests whose responses are never taken: eight at a time`,
    answers: asking(() => pings(count), 8, () => {}),
    outcome: "ok",
    check: ({ text }, server) => {
      assert.strictEqual(text, "ok")
      areEightUnderWay(server)
    }
  })),
  {
    ...answered,
    name: "legacy: 5000 requests, and the answer at once, whose responses are never taken",
    answers: { "tools/call": before(() => pings(5000)), POST: () => {} },
    ...ok
  },
  {
    ...answered,
    name: "legacy: requests without end",
    answers: { "tools/call": endlessPings, POST: accepted },
    ...overBudget
  }
]

export const serverRequests: ReadonlyArray<Case> = [...modern, ...legacy]
