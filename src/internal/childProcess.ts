/**
 * The process of a server: started without a shell, drained, and ended with all that it started.
 *
 * Effect's spawner puts a child into a process group of its own, where there are such things, and ends the group. What
 * comes before that, the end of the child's input, is ours.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import { hasProperty, isString } from "effect/Predicate"
import type { StandardCommand } from "effect/process/ChildProcess"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type ConnectionFailedReason, ProcessExited, Unreachable } from "../errors/McpError.ts"
import type { ServerMessage } from "../schema/JsonRpc.ts"
import * as LineConnection from "./lineConnection.ts"
import * as Wire from "./wire.ts"

/**
 * How a process is run.
 */
export interface Options {
  readonly spawner: ChildProcessSpawner["Service"]
  /**
   * Its own options say how it is ended.
   */
  readonly command: StandardCommand
  /**
   * What it may take to exit after the end of its input.
   */
  readonly exitTimeout: Duration.Duration
  readonly receive: (message: ServerMessage) => void
  readonly onStderr: (bytes: Uint8Array) => void
  /**
   * The end of what it wrote to its standard error.
   */
  readonly lastWords: () => string
}

/**
 * @see start
 */
export interface Running extends LineConnection.LineConnection {
  /**
   * Ends it at once, and all that it started.
   */
  readonly kill: Effect.Effect<void>
}

/**
 * That it could not be started: a code such as `ENOENT`, or `undefined` where what was given is no command at all.
 */
export interface NotStarted {
  readonly code: string | undefined
}

const errnoCode = (error: unknown): string | undefined =>
  hasProperty(error, "code") && isString(error.code) && /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined

/**
 * Node throws some failures, and tells of others; its words hold the whole command line, and are not passed on.
 */
const notStarted = (error: PlatformError): NotStarted => ({
  code: error.reason._tag === "BadArgument" ? undefined : errnoCode(error.reason.cause) ?? error.reason._tag
})

/**
 * The spawner fails where a process was ended by a signal, and tells which in its cause alone.
 */
const signalOf = ({ cause }: PlatformError): string | undefined =>
  hasProperty(cause, "message") && isString(cause.message) ? /\bSIG[A-Z0-9]+\b/.exec(cause.message)?.[0] : undefined

/**
 * A process that exits closes its streams first: so long it may take to be seen to exit.
 */
const exitGrace = Duration.seconds(1)

/**
 * What is killed is gone at once, unless the system holds on to it.
 */
const killTimeout = Duration.seconds(1)

/**
 * Starts a process, and talks to it until it exits or the scope closes. With either, nothing is left of its process
 * group: its input is ended, then, where it does not exit, it is ended as its command says.
 */
export const start = (
  { command, exitTimeout, lastWords, onStderr, receive, spawner }: Options
): Effect.Effect<Running, NotStarted, Scope.Scope> =>
  Effect.uninterruptible(Effect.gen(function*() {
    const own = yield* Scope.make()
    const handle = yield* spawner.spawn(command).pipe(
      Scope.provide(own),
      Effect.mapError(notStarted),
      Effect.catchDefect((defect) => Effect.fail({ code: errnoCode(defect) }))
    )
    const exited = Effect.match(handle.exitCode, {
      onFailure: (error) => ({ exitCode: undefined, signal: signalOf(error) }),
      onSuccess: (exitCode) => ({ exitCode, signal: undefined })
    })
    const draining = yield* Effect.forkIn(
      Stream.runForEachArray(handle.stderr, (pieces) => Effect.sync(() => pieces.forEach(onStderr))),
      own
    )
    const whyEnded: Effect.Effect<ConnectionFailedReason> = Effect.gen(function*() {
      const exit = yield* Effect.timeoutOption(exited, exitGrace)
      if (Option.isNone(exit)) {
        return new Unreachable({ delivered: "unknown", detail: "the server's process closed its input or output" })
      }
      yield* Effect.timeoutOption(Fiber.await(draining), LineConnection.grace)
      return new ProcessExited({ ...exit.value, stderrTail: lastWords() })
    })
    const connection = yield* Scope.provide(
      LineConnection.make({
        wire: Wire.ofChild(handle),
        receive,
        gone: exited,
        whyEnded,
        server: undefined
      }),
      own
    )
    yield* Scope.addFinalizer(
      own,
      Effect.andThen(Effect.sync(connection.end), Effect.timeoutOption(exited, exitTimeout))
    )

    // The spawner waits for the whole group to be gone, and where nobody buries the dead (a container without an init) that
    // takes as long as it is willing to. Whoever closes waits for it; whoever has killed does not.
    const unwanted = yield* Deferred.make<void>()
    const killed = yield* Deferred.make<void>()
    const burial = yield* Effect.forkDetach(
      Effect.andThen(Effect.raceFirst(connection.ended, Deferred.await(unwanted)), Scope.close(own, Exit.void))
    )
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        Deferred.succeed(unwanted, undefined),
        Effect.raceFirst(Fiber.await(burial), Deferred.await(killed))
      )
    )
    return {
      ...connection,
      // Once all is over, the number of the group may be another's.
      kill: Effect.suspend(() =>
        burial.pollUnsafe() === undefined
          ? Effect.andThen(
            Effect.timeoutOption(
              Effect.raceFirst(Effect.ignore(handle.kill({ killSignal: "SIGKILL" })), exited),
              killTimeout
            ),
            Deferred.succeed(killed, undefined)
          )
          : Effect.void
      )
    }
  }))
