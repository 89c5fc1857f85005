import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as RetryAfter from "../src/internal/retryAfter.ts"

const now = Date.UTC(2026, 6, 28, 8, 49, 30)

const millis = (value: string | undefined): number | undefined => {
  const wait = RetryAfter.parse(value, now)
  return wait === undefined ? undefined : Duration.toMillis(wait)
}

describe("parse", () => {
  it.each([
    ["0", 0],
    ["1", 1000],
    ["007", 7000],
    [" 5\t", 5000],
    ["30", 30_000],
    ["31", 30_000],
    ["120", 30_000],
    ["1000000000", 30_000],
    ["9".repeat(64), 30_000],
    // The three forms of a date: RFC 9110, section 5.6.7.
    ["Tue, 28 Jul 2026 08:49:37 GMT", 7000],
    ["Tuesday, 28-Jul-26 08:49:37 GMT", 7000],
    ["Tue Jul 28 08:49:37 2026", 7000],
    ["Tue, 28 Jul 2026 08:49:30 GMT", 0],
    ["Tue, 28 Jul 2026 08:50:01 GMT", 30_000],
    ["Wed, 01 Jan 2098 00:00:00 GMT", 30_000]
  ])("%j is a wait of %i ms", (value, expected) => {
    assert.strictEqual(millis(value), expected)
  })

  it.each([
    undefined,
    "",
    " ",
    "-1",
    "+1",
    "1.5",
    "1e3",
    "0x10",
    "12abc",
    "abc",
    "1, 2",
    "Infinity",
    "NaN",
    "９",
    "9".repeat(65),
    "Tue, 28 Jul 2026 08:49:29 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
    "Tue, 32 Jul 2026 08:49:37 GMT",
    "Tue, 28 Jul 2026 25:49:37 GMT",
    "2026-07-28T08:49:37Z",
    "Later",
    "Later 2099",
    "Tomorrow (2099)",
    "Mon 5 2099",
    `Tue, 28 Jul 2026 08:49:37 GMT${" ".repeat(1_000_000)}`
  ].map((value) => [value?.slice(0, 40), value]))("%j says nothing", (_, value) => {
    assert.isUndefined(millis(value))
  })

  it("reads a date without a zone as UTC, wherever this runs", () => {
    const before = process.env["TZ"]
    try {
      for (const zone of ["America/New_York", "Asia/Tokyo", "UTC"]) {
        process.env["TZ"] = zone
        assert.strictEqual(millis("Tue Jul 28 08:49:37 2026"), 7000, zone)
      }
    } finally {
      if (before === undefined) delete process.env["TZ"]
      else process.env["TZ"] = before
    }
  })

  it.prop("is nothing, or a wait of at most 30 seconds", [Schema.String], ([text]) => {
    for (const value of [text, `Mon ${text}`, `1${text}`]) {
      const wait = millis(value)
      assert.isTrue(wait === undefined || (wait >= 0 && wait <= 30_000))
    }
  }, { arbitrary: { runs: 300, seed: 20260728 } })
})
