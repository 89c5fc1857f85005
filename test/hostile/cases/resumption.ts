/**
 * How often, when and from where a broken stream is taken up: row 6. Only legacy servers' are.
 */
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { McpPolicy } from "../../../src/index.ts"
import type { Responder } from "../../support/rawServer.ts"
import {
  answers,
  broken,
  ending,
  inTurn,
  numbered,
  ok,
  overBudget,
  type Rest,
  takenUp,
  timedOut,
  unreachable,
  waiting
} from "../kit/streams.ts"
import type { Act, Case } from "../kit/suite.ts"
import { chunk, end, lastChunk, okAnswer, openStream, script } from "../kit/wire.ts"

/**
 * Goes on for ever: an event id, and the end.
 */
const numberedAnew = (id: (nth: number) => string): Responder =>
  script(openStream, ({ nth }) => chunk(`retry: 0\nid: ${id(nth)}\ndata:\n\n`), lastChunk)

/**
 * A stream with nothing new.
 */
const nothing = ending(": hi\n\n")

const breaksOff = script(end)

const sevens = (times: number): ReadonlyArray<string> => Array(times).fill("7")

const timedCall: Act = (connection) => Effect.timed(connection.callTool("t"))

/**
 * Taken up after so many milliseconds at least, and long before the time is up.
 */
const waits = (millis: number, options: McpPolicy.ResumptionOptions, ...ids: ReadonlyArray<string>): Rest => ({
  ...takenUp({
    outcome: "ok",
    check: ([elapsed, { text }]) => {
      assert.strictEqual(text, "ok")
      // Timers of Node may fire a millisecond early.
      assert.isAtLeast(Duration.toMillis(elapsed), millis - ids.length)
    }
  }, ...ids),
  policy: waiting(options),
  act: timedCall,
  deadline: 500
})

/**
 * A wait of its own would never end within the deadline.
 */
const honoured: McpPolicy.ResumptionOptions = { minDelay: 1, delay: "1 hour" }

/**
 * What is no number of milliseconds changes nothing, though it begins with one.
 */
const noWaits = ["-1", "1e3", "abc", "", "+5", "0x10", "1.5", " 5", "5 ", "\u0663", "NaN", "Infinity"]

const waitsAsked: ReadonlyArray<readonly [name: string, asked: string, Rest]> = [
  ["of 60 ms", "retry: 60", waits(60, honoured, "7")],
  ["asked for twice: the last counts", "retry: 3600000\nretry: 60", waits(60, honoured, "7")],
  ["asked for, and then a bad one", "retry: 60\nretry: abc", waits(60, honoured, "7")],
  ["of no length: the floor", "retry: 0", waits(60, { minDelay: 60, delay: "1 hour" }, "7")],
  ["of no length, by default 100 ms", "retry: 0", { ...waits(100, {}, "7"), policy: {} }],
  ...["99999999999", "9".repeat(15), "9".repeat(400)].map((asked) =>
    [
      `of ${asked.slice(0, 11)}… (${asked.length} digits): the ceiling`,
      `retry: ${asked}`,
      waits(60, { minDelay: 1, maxDelay: 60, delay: 60 }, "7")
    ] as const
  ),
  ...noWaits.map((asked) =>
    [`of ${JSON.stringify(asked)}: none`, `retry: ${asked}`, waits(60, { minDelay: 1, delay: 60 }, "7")] as const
  )
]

const visible = String.fromCharCode(...Array.from({ length: 0x7f - 0x21 }, (_, i) => 0x21 + i))

const goodIds: ReadonlyArray<readonly [name: string, field: string, id: string]> = [
  ["without a space before it", "id:7", "7"],
  ["with a space in it", "id: a b", "a b"],
  ["with a colon in it", "id: a:b", "a:b"],
  ["of all that is visible in ASCII", `id: ${visible}`, visible],
  ["of 4 KiB", `id: ${"x".repeat(4096)}`, "x".repeat(4096)],
  ["and then one with NUL, which is none", "id: 7\n\nid: 8\0", "7"]
]

const badIds: ReadonlyArray<readonly [name: string, field: string]> = [
  ["with NUL", "id: 7\0"],
  ["with a control character", "id: 7\u0001"],
  ["with DEL", "id: 7\u007F"],
  ["in Latin-1", "id: \u00FC"],
  ["outside Latin-1", "id: \u6F22"],
  ["with a space at its end", "id: 7 "],
  ["of 8 KiB", `id: ${"x".repeat(8192)}`],
  ["of no length", "id:"],
  ["that was cleared", "id: 7\ndata:\n\nid"],
  ["that cannot stand in a header, after one that can", "id: 7\n\nid: \u00FC"]
]

export const resumption: ReadonlyArray<Case> = [
  {
    row: 6,
    name: "ids that advance for ever: a hundred in all",
    answers: broken(ending("retry: 0\nid: n0\n\n"), numberedAnew((nth) => `n${nth + 1}`)),
    ...takenUp(unreachable, ...Array.from({ length: 100 }, (_, nth) => `n${nth}`)),
    policy: waiting({ minDelay: 1 }),
    deadline: 3000
  },
  {
    row: 6,
    name: "ids that alternate for ever: a hundred in all",
    answers: broken(ending("retry: 0\nid: n1\n\n"), numberedAnew((nth) => `n${nth % 2}`)),
    ...takenUp(unreachable, ...Array.from({ length: 100 }, (_, nth) => `n${(nth + 1) % 2}`)),
    policy: waiting({ minDelay: 1 }),
    deadline: 3000
  },
  {
    row: 6,
    name: "nothing new: five in a row",
    answers: broken(numbered, nothing),
    ...takenUp(unreachable, ...sevens(5))
  },
  {
    row: 6,
    name: "the same id for ever: five in a row",
    answers: broken(numbered, ending("id: 7\ndata:\n\n")),
    ...takenUp(unreachable, ...sevens(5))
  },
  {
    row: 6,
    name: "a new id after three, and nothing after that: five more",
    answers: broken(numbered, inTurn(nothing, nothing, ending("id: 8\n\n"), nothing)),
    ...takenUp(unreachable, ...sevens(3), "8", "8", "8", "8", "8")
  },
  {
    row: 6,
    name: "connections that break for ever: five in a row",
    answers: broken(numbered, breaksOff),
    ...takenUp(unreachable, ...sevens(5)),
    dials: 6
  },
  {
    row: 6,
    name: "60 KB each, for ever: they count together",
    answers: broken(
      ending("id: n0\n\n"),
      script(openStream, ({ nth }) => chunk(`id: n${nth + 1}\n\n${": hi\n".repeat(12_000)}`), lastChunk)
    ),
    ...takenUp(overBudget, "n0", "n1", "n2", "n3", "n4"),
    dials: 2
  },
  {
    row: 6,
    name: "a wait beyond the deadline",
    answers: broken(ending("retry: 99999999999\nid: 7\n\n"), answers),
    ...takenUp(timedOut),
    policy: {}
  },
  {
    row: 6,
    name: "a wait beyond the time of a request, within that of the call",
    answers: broken(ending("retry: 200\nid: 7\n\n"), answers),
    ...waits(200, honoured, "7"),
    policy: { requestTimeout: 100, ...waiting(honoured) }
  },
  {
    row: 6,
    name: "a resumption that is silent",
    answers: broken(numbered, script(openStream)),
    ...takenUp(timedOut, "7"),
    dials: 2
  },
  {
    row: 6,
    name: "a resumption that is never answered",
    answers: broken(numbered, () => {}),
    ...takenUp(timedOut, "7"),
    dials: 2
  },
  {
    row: 6,
    name: "the floor lies between all attempts",
    answers: broken(
      ending("retry: 0\nid: 7\n\n"),
      inTurn(...Array<Responder>(4).fill(numberedAnew((nth) => `n${nth}`)), answers)
    ),
    ...waits(200, { minDelay: 40, delay: "1 hour" }, "7", "n0", "n1", "n2", "n3")
  },
  {
    row: 6,
    name: "a wait is kept across a second drop",
    answers: broken(ending("retry: 60\nid: 7\n\n"), inTurn(nothing, answers)),
    ...waits(120, honoured, "7", "7")
  },
  ...waitsAsked.map(([name, asked, rest]): Case => ({
    row: 6,
    name: `a wait ${name}`,
    answers: broken(ending(`${asked}\nid: 7\n\n`), answers),
    ...rest
  })),
  ...goodIds.map(([name, field, id]): Case => ({
    row: 6,
    name: `an id ${name}`,
    answers: broken(ending(`${field}\n\n`), answers),
    ...takenUp(ok, id)
  })),
  ...badIds.map(([name, field]): Case => ({
    row: 6,
    name: `an id ${name}`,
    answers: broken(ending(`${field}\n\n`), answers),
    ...takenUp(unreachable)
  })),
  {
    row: 6,
    name: "an id whose event was cut short",
    answers: broken(ending("id: 7\ndata: {"), answers),
    ...takenUp(unreachable)
  },
  {
    row: 6,
    name: "an id whose event was cut short, after a whole one",
    answers: broken(
      script(openStream, (request) => chunk(`id: 7\n\nid: 8\ndata: ${okAnswer(request)}\n`), lastChunk),
      answers
    ),
    ...takenUp(ok, "7")
  },
  {
    row: 6,
    name: "an id is kept across a second drop",
    answers: broken(numbered, inTurn(nothing, answers)),
    ...takenUp(ok, "7", "7")
  },
  {
    row: 6,
    name: "an id is kept across a resumption that breaks",
    answers: broken(numbered, inTurn(breaksOff, answers)),
    ...takenUp(ok, "7", "7"),
    dials: 2
  },
  {
    row: 6,
    name: "an id is replaced by a resumption",
    answers: broken(numbered, inTurn(ending("id: 8\n\n"), answers)),
    ...takenUp(ok, "7", "8")
  },
  {
    row: 6,
    name: "an id is cleared by a resumption",
    answers: broken(numbered, ending("id\n\n")),
    ...takenUp(unreachable, "7")
  }
]
