import { assert, describe, it } from "@effect/vitest"
import * as Exit from "effect/Exit"
import * as Outbox from "../src/internal/outbox.ts"

describe("lines that wait to be written", () => {
  const setup = () => {
    const outbox = Outbox.make<string>()
    const told: Array<string> = []
    const given: Array<string | undefined> = []
    const line = (text: string): Outbox.Line<string> => ({
      text,
      onLeft: () => told.push(`${text} left`),
      onWritten: (written) => told.push(`${text} ${Exit.isSuccess(written) ? "written" : "failed"}`)
    })
    return { outbox, told, given, line, ask: () => outbox.next((text) => given.push(text)) }
  }

  it("are given one by one to a writer who waits, and never twice for one question", () => {
    const { ask, given, line, outbox, told } = setup()
    ask()
    outbox.push(line("a"))
    outbox.push(line("b"))
    assert.deepStrictEqual([given, told], [["a"], ["a left"]])
    ask()
    assert.deepStrictEqual([given, told], [["a", "b"], ["a left", "a written", "b left"]])
  })

  it("are written together up to 64 KiB, and a longer one alone", () => {
    const { ask, given, line, outbox } = setup()
    const half = "x".repeat(32 * 1024)
    for (const text of [half, half, "y", `${half}${half}${half}`, "z"]) outbox.push(line(text))
    for (let i = 0; i < 4; i++) ask()
    assert.deepStrictEqual(given.map((text) => text?.length), [64 * 1024, 1, 96 * 1024, 1])
  })

  it("can be taken back until they are given", () => {
    const { ask, given, line, outbox, told } = setup()
    const back = outbox.push(line("a"))
    outbox.push(line("b"))
    back()
    ask()
    assert.deepStrictEqual([given, told], [["b"], ["b left"]])
  })

  it("wait on where the writer took its question back", () => {
    const { ask, given, line, outbox } = setup()
    ask()()
    outbox.push(line("a"))
    outbox.end()
    assert.deepStrictEqual(given, [])
    ask()
    ask()
    assert.deepStrictEqual(given, ["a", undefined])
  })

  it("come before the end, which is told once", () => {
    const { ask, given, line, outbox } = setup()
    ask()
    outbox.end()
    outbox.push(line("late"))
    outbox.end()
    assert.deepStrictEqual(given, [undefined])
  })

  it("fail with the writer, those being written and those that come later among them", () => {
    const { ask, line, outbox, told, given } = setup()
    ask()
    for (const text of ["a", "b"]) outbox.push(line(text))
    outbox.fail("gone")
    outbox.push(line("c"))
    assert.deepStrictEqual(told, ["a left", "a failed", "b failed", "c failed"])
    ask()
    assert.deepStrictEqual(given, ["a"])
  })
})
