/**
 * Hostile answers that are told by what they cost. Each is to a request of its own, over a connection that is fine.
 */
import type { Responder } from "../support/rawServer.ts"
import {
  answer,
  type Bytes,
  chunk,
  chunkedHead,
  flood,
  head,
  jsonType,
  lastChunk,
  okAnswer,
  openStream,
  script
} from "./kit/wire.ts"

export interface Costly {
  readonly name: string
  readonly act: "list" | "call"
  readonly answer: (size: number) => Responder
  /**
   * How much there is of what there is much of.
   */
  readonly size: number
  /**
   * As that of a case: `"ok"`, or the tag and reason of the error.
   */
  readonly outcome: string
  /**
   * What this client may read, in bytes. Default: 8 MiB.
   */
  readonly budget?: number | undefined
  /**
   * Whether it is refused for its size alone: nothing to ask of a client that has no budget.
   */
  readonly isOverBudget?: true | undefined
}

export const MiB = 1024 * 1024

const repeated = (piece: string, times: number): Buffer => Buffer.alloc(times * piece.length, piece)

/**
 * An answer with much in its result, in place of the `@`. `much` is in chunks already.
 */
const withMuch = (result: string, much: Bytes): Responder => {
  const [before = "", after = ""] = result.split("@")
  return script(
    chunkedHead(jsonType),
    (request) => chunk(answer(before)(request).slice(0, -1)),
    much,
    chunk(`${after}}`),
    lastChunk
  )
}

/**
 * The same as an event.
 */
const withMuchInEvent = (result: string, much: Bytes): Responder => {
  const [before = "", after = ""] = result.split("@")
  return script(
    openStream,
    (request) => chunk(`data: ${answer(before)(request).slice(0, -1)}`),
    much,
    chunk(`${after}}\n\n`),
    lastChunk
  )
}

/**
 * Much on the event stream before the answer.
 */
const afterMuch = (much: Bytes): Responder =>
  script(openStream, chunk(much), (request) => chunk(`data: ${okAnswer(request)}\n\n`), lastChunk)

const list = (entry: (index: number) => string, count: number): string =>
  Array.from({ length: count }, (_, index) => entry(index)).join(",")

const text = `{"resultType":"complete","content":[{"type":"text","text":"@"}]}`
const structured = `{"resultType":"complete","content":[],"structuredContent":{"a":[@0]}}`
const tools = `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[@]}`
const inputs = `{"resultType":"input_required","inputRequests":{@}}`

const smallestTool = (index: number): string => `{"name":"${index.toString(36)}","inputSchema":{"type":"object"}}`

const smallestTools = (size: number): Responder => withMuch(tools, chunk(list(smallestTool, size)))

/**
 * What is annotated is walked through.
 */
const toolOfDepth = (depth: number) => (index: number): string =>
  `{"name":"t${index}","inputSchema":${`{"type":"object","properties":{"a":`.repeat(depth)}` +
  `{"type":"string","x-mcp-header":"A"}${"}}".repeat(depth)}}`

const input = (index: number): string => `"${index}":{"method":"elicitation/create","params":{}}`

const million = 1_000_000

/**
 * Told by memory.
 */
export const memoryCases: ReadonlyArray<Costly> = [
  {
    name: "a body without end",
    act: "call",
    answer: () => script(chunkedHead(jsonType), flood(chunk(repeated("[", 65_536)))),
    size: Number.POSITIVE_INFINITY,
    outcome: "ConnectionFailed/BudgetExceeded"
  },
  {
    name: "a line without end, on an event stream",
    act: "call",
    answer: () => script(openStream, flood(chunk(repeated("x", 65_536)))),
    size: Number.POSITIVE_INFINITY,
    outcome: "ConnectionFailed/BudgetExceeded"
  },
  {
    name: "a million tools that are null",
    act: "list",
    answer: (size) => withMuch(tools, chunk(list(() => "null", size))),
    size: million,
    outcome: "ok"
  },
  {
    name: "a million tools, the smallest there are",
    act: "list",
    answer: smallestTools,
    size: million,
    outcome: "ConnectionFailed/BudgetExceeded",
    isOverBudget: true
  },
  {
    name: "a million tools, with a budget of 64 MiB",
    act: "list",
    answer: smallestTools,
    size: million,
    outcome: "ok",
    budget: 64 * MiB
  },
  {
    name: "10,000 requests for input",
    act: "call",
    answer: (size) => withMuch(inputs, chunk(list(input, size))),
    size: 10_000,
    outcome: "ServerAnswered/InputRequired"
  }
]

const refusal = (challenge: string): Responder =>
  script(head(401, { "www-authenticate": challenge, "content-length": "0" }))

const challenge = (name: string, piece: string, start = "Bearer "): Costly => ({
  name: `60 KiB of WWW-Authenticate: ${name}`,
  act: "call",
  answer: (size) => refusal(start + repeated(piece, size / piece.length).toString()),
  size: 60 * 1024,
  outcome: "Unauthorized"
})

const tinyValues = (name: string, value: string): Costly => ({
  name: `8 MiB of JSON: ${name}`,
  act: "call",
  answer: (size) => withMuch(structured, chunk(repeated(value, Math.floor(size / value.length)))),
  size: 8 * MiB,
  outcome: "ok",
  // A value for every eight bytes of it.
  budget: 64 * MiB
})

/**
 * Told by how long the event loop is held up, and by how that grows.
 */
export const cpuCases: ReadonlyArray<Costly> = [
  {
    name: "4 MiB of newlines before the answer",
    act: "call",
    answer: (size) => afterMuch(repeated("\n", size)),
    size: 4 * MiB,
    outcome: "ok"
  },
  {
    name: "1 MiB of text, one byte a chunk",
    act: "call",
    answer: (size) => withMuch(text, repeated("1\r\nx\r\n", size)),
    size: MiB,
    outcome: "ok"
  },
  {
    name: "1 MiB of text, one byte a chunk, in an event",
    act: "call",
    answer: (size) => withMuchInEvent(text, repeated("1\r\nx\r\n", size)),
    size: MiB,
    outcome: "ok"
  },
  {
    name: "4 MiB of white space in an event, one byte a line",
    act: "call",
    answer: (size) =>
      withMuchInEvent(`{"resultType":"complete",@"content":[]}`, chunk(`\n${"data:\t\n".repeat(size / 2)}data:`)),
    size: 4 * MiB,
    outcome: "ok",
    budget: 32 * MiB
  },
  {
    name: "a million events that are no messages",
    act: "call",
    answer: (size) => afterMuch(repeated("data:1\n\n", size)),
    size: million,
    outcome: "ok",
    budget: 16 * MiB
  },
  {
    name: "200,000 notifications",
    act: "call",
    answer: (size) => afterMuch(repeated(`data:{"jsonrpc":"2.0","method":"a"}\n\n`, size)),
    size: 200_000,
    outcome: "ok",
    budget: 16 * MiB
  },
  {
    name: "1 MiB of WWW-Authenticate",
    act: "call",
    answer: (size) => refusal(`Bearer realm="${repeated("x", size).toString()}"`),
    size: MiB,
    outcome: "Unauthorized"
  },
  challenge("parameters", `a="b", `),
  challenge("commas", ","),
  challenge("words", "a "),
  challenge("an open quote of backslashes", "\\", `Bearer a="`),
  {
    name: "5 tools with schemas 5,000 deep",
    act: "list",
    answer: (size) => withMuch(tools, chunk(list(toolOfDepth(size), 5))),
    size: 5000,
    outcome: "ok"
  },
  {
    name: "100,000 tools, the smallest there are",
    act: "list",
    answer: smallestTools,
    size: 100_000,
    outcome: "ok"
  },
  tinyValues("numbers", "1,"),
  tinyValues("strings", `"a",`),
  tinyValues("empty arrays", "[],"),
  tinyValues("empty objects", "{},"),
  tinyValues("objects with a key", `{"a":1},`)
]
