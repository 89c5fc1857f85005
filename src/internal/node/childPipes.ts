/**
 * Closes the pipes of a child with its scope.
 *
 * A process that has left the group of its parent outlives it, and may hold the pipes that it has from it. Effect's
 * spawner leaves our ends open as long: descriptors that are lost, and an application that cannot end. It keeps the child
 * to itself as well, so that it is taken from where Node tells of every process that it creates.
 */
import * as Effect from "effect/Effect"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type { ChildProcess } from "node:child_process"
import { subscribe, unsubscribe } from "node:diagnostics_channel"

const channel = "child_process"

export const closing = (spawner: ChildProcessSpawner["Service"]): ChildProcessSpawner["Service"] => ({
  ...spawner,
  spawn: (command) =>
    Effect.gen(function*() {
      const created: Array<ChildProcess> = []
      let child: ChildProcess | undefined
      // Added before the spawner's own, and so run after it: the process has been ended by then.
      yield* Effect.addFinalizer(() => Effect.sync(() => child?.stdio.forEach((pipe) => pipe?.destroy())))
      const onCreated = (message: unknown): void => {
        created.push((message as { readonly process: ChildProcess }).process)
      }
      const handle = yield* Effect.acquireUseRelease(
        Effect.sync(() => subscribe(channel, onCreated)),
        () => spawner.spawn(command),
        () => Effect.sync(() => unsubscribe(channel, onCreated))
      )
      child = created.find(({ pid }) => pid === handle.pid)
      return handle
    })
})
