/**
 * Result types, and rounds of input: row 28.
 */
import { assert } from "@effect/vitest"
import { isOk, textMember } from "../kit/answers.ts"
import type { Case } from "../kit/suite.ts"
import { bothWays, legacy, type Said, times } from "../kit/ways.ts"
import { answer, asBody, errorAnswer, okAnswer, pause, script, type Text } from "../kit/wire.ts"

const inputRequired = "ServerAnswered/InputRequired"
const unreadable = "ServerAnswered/Unreadable"

/**
 * A result of `tools/call` that is good but for its type.
 */
const ofType = (resultType: string): Text => answer(`{"resultType":${resultType},${textMember("ok")}}`)

const unknownTypes: ReadonlyArray<readonly [name: string, type: string]> = [
  ["a type that nobody knows", "poem"],
  ["an empty type", ""],
  ["complete in another case", "Complete"],
  ["input_required with white space", "input_required "],
  ["the type __proto__", "__proto__"]
]

const types: ReadonlyArray<Said> = [
  ...unknownTypes.map(([name, type]): Said => ({
    row: 28,
    name,
    text: ofType(JSON.stringify(type)),
    outcome: "ServerAnswered/UnknownResultType",
    check: ({ reason }) => assert.strictEqual(reason.resultType, type)
  })),
  {
    row: 28,
    name: "a type of 1 MB",
    text: ofType(`"${"x".repeat(2 ** 20)}"`),
    outcome: "ServerAnswered/UnknownResultType",
    check: ({ message, reason }) => {
      assert.strictEqual(reason.resultType, `${"x".repeat(100)}…`)
      assert.isBelow(message.length, 200)
    }
  },
  ...["5", "true", "{}", `["complete"]`].map((type): Said => ({
    row: 28,
    name: `the type ${type}`,
    text: ofType(type),
    outcome: unreadable
  })),
  { row: 28, name: "no type", text: answer(`{${textMember("ok")}}`), outcome: "ok", check: isOk },
  { row: 28, name: "the type null", text: ofType("null"), outcome: "ok", check: isOk },
  {
    row: 28,
    name: "a listing of an unknown type",
    act: "list",
    text: answer(`{"resultType":"poem","tools":[]}`),
    outcome: "ServerAnswered/UnknownResultType"
  },
  {
    row: 28,
    name: "an answer to server/discover of an unknown type",
    act: "connect",
    text: answer(`{"resultType":"poem","supportedVersions":["2026-07-28"],"capabilities":{}}`),
    outcome: "ServerAnswered/UnknownResultType"
  },
  ...[`"poem"`, "5", `"input_required"`].map((type) =>
    legacy({ row: 28, name: `the type ${type} means nothing`, text: ofType(type), outcome: "ok", check: isOk })
  ),
  legacy({
    row: 28,
    name: "an answer that asks for input is one without content",
    text: answer(`{"resultType":"input_required","inputRequests":{},"requestState":"s"}`),
    outcome: unreadable
  })
]

const asking = (members: string): Text => answer(`{"resultType":"input_required",${members}}`)

const fails = (rounds: number, requests: ReadonlyArray<string> = []): Pick<Said, "outcome" | "sees" | "check"> => ({
  outcome: inputRequired,
  sees: times(rounds, "tools/call"),
  check: ({ reason }) => {
    assert.strictEqual(reason.rounds, rounds)
    assert.deepStrictEqual(reason.requests, requests)
  }
})

/**
 * `inputRequests` with these methods.
 */
const requesting = (...methods: ReadonlyArray<unknown>): Text =>
  asking(`"inputRequests":${JSON.stringify(Object.fromEntries(methods.map((method, i) => [`r${i}`, { method }])))}`)

const manyMethods = Array.from({ length: 10_000 }, (_, i) => `ask/${i}`)

const rounds: ReadonlyArray<Said> = [
  { row: 28, name: "state alone, for ever", text: asking(`"requestState":"s"`), ...fails(10) },
  {
    row: 28,
    name: "another state in every round, for ever",
    text: (request) => asking(`"requestState":"s${request.nth}"`)(request),
    ...fails(10)
  },
  {
    row: 28,
    name: "state alone and an empty map by turns, for ever",
    text: (request) => asking(request.nth % 2 === 0 ? `"inputRequests":{}` : `"requestState":"s"`)(request),
    ...fails(10)
  },
  { row: 28, name: "an empty map, for ever", text: asking(`"inputRequests":{}`), ...fails(3) },
  {
    row: 28,
    name: "an empty map and a state, for ever",
    text: asking(`"inputRequests":{},"requestState":"s"`),
    ...fails(3)
  },
  { row: 28, name: "neither map nor state", text: asking(`"content":[]`), ...fails(1) },
  { row: 28, name: "a state that is a number", text: asking(`"requestState":5`), ...fails(1) },
  { row: 28, name: "a state that is null", text: asking(`"requestState":null`), ...fails(1) },
  { row: 28, name: "requests in a list", text: asking(`"inputRequests":[{"method":"roots/list"}]`), ...fails(1) },
  { row: 28, name: "a map that is null", text: asking(`"inputRequests":null`), ...fails(1) },
  {
    row: 28,
    name: "kinds that were not declared",
    text: requesting("elicitation/create", "sampling/createMessage", "roots/list", "elicitation/create"),
    ...fails(1, ["elicitation/create", "sampling/createMessage", "roots/list"])
  },
  { row: 28, name: "a kind that nobody knows", text: requesting("poem/recite"), ...fails(1, ["poem/recite"]) },
  {
    row: 28,
    name: "a request beside a state",
    text: asking(`"inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"`),
    ...fails(1, ["roots/list"])
  },
  { row: 28, name: "a request that is null", text: asking(`"inputRequests":{"x":null}`), ...fails(1, ["(no method)"]) },
  {
    row: 28,
    name: "requests of the wrong types",
    text: asking(`"inputRequests":{"a":5,"b":"roots/list","c":[],"d":{}}`),
    ...fails(1, ["(no method)"])
  },
  { row: 28, name: "a method that is a number", text: requesting(5), ...fails(1, ["(no method)"]) },
  {
    row: 28,
    name: "a request whose key is __proto__",
    text: asking(`"inputRequests":{"__proto__":{"method":"roots/list"}}`),
    ...fails(1, ["roots/list"])
  },
  { row: 28, name: "10,000 requests", text: requesting(...manyMethods), ...fails(1, manyMethods.slice(0, 16)) },
  {
    row: 28,
    name: "10,000 requests of one kind",
    text: requesting(...times(10_000, "roots/list")),
    ...fails(1, ["roots/list"])
  },
  { row: 28, name: "a method of 1 MB", text: requesting("m".repeat(2 ** 20)), ...fails(1, [`${"m".repeat(100)}…`]) },
  {
    row: 28,
    name: "a second round that asks for what nobody gives",
    text: (request) => (request.nth === 0 ? asking(`"requestState":"s"`) : requesting("roots/list"))(request),
    ...fails(2, ["roots/list"])
  },
  {
    row: 28,
    name: "a second round that fails",
    text: (request) =>
      (request.nth === 0 ? asking(`"requestState":"s"`) : errorAnswer(`{"code":-32000,"message":"no"}`))(request),
    outcome: "ServerAnswered/RpcError",
    sees: times(2, "tools/call")
  },
  {
    row: 28,
    name: "a round that sends back what the answer before it gave, and no more",
    text: (request) => ([asking(`"requestState":"s"`), asking(`"inputRequests":{}`)][request.nth] ?? okAnswer)(request),
    outcome: "ok",
    sees: times(3, "tools/call"),
    check: (_, { requests }) =>
      assert.deepStrictEqual(
        requests.slice(1).map(({ message: { params: { inputResponses, requestState } } }) => ({
          inputResponses,
          requestState
        })),
        [
          { inputResponses: undefined, requestState: undefined },
          { inputResponses: undefined, requestState: "s" },
          { inputResponses: {}, requestState: undefined }
        ]
      )
  },
  {
    row: 28,
    name: "an answer in the tenth round",
    text: (request) => (request.nth < 9 ? asking(`"requestState":"s"`) : okAnswer)(request),
    outcome: "ok",
    sees: times(10, "tools/call"),
    check: (got, { requests }) => {
      isOk(got)
      assert.strictEqual(new Set(requests.map(({ message }) => message.id)).size, requests.length)
    }
  },
  ...["inputRequests", "requestState"].map((member): Said => ({
    row: 28,
    name: `a listing that asks for input by ${member}`,
    act: "list",
    text: asking(`"${member}":${member === "requestState" ? `"s"` : "{}"},"tools":[]`),
    outcome: unreadable
  })),
  {
    row: 28,
    name: "an answer to server/discover that asks for input",
    act: "connect",
    text: asking(`"requestState":"s","supportedVersions":["2026-07-28"],"capabilities":{}`),
    outcome: unreadable
  }
]

/**
 * A state that comes once and has to come back exactly.
 */
const echoes = (name: string, state: string): Said => ({
  row: 28,
  name,
  text: (request) => (request.nth === 0 ? asking(`"requestState":${JSON.stringify(state)}`) : okAnswer)(request),
  outcome: "ok",
  sees: times(2, "tools/call"),
  check: (got, { requests }) => {
    isOk(got)
    const { params } = requests[2]!.message
    // Compared here, since a difference in 8 MiB is not worth printing.
    assert.isTrue(params.requestState === state)
    assert.notProperty(params, "inputResponses")
  }
})

const states: ReadonlyArray<Said> = [
  echoes("a state of every kind of character", "\"\\/\0\u001b\u2028\ud800 é \u{1f600} \u202e\ufeff"),
  echoes("an empty state", ""),
  {
    ...echoes("a state of 8 MiB, within a budget that allows it", "s".repeat(8 * 2 ** 20)),
    budget: { limit: 9 * 2 ** 20 },
    deadline: 5000
  },
  {
    row: 28,
    name: "a state of 8 MiB, over the budget",
    text: asking(`"requestState":"${"s".repeat(8 * 2 ** 20)}"`),
    outcome: "ConnectionFailed/BudgetExceeded",
    deadline: 5000
  },
  {
    row: 28,
    name: "a state of 3 MiB, for ever",
    text: asking(`"requestState":"${"s".repeat(3 * 2 ** 20)}"`),
    outcome: "ConnectionFailed/BudgetExceeded",
    sees: times(3, "tools/call"),
    deadline: 5000
  }
]

const slowRounds: Case = {
  row: 28,
  name: "slow rounds, which share the time of their call",
  answers: { "tools/call": script(pause(200), asBody(asking(`"requestState":"s"`))) },
  deadline: 300,
  outcome: "ConnectionFailed/TimedOut",
  sees: times(2, "tools/call")
}

export const inputRounds: ReadonlyArray<Case> = [...[types, rounds, states].flat().flatMap(bothWays), slowRounds]
