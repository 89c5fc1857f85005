/**
 * `Transport` over the standard input and output of a child process: revision 2026-07-28, basic/transports/stdio.
 *
 * A command is code: whoever chooses it runs a program with the rights of this one. It is started without a shell, in a
 * process group of its own, with an environment that holds next to nothing of ours; what it writes to its standard error
 * is always read, and its end is kept. When the scope closes its input is ended; where it does not exit it gets SIGTERM
 * and then SIGKILL, and its process group with it.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ConnectionFailed, InvalidInput, type McpError, Unreachable } from "../errors/McpError.ts"
import * as ChildEnvironment from "../internal/childEnvironment.ts"
import * as Child from "../internal/childProcess.ts"
import * as Secrets from "../internal/secrets.ts"
import * as Tail from "../internal/tail.ts"
import type { ServerMessage } from "../schema/JsonRpc.ts"
import { McpPolicy } from "./McpPolicy.ts"
import type { Transport } from "./Transport.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * A program: a path, or a name that is looked up in the child's `PATH`. There is no shell.
   */
  readonly command: string
  /**
   * Its arguments, as they are. Everybody on the machine can read them: secrets belong into `env`.
   */
  readonly args?: ReadonlyArray<string> | undefined
  /**
   * Variables of its environment. `undefined` takes one away. `Redacted` ones are taken out of what errors quote of the
   * child's standard error, and so are their lines of 8 characters or more; those of less than 4 characters are not.
   */
  readonly env?: Readonly<Record<string, string | Redacted.Redacted | undefined>> | undefined
  /**
   * What else of our environment it has: nothing (default) but HOME, LOGNAME, PATH, SHELL, TERM and USER, or their like on
   * Windows; those and the variables named; or, with `true`, everything.
   */
  readonly inheritEnv?: boolean | ReadonlyArray<string> | undefined
  /**
   * Default: our own.
   */
  readonly cwd?: string | undefined
}

type Service = Transport["Service"]

/**
 * A transport, and the child behind it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChildTransport extends Service {
  /**
   * What the child writes to its standard error, as it comes: first what is kept of what it has written (64 KiB), then
   * what it writes from then on. Whoever reads more slowly than it writes loses the older of it. It ends when the
   * transport's scope closes, not where a child exits. Text from outside: see `SECURITY.md`.
   */
  readonly stderr: Stream.Stream<string>
  /**
   * Ends the child at once, and all that it started.
   */
  readonly kill: Effect.Effect<void>
}

const connecting = { operation: "connect", server: undefined }

const keptStderr = 64 * 1024

/**
 * Pieces of standard error that wait for a reader.
 */
const waitingPieces = 16

/**
 * Starts a child, and talks to it until the scope closes.
 *
 * Fails with `ConnectionFailed`, reason `Unreachable`, where it cannot be started (the code of the system is the detail:
 * `ENOENT` where there is no such program), and with `InvalidInput` for what is no command at all, and for a secret that
 * was wiped. When the child exits, everything that is pending and that comes later fails with `ProcessExited`. A child that
 * exits when it is asked `server/discover` is started once more for `initialize`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  { args, command, cwd, env, inheritEnv }: Options
): Effect.fn.Return<ChildTransport, McpError, ChildProcessSpawner | Scope.Scope> {
  const spawner = yield* ChildProcessSpawner
  const { exitTimeout, probeTimeout } = yield* McpPolicy
  const scope = yield* Effect.scope
  const secrets = Object.values(env ?? {}).filter((value) => Redacted.isRedacted(value)).map(Secrets.reveal)
  if (!secrets.every((secret) => secret !== undefined)) {
    return yield* new InvalidInput({ ...connecting, detail: "a secret of the environment was wiped" })
  }
  const withoutSecrets = Secrets.remover(secrets)

  const tail = Tail.make(keptStderr)
  const decoder = new TextDecoder()
  const readers = new Set<Queue.Enqueue<string, Cause.Done>>()
  const onStderr = (bytes: Uint8Array): void => {
    tail.push(bytes)
    if (readers.size === 0) return
    const text = decoder.decode(bytes, { stream: true })
    for (const reader of readers) Queue.offerUnsafe(reader, text)
  }
  const stderr = Stream.callback<string>((reader) =>
    Effect.andThen(
      Effect.sync(() => {
        const kept = tail.text()
        if (kept !== "") Queue.offerUnsafe(reader, kept)
        readers.add(reader)
      }),
      Effect.addFinalizer(() => Effect.sync(() => readers.delete(reader)))
    ), { bufferSize: waitingPieces, strategy: "sliding" })

  yield* Effect.addFinalizer(() => Effect.sync(() => readers.forEach((reader) => Queue.endUnsafe(reader))))

  let receive: (message: ServerMessage) => void = () => {}
  const start = Child.start({
    spawner,
    command: ChildProcess.make(command, args ?? [], {
      cwd,
      env: ChildEnvironment.make(globalThis.process.env, globalThis.process.platform === "win32", env, inheritEnv),
      extendEnv: false,
      killSignal: "SIGTERM",
      forceKillAfter: exitTimeout
    }),
    exitTimeout,
    receive: (message) => receive(message),
    onStderr,
    lastWords: () => withoutSecrets(tail.text())
  }).pipe(
    Scope.provide(scope),
    Effect.mapError(notStarted)
  )

  let child = yield* start
  let isProbed = false
  return {
    server: undefined,
    hasHeaders: false,
    probeTimeout,
    request: (message) =>
      Effect.suspend(() => {
        if (message.method === "server/discover") isProbed = true
        if (message.method !== "initialize" || !isProbed || child.failure()?._tag !== "ProcessExited") {
          return child.request(message)
        }
        isProbed = false
        return Effect.flatMap(Effect.andThen(child.kill, start), (again) => {
          child = again
          return again.request(message)
        })
      }),
    notify: (message) => Effect.suspend(() => child.notify(message)),
    listen: (receiver) => {
      receive = receiver
    },
    stderr,
    kill: Effect.suspend(() => child.kill)
  }
})

const notStarted = ({ code }: Child.NotStarted): McpError =>
  code === undefined
    ? new InvalidInput({
      ...connecting,
      detail: "the command, its arguments, its environment or its folder cannot be used"
    })
    : new ConnectionFailed({ ...connecting, reason: new Unreachable({ delivered: "no", detail: code }) })
