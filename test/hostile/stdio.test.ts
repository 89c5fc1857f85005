/**
 * Children that mean harm. Each is a function that is run in a process of its own; see `test/support/stdio.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { ByteBudget, McpConnection, McpError } from "../../src/index.ts"
import { kind } from "../support/kind.ts"
import { timed } from "../support/lateness.ts"
import { retained } from "../support/retained.ts"
import * as Stdio from "../support/stdio.ts"
import { child } from "../support/stdio.ts"
import { rows, sections } from "./kit/catalogue.ts"
import { leavingNothing } from "./kit/suite.ts"

interface Case {
  /**
   * Of the catalogue.
   */
  readonly row: number
  readonly name: string
  readonly child: McpConnection.StdioOptions
  /**
   * What the client does once it is connected. Default: it calls the tool `t`. `"connect"` ends before that.
   */
  readonly act?: "connect" | ((connection: McpConnection.Service) => Effect.Effect<unknown, McpError.McpError>)
  /**
   * `"ok"`, or the tag and reason of the error.
   */
  readonly outcome: string
  /**
   * How many processes were started. Default: one.
   */
  readonly starts?: number
  /**
   * Of the whole operation, in milliseconds: 10 seconds by default, and then it must not be met.
   */
  readonly deadline?: number
  readonly budget?: ByteBudget.Options
  readonly check?: (got: any) => void
}

/**
 * Beyond what a deadline may be overshot by: what the end of a connection may take.
 */
const overshoot = 100

const act = (hostile: Case, stdio: Stdio.Spawned): Effect.Effect<unknown, McpError.McpError, Scope.Scope> =>
  Effect.gen(function*() {
    const timeout = hostile.deadline ?? 10_000
    const connection = yield* stdio.connect(
      { ...hostile.child, timeout: hostile.act === "connect" ? timeout : 10_000 },
      hostile.budget
    )
    if (hostile.act === "connect") return connection
    const acting = hostile.act?.(connection) ?? connection.callTool("t", {}, { timeout })
    const { late, millis, value: exit } = yield* timed(Effect.exit(acting))
    assert.isAtMost(millis, timeout + overshoot + late, "milliseconds")
    return yield* exit
  })

const outcomeOf = (exit: Exit.Exit<unknown, McpError.McpError>): string => {
  if (Exit.isSuccess(exit)) return "ok"
  const error = Option.getOrUndefined(Exit.findErrorOption(exit))
  return error === undefined ? Cause.pretty(exit.cause) : kind(error)
}

const run = (hostile: Case, spawner: "plain" | "direct"): Effect.Effect<void> =>
  leavingNothing(Effect.gen(function*() {
    const stdio = yield* Stdio.over(Stdio.spawners[spawner])
    const { late, millis, value: exit } = yield* act(hostile, stdio).pipe(Effect.exit, Effect.scoped, timed)
    assert.strictEqual(outcomeOf(exit), hostile.outcome)
    if (hostile.act === "connect" && hostile.deadline !== undefined) {
      assert.isAtMost(millis, hostile.deadline + overshoot + late, "milliseconds")
    }
    assert.strictEqual(stdio.pids.length, hostile.starts ?? 1, "starts")
    if (stdio.pids.length > 0) yield* Stdio.nothingLeft(stdio)
    hostile.check?.(Exit.isSuccess(exit) ? exit.value : Option.getOrThrow(Exit.findErrorOption(exit)))
  }))

const noise: ReadonlyArray<Case> = [
  {
    row: 36,
    name: "a hundred lines that are not JSON, before each message",
    child: child(({ serve, text, write }) =>
      serve({
        "tools/call": (message) => {
          for (let i = 0; i < 3; i++) {
            write(`${"DEBUG: {not JSON}\n[also not]\n".repeat(50)}`)
            write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n")
          }
          text(message, "ok")
        }
      })
    ),
    outcome: "ok"
  },
  {
    row: 36,
    name: "a line of more values than may be, then nothing",
    child: child(({ serve, write }) => serve({ "tools/call": () => write(`[${"0,".repeat(1_500_000)}0]\n`) })),
    outcome: "ConnectionFailed/BudgetExceeded"
  },
  {
    row: 36,
    name: "one line more than a hundred",
    child: child(({ serve, text, write }) =>
      serve({
        "tools/call": (message) => {
          write("DEBUG: answering\n".repeat(101))
          text(message, "too late")
        }
      })
    ),
    outcome: "ConnectionFailed/ProtocolViolation"
  },
  {
    row: 36,
    name: "another program altogether",
    child: { command: "yes" },
    act: "connect",
    deadline: 2000,
    outcome: "ConnectionFailed/ProtocolViolation"
  },
  {
    row: 36,
    name: "blank lines, and line ends of other systems",
    child: child(({ serve, write }) =>
      serve({
        "tools/call": ({ id }) =>
          write(`${"\n\r\n \t \n".repeat(1000)}\t{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}\r\n`)
      })
    ),
    outcome: "ok"
  },
  {
    row: 36,
    name: "blank lines without end",
    child: { command: "yes", args: [""] },
    act: "connect",
    deadline: 9000,
    outcome: "ConnectionFailed/BudgetExceeded"
  },
  {
    row: 36,
    name: "messages for nobody without end",
    child: { command: "yes", args: ["{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}"] },
    act: "connect",
    deadline: 9000,
    outcome: "ConnectionFailed/BudgetExceeded"
  },
  {
    row: 36,
    name: "requests without end",
    child: { command: "yes", args: ["{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}"] },
    act: "connect",
    deadline: 9000,
    outcome: "ConnectionFailed/BudgetExceeded"
  },
  {
    row: 36,
    name: "a line of 100 MB",
    child: child(({ serve, write }) => serve({ "tools/call": () => write(`{"x":"${"x".repeat(100_000_000)}`) })),
    outcome: "ConnectionFailed/BudgetExceeded",
    check: ({ reason }) => assert.strictEqual(reason.what, "response bytes")
  },
  {
    row: 36,
    name: "a line of 100 MB, without a budget",
    child: child(({ serve, write }) => serve({ "tools/call": () => write(`{"x":"${"x".repeat(100_000_000)}`) })),
    budget: { limit: "1 GiB" },
    outcome: "ConnectionFailed/BudgetExceeded",
    check: ({ reason }) => assert.strictEqual(reason.what, "bytes of one line")
  },
  {
    row: 36,
    name: "half a line, then nothing",
    child: child(({ serve, write }) => serve({ "tools/call": ({ id }) => write(`{"jsonrpc":"2.0","id":${id},`) })),
    deadline: 300,
    outcome: "ConnectionFailed/TimedOut"
  },
  {
    row: 36,
    name: "half a line, then the end",
    child: child(({ serve, write }) =>
      serve({
        "tools/call": ({ id }) => {
          write(`{"jsonrpc":"2.0","id":${id},"result":{}}`)
          process.exit(0)
        }
      })
    ),
    outcome: "ConnectionFailed/ProcessExited"
  },
  {
    row: 36,
    name: "bytes that are no UTF-8, in a string and outside of any",
    child: child(({ serve, write }) =>
      serve({
        "tools/call": ({ id }) => {
          write(Buffer.from("ff fe 80\xff\xfe\x80\n", "latin1"))
          const start = `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","content":[{"type":"text",`
          write(Buffer.from(`${start}"text":"a\xffb"}]}}\n`, "latin1"))
        }
      })
    ),
    outcome: "ok",
    check: ({ text }) => assert.strictEqual(text, "a\ufffdb")
  },
  {
    row: 36,
    name: "a line of 4 MB in small pieces, cut inside characters",
    child: child(({ serve, write }) =>
      serve({
        "tools/call": ({ id }) => {
          const result = { resultType: "complete", content: [{ type: "text", text: "é😀".repeat(700_000) }] }
          const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`)
          for (let at = 0; at < bytes.length; at += 127) write(bytes.subarray(at, at + 127))
        }
      })
    ),
    outcome: "ok",
    check: ({ text }) => assert.strictEqual(text, "é😀".repeat(700_000))
  },
  {
    row: 36,
    name: "an answer to nobody, one under a text, and none",
    child: child(({ send, serve }) =>
      serve({
        "tools/call": ({ id }) => {
          send({ id: id + 1, result: {} })
          send({ id: String(id), result: {} })
          send({ id: [id], result: {} })
        }
      })
    ),
    deadline: 300,
    outcome: "ConnectionFailed/TimedOut"
  }
]

const secrets = { args: ["--key=s3cretArgument"], env: { KEY: "s3cretValue", TOKEN: Redacted.make("s3cretToken") } }

/**
 * In no error, however it is shown. What the child says of itself is not ours, but for what is `Redacted`.
 */
const tellsNothing = (error: McpError.McpError): void => {
  const shown = `${error.message}\n${error.stack}\n${JSON.stringify(error)}\n${Cause.pretty(Cause.fail(error))}`
  assert.notMatch(shown, /s3cret/)
}

const never = (name: string, options: McpConnection.StdioOptions, detail: string): Case => ({
  row: 37,
  name,
  child: { ...secrets, ...options },
  act: "connect",
  starts: 0,
  outcome: "ConnectionFailed/Unreachable",
  check: (error) => {
    assert.deepStrictEqual([error.reason.delivered, error.reason.detail], ["no", detail])
    tellsNothing(error)
  }
})

const exits = (name: string, exiting: McpConnection.StdioOptions, exit: object): Case => ({
  row: 37,
  name,
  child: { ...exiting, env: secrets.env },
  act: "connect",
  // Asked again in the legacy way.
  starts: 2,
  outcome: "ConnectionFailed/ProcessExited",
  check: (error) => {
    assert.include(error.reason, exit)
    tellsNothing(error)
  }
})

const exiting: ReadonlyArray<Case> = [
  exits("exits at once", { command: "true" }, { exitCode: 0, signal: undefined }),
  exits("fails at once", { command: "false" }, { exitCode: 1, signal: undefined }),
  exits("a shell that finds no command", { command: "sh", args: ["-c", "no-such-program"] }, { exitCode: 127 }),
  exits("kills itself", { command: "sh", args: ["-c", "kill -ABRT $$"] }, { exitCode: undefined, signal: "SIGABRT" }),
  exits(
    "says its secret as it goes",
    { command: "sh", args: ["-c", "printf 'bad token %s\\n' $TOKEN >&2; exit 2"] },
    { exitCode: 2, stderrTail: "bad token <redacted>\nbad token <redacted>\n" }
  ),
  never("no such command", { command: "no-such-program" }, "ENOENT"),
  never("no such path", { command: "/no/such/program" }, "ENOENT"),
  never("no such folder", { command: "true", cwd: "/no/such/folder" }, "ENOENT"),
  never("no permission", { command: "/etc/passwd" }, "EACCES"),
  never("a folder for a command", { command: "/tmp" }, "EACCES"),
  never("too long an argument", { command: "true", args: ["x".repeat(1_000_000)] }, "E2BIG"),
  ...[
    { name: "no command at all", child: { ...secrets, command: "" } },
    { name: "NUL in an argument", child: { ...secrets, command: "true", args: ["s3cret\0"] } },
    { name: "NUL in the environment", child: { command: "true", env: { KEY: "s3cret\0" } } },
    { name: "NUL in the folder", child: { ...secrets, command: "true", cwd: "/tmp\0s3cret" } }
  ].map((each): Case => ({
    ...each,
    row: 37,
    act: "connect",
    starts: 0,
    outcome: "InvalidInput",
    check: tellsNothing
  }))
]

/**
 * Calls two tools at once.
 */
const both = (connection: McpConnection.Service) =>
  Effect.all([connection.callTool("first"), connection.callTool("second")], { concurrency: 2 })

const stubborn: ReadonlyArray<Case> = [
  {
    row: 38,
    name: "answers twice, at great length and shortly, and exits",
    child: child(({ serve, text }) => {
      const seen: Array<any> = []
      serve({
        "tools/call": (message) => {
          if (seen.push(message) < 2) return
          text(seen[0], "x".repeat(3_000_000))
          text(seen[1], "short")
          process.stdout.write("", () => process.exit(0))
        }
      })
    }),
    act: both,
    outcome: "ok",
    check: ([first, second]) => assert.deepStrictEqual([first.text.length, second.text], [3_000_000, "short"])
  },
  {
    row: 38,
    name: "answers once at great length, closes its output and lives on",
    child: child(({ serve, text }) => {
      const { closeSync } = process.getBuiltinModule("node:fs")
      const seen: Array<any> = []
      serve({
        "tools/call": (message) => {
          if (seen.push(message) < 2) return
          text(seen[0], "x".repeat(3_000_000))
          process.stdout.write("", () => closeSync(1))
        }
      })
      setInterval(() => {}, 1000)
    }),
    act: (connection) =>
      Effect.gen(function*() {
        const call = Effect.match(connection.callTool("t"), { onFailure: kind, onSuccess: () => "ok" })
        const outcomes = yield* Effect.all([call, call], { concurrency: 2 })
        assert.deepStrictEqual([...outcomes].sort(), ["ConnectionFailed/Unreachable", "ok"])
      }),
    outcome: "ok"
  },
  {
    row: 38,
    name: "never reads its input",
    child: child(({ serve }) => {
      serve()
      process.stdin.once("data", () => process.stdin.pause())
      setInterval(() => {}, 1000)
    }),
    act: (connection) =>
      Effect.gen(function*() {
        const before = retained()
        const filler = "x".repeat(1_000_000)
        const call = Effect.match(connection.callTool("t", { filler }, { timeout: 200 }), {
          onFailure: kind,
          onSuccess: () => "ok"
        })
        const outcomes = yield* Effect.forEach(Array.from({ length: 40 }), () => call, { concurrency: 8 })
        assert.deepStrictEqual([...new Set(outcomes)], ["ConnectionFailed/TimedOut"])
        assert.isBelow(retained() - before, 20_000_000)
      }),
    outcome: "ok"
  },
  {
    row: 38,
    name: "never reads anything from the start",
    child: { command: "sleep", args: ["100"] },
    act: "connect",
    deadline: 500,
    outcome: "ConnectionFailed/TimedOut"
  },
  {
    row: 38,
    name: "closes its output and lives on",
    child: child(({ serve }) => {
      const { closeSync } = process.getBuiltinModule("node:fs")
      serve({ "tools/call": () => closeSync(1) })
      setInterval(() => {}, 1000)
    }),
    deadline: 3000,
    outcome: "ConnectionFailed/Unreachable"
  },
  {
    row: 38,
    name: "closes its input and lives on",
    child: child(({ serve, text }) => {
      const { closeSync } = process.getBuiltinModule("node:fs")
      serve({
        "tools/call": (message) => {
          closeSync(0)
          text(message, "ok")
        }
      })
      setInterval(() => {}, 1000)
    }),
    act: (connection) => Effect.andThen(connection.callTool("t"), connection.callTool("t", {}, { timeout: 3000 })),
    deadline: 3000,
    outcome: "ConnectionFailed/Unreachable"
  },
  {
    row: 38,
    name: "does not go at the end of its input, nor when it is told to",
    child: child(({ serve }) => {
      process.on("SIGTERM", () => {})
      process.on("SIGHUP", () => {})
      setInterval(() => {}, 1000)
      serve()
    }),
    outcome: "ok"
  },
  {
    row: 38,
    name: "does not go, and never answers",
    child: child(() => {
      process.on("SIGTERM", () => {})
      setInterval(() => {}, 1000)
    }),
    act: "connect",
    deadline: 500,
    outcome: "ConnectionFailed/TimedOut"
  },
  {
    row: 38,
    name: "exits in a call, and leaves others with its output that do not go when they are told to",
    child: child(({ serve }) =>
      serve({
        "tools/call": () => {
          const { spawn } = process.getBuiltinModule("node:child_process")
          const script = "trap '' TERM HUP; echo started; sleep 100 & wait; wait"
          const started = spawn("sh", ["-c", script], { stdio: ["inherit", "pipe", "inherit"] })
          started.stdout.once("data", () => {
            spawn("sleep", ["100"], { stdio: "inherit" }).once("spawn", () => process.exit(0))
          })
        }
      })
    ),
    deadline: 5000,
    outcome: "ConnectionFailed/ProcessExited"
  },
  {
    row: 38,
    name: "exits when it is asked to connect, and leaves another with its output",
    child: { command: "sh", args: ["-c", "sleep 100 & exit 1"] },
    act: "connect",
    deadline: 2000,
    starts: 2,
    outcome: "ConnectionFailed/ProcessExited"
  },
  {
    row: 38,
    name: "has others that live on when it is closed",
    child: child(({ serve, text }) => {
      const { spawn } = process.getBuiltinModule("node:child_process")
      serve({
        "tools/call": (message) => {
          const other = spawn("sh", ["-c", "trap '' TERM; echo started; while :; do sleep 1; done"])
          other.stdout.once("data", () => text(message, "ok"))
        }
      })
    }),
    outcome: "ok"
  },
  {
    row: 38,
    name: "floods its standard error",
    child: child(({ serve }) => {
      const flood = () => {
        process.stderr.write("x".repeat(100_000), () => setImmediate(flood))
      }
      flood()
      serve()
    }),
    act: (connection) => Effect.forEach(Array.from({ length: 20 }), () => connection.callTool("t")),
    outcome: "ok"
  },
  {
    row: 38,
    name: "agrees on nothing",
    child: child(({ legacy, result, serve }) =>
      serve({ ...legacy, initialize: (message) => result(message, { protocolVersion: "9999" }) })
    ),
    act: "connect",
    outcome: "ConnectionFailed/UnsupportedVersion"
  }
]

const cases: ReadonlyArray<Case> = [...noise, ...exiting, ...stubborn]

describe("stdio", () => {
  const [first, last] = sections.stdio
  for (let row = first; row <= last; row++) {
    describe(`row ${row}: ${rows[row]}`, () => {
      for (const hostile of cases.filter((each) => each.row === row)) {
        it.live(`${hostile.name} → ${hostile.outcome}`, () => run(hostile, "direct"))
        it.live(`${hostile.name}, through the streams of a spawner → ${hostile.outcome}`, () => run(hostile, "plain"))
      }
    })
  }
})
