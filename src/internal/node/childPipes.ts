/**
 * The pipes of a child: closed with its scope, and used without what stands between.
 *
 * A process that has left the group of its parent outlives it, and may hold the pipes that it has from it. Effect's
 * spawner leaves our ends open as long: descriptors that are lost, and an application that cannot end. And what a child
 * writes goes through two more streams before anybody reads it, which a short call has to pay for. The spawner keeps the
 * child to itself, so that it is taken from where Node tells of every process that it creates.
 */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type { ChildProcess } from "node:child_process"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import type { Readable, Writable } from "node:stream"
import * as Wire from "../wire.ts"

const channel = "child_process"

const reading = (stdout: Readable): Wire.Wire["read"] => (take) => {
  const attempt = (piece: Uint8Array): ReturnType<Wire.Take> => {
    try {
      return take(piece)
    } catch (defect) {
      return Effect.die(defect)
    }
  }
  // What came while nobody read: Node has the pipes of a child that exits flow, whoever has paused them.
  const kept: Array<Uint8Array> = []
  const keep = (piece: Uint8Array): void => {
    kept.push(piece)
    stdout.pause()
  }
  stdout.on("data", keep)

  /**
   * Takes what comes until something takes its time. `undefined` says that nothing more comes, or is wanted.
   */
  const untilSlow = Effect.callback<Effect.Effect<boolean> | undefined>((resume) => {
    const stop = (slow: Effect.Effect<boolean> | undefined): void => {
      stdout.off("data", onData).off("close", onClose).pause()
      if (slow !== undefined) stdout.on("data", keep)
      resume(Effect.succeed(slow))
    }
    const goesOn = (piece: Uint8Array): boolean => {
      const isDone = attempt(piece)
      if (isDone !== false) stop(isDone === true ? undefined : isDone)
      return isDone === false
    }
    const onData = (piece: Uint8Array): void => void goesOn(piece)
    const onClose = (): void => stop(undefined)

    stdout.off("data", keep)
    while (kept.length > 0) if (!goesOn(kept.shift()!)) return
    if (stdout.closed) return stop(undefined)
    stdout.on("data", onData).on("close", onClose).resume()
    return Effect.sync(() => stop(undefined))
  })
  const readOn: Effect.Effect<void> = Effect.flatMap(
    untilSlow,
    (slow) => slow === undefined ? Effect.void : Effect.flatMap(slow, (isDone) => isDone ? Effect.void : readOn)
  )
  return readOn
}

const writing = (stdin: Writable): Wire.Wire["write"] => ({ next }) =>
  Effect.callback<void, unknown>((resume) => {
    let takeBack = (): void => {}
    const writeOn = (error?: Error | null): void => {
      if (error) return resume(Effect.fail(error))
      takeBack = next((text) => {
        if (text !== undefined) stdin.write(text, writeOn)
        else stdin.end((failed?: Error | null) => resume(failed ? Effect.fail(failed) : Effect.void))
      })
    }
    writeOn()
    // A child whose connection has ended is given the end of its input all the same: most exit then.
    return Effect.sync(() => {
      takeBack()
      stdin.destroy()
    })
  })

/**
 * Takes the output of a child from its spawner. Where something has come already, the spawner has it. Its listener destroys
 * a stream that nobody reads any more, whose error nobody would catch.
 */
const wireOf = ({ stdin, stdout }: ChildProcess): Wire.Wire | undefined => {
  if (stdin === null || stdout === null || (stdout as Socket).bytesRead > 0) return undefined
  stdout.unpipe()
  stdout.removeAllListeners("error").on("error", () => {})
  return { read: reading(stdout), write: writing(stdin) }
}

/**
 * As the spawner, and the pipes of its children are closed with their scope.
 */
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
      const wire = child && wireOf(child)
      return wire === undefined ? handle : Wire.withPipes(handle, wire)
    })
})

/**
 * Effect's spawner, with all that.
 */
export const layerSpawner: Layer.Layer<ChildProcessSpawner> = Layer.effect(
  ChildProcessSpawner,
  Effect.map(ChildProcessSpawner, closing)
).pipe(
  Layer.provide(NodeChildProcessSpawner.layer),
  Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))
)
