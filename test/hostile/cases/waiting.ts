/**
 * Where a call can be left waiting, and where connecting can: what row 39 interrupts and closes.
 */
import * as Effect from "effect/Effect"
import * as Dns from "effect/net/Dns"
import { Credentials, type McpConnection, type McpError } from "../../../src/index.ts"
import type * as Raw from "../../support/rawServer.ts"
import { inTurn } from "../kit/streams.ts"
import { type Case, handshake } from "../kit/suite.ts"
import {
  answer,
  chunk,
  chunkedHead,
  drip,
  head,
  initialized,
  json,
  jsonType,
  lastChunk,
  okAnswer,
  openStream,
  pause,
  script,
  type Step,
  whole
} from "../kit/wire.ts"

/**
 * A client that waits for what does not come.
 */
interface Wait extends Pick<Case, "name" | "speaks" | "answers" | "options"> {
  /**
   * What the server has seen by then: after the handshake, where that is done.
   */
  readonly sees: ReadonlyArray<string>
  /**
   * What it sees afterwards.
   */
  readonly afterwards: ReadonlyArray<string>
  /**
   * How many sockets all of it takes, and how many lie idle once the client waits no more.
   */
  readonly dials: number
  readonly idle: number
  readonly isWaiting: (server: Raw.RawServer) => boolean
}

/**
 * A call or a listing that waits. Then comes a call that is answered.
 */
export interface Waiting extends Wait {
  /**
   * What the server is told where the call is given up: a modern one sees it by the closed stream.
   */
  readonly notices: ReadonlyArray<string>
  readonly act: (connection: McpConnection.Service) => Effect.Effect<unknown, McpError.McpError>
}

/**
 * Connecting that waits. Then comes the end of the session, where there is one.
 */
export interface Connecting extends Wait, Pick<Case, "url" | "pool"> {}

/**
 * Answers that break off before their head is whole.
 */
const beforeTheHead: Readonly<Record<string, ReadonlyArray<Step>>> = {
  "the request is sent": [],
  "half a status line": ["HTTP/1.1 20"],
  "an informational response": [head(102)],
  "half a head": ["HTTP/1.1 200 OK\r\ncontent-type: appl"]
}

/**
 * The head of a body that is longer than what comes of it.
 */
export const aHead = head(200, { "content-type": jsonType, "content-length": "100" })

/**
 * Answers that break off anywhere.
 */
const unfinished: Readonly<Record<string, ReadonlyArray<Step>>> = {
  ...beforeTheHead,
  "a head": [aHead],
  "half a body": [aHead, `{"jsonrpc":`],
  "a body without its last chunk": [chunkedHead(jsonType), chunk("{}")],
  "an event stream is open": [openStream],
  "half an event": [openStream, chunk(`data: {"jsonrpc":`)],
  "an event stream of comments": [openStream, drip(chunk(": hi\n\n"), 1)]
}

const silent: Raw.Responder = () => {}
const ok = script(json(okAnswer))
const accept = script(whole(202, undefined))

/**
 * Credentials that are always had, but never for the nth request.
 */
const missing = (nth: number) => {
  let asked = 0
  const credentials = Credentials.provider(
    Effect.suspend(() => asked++ === nth ? Effect.never : Effect.succeed({}))
  )
  return { options: { credentials }, isWaiting: () => asked > nth }
}

/**
 * The socket of the handshake is there for the next call.
 */
const kept = { dials: 1, idle: 1 }

const waiting = (name: string, given: Partial<Waiting>): Waiting => {
  const sees = given.sees ?? ["tools/call"]
  const requests = handshake(given).length + sees.length
  return {
    name,
    act: (connection) => connection.callTool("t"),
    sees,
    afterwards: ["tools/call"],
    notices: [],
    dials: 2,
    idle: 0,
    isWaiting: (server) => server.requests.length === requests,
    ...given
  }
}

/**
 * As `waiting`, in a listing.
 */
const listing = (name: string, given: Partial<Waiting>): Waiting =>
  waiting(name, { act: (connection) => connection.listTools(), sees: ["tools/list"], ...given })

/**
 * As `waiting`, at a legacy server. The notice leaves a socket.
 */
const legacy = (name: string, { answers, ...given }: Partial<Waiting>): Waiting =>
  waiting(`legacy: ${name}`, {
    speaks: "2025-11-25",
    answers: { "notifications/cancelled": accept, ...answers },
    notices: ["notifications/cancelled"],
    idle: 1,
    ...given
  })

/**
 * The first call is answered so far; those after it are answered well.
 */
const unfinishedCalls = (make: typeof waiting): ReadonlyArray<Waiting> =>
  Object.entries(unfinished).map(([name, steps]) =>
    make(name, { answers: { "tools/call": inTurn(script(...steps), ok) } })
  )

const complete = (members: string): Raw.Responder => script(json(answer(`{"resultType":"complete",${members}}`)))

const headerMismatch: Raw.Responder = script(
  json(({ message }) => `{"jsonrpc":"2.0","id":${message.id},"error":{"code":-32020,"message":"no"}}`, 400)
)

/**
 * Ends before its answer, with a place to resume from.
 */
const dropped = (retry: number): Raw.Responder => script(openStream, chunk(`retry: ${retry}\nid: 1\n\n`), lastChunk)

const forgotten = inTurn(script(whole(404, undefined)), ok)

/**
 * Does well by a method, but takes its time from the second request on.
 */
const slower = (respond: Raw.Responder): Raw.Responder =>
  inTurn(respond, (socket, request) => script(pause(150), { run: () => respond(socket, request) })(socket, request))

/**
 * Made anew for whoever uses them, since they remember.
 */
export const waitings = (): ReadonlyArray<Waiting> => [
  waiting("credentials are pending", { ...missing(1), sees: [], ...kept }),
  ...unfinishedCalls(waiting),
  waiting("a round of input", {
    answers: {
      "tools/call": inTurn(script(json(answer(`{"resultType":"input_required","requestState":"s"}`))), silent, ok)
    },
    sees: ["tools/call", "tools/call"]
  }),
  waiting("the tools are listed before a call is sent once more", {
    answers: { "tools/call": inTurn(headerMismatch, ok), "tools/list": silent },
    sees: ["tools/call", "tools/list"]
  }),
  listing("page one of a listing", { answers: { "tools/list": silent } }),
  listing("page two of a listing", {
    answers: { "tools/list": inTurn(complete(`"tools":[],"nextCursor":"2"`), silent) },
    sees: ["tools/list", "tools/list"]
  }),
  listing("half of page two", {
    answers: { "tools/list": inTurn(complete(`"tools":[],"nextCursor":"2"`), script(aHead, "{")) },
    sees: ["tools/list", "tools/list"]
  }),
  listing("a callback of the application", {
    act: (connection) => connection.listTools({ onRefused: () => Effect.never }),
    answers: { "tools/list": complete(`"tools":[5]`) },
    ...kept
  }),
  legacy("credentials are pending", { ...missing(3), sees: [], notices: [], ...kept }),
  ...unfinishedCalls(legacy),
  legacy("a resumption is waited for", { answers: { "tools/call": inTurn(dropped(30_000), ok) }, ...kept }),
  ...Object.entries({
    "a resumption is asked for": [],
    "a resumption is open": [openStream],
    "half an event of a resumption": [openStream, chunk("id: 2\ndata: {")]
  }).map(([name, steps]) =>
    legacy(name, {
      answers: { "tools/call": inTurn(dropped(0), ok), GET: script(...steps) },
      sees: ["tools/call", "GET"]
    })
  ),
  legacy("a session is opened anew", {
    answers: {
      "tools/call": forgotten,
      initialize: slower(script(initialized(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`, "s")))
    },
    sees: ["tools/call", "initialize"],
    afterwards: ["notifications/initialized", "tools/call"],
    notices: [],
    ...kept
  }),
  legacy("a session that is opened anew is announced", {
    answers: { "tools/call": forgotten, "notifications/initialized": slower(accept) },
    sees: ["tools/call", "initialize", "notifications/initialized"],
    notices: [],
    ...kept
  })
]

/**
 * A look-up that ends so. The server is never reached.
 */
const lookingUp = (name: string, lookup: Effect.Effect<never>): Connecting => {
  let begun = false
  const dns = Dns.make({
    lookup: () => {
      begun = true
      return lookup
    }
  })
  const url = () => "http://mcp.example/mcp"
  return { name, pool: { dns }, url, isWaiting: () => begun, sees: [], afterwards: [], dials: 0, idle: 0 }
}

/**
 * The legacy handshake, message by message.
 */
export const discovering = ["server/discover"]
export const initializing = [...discovering, "initialize"]
export const announcing = [...initializing, "notifications/initialized"]

/**
 * The last of these messages is left waiting.
 */
const messages = (
  sees: ReadonlyArray<string>,
  answers: Readonly<Record<string, ReadonlyArray<Step>>>,
  given: Partial<Connecting> = {}
): ReadonlyArray<Connecting> =>
  Object.entries(answers).map(([name, steps]) => ({
    name: `${sees.at(-1)}: ${name}`,
    speaks: "2025-11-25",
    answers: { [sees.at(-1)!]: script(...steps) },
    isWaiting: ({ requests }) => requests.length === sees.length,
    sees,
    afterwards: [],
    dials: 1,
    idle: 0,
    ...given
  }))

/**
 * The credentials for the message after these are left waiting.
 */
const unsigned = (sees: ReadonlyArray<string>, afterwards: ReadonlyArray<string>): Connecting => ({
  name: `credentials for request ${sees.length + 1}`,
  speaks: "2025-11-25",
  ...missing(sees.length),
  sees,
  afterwards,
  dials: Math.min(sees.length, 1),
  idle: Math.min(sees.length, 1)
})

/**
 * Made anew for whoever uses them, since they remember.
 */
export const connectings = (): ReadonlyArray<Connecting> => [
  lookingUp("a look-up", Effect.never),
  lookingUp("a look-up that cannot be given up", Effect.uninterruptible(Effect.delay(Effect.interrupt, 50))),
  {
    name: "TLS",
    url: ({ port }) => `https://127.0.0.1:${port}/mcp`,
    isWaiting: ({ connections }) => connections() === 1,
    sees: [],
    afterwards: [],
    dials: 1,
    idle: 0
  },
  unsigned([], []),
  unsigned(discovering, []),
  unsigned(initializing, ["DELETE"]),
  ...messages(discovering, unfinished),
  ...messages(initializing, unfinished),
  // What follows the head of this answer is not read.
  ...messages(announcing, beforeTheHead, { afterwards: ["DELETE"], dials: 2, idle: 1 })
]
