/**
 * Tells an application how far its call has got: revision 2026-07-28, basic/patterns/progress.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import { type Progress, progressFromWire } from "../schema/Notification.ts"
import type { Hearing } from "./requester.ts"

/**
 * Reports that wait for the application. Where it is slower than the server, the older ones are of no interest any more.
 */
const capacity = 64

/**
 * Runs something whose requests report, and has `onProgress` called with each report, one after the other. What has come
 * before the answer is told before it: `within` bounds the wait for that. A report gives its request its own time once
 * more.
 */
export const during = <A, E>(
  onProgress: (progress: Progress) => Effect.Effect<void>,
  run: (hear: Hearing) => Effect.Effect<A, E>,
  within: (rest: Effect.Effect<void>) => Effect.Effect<void, E>
): Effect.Effect<A, E> =>
  Effect.scoped(Effect.gen(function*() {
    const reports = yield* Queue.sliding<Progress, Cause.Done>(capacity)
    const telling = yield* Effect.forkScoped(
      Effect.ignore(Effect.forever(Effect.flatMap(Queue.take(reports), onProgress)))
    )
    const answer = yield* run(({ method, params }, id, ownTime) => {
      if (method !== "notifications/progress" || params["progressToken"] !== id) return false
      ownTime.restart()
      const progress = progressFromWire(params)
      if (progress !== undefined) Queue.offerUnsafe(reports, progress)
      return true
    })
    yield* Queue.end(reports)
    yield* within(Fiber.join(telling))
    return answer
  }))
