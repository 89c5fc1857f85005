/**
 * Stdio servers that a test writes as a function, which is run in a process of its own.
 */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import { fileURLToPath } from "node:url"
import { ByteBudget, McpConnection, type McpError, McpPolicy } from "../../src/index.ts"
import * as ChildPipes from "../../src/internal/node/childPipes.ts"

export interface Message {
  readonly id: number
  readonly method?: string
  readonly params: any
}

type Answer = (message: Message, line: string) => void

/**
 * What a child is given. The answers that a modern server has are there where it has no others.
 */
export interface Kit {
  readonly write: (text: string | Uint8Array) => boolean
  readonly send: (message: object) => boolean
  readonly result: (message: Message, result: object) => boolean
  readonly error: (message: Message, code: number, text?: string) => boolean
  readonly text: (message: Message, text: string) => boolean
  /**
   * The answers of a legacy server, for `serve`.
   */
  readonly legacy: Readonly<Record<string, Answer>>
  /**
   * Answers by method; "response" hears what is none, and "*" everything, before anything is answered.
   */
  readonly serve: (answers?: Readonly<Record<string, Answer>>) => void
  readonly args: ReadonlyArray<string>
}

const module = fileURLToPath(new URL("child.mjs", import.meta.url))

/**
 * The command of a child. The function sees nothing of the test but its arguments.
 */
export const child = (run: (kit: Kit) => unknown, ...args: ReadonlyArray<string>) => ({
  command: process.execPath,
  args: [module, run.toString(), ...args]
})

/**
 * Deadlines that a test can wait for.
 */
export const quick = (options?: McpPolicy.Options): McpPolicy.McpPolicy =>
  McpPolicy.make({ probeTimeout: "5 seconds", exitTimeout: "200 millis", ...options })

export interface Spawned {
  /**
   * The processes that were started, in order; each leads a group.
   */
  readonly pids: ReadonlyArray<number>
  readonly connect: (
    options: McpConnection.StdioOptions,
    budget?: ByteBudget.Options
  ) => Effect.Effect<McpConnection.Service, McpError.McpError, Scope.Scope>
}

/**
 * Effect's own, whose streams any other spawner would have as well, and the one that `NodeMcp` uses, which reads and writes
 * the pipes themselves.
 */
export const spawners: Readonly<Record<"plain" | "direct", Layer.Layer<ChildProcessSpawner>>> = {
  plain: Layer.provide(NodeChildProcessSpawner.layer, Layer.merge(NodeFileSystem.layer, NodePath.layer)),
  direct: ChildPipes.layerSpawner
}

/**
 * Connects over a spawner, and takes down what it started.
 */
export const over = Effect.fnUntraced(function*(
  layer: Layer.Layer<ChildProcessSpawner>
): Effect.fn.Return<Spawned, never, Scope.Scope> {
  const services = yield* Layer.build(layer)
  const spawner = Context.get(services, ChildProcessSpawner)
  const pids: Array<number> = []
  return {
    pids,
    connect: (options, budget) =>
      McpConnection.connectStdio({ policy: quick(), ...options }).pipe(
        Effect.provideService(ChildProcessSpawner, {
          ...spawner,
          spawn: (command) => Effect.tap(spawner.spawn(command), ({ pid }) => Effect.sync(() => pids.push(pid)))
        }),
        Effect.provideService(ByteBudget.ByteBudget, ByteBudget.make(budget))
      )
  }
})

export const make: Effect.Effect<Spawned, never, Scope.Scope> = over(spawners.direct)

/**
 * Whether a process is left in a group; the dead who wait to be buried count.
 */
export const isLeft = (group: number): boolean => {
  try {
    process.kill(-group, 0)
    return true
  } catch {
    return false
  }
}

/**
 * Waits for what must come to hold; dies where it does not within five seconds, which is as long as a container takes to
 * bury its dead.
 */
export const eventually = (what: string, holds: () => boolean): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const startedAt = Date.now()
    const timer = setInterval(() => {
      if (holds()) resume(Effect.void)
      else if (Date.now() - startedAt > 5000) resume(Effect.die(new Error(what)))
      else return
      clearInterval(timer)
    }, 5)
    return Effect.sync(() => clearInterval(timer))
  })

/**
 * That none of them has left a process in its group.
 */
export const nothingLeft = ({ pids }: Spawned): Effect.Effect<void> => {
  assert.isNotEmpty(pids)
  return eventually(`a process is left of ${pids.join(", ")}`, () => !pids.some(isLeft))
}
