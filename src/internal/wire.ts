/**
 * Bytes to and from another program, as a line connection uses them.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { ChildProcessHandle } from "effect/process/ChildProcessSpawner"
import type * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import type { Outbox } from "./outbox.ts"

/**
 * Takes what has come, and says whether that is enough. Where it takes its time, nothing more is to be given until then.
 */
export type Take = (piece: Uint8Array) => boolean | Effect.Effect<boolean>

/**
 * Both directions.
 */
export interface Wire {
  /**
   * Has all taken that comes, until that is enough or the input ends, however that ends.
   */
  readonly read: (take: Take) => Effect.Effect<void>
  /**
   * Writes what is to be written, and ends the output after it. Fails where the output does.
   */
  readonly write: (outbox: Pick<Outbox<unknown>, "next">) => Effect.Effect<void, unknown>
}

/**
 * Two streams of any kind.
 */
export const ofStreams = (
  input: Stream.Stream<Uint8Array, unknown>,
  output: Sink.Sink<unknown, Uint8Array, unknown, unknown>
): Wire => ({
  read: (take) => {
    const enough = Effect.fail("enough" as const)
    const takeFrom = (pieces: ReadonlyArray<Uint8Array>, from: number): Effect.Effect<void, "enough"> => {
      for (let at = from; at < pieces.length; at++) {
        const isDone = take(pieces[at]!)
        if (isDone === true) return enough
        if (isDone !== false) return Effect.flatMap(isDone, (done) => done ? enough : takeFrom(pieces, at + 1))
      }
      return Effect.void
    }
    return Effect.asVoid(Effect.exit(Stream.runForEachArray(input, (pieces) => takeFrom(pieces, 0))))
  },
  write: ({ next }) => {
    const encoder = new TextEncoder()
    const pull = Effect.callback<readonly [Uint8Array], Cause.Done>((resume) =>
      Effect.sync(
        next((text) =>
          resume(text === undefined ? Exit.fail(Cause.Done()) : Exit.succeed([encoder.encode(text)] as const))
        )
      )
    )
    return Stream.run(Stream.fromPull(Effect.succeed(pull)), output)
  }
})

/**
 * The pipes of processes whose spawner gives them away. A handle is Effect's own, and has no place for them.
 */
const pipes = new WeakMap<ChildProcessHandle, Wire>()

/**
 * Says how the pipes of a process are used without the streams of its handle.
 */
export const withPipes = (handle: ChildProcessHandle, wire: Wire): ChildProcessHandle => {
  pipes.set(handle, wire)
  return handle
}

/**
 * The standard input and output of a process.
 */
export const ofChild = (handle: ChildProcessHandle): Wire => pipes.get(handle) ?? ofStreams(handle.stdout, handle.stdin)
