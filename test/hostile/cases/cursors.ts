/**
 * Cursors: row 29.
 */
import { assert } from "@effect/vitest"
import { McpPolicy } from "../../../src/index.ts"
import { called, listed } from "../kit/answers.ts"
import type { Case } from "../kit/suite.ts"
import { bothWays, crosswise, legacy, noMessage, type Said, times } from "../kit/ways.ts"
import { asBody, errorAnswer, pause, say, script, type Text } from "../kit/wire.ts"

const unreadable = "ServerAnswered/Unreadable"
const MiB = 2 ** 20

/**
 * A page with one tool, and the cursor that a function says, as JSON.
 */
const paged = (cursor: (nth: number) => string | undefined): Text => (request) => {
  const next = cursor(request.nth)
  const members = next === undefined ? [] : [`"nextCursor":${next}`]
  return listed([`{"name":"t${request.nth}","inputSchema":{}}`], ...members)(request)
}

const pages = (count: number): ReadonlyArray<string> => times(count, "tools/list")

const fails = (count: number): Pick<Said, "outcome" | "sees" | "check"> => ({
  outcome: "ServerAnswered/PaginationLoop",
  sees: pages(count),
  check: ({ reason }) => assert.strictEqual(reason.pages, count)
})

/**
 * What the server was given as cursors, page by page.
 */
const cursorsOf = ({ requests }: Parameters<NonNullable<Case["check"]>>[1]): ReadonlyArray<string | undefined> =>
  requests.flatMap(({ message }) => message.method === "tools/list" ? [message.params.cursor] : [])

/**
 * All pages are had, and all cursors came back as they were sent.
 */
const follows = (cursors: ReadonlyArray<string>): Pick<Said, "text" | "outcome" | "sees" | "check"> => ({
  text: paged((nth) => cursors[nth] === undefined ? undefined : JSON.stringify(cursors[nth])),
  outcome: "ok",
  sees: pages(cursors.length + 1),
  check: (tools, server) => {
    assert.lengthOf(tools, cursors.length + 1)
    // Compared here, since a difference in a megabyte is not worth printing.
    assert.isTrue(cursorsOf(server).slice(1).every((cursor, i) => cursor === cursors[i]))
  }
})

const endless: ReadonlyArray<Said> = [
  { row: 29, name: "a constant cursor", act: "list", text: paged(() => `"c"`), ...fails(2) },
  { row: 29, name: "a cursor of period two", act: "list", text: paged((nth) => `"${nth % 2}"`), ...fails(3) },
  { row: 29, name: "a cursor of period three", act: "list", text: paged((nth) => `"${nth % 3}"`), ...fails(4) },
  {
    row: 29,
    name: "a cursor that is constant from the third on",
    act: "list",
    text: paged((nth) => `"${Math.min(nth, 2)}"`),
    ...fails(4)
  },
  {
    row: 29,
    name: "a cursor that is always new",
    act: "list",
    text: paged((nth) => `"${nth}"`),
    ...fails(100),
    deadline: 5000
  },
  {
    row: 29,
    name: "a cursor that is always new, on pages without tools",
    act: "list",
    text: (request) => listed([], `"nextCursor":"${request.nth}"`)(request),
    ...fails(100),
    deadline: 5000
  },
  {
    row: 29,
    name: "a cursor that is always new, under a policy of five pages",
    act: "list",
    text: paged((nth) => `"${nth}"`),
    policy: { pages: McpPolicy.pages({ maxPages: 5 }) },
    ...fails(5)
  },
  {
    row: 29,
    name: "a constant cursor, under a policy that takes cursors as opaque",
    act: "list",
    text: paged(() => `"c"`),
    policy: { pages: McpPolicy.pages({ cursors: "opaque" }) },
    ...fails(100),
    deadline: 5000
  }
]

const large: Said = {
  row: 29,
  name: "a cursor of 1 MB that is always new",
  act: "list",
  text: paged((nth) => `"${nth}${"c".repeat(MiB)}"`),
  outcome: "ConnectionFailed/BudgetExceeded",
  sees: pages(8),
  deadline: 5000
}

/**
 * After one good page, something that is none: nothing is had of the listing.
 */
const secondPages: ReadonlyArray<readonly [name: string, second: Text, Pick<Said, "outcome" | "streamed">]> = [
  ["an error", errorAnswer(`{"code":-32602,"message":"no such cursor"}`), { outcome: "ServerAnswered/RpcError" }],
  ["a result without tools", called(), { outcome: unreadable }],
  ["half a message", say(`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[`), noMessage],
  ["another id", say(`{"jsonrpc":"2.0","id":77,"result":{"tools":[]}}`), {
    outcome: "ConnectionFailed/ProtocolViolation"
  }]
]

const inBothEras: ReadonlyArray<Said> = [
  ...endless,
  {
    row: 29,
    name: "cursors of every kind of character",
    act: "list",
    ...follows(["\"\\/\0\u001b\u2028\ud800 é \u{1f600} \u202e\ufeff", "null", "0", "__proto__", " "])
  },
  { row: 29, name: "a cursor of 1 MB, once", act: "list", ...follows(["c".repeat(MiB)]), deadline: 5000 },
  ...["5", "1e400", "true", "false", "{}", `["c"]`].map((cursor): Said => ({
    row: 29,
    name: `a cursor that is ${cursor}`,
    act: "list",
    text: paged(() => cursor),
    outcome: unreadable
  })),
  ...["null", undefined].map((cursor): Said => ({
    row: 29,
    name: `a cursor that is ${cursor ?? "absent"}`,
    act: "list",
    text: paged(() => cursor),
    outcome: "ok",
    check: (tools) => assert.lengthOf(tools, 1)
  }))
]

const inOneEra: ReadonlyArray<Said> = [
  { row: 29, name: "a cursor that is empty, once", act: "list", ...follows([""]) },
  { row: 29, name: "a cursor that is empty, for ever", act: "list", text: paged(() => `""`), ...fails(2) },
  legacy({
    row: 29,
    name: "a cursor that is empty",
    act: "list",
    text: paged(() => `""`),
    outcome: "ok",
    check: (tools) => assert.lengthOf(tools, 1)
  }),
  legacy({
    row: 29,
    name: "a cursor that is empty, on the second page",
    act: "list",
    text: paged((nth) => nth === 0 ? `"c"` : `""`),
    outcome: "ok",
    sees: pages(2),
    check: (tools) => assert.lengthOf(tools, 2)
  }),
  ...secondPages.map(([name, second, then]): Said => ({
    row: 29,
    name: `a cursor that leads to ${name}`,
    act: "list",
    text: (request) => (request.nth === 0 ? paged(() => `"c"`) : second)(request),
    sees: pages(2),
    ...then
  }))
]

const slowPages: Case = {
  row: 29,
  name: "a cursor that is always new, on slow pages, which share the time of their listing",
  act: "list",
  answers: { "tools/list": script(pause(200), asBody(paged((nth) => `"${nth}"`))) },
  deadline: 300,
  outcome: "ConnectionFailed/TimedOut",
  sees: pages(2)
}

export const cursors: ReadonlyArray<Case> = [
  ...inBothEras.flatMap((said) => crosswise(said)),
  // A legacy session is deleted on a socket of its own, since the budget has closed the first.
  ...crosswise(large, { ...large, dials: 2 }),
  ...inOneEra.flatMap(bothWays),
  slowPages
]
