/**
 * HTTP: row 18, places to go and things to keep.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { RawServer, Responder } from "../../support/rawServer.ts"
import { also, type Expected, httpStatus, okText } from "../kit/outcomes.ts"
import type { Act, Case } from "../kit/suite.ts"
import { atEveryRequest, initialized, initializing, notifying, overTls, resuming } from "../kit/variants.ts"
import { chunk, flood, head, json, jsonType, okAnswer, script, whole, wholeWith } from "../kit/wire.ts"

const row = 18
const okJson = script(json(okAnswer))
const statuses = [301, 302, 303, 307, 308]
const following = { redirects: "same-origin" } as const

type Location = string | ReadonlyArray<string>

const redirect = (status: number, location: Location, more: Readonly<Record<string, string>> = {}): Responder =>
  script(wholeWith(status, { location, ...more }))

/**
 * A call that is redirected to where the second server is, or anywhere else.
 */
const redirected = (
  status: number,
  where: string,
  location: (elsewhere: RawServer) => Location,
  rest: Partial<Case> = {}
): Case => ({
  row,
  name: `${status} to ${where}`,
  lures: (elsewhere) => ({ "tools/call": redirect(status, location(elsewhere)) }),
  ...httpStatus(status),
  ...rest
})

const places: Readonly<Record<string, (elsewhere: RawServer) => Location>> = {
  "another origin without a scheme": ({ port }) => `//127.0.0.1:${port}/mcp`,
  "another origin in backslashes": ({ port }) => `\\\\127.0.0.1:${port}\\mcp`,
  "another origin by https": ({ port }) => `https://127.0.0.1:${port}/mcp`,
  "another origin behind userinfo": ({ port }) => `http://127.0.0.1@127.0.0.1:${port}/mcp`,
  "loopback by name": ({ port }) => `http://localhost:${port}/mcp`,
  "loopback of IPv6": ({ port }) => `http://[::1]:${port}/mcp`,
  "cloud metadata": () => "http://169.254.169.254/latest/meta-data/",
  "a file": () => "file:///etc/passwd",
  "a script": () => "javascript:alert(1)",
  data: () => "data:application/json,{}",
  "a URL that is none": () => "http://[",
  "a place of 50 KB": ({ url }) => `${url}?${"x".repeat(50_000)}`,
  "two places": ({ url }) => [url, "/mcp"]
}

const unquoted = (status: number): Expected =>
  also(httpStatus(status), ({ message }) => assert.notMatch(message, /localhost|meta-data|passwd|alert|xxx/))

const notFollowed: ReadonlyArray<Case> = [
  ...statuses.flatMap((status) => [
    redirected(status, "another origin", ({ url }) => url),
    redirected(status, "another origin, with same-origin", ({ url }) => url, { options: following }),
    redirected(status, "the own origin", () => "/mcp/")
  ]),
  ...[201, 300, 304, 305, 306].map((status) => redirected(status, "another origin", ({ url }) => url)),
  ...Object.entries(places).flatMap(([where, place]) => [
    redirected(302, where, place, unquoted(302)),
    redirected(307, `${where}, with same-origin`, place, { options: following, ...unquoted(307) })
  ]),
  ...statuses.flatMap((status) =>
    atEveryRequest(`${status} to nowhere`, script(whole(status, undefined)), "kept", {
      row,
      options: following,
      ...httpStatus(status)
    })
  ),
  redirected(307, "another origin, with a body without end", () => "", {
    lures: ({ url }) => ({
      "tools/call": script(head(307, { location: url, "transfer-encoding": "chunked" }), flood(chunk("x".repeat(4096))))
    })
  }),
  overTls(redirected(302, "another origin", ({ url }) => url, { options: following })),
  overTls({
    row,
    name: "307 to plain HTTP at the same port",
    answers: {
      "tools/call": (socket, request) => redirect(307, `http://${request.headers["host"]}/mcp`)(socket, request)
    },
    options: following,
    ...httpStatus(307)
  })
]

/**
 * Requests other than a call, redirected to another origin where the own one would be followed.
 */
const atOtherRequests: ReadonlyArray<Case> = ([
  ["a listing", (answer) => ({ answers: { "tools/list": answer }, act: "list" })],
  ["discovery", (answer) => ({ answers: { "server/discover": answer }, act: "connect", sees: ["server/discover"] })],
  ["initialize", initializing],
  ["a notification", (answer) => notifying(answer, "closed")],
  ["a resumption", (answer) => resuming(answer, "closed")],
  ["DELETE", (answer) => ({ speaks: "2025-11-25", answers: { DELETE: answer }, ...okText })]
] satisfies ReadonlyArray<readonly [string, (answer: Responder) => Partial<Case>]>).map(([request, at]): Case => ({
  row,
  name: `307 to another origin: ${request}`,
  options: following,
  ...httpStatus(307),
  ...at(() => {}),
  lures: ({ url }) => at(redirect(307, url, { connection: "close" })).answers
}))

type Moves = ReadonlyArray<readonly [status: number, location: string]>

/**
 * A server whose first answers to calls lead to these places, and what comes after is good.
 */
const moving = (...moves: Moves): Responder => (socket, request) => {
  const move = moves[request.nth]
  const respond = move === undefined ? okJson : redirect(...move)
  respond(socket, request)
}

const followed = (
  name: string,
  moves: Moves,
  requests: number,
  expected: Expected
): Case => ({
  row,
  name: `same-origin: ${name}`,
  answers: { "tools/call": moving(...moves) },
  options: following,
  sees: Array.from({ length: requests }, () => "tools/call"),
  ...expected
})

const sameOrigin: ReadonlyArray<Case> = [
  followed("307", [[307, "/mcp/"]], 2, okText),
  followed("308, to a query", [[308, "?a=b"]], 2, okText),
  followed("three in a row", [[307, "/a"], [308, "/b"], [307, "/c"]], 4, okText),
  followed("four in a row", [[307, "/a"], [307, "/b"], [307, "/c"], [307, "/d"]], 4, httpStatus(307)),
  followed("to itself", [[307, ""], [307, ""], [307, ""], [307, ""]], 4, httpStatus(307)),
  ...[301, 302, 303].map((status) => followed(`${status} is not followed`, [[status, "/mcp/"]], 1, httpStatus(status))),
  {
    ...followed("307, then 308 to another origin", [], 2, httpStatus(308)),
    lures: ({ url }) => ({ "tools/call": moving([307, "/mcp/"], [308, url]) })
  }
]

/**
 * Two calls, one after the other.
 */
const calledTwice: { readonly act: Act; readonly sees: ReadonlyArray<string> } = {
  act: (connection) => Effect.andThen(connection.callTool("t"), connection.callTool("t")),
  sees: ["tools/call", "tools/call"]
}

const cookies = ["a=b; Path=/; HttpOnly", "c=d; Domain=127.0.0.1; SameSite=None; Secure"]

const noCookie: Expected = also(okText, (_, { requests }) => {
  assert.isEmpty(requests.filter(({ headers }) => "cookie" in headers))
})

const setsCookies = (status: number, more: Readonly<Record<string, string>> = {}): Responder =>
  script((request) => {
    const body = request.message.method === "initialize" ? initialized(request) : okAnswer(request)
    return wholeWith(status, { "content-type": jsonType, "set-cookie": cookies, ...more }, body)
  })

const kept: ReadonlyArray<Case> = [
  { row, name: "Set-Cookie on a call", answers: { "tools/call": setsCookies(200) }, ...calledTwice, ...noCookie },
  {
    row,
    name: "Set-Cookie on initialize",
    speaks: "2025-11-25",
    answers: { initialize: setsCookies(200, { "mcp-session-id": "s1" }) },
    ...calledTwice,
    ...noCookie
  },
  {
    row,
    name: "Set-Cookie on a redirect that is followed",
    answers: {
      "tools/call": (socket, request) =>
        (request.path === "/mcp" ? setsCookies(307, { location: "/mcp/" }) : okJson)(socket, request)
    },
    options: following,
    ...noCookie,
    ...calledTwice,
    sees: ["tools/call", "tools/call", "tools/call", "tools/call"]
  },
  ...Object.entries<(elsewhere: RawServer) => string>({
    refresh: ({ url }) => `0; url=${url}`,
    "alt-svc": ({ port }) => `h2="127.0.0.1:${port}", h3="127.0.0.1:${port}"`,
    link: ({ url }) => `<${url}>; rel=preload`,
    location: ({ url }) => url,
    "content-location": ({ url }) => url
  }).map(([name, value]): Case => ({
    row,
    name: `${name} on a good answer`,
    lures: (elsewhere) => ({
      "tools/call": script((request) =>
        wholeWith(200, { "content-type": jsonType, [name]: value(elsewhere) }, okAnswer(request))
      )
    }),
    ...calledTwice,
    ...okText
  }))
]

export const httpRedirects: ReadonlyArray<Case> = [...notFollowed, ...atOtherRequests, ...sameOrigin, ...kept]
