/**
 * Variants of a case: which request gets the answer that it is about, in which era, over TLS or not.
 */
import { McpPolicy } from "../../../src/index.ts"
import { certificate } from "../../support/certificate.ts"
import type { RawRequest, Responder } from "../../support/rawServer.ts"
import type { Expected } from "./outcomes.ts"
import type { Case } from "./suite.ts"
import { chunk, lastChunk, openStream, script, type Step } from "./wire.ts"

/**
 * Cases of a row whose call is answered so.
 */
export const calls =
  (row: number) => (name: string, steps: ReadonlyArray<Step>, expected: Expected & Partial<Case>): Case => ({
    row,
    name,
    answers: { "tools/call": script(...steps) },
    ...expected
  })

/**
 * Whether an answer leaves its socket fit for the next request. Where it does not, ending a legacy session takes another.
 */
export type Socket = "kept" | "closed"

const dialsOf = (socket: Socket): number => socket === "closed" ? 2 : 1

/**
 * The same answer to every request that wants one, in both eras.
 */
export const atEveryRequest = (
  name: string,
  answer: Responder,
  socket: Socket,
  rest: Omit<Case, "name">
): ReadonlyArray<Case> => [
  { ...rest, name: `${name}: a call`, answers: { "tools/call": answer } },
  { ...rest, name: `${name}: a listing`, answers: { "tools/list": answer }, act: "list" },
  {
    ...rest,
    name: `${name}: discovery`,
    answers: { "server/discover": answer },
    act: "connect",
    sees: ["server/discover"]
  },
  {
    ...rest,
    name: `${name}: a legacy call`,
    speaks: "2025-11-25",
    answers: { "tools/call": answer },
    dials: dialsOf(socket)
  },
  { ...rest, name: `${name}: initialize`, ...initializing(answer) }
]

/**
 * A legacy handshake that ends at the answer to `initialize`.
 */
export const initializing = (answer: Responder) => ({
  speaks: "2025-11-25",
  answers: { initialize: answer },
  act: "connect",
  sees: ["server/discover", "initialize"]
} as const)

/**
 * A legacy handshake whose notification is answered so, and nothing after it but the end of the session.
 */
export const notifying = (answer: Responder, socket: Socket = "kept") => ({
  speaks: "2025-11-25",
  answers: { "notifications/initialized": answer },
  act: "connect",
  sees: ["server/discover", "initialize", "notifications/initialized", "DELETE"],
  dials: dialsOf(socket)
} as const)

/**
 * A legacy call whose event stream ends before its answer, and whose resumption is answered so.
 */
export const resuming = (answer: Responder, socket: Socket = "kept") => ({
  speaks: "2025-11-25",
  answers: { "tools/call": script(openStream, chunk("id: 7\nretry: 1\ndata:\n\n"), lastChunk), GET: answer },
  sees: ["tools/call", "GET"],
  policy: { resumption: McpPolicy.resumption({ minDelay: 1 }) },
  dials: dialsOf(socket)
} as const)

/**
 * A case at a server that speaks TLS.
 */
export const overTls = (hostile: Case): Case => ({
  ...hostile,
  name: `TLS: ${hostile.name}`,
  tls: true,
  pool: { tls: { ca: certificate.cert } }
})

/**
 * The good answer to `initialize`, at 2025-11-25.
 */
export const initialized = ({ message }: RawRequest): string =>
  `{"jsonrpc":"2.0","id":${message.id},"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}`

/**
 * One answer to the first request of a method, and another one to all that follow.
 */
export const first = (answer: Responder, then: Responder): Responder => (socket, request) =>
  (request.nth === 0 ? answer : then)(socket, request)
