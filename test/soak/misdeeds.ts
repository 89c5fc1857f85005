/**
 * What a server does wrong, by kind: each makes of a request the steps of an answer.
 */
import { gzipSync } from "node:zlib"
import {
  answer,
  chunk,
  chunkedHead,
  drip,
  end,
  event,
  flood,
  head,
  jsonType,
  lastChunk,
  openStream,
  reset,
  type Step,
  streamType,
  trickle
} from "../hostile/kit/wire.ts"
import type { RawRequest } from "../support/rawServer.ts"
import { good, goodMessage, jsonReply, type Life, reply, subject } from "./answers.ts"
import { foreign } from "./shared.ts"

type Misdeed = (life: Life, request: RawRequest) => ReadonlyArray<Step>

const MiB = 1024 * 1024

const foreignResult = JSON.stringify({ resultType: "complete", content: [{ type: "text", text: foreign }], tools: [] })

/**
 * A message in either of the two forms.
 */
const inEitherForm = ({ random }: Life, text: string): ReadonlyArray<Step> =>
  random.chance(0.5) ? [jsonReply(text)] : [openStream, chunk(`data: ${text}\n\n`), lastChunk]

const truncated = (life: Life, request: RawRequest): Buffer => {
  const whole = good(life, request)
  return whole.subarray(0, life.random.int(0, whole.length - 1))
}

const garbled = (life: Life, request: RawRequest): Buffer => {
  const bytes = good(life, request)
  const { random } = life
  for (let i = random.int(1, 8); i > 0; i--) bytes[random.int(0, bytes.length - 1)] = random.int(0, 255)
  return bytes
}

const fillers = new Map<string, string>()

/**
 * A piece repeated to about so many characters, built once.
 */
const filler = (piece: string, length: number): string => {
  const key = `${length} ${piece}`
  const text = fillers.get(key) ?? piece.repeat(Math.ceil(length / piece.length))
  fillers.set(key, text)
  return text
}

const smallValues = ["0,", "[],", "{},", `"a",`, "1.5e300,", `{"a":null},`, `[[[[]]]],`, "true,"]

/**
 * A result that is valid, and large.
 */
const largeResult = ({ random }: Life): string => {
  const values = filler(random.pick(smallValues), random.pick([MiB / 4, MiB, 4 * MiB, 7 * MiB]))
  return `{"resultType":"complete","content":[],"tools":[],"more":[${values}0]}`
}

const longText = ({ random }: Life): string => {
  const text = filler(random.pick(["x", "é", "\\n", "\\u0041"]), random.pick([MiB / 4, MiB, 4 * MiB]))
  return `{"resultType":"complete","content":[{"type":"text","text":"${text}"}],"tools":[]}`
}

const deepValue = ({ random }: Life): string => {
  const depth = random.pick([1_000, 10_000, 100_000, 1_000_000])
  const [open, close] = random.pick([["[", "]"], [`{"a":`, "}"]])
  return `${filler(open, depth * open.length)}0${filler(close, depth)}`
}

const deepResult = (life: Life): string => {
  const deep = deepValue(life)
  return life.random.pick([
    `{"resultType":"complete","structuredContent":${deep}}`,
    `{"resultType":"complete","content":[${deep}],"tools":[${deep}]}`,
    `{"resultType":"complete","content":[],"tools":[{"name":"deep","inputSchema":{"type":"object","properties":${deep}}}]}`,
    `{"resultType":"input_required","inputRequests":${deep}}`
  ])
}

const oddEntries = [
  `null,`,
  `{"name":"same","inputSchema":{"type":"object"}},`,
  `{"name":"","inputSchema":{}},`,
  `{"name":"\\u202e","inputSchema":{"type":"object"}},`,
  `{"name":"header","inputSchema":{"type":"object","properties":{"a":{"x-mcp-header":"a b"}}}},`,
  `{"name":"null","description":null,"title":5,"inputSchema":{"type":"object"}},`
]

const hugeList = ({ random }: Life): string => {
  const entries = filler(random.pick(oddEntries), random.pick([1_000, 100_000, MiB, 4 * MiB]))
  const cursor = random.pick(["", `,"nextCursor":"same"`, `,"nextCursor":"${random.int(0, 1e9)}"`, `,"nextCursor":5`])
  return `{"resultType":"complete","tools":[${entries}null]${cursor}}`
}

const serverRequests = [
  `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
  `{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`,
  `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
  `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
]

/**
 * Not quite the answer; `$ID` stands for the id.
 */
const oddMessages = [
  "",
  "null",
  "[]",
  "{}",
  "5",
  "\ufeff{}",
  `{"jsonrpc":"2.0","id":$ID}`,
  `{"jsonrpc":"2.0","id":$ID,"result":null}`,
  `{"jsonrpc":"2.0","id":$ID,"result":[]}`,
  `{"jsonrpc":"2.0","id":$ID,"result":{}}`,
  `{"jsonrpc":"1.0","id":$ID,"result":{"content":[],"tools":[]}}`,
  `{"id":$ID,"result":{"content":[],"tools":[]}}`,
  `[{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"tools":[]}}]`,
  `[{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"tools":[]}},{"jsonrpc":"2.0","method":"x"}]`,
  `{"jsonrpc":"2.0","id":$ID,"result":{},"error":{"code":1,"message":"both"}}`,
  `{"jsonrpc":"2.0","id":$ID,"error":{"code":"x","message":5}}`,
  `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"\\u001b[31mno\\u202e","data":{"a":[1]}}}`,
  `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32020,"message":"headers"}}`,
  `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32022,"message":"version","data":{"supported":["2026-07-28"]}}}`,
  `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"strange"}}`,
  `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":5}}`,
  `{"jsonrpc":"2.0","id":$ID,"result":{"content":[null,5,{"type":"text"},{"type":"image","data":"%"}],"tools":[null]}}`,
  `{"jsonrpc":"2.0","id":$ID,"result":{"__proto__":{"content":[]},"constructor":5,"content":"x","tools":"y"}}`,
  `{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"tools":[],"a":1e400,"b":"\\ud800","a":2}}`,
  `{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"9999","supportedVersions":[],"capabilities":null}}`,
  `{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":5,"supportedVersions":{"a":1},"capabilities":[]}}`
]

const inputRequests = [
  `{"resultType":"input_required","inputRequests":{},"requestState":"again"}`,
  `{"resultType":"input_required","requestState":"again"}`,
  `{"resultType":"input_required"}`,
  `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"},"b":null}}`
]

const challenges = [
  "Bearer",
  `Bearer realm="a", error="invalid_token", resource_metadata="https://elsewhere.example/"`,
  `Basic realm="x", Bearer scope="a b", Digest nonce="1", =,"`,
  "x".repeat(30_000)
]

const retryAfters = ["1", "0", "-1", "1000000000", "12abc", "Wed, 21 Oct 2015 07:28:00 GMT"]

const locations = ["?again", "http://127.0.0.1:9/", "http://localhost:9/", "file:///etc/passwd", "//", ""]

const statuses = [202, 204, 302, 400, 404, 405, 406, 418, 429, 500, 501, 502, 503, 504, 999]

const deadEnds: ReadonlyArray<ReadonlyArray<Step>> = [[], [end], [reset]]

/**
 * All kinds, by name.
 */
export const misdeeds: Readonly<Record<string, Misdeed>> = {
  silence: ({ random }) => random.pick([[], [openStream], [chunkedHead(jsonType)], [head(200), end]]),
  reset: (life, request) => [truncated(life, request), reset],
  "half a body": (life, request) => [truncated(life, request), ...life.random.pick([[], [end]])],
  garbage: (life, request) => {
    const { random } = life
    const bytes = random.bytes(random.int(1, 2000))
    return random.pick([
      [bytes],
      [bytes, end],
      [garbled(life, request)],
      [garbled(life, request), end],
      [reply(200, { "content-type": jsonType }, bytes)],
      [openStream, chunk(bytes), lastChunk]
    ])
  },
  "wrong id": (life, request) => {
    const { id = 0 } = request.message
    const wrong = life.random.pick([String(id + 1), String(id - 1), `"${id}"`, "null", "1e9", "{}", "[]"])
    return inEitherForm(life, `{"jsonrpc":"2.0","id":${wrong},"result":${foreignResult}}`)
  },
  // In one write, since what comes while the next request is under way is an answer like any other.
  "answer in advance": (life, request) => {
    const { id = 0 } = request.message
    const next = jsonReply(`{"jsonrpc":"2.0","id":${id + 1},"result":${foreignResult}}`)
    return [Buffer.concat([good(life, request), next])]
  },
  "more after the answer": (life, request) => [
    openStream,
    event(() => goodMessage(life, request)),
    life.random.pick([drip(chunk(": still here\n\n"), 20), flood(chunk("data: more\n\n".repeat(1000)))])
  ],
  "flood of JSON": (life, request) => {
    const { random } = life
    const asked = subject(life, request)
    return random.pick([
      [chunkedHead(jsonType), flood(chunk(filler(random.pick(["[", "0,", " ", "x"]), 65_536)))],
      [chunkedHead(jsonType), flood("1\r\n[\r\n".repeat(8192))],
      inEitherForm(life, answer(largeResult(life))(asked)),
      inEitherForm(life, answer(longText(life))(asked))
    ])
  },
  "flood of events": ({ random }) => [
    openStream,
    flood(random.pick([
      chunk(filler(": hello\n", 65_536)),
      chunk(filler("\n", 65_536)),
      chunk(filler("x", 65_536)),
      chunk(filler("data: x\n", 65_536)),
      chunk(filler("id: 1\ndata: x\n\n", 65_536)),
      chunk(filler(`data: ${serverRequests[2]}\n\n`, 65_536)),
      "1\r\nx\r\n".repeat(8192)
    ]))
  ],
  "flood of headers": ({ random }) => [
    random.pick(["HTTP/1.1 200 OK\r\n", ""]),
    flood(random.pick([
      `x-padding: ${"a".repeat(8000)}\r\n`,
      " ".repeat(8192),
      "\r\n".repeat(4096),
      "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100)
    ]))
  ],
  "flood beside the content": ({ random }) => [
    chunkedHead(jsonType),
    ...random.pick<ReadonlyArray<Step>>([
      [`1;${"x".repeat(100_000)}\r\n `],
      [flood(`1;${"x".repeat(1000)}\r\n \r\n`)],
      ["0\r\n", flood(`x-trailer: ${"a".repeat(8000)}\r\n`)]
    ])
  ],
  refusal: ({ random }) => {
    const status = random.pick([401, 403])
    return random.chance(0.2)
      ? [chunkedHead(jsonType, status), flood(filler("x", 65_536))]
      : [reply(status, { "www-authenticate": random.pick(challenges) }, "no")]
  },
  status: ({ random }) => {
    const headers = { "content-type": random.pick(["text/html", "text/plain", jsonType, streamType]) }
    const status = random.pick(statuses)
    return [reply(status, { ...headers, "retry-after": random.pick(retryAfters) }, random.pick(["", "<p>no</p>"]))]
  },
  "forgotten session": ({ random }) => [
    random.chance(0.5)
      ? reply(404, { "content-type": "text/plain" }, "Session not found")
      : jsonReply(`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No valid session"}}`, 400)
  ],
  "slow drip": (life, request) => {
    const bytes = good(life, request)
    const step = life.random.pick([1, 7, 100])
    const pieces = Array.from(
      { length: Math.ceil(bytes.length / step) },
      (_, i) => bytes.subarray(i * step, (i + 1) * step)
    )
    return [trickle(pieces, 2)]
  },
  redirect: ({ random }) => [
    reply(random.pick([301, 302, 303, 307, 308]), { location: random.pick(locations), "set-cookie": "a=b" })
  ],
  "cut stream": (life, request) => {
    const { random } = life
    const { id } = subject(life, request).message
    const fields = [`id: ${id}\n`, `retry: ${random.pick(["0", "20", "99999999999", "-1", "1e3"])}\n`, ""]
    return [
      openStream,
      ...(random.chance(0.7) ? [chunk(`${random.pick(fields)}id: ${id}\ndata:\n\n`)] : []),
      ...(random.chance(0.3) ? [chunk(`data: ${serverRequests[2]}\n\n`)] : []),
      ...(random.chance(0.3) ? [chunk(`data: ${goodMessage(life, request)}\n`)] : []),
      ...random.pick([[lastChunk], ...deadEnds])
    ]
  },
  "odd JSON": (life, request) => {
    const { id = 0 } = subject(life, request).message
    return inEitherForm(life, life.random.pick(oddMessages).replaceAll("$ID", String(id)))
  },
  "huge list": (life, request) => inEitherForm(life, answer(hugeList(life))(subject(life, request))),
  "deep JSON": (life, request) => inEitherForm(life, answer(deepResult(life))(subject(life, request))),
  "server requests": (life, request) => [
    openStream,
    chunk(filler(`data: ${life.random.pick(serverRequests)}\n\n`, life.random.pick([100, 100_000]))),
    event(() => goodMessage(life, request)),
    lastChunk
  ],
  gzip: (life, request) => {
    const headers = { "content-type": life.random.pick([jsonType, streamType]), "content-encoding": "gzip" }
    const text = life.random.chance(0.5) ? goodMessage(life, request) : "0".repeat(MiB)
    return [reply(200, headers, gzipSync(text))]
  },
  "asks for input": (life, request) =>
    inEitherForm(life, answer(life.random.pick(inputRequests))(subject(life, request)))
}
