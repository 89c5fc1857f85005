/**
 * What every client must be able to do, and how it is driven: as its users would. A client of promises is awaited; a
 * client of Effects is run in a fiber, one a task.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import type { Operation } from "../tasks.ts"

export interface Client {
  readonly run: (operation: Operation, times: number, width: number) => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * Opened when it is first used: not every run has every task.
 */
export const lazily = <A>(open: () => A): () => A => {
  let opened: { readonly value: A } | undefined
  return () => (opened ??= { value: open() }).value
}

export const fromPromises = (
  operations: Record<Operation, () => Promise<void>>,
  close: () => Promise<void>
): Client => ({
  run: async (operation, times, width) => {
    const once = operations[operation]
    let left = times
    const work = async (): Promise<void> => {
      while (left-- > 0) await once()
    }
    await Promise.all(Array.makeBy(width, work))
  },
  close
})

export const fromEffects = <R, E>(
  runtime: ManagedRuntime.ManagedRuntime<R, E>,
  operations: Record<Operation, Effect.Effect<void, unknown, R>>
): Client => ({
  run: (operation, times, width) =>
    runtime.runPromise(
      Effect.forEach(Array.range(1, times), () => operations[operation], { concurrency: width, discard: true })
    ),
  close: () => runtime.dispose()
})
