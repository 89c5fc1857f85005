import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { Closed, TimedOut } from "../src/errors/McpError.ts"
import * as Deadline from "../src/internal/deadline.ts"

const told = (reason: TimedOut | Closed): string =>
  reason._tag === "TimedOut" ? `TimedOut ${Duration.toMillis(reason.limit)}` : reason._tag

/**
 * One request of an operation that may take a second, and each of its requests 300 milliseconds.
 */
const limited = (watch: Deadline.Watch, run: (own: Deadline.OwnTime) => Effect.Effect<string, string>, after = 0) =>
  Deadline.start(
    Duration.seconds(1),
    Duration.millis(300),
    (deadline) => Effect.andThen(Effect.sleep(after), watch.limit(deadline, run, told))
  )

/**
 * What an effect comes to once the clock has been moved to some time, in milliseconds; `undefined` where it goes on.
 */
const at = <A, E>(effect: Effect.Effect<A, E>, ...times: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(Effect.flip(effect))
    yield* Effect.yieldNow
    const outcomes: Array<E | undefined> = []
    let now = 0
    for (const time of times) {
      yield* TestClock.adjust(time - now)
      now = time
      outcomes.push(fiber.pollUnsafe() === undefined ? undefined : yield* Fiber.join(fiber))
    }
    yield* Fiber.interrupt(fiber)
    return outcomes
  })

describe("a request", () => {
  it.effect("has its own time", () =>
    Effect.gen(function*() {
      const request = limited(Deadline.watch(), () => Effect.never)
      assert.deepStrictEqual(yield* at(request, 299, 300), [undefined, "TimedOut 300"])
    }))

  it.effect("has what is left of its operation, where that is less", () =>
    Effect.gen(function*() {
      const request = limited(Deadline.watch(), () => Effect.never, 900)
      assert.deepStrictEqual(yield* at(request, 900, 999, 1000), [undefined, undefined, "TimedOut 1000"])
    }))

  it.effect("is not begun once the time of its operation is over", () =>
    Effect.gen(function*() {
      let begun = false
      const run = () =>
        Effect.sync(() => {
          begun = true
          return "begun"
        })
      assert.deepStrictEqual(yield* at(limited(Deadline.watch(), run, 1000), 1000), ["TimedOut 1000"])
      assert.isFalse(begun)
    }))

  it.effect("that is held has the time of its operation", () =>
    Effect.gen(function*() {
      const request = limited(Deadline.watch(), ({ hold }) => Effect.andThen(Effect.sync(hold), Effect.never))
      assert.deepStrictEqual(yield* at(request, 999, 1000), [undefined, "TimedOut 1000"])
    }))

  it.effect("that is restarted has its own time once more", () =>
    Effect.gen(function*() {
      const request = limited(
        Deadline.watch(),
        ({ restart }) => Effect.andThen(Effect.sleep(200), Effect.andThen(Effect.sync(restart), Effect.never))
      )
      assert.deepStrictEqual(yield* at(request, 200, 499, 500), [undefined, undefined, "TimedOut 300"])
    }))

  it.effect("that was held and is restarted is not forgotten until its operation is over", () =>
    Effect.gen(function*() {
      const request = limited(
        Deadline.watch(),
        ({ hold, restart }) =>
          Effect.sync(hold).pipe(
            Effect.andThen(Effect.sleep(400)),
            Effect.andThen(Effect.sync(restart)),
            Effect.andThen(Effect.never)
          )
      )
      assert.deepStrictEqual(yield* at(request, 400, 699, 700), [undefined, undefined, "TimedOut 300"])
    }))

  it.effect("is interrupted where the connection is closed, be it while it begins", () =>
    Effect.gen(function*() {
      const interrupted: Array<string> = []
      const waiting = (name: string) =>
        Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted.push(name)))
      const watch = Deadline.watch()
      const first = yield* Effect.forkChild(Effect.flip(limited(watch, () => waiting("first"))))
      yield* Effect.yieldNow
      const second = limited(watch, () => Effect.andThen(Effect.sync(watch.close), waiting("second")))
      assert.strictEqual(yield* Effect.flip(second), "Closed")
      assert.strictEqual(yield* Fiber.join(first), "Closed")
      assert.deepStrictEqual(interrupted, ["first", "second"])
      assert.strictEqual(yield* Effect.flip(limited(watch, () => Effect.succeed("late"))), "Closed")
    }))
})
