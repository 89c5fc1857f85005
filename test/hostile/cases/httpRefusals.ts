/**
 * HTTP: row 19, 401 and 403.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Credentials, type McpError } from "../../../src/index.ts"
import type { Responder } from "../../support/rawServer.ts"
import { also, type Expected, httpStatus, okText, refused } from "../kit/outcomes.ts"
import type { Case } from "../kit/suite.ts"
import { atEveryRequest, calls, first, notifying, overTls, resuming, type Socket } from "../kit/variants.ts"
import {
  chunk,
  chunkedHead,
  drip,
  end,
  event,
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

const row = 19
const answered = calls(row)
const terabyte = "1000000000000"
const okJson = script(json(okAnswer))

type Status = 401 | 403

/**
 * Shapes of a refusal that every request may meet.
 */
const common: Readonly<Record<string, (status: Status) => readonly [Socket, ...steps: ReadonlyArray<Step>]>> = {
  "a status alone": (status) => ["kept", whole(status, undefined)],
  HTML: (status) => ["kept", whole(status, "text/html", "<html>")],
  "a terabyte of JSON": (status) => ["closed", head(status, { "content-type": jsonType, "content-length": terabyte })],
  "a body that never comes": (status) => ["closed", head(status, { "content-length": "9" })]
}

/**
 * Shapes that a call meets.
 */
const shapes: Readonly<Record<string, (status: Status) => ReadonlyArray<Step>>> = {
  "JSON without end": (status) => [chunkedHead(jsonType, status), flood(chunk("[".repeat(4096)))],
  "an event stream without end": (status) => [chunkedHead(streamType, status), flood(chunk(": hi\n".repeat(800)))],
  "an event stream, open and silent": (status) => [chunkedHead(streamType, status)],
  "a byte of body every 20 ms": (status) => [chunkedHead(jsonType, status), drip(chunk("["), 20)],
  "a body that only a close would end": (status) => [head(status)],
  "closed in the body": (status) => [head(status, { "content-length": "9" }), "x", end],
  "reset in the body": (status) => [head(status, { "content-length": "9" }), "x", turn, reset],
  "closed in the head": (status) => [`HTTP/1.1 ${status} No\r\ncontent-`, end],
  "a head that is not HTTP": (status) => [`HTTP/1.1 ${status} No\r\nno colon\r\n\r\n`],
  "a length that is none": (status) => [head(status, { "content-length": "x" })],
  "headers without end": (status) => [`HTTP/1.1 ${status} No\r\n`, flood("x: y\r\n".repeat(1000))],
  "a chunk extension of 1 MiB": (status) => [chunkedHead(jsonType, status), `5;${"x".repeat(2 ** 20)}\r\nhello\r\n`],
  "a content encoding": (status) => [wholeWith(status, { "content-encoding": "gzip" }, "x")],
  "the good answer in it": (status) => [json(okAnswer, status)],
  "the good answer in it, on an event stream": (status) => [chunkedHead(streamType, status), event(okAnswer)],
  "a place to go": (status) => [wholeWith(status, { location: "/mcp/" })]
}

const everyShape: ReadonlyArray<Case> = ([401, 403] as const).flatMap((status) => [
  ...Object.entries(common).flatMap(([what, shape]) => {
    const [socket, ...steps] = shape(status)
    const answer = script(...steps)
    return [
      ...atEveryRequest(`${status}, ${what}`, answer, socket, { row, ...refused(status) }),
      { row, name: `${status}, ${what}: a notification`, ...notifying(answer, socket), ...refused(status) },
      { row, name: `${status}, ${what}: a resumption`, ...resuming(answer, socket), ...refused(status) }
    ]
  }),
  ...Object.entries(shapes).map(([what, shape]) =>
    answered(`${status}, ${what}`, shape(status), { options: { redirects: "same-origin" }, ...refused(status) })
  ),
  answered(`${status}, a head that breaks the budget`, [wholeWith(status, { x: "y".repeat(5000) })], {
    budget: { limit: 4000 },
    ...refused(status)
  }),
  overTls(answered(`${status}, a status alone`, [whole(status, undefined)], refused(status))),
  overTls(answered(`${status}, JSON without end`, shapes["JSON without end"]!(status), refused(status)))
])

const challenging = (value: string | ReadonlyArray<string>, status = 401): Buffer =>
  wholeWith(status, { "www-authenticate": value })

/**
 * A 401 whose challenge is so, and the schemes that are read of it.
 */
const challenged = (
  name: string,
  value: string | ReadonlyArray<string>,
  ...schemes: ReadonlyArray<string>
): Case =>
  answered(
    `401, ${name}`,
    [challenging(value)],
    also(refused(401), ({ challenges }: McpError.Unauthorized) => {
      assert.deepStrictEqual(challenges.map(({ scheme }) => scheme), schemes)
    })
  )

const challenges: ReadonlyArray<Case> = [
  challenged("no challenge", []),
  challenged("one challenge", `Bearer realm="x", error="invalid_token"`, "bearer"),
  challenged(
    "several challenges in one header",
    `Bearer a="b, c", Basic realm="\\"x", Negotiate`,
    "bearer",
    "basic",
    "negotiate"
  ),
  challenged("several headers", [`Bearer a="b"`, "Negotiate YWJj=", "Basic"], "bearer", "negotiate", "basic"),
  challenged(
    "a thousand challenges",
    Array.from({ length: 1000 }, () => "Bearer"),
    ...Array.from({ length: 16 }, () => "bearer")
  ),
  challenged("a challenge without its end", `Bearer realm="x`, "bearer"),
  challenged("a challenge that is none", `=,=;"`),
  challenged("an empty challenge", ""),
  challenged("60 KB of challenge", `Bearer x="${"y".repeat(60_000)}"`, "bearer"),
  challenged("60 KB of commas", ",".repeat(60_000)),
  challenged("1 MB of challenge", `Bearer x="${"y".repeat(1_000_000)}"`),
  answered(
    "403, a scope that is missing",
    [
      challenging(`Bearer error="insufficient_scope", scope="a b"`, 403)
    ],
    also(refused(403), ({ challenge }: McpError.Unauthorized) => {
      assert.deepStrictEqual({ ...challenge?.parameters }, { error: "insufficient_scope", scope: "a b" })
    })
  ),
  answered("401, neither token nor challenge is quoted", [challenging(`Bearer error_description="s3cr3t"`)], {
    options: { credentials: Credentials.bearer(Redacted.make("t0ken")) },
    ...also(refused(401), (error) => {
      assert.notMatch(`${error.message}${error.stack}${JSON.stringify(error)}`, /s3cr3t|t0ken/)
    })
  }),
  ...[402, 407, 498, 499, 511].map((status) =>
    answered(`${status}, which is another matter`, [challenging("Bearer", status)], httpStatus(status))
  )
]

/**
 * A call that is refused, then `between`, then another call.
 */
const refusedOnce = (name: string, answers: Responder, between: () => void, rest: Expected & Partial<Case>): Case => ({
  row,
  name,
  answers: { "tools/call": answers },
  act: (connection) =>
    Effect.flip(connection.callTool("t")).pipe(
      Effect.orDie,
      Effect.tap((error) =>
        Effect.sync(() => {
          assert.strictEqual(error._tag, "Unauthorized")
          between()
        })
      ),
      Effect.andThen(connection.callTool("t"))
    ),
  sees: ["tools/call", "tools/call"],
  ...rest
})

/**
 * A provider whose first token is refused, and whose next one is taken and answered so.
 */
const recovered = (name: string, answer: Responder, expected: Expected): Case => {
  let token = "stale"
  return refusedOnce(
    `a recovered 401, then ${name}`,
    (socket, request) => {
      const isTaken = request.headers["authorization"] === "Bearer fresh"
      const respond = isTaken ? answer : script(challenging("Bearer"))
      respond(socket, request)
    },
    () => {
      token = "fresh"
    },
    { options: { credentials: Credentials.provider(Effect.sync(() => Redacted.make(token))) }, ...expected }
  )
}

const afterwards: ReadonlyArray<Case> = [
  ...([401, 403] as const).map((status) =>
    refusedOnce(`${status}, then the good answer`, first(script(whole(status, undefined)), okJson), () => {}, okText)
  ),
  recovered("the good answer", okJson, okText),
  recovered(
    "a 500",
    script(whole(500, "text/html", "<html>")),
    also(
      httpStatus(500),
      (error) => assert.notMatch(`${error.message}${JSON.stringify(error)}`, /\b401\b|bearer|credential/i)
    )
  ),
  {
    row,
    name: "no credential can be had",
    options: { credentials: Credentials.provider(Effect.fail("t0ken")) },
    act: "connect",
    sees: [],
    dials: 0,
    outcome: "Unauthorized",
    check: (error) => {
      assert.isUndefined(error.status)
      assert.notInclude(`${error.message}${JSON.stringify(error)}`, "t0ken")
    }
  }
]

export const httpRefusals: ReadonlyArray<Case> = [...everyShape, ...challenges, ...afterwards]
