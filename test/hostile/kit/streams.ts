/**
 * What cases of event streams share: outcomes, and streams that end before their answer.
 */
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import { McpPolicy } from "../../../src/index.ts"
import type { RawRequest, RawServer, Responder } from "../../support/rawServer.ts"
import type { Case } from "./suite.ts"
import { chunk, event, lastChunk, okAnswer, openStream, script } from "./wire.ts"

/**
 * A case but for its place and its server.
 */
export type Rest = Omit<Case, "row" | "name" | "answers">
export type Answers = NonNullable<Case["answers"]>

/**
 * For what takes as long as it has bytes.
 */
export const enough = 5000

export const says = (text: string) => ({ outcome: "ok", check: (got: any) => assert.strictEqual(got.text, text) })
export const ok = says("ok")

export const timedOut = {
  deadline: 150,
  outcome: "ConnectionFailed/TimedOut",
  check: ({ reason }: any) => assert.strictEqual(Duration.toMillis(reason.limit), 150)
}

/**
 * At once, and not when the time is up.
 */
export const unreachable = {
  deadline: 200,
  outcome: "ConnectionFailed/Unreachable",
  check: ({ reason }: any) => assert.strictEqual(reason.delivered, "unknown")
}

export const overBudget = {
  deadline: enough,
  budget: { limit: "256 KiB" },
  outcome: "ConnectionFailed/BudgetExceeded",
  check: ({ reason }: any) =>
    assert.deepStrictEqual({ ...reason }, { _tag: "BudgetExceeded", what: "response bytes", limit: 256 * 1024 })
} as const

export const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`

/**
 * An event of a message.
 */
export const onOneLine = (message: string): string => `data: ${message}\n\n`

export const rpcError = ({ message }: RawRequest): string =>
  `{"jsonrpc":"2.0","id":${message.id},"error":{"code":-32602,"message":"no"}}`

/**
 * A stream that has the answer in it.
 */
export const answers = script(openStream, event(okAnswer), lastChunk)

/**
 * A stream of this text, which then ends.
 */
export const ending = (text: string): Responder => script(openStream, chunk(text), lastChunk)

/**
 * A stream that ends after event number 7.
 */
export const numbered = ending("id: 7\ndata:\n\n")

/**
 * Answers the first request of its kind like the first, and so on; the last serves all that follow.
 */
export const inTurn = (...responders: ReadonlyArray<Responder>): Responder => (socket, request) =>
  responders[Math.min(request.nth, responders.length - 1)]!(socket, request)

/**
 * Responders to a request and to the resumptions of its stream. Those are given the message that they take up.
 */
export const broken = (first: Responder, resumption: Responder, method = "tools/call"): Answers => {
  let message: RawRequest["message"] = {}
  return {
    [method]: (socket, request) => {
      message = request.message
      first(socket, request)
    },
    GET: (socket, request) => resumption(socket, { ...request, message })
  }
}

/**
 * The ids that streams were taken up from, in order.
 */
export const lastEventIds = (server: RawServer): ReadonlyArray<string | undefined> =>
  server.requests.filter(({ httpMethod }) => httpMethod === "GET").map(({ headers }) => headers["last-event-id"])

export const waiting = (options: McpPolicy.ResumptionOptions): McpPolicy.Options => ({
  resumption: McpPolicy.resumption(options)
})

/**
 * A call to a legacy server whose stream is taken up from these ids, in this order, before it comes to what it comes to.
 */
export const takenUp = (outcome: Rest, ...ids: ReadonlyArray<string>): Rest => ({
  policy: waiting({ minDelay: 5, delay: 5 }),
  ...outcome,
  speaks: "2025-11-25",
  sees: ["tools/call", ...ids.map(() => "GET")],
  check: (got, server) => {
    outcome.check?.(got, server)
    assert.deepStrictEqual(lastEventIds(server), ids)
  }
})
