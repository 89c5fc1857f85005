/**
 * What has to come of a case, and what the value or the error says of it.
 */
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import type { McpError } from "../../../src/index.ts"
import type { Case } from "./suite.ts"

export type Expected = Pick<Case, "outcome" | "check" | "deadline">

/**
 * The tool's good answer.
 */
export const okText: Expected = { outcome: "ok", check: ({ text }) => assert.strictEqual(text, "ok") }

const failed = (reason: McpError.ConnectionFailedReason["_tag"], fields: object): Expected => ({
  outcome: `ConnectionFailed/${reason}`,
  check: (error) => assert.deepInclude(error.reason, fields)
})

export const timedOut = (millis: number): Expected => ({
  ...failed("TimedOut", { limit: Duration.millis(millis) }),
  deadline: millis
})

export const tooMuch = (what: McpError.BudgetExceeded["what"], limit: number): Expected =>
  failed("BudgetExceeded", { what, limit })

/**
 * The connection broke after the request had left.
 */
export const broken: Expected = failed("Unreachable", { delivered: "unknown" })

export const violation = (detail: RegExp): Expected => ({
  outcome: "ConnectionFailed/ProtocolViolation",
  check: (error) => assert.match(error.reason.detail, detail)
})

/**
 * `retryAfter` is in milliseconds; without it, there must be no hint.
 */
export const httpStatus = (status: number, retryAfter?: number): Expected => ({
  outcome: "ConnectionFailed/HttpStatus",
  check: ({ reason }) => {
    assert.strictEqual(reason.status, status)
    assert.deepStrictEqual(reason.retryAfter, retryAfter === undefined ? undefined : Duration.millis(retryAfter))
  }
})

export const rpcError = (status: number, code: number): Expected => ({
  outcome: "ServerAnswered/RpcError",
  check: (error) => assert.deepInclude(error.reason, { status, code })
})

export const refused = (status: 401 | 403): Expected => ({
  outcome: "Unauthorized",
  check: (error) => assert.strictEqual(error.status, status)
})

/**
 * An outcome of which something more has to hold.
 */
export const also = (expected: Expected, check: NonNullable<Case["check"]>): Expected => ({
  ...expected,
  check: (got, server) => {
    expected.check?.(got, server)
    check(got, server)
  }
})
