import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ByteBudget, JsonText, McpConnection, Stdio as Server } from "../src/index.ts"
import * as ChildEnvironment from "../src/internal/childEnvironment.ts"
import * as ChildPipes from "../src/internal/node/childPipes.ts"
import * as Secrets from "../src/internal/secrets.ts"
import { NodeMcp } from "../src/node.ts"
import { failsWith, kind } from "./support/connect.ts"
import { sample, samplingParams } from "./support/features.ts"
import * as Stdio from "./support/stdio.ts"
import { child } from "./support/stdio.ts"

const modern = child(({ serve }) => serve())

/**
 * Answers a call with what comes to its name: a tool that says what the child knows.
 */
const telling = child(
  ({ args, serve, text }) => {
    const facts: Record<string, () => unknown> = {
      env: () => process.env,
      args: () => args,
      cwd: () => process.cwd(),
      pid: () => process.pid
    }
    serve({ "tools/call": (message) => text(message, JSON.stringify(facts[message.params.name]!())) })
  },
  "a b",
  "$(id)",
  ";",
  "\"'\\",
  ""
)

const ask =
  (connection: { readonly callTool: (name: string) => Effect.Effect<{ readonly text: string }, any> }) =>
  (name: string): Effect.Effect<any> =>
    Effect.orDie(Effect.map(connection.callTool(name), ({ text }) => JSON.parse(text)))

describe("connecting", () => {
  it.live("to a modern server takes one request", () =>
    Effect.gen(function*() {
      const connection = yield* NodeMcp.connectStdio(modern)
      assert.strictEqual(connection.protocolVersion, "2026-07-28")
      assert.deepStrictEqual((yield* connection.listTools()).map(({ name }) => name), ["t"])
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
    }))

  it.live("is what a layer does", () =>
    Effect.gen(function*() {
      const version = Effect.map(McpConnection.McpConnection, ({ protocolVersion }) => protocolVersion)
      assert.strictEqual(yield* Effect.provide(version, NodeMcp.layerStdio(modern)), "2026-07-28")
      const layer = McpConnection.layerStdio(modern).pipe(
        Layer.provide([Stdio.spawners.plain, ByteBudget.layer()])
      )
      assert.strictEqual(yield* Effect.provide(version, layer), "2026-07-28")
    }))

  it.live("to a legacy server goes on with initialize", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(child(({ legacy, serve }) => serve(legacy)))
      assert.strictEqual(connection.protocolVersion, "2025-11-25")
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      assert.strictEqual(stdio.pids.length, 1)
    }))

  it.live("to a server that says nothing to what it does not know goes on with initialize", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const policy = Stdio.quick({ probeTimeout: "500 millis" })
      const connection = yield* stdio.connect({
        ...child(({ legacy, serve }) => serve({ ...legacy, "server/discover": () => {} })),
        policy
      })
      assert.strictEqual(connection.protocolVersion, "2025-11-25")
      assert.strictEqual(stdio.pids.length, 1)
    }))

  it.live("to a server that exits on what it does not know starts it once more", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* stdio.connect(
          child(({ legacy, serve }) => serve({ ...legacy, "server/discover": () => process.exit(1) }))
        )
        assert.strictEqual(connection.protocolVersion, "2025-11-25")
        assert.strictEqual((yield* connection.callTool("t")).text, "ok")
      }))
      assert.strictEqual(stdio.pids.length, 2)
      yield* Stdio.nothingLeft(stdio)
    }))

  it.live("starts no server a third time", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const error = yield* failsWith(
        stdio.connect(child(() => {
          process.stderr.write("no key\n")
          process.exit(3)
        })),
        "ConnectionFailed/ProcessExited"
      )
      assert.include(error.message, "exited with code 3; its last words: no key")
      assert.strictEqual(stdio.pids.length, 2)
      yield* Stdio.nothingLeft(stdio)
    }))

  it.live("that is given up leaves nothing", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const outcome = yield* Effect.timeoutOption(
        Effect.scoped(stdio.connect({ command: "sleep", args: ["100"] })),
        200
      )
      assert.isTrue(Option.isNone(outcome))
      assert.strictEqual(stdio.pids.length, 1)
      yield* Stdio.nothingLeft(stdio)
    }))

  it.live("with a revision pinned takes silence for silence, and an exit for an exit", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const pinned = {
        protocol: "2026-07-28",
        timeout: "500 millis",
        policy: Stdio.quick({ probeTimeout: 1 })
      } as const
      yield* failsWith(
        stdio.connect({ ...child(({ serve }) => serve({ "server/discover": () => {} })), ...pinned }),
        "ConnectionFailed/TimedOut"
      )
      yield* failsWith(
        stdio.connect({ ...child(() => process.exit(1)), ...pinned, timeout: "10 seconds" }),
        "ConnectionFailed/ProcessExited"
      )
      assert.strictEqual(stdio.pids.length, 2)
      yield* Stdio.nothingLeft(stdio)
    }))

  it.live("bears what servers say and ask before the answer to initialize, and what is no answer at all", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(child(({ legacy, send, serve, text, write }) => {
        const answers: Array<unknown> = []
        let asked: Stdio.Message | undefined
        const tell = () => {
          if (answers.length === 2 && asked !== undefined) text(asked, JSON.stringify(answers))
        }
        write("Starting…\n\n")
        send({ method: "notifications/message", params: { level: "info", data: "hello" } })
        serve({
          ...legacy,
          initialize: (message, line) => {
            send({ id: "early", method: "ping" })
            send({ id: 0, method: "roots/list" })
            write("listening\r\n  \t \r\n")
            legacy["initialize"]!(message, line)
          },
          "notifications/initialized": () => write("null\n"),
          response: (message) => {
            answers.push(message)
            tell()
          },
          "tools/call": (message) => {
            write("calling")
            write(" t\n")
            asked = message
            tell()
          }
        })
      }))
      const answers = yield* ask(connection)("t")
      assert.deepStrictEqual(answers, [
        { jsonrpc: "2.0", id: "early", result: {} },
        { jsonrpc: "2.0", id: 0, error: { code: -32601, message: "the client does not offer this method" } }
      ])
    }))

  it.live("answers no request of a modern server", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(child(({ send, serve, text }) => {
        let answers = 0
        serve({
          response: () => answers++,
          "tools/call": (message) => {
            send({ id: "x", method: "ping" })
            text(message, String(answers))
          }
        })
      }))
      assert.strictEqual((yield* connection.callTool("t")).text, "0")
      assert.strictEqual((yield* connection.callTool("t")).text, "0")
    }))
})

describe("what a server asks before a revision is agreed on", () => {
  const asking = child(({ args: [era, params], legacy, send, serve, text }) => {
    const answers: Array<unknown> = []
    let told: Stdio.Message | undefined
    const tell = () => {
      if (told !== undefined && answers.length === (era === "modern" ? 5 : 13)) text(told, JSON.stringify(answers))
    }
    for (let id = 0; id < 12; id++) send({ id, method: "sampling/createMessage", params: JSON.parse(params!) })
    send({ id: "ping", method: "ping" })
    serve({
      ...(era === "modern" ? {} : legacy),
      response: (message) => {
        answers.push(message)
        tell()
      },
      "tools/call": (message) => {
        told = message
        tell()
      }
    })
  })
  const connectAsked = (era: string) =>
    Effect.gen(function*() {
      let asked = 0
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect({
        ...asking,
        args: [...asking.args, era, JSON.stringify(samplingParams)],
        features: {
          sampling: (...given) => {
            asked++
            return sample(...given)
          }
        }
      })
      return { answers: yield* ask(connection)("t"), asked }
    })

  const refusedAmong = (answers: ReadonlyArray<any>) =>
    answers.filter(({ error }) => error?.code === -32603).map(({ id }) => id)

  it.live("reaches nobody where the server is a modern one: a ping is answered, more than eight are refused", () =>
    Effect.gen(function*() {
      const { answers, asked } = yield* connectAsked("modern")
      assert.deepStrictEqual(refusedAmong(answers), [8, 9, 10, 11])
      assert.deepStrictEqual(answers.filter(({ result }: any) => result !== undefined), [
        { jsonrpc: "2.0", id: "ping", result: {} }
      ])
      assert.strictEqual(asked, 0)
    }))

  it.live("waits where it is a legacy one, eight at most", () =>
    Effect.gen(function*() {
      const { answers, asked } = yield* connectAsked("legacy")
      assert.strictEqual(asked, 8)
      assert.deepStrictEqual(refusedAmong(answers), [8, 9, 10, 11])
      assert.strictEqual(answers.filter(({ result }: any) => result?.model === "m").length, 8)
    }))
})

describe("a budget of each operation", () => {
  it.live("is that of every call, however many wait on the one stream", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(
        child(({ serve, text }) => {
          const waiting: Array<Stdio.Message> = []
          serve({
            "tools/call": (message) => {
              waiting.push(message)
              if (waiting.length === 16) { for (const each of waiting) text(each, "x".repeat(1024 * 1024)) }
            }
          })
        }),
        { scope: "operation" }
      )
      const calls = Array.from({ length: 16 }, () => connection.callTool("t"))
      const answers = yield* Effect.all(calls, { concurrency: "unbounded" })
      assert.isTrue(answers.every(({ text }) => text.length === 1024 * 1024))
    }))

  it.live("outlives that of a call that came and went: a slow call, and a subscription", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(
        child(({ result, send, serve, text }) => {
          let subscription: number | undefined
          let slow: Stdio.Message | undefined
          const own = { "io.modelcontextprotocol/subscriptionId": 0 }
          const change = () => send({ method: "notifications/tools/list_changed", params: { _meta: own } })
          serve({
            "server/discover": (message) =>
              result(message, {
                resultType: "complete",
                supportedVersions: ["2026-07-28"],
                capabilities: { tools: { listChanged: true } }
              }),
            "subscriptions/listen": ({ id }) => {
              own["io.modelcontextprotocol/subscriptionId"] = subscription = id
              send({
                method: "notifications/subscriptions/acknowledged",
                params: { _meta: own, notifications: { toolsListChanged: true } }
              })
              change()
            },
            "tools/call": (message) => {
              if (message.params.name === "slow") return void (slow = message)
              text(message, "x".repeat(1_000_000))
              if (message.params.name === "last") {
                text(slow!, `slow ${subscription !== undefined}`)
                // Once both calls have been seen off.
                setTimeout(change, 100)
              }
            }
          })
        }),
        { scope: "operation" }
      )
      const subscribed = yield* Deferred.make<void>()
      const subscription = yield* connection.subscribe({ toolsListChanged: true }).pipe(
        Stream.tap(() => Deferred.succeed(subscribed, undefined)),
        Stream.take(2),
        Stream.runCollect,
        Effect.forkChild
      )
      yield* Deferred.await(subscribed)
      const slow = yield* Effect.forkChild(connection.callTool("slow"))
      // More than twice the budget of an operation.
      for (let i = 0; i < 20; i++) yield* connection.callTool("quick")
      yield* connection.callTool("last")
      assert.strictEqual((yield* Fiber.join(slow)).text, "slow true")
      assert.strictEqual((yield* Fiber.join(subscription)).length, 2)
    }))
})

describe("a child", () => {
  it.live("has next to nothing of our environment, and what it is given", () =>
    Effect.gen(function*() {
      process.env["STDIO_TEST_SECRET"] = "ours"
      process.env["STDIO_TEST_NAMED"] = "named"
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          delete process.env["STDIO_TEST_SECRET"]
          delete process.env["STDIO_TEST_NAMED"]
        })
      )
      const stdio = yield* Stdio.make
      const environment = (options: object) =>
        Effect.scoped(Effect.flatMap(stdio.connect({ ...telling, ...options }), (connection) => ask(connection)("env")))

      const given = yield* environment({ env: { KEY: Redacted.make("k"), PLAIN: "p", TERM: undefined } })
      assert.deepStrictEqual({ key: given.KEY, plain: given.PLAIN }, { key: "k", plain: "p" })
      assert.includeMembers(["HOME", "LOGNAME", "PATH", "SHELL", "USER", "KEY", "PLAIN"], Object.keys(given))
      assert.strictEqual(given.PATH, process.env["PATH"])

      const named = yield* environment({ inheritEnv: ["STDIO_TEST_NAMED"] })
      assert.strictEqual(named.STDIO_TEST_NAMED, "named")
      assert.notProperty(named, "STDIO_TEST_SECRET")

      const all = yield* environment({ inheritEnv: true, env: { STDIO_TEST_NAMED: undefined } })
      assert.strictEqual(all.STDIO_TEST_SECRET, "ours")
      assert.notProperty(all, "STDIO_TEST_NAMED")
    }))

  it("has on Windows what programs need there", () => {
    const ours = { PATH: "p", SYSTEMROOT: "s", SECRET: "x", HOME: "h" }
    assert.deepStrictEqual({ ...ChildEnvironment.make(ours, true, { A: "a" }, undefined) }, {
      PATH: "p",
      SYSTEMROOT: "s",
      A: "a"
    })
  })

  it.live("has its arguments as they are, its folder, and a process group of its own", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect({ ...telling, cwd: "/" })
      assert.deepStrictEqual(yield* ask(connection)("args"), ["a b", "$(id)", ";", "\"'\\", ""])
      assert.strictEqual(yield* ask(connection)("cwd"), "/")
      assert.isTrue(Stdio.isLeft(yield* ask(connection)("pid")))
    }))

  /**
   * Has a child write down how it is told to go, and sees that it was by the end of its input and not by SIGTERM. To a call
   * it says nothing but noise.
   */
  const endsItsInput = (
    spawner: keyof typeof Stdio.spawners,
    act: (connection: McpConnection.Service) => Effect.Effect<void>
  ): Effect.Effect<void, unknown, Scope.Scope> =>
    Effect.gen(function*() {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "stdio-"))),
        (made) => Effect.sync(() => rmSync(made, { recursive: true }))
      )
      const stdio = yield* Stdio.over(Stdio.spawners[spawner])
      const file = join(folder, "end")
      const ending = child(({ args: [path], serve, write }) => {
        const { writeFileSync } = process.getBuiltinModule("node:fs")
        process.stdin.on("end", () => writeFileSync(path!, "input ended"))
        process.on("SIGTERM", () => {
          writeFileSync(path!, "terminated")
          process.exit()
        })
        serve({ "tools/call": () => write("noise\n".repeat(101)) })
      }, file)
      const policy = Stdio.quick({ exitTimeout: "5 seconds" })
      yield* Effect.scoped(Effect.flatMap(stdio.connect({ ...ending, policy }), act))
      assert.strictEqual(readFileSync(file, "utf8"), "input ended")
      yield* Stdio.nothingLeft(stdio)
    })

  it.live("is told to go by the end of its input", () => endsItsInput("direct", () => Effect.void))

  it.live.each(["plain", "direct"] as const)(
    "is told so where the connection has ended by itself: %s pipes",
    (spawner) =>
      endsItsInput(
        spawner,
        (connection) => Effect.asVoid(failsWith(connection.callTool("t"), "ConnectionFailed/ProtocolViolation"))
      )
  )
})

describe("a process that has left the group of its parent", () => {
  it.live("keeps none of our pipes open", () =>
    Effect.gen(function*() {
      const pipes = () => process.getActiveResourcesInfo().filter((name) => name === "PipeWrap").length
      const before = pipes()
      const leaving = child(({ serve, text }) => {
        const { spawn } = process.getBuiltinModule("node:child_process")
        serve({
          "tools/call": (message) => {
            const away = spawn("sleep", ["100"], { detached: true, stdio: "inherit" })
            away.once("spawn", () => text(message, String(away.pid)))
          }
        })
      })
      const away = yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* NodeMcp.connectStdio({ ...leaving, policy: Stdio.quick() })
        const pid = Number((yield* connection.callTool("t")).text)
        assert.isAbove(pipes(), before)
        return pid
      }))
      yield* Effect.addFinalizer(() => Effect.sync(() => process.kill(away, "SIGKILL")))
      assert.isTrue(Stdio.isLeft(away))
      yield* Stdio.eventually("a pipe is left", () => pipes() <= before)
    }))
})

describe("a process whose spawner hands it over late", () => {
  it.live("loses nothing of what it has written by then", () =>
    Effect.gen(function*() {
      const early = child(({ serve, write }) => {
        write("{\"jsonrpc\":\"2.0\",")
        process.stderr.write("written")
        const result = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }
        serve({ "server/discover": ({ id }) => write(`"id":${id},"result":${JSON.stringify(result)}}\n`) })
      })
      const late = Layer.effect(
        ChildProcessSpawner,
        Effect.map(ChildProcessSpawner, (spawner) =>
          ChildPipes.closing({
            ...spawner,
            spawn: (command) => Effect.tap(spawner.spawn(command), ({ stderr }) => Stream.runHead(stderr))
          }))
      )
      const stdio = yield* Stdio.over(Layer.provide(late, Stdio.spawners.plain))
      const connection = yield* stdio.connect(early)
      assert.strictEqual((yield* connection.callTool("t")).text, "ok")
    }))
})

describe("messages", () => {
  it.live("go out on one line, whatever line ends stand between the tokens of arguments", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(
        child(({ serve, text }) => serve({ "tools/call": (message, line) => text(message, line) }))
      )
      const args = JsonText.makeUnsafe("{\r\n  \"b\": 1.0,\n\"a\":\t\"x\\ny \u2028\",\r\"b\": 1e3\n}\n")
      const { text } = yield* connection.callTool("t", args)
      assert.include(text, "\"arguments\":{  \"b\": 1.0,\"a\":\t\"x\\ny \u2028\",\"b\": 1e3}")
      const { text: other } = yield* connection.callTool("t", JsonText.makeUnsafe("{\r\"b\":\r1.0}"))
      assert.include(other, "\"arguments\":{\"b\":1.0}")
    }))

  it.live("do not mix, however long they are and however slowly they are read", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(child(({ serve, text }) => {
        serve({
          "tools/call": (message) => text(message, message.params.arguments.filler.length + message.params.name)
        })
        // Reads a little at a time.
        const pause = () => {
          process.stdin.pause()
          setTimeout(() => process.stdin.resume(), 1)
        }
        process.stdin.on("data", pause)
      }))
      const sizes = Array.from({ length: 24 }, (_, i) => i % 3 === 0 ? 500_000 + i : i)
      const answers = yield* Effect.forEach(
        sizes,
        (size, i) => connection.callTool(`-${i}`, { filler: "x".repeat(size) }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers.map(({ text }) => text), sizes.map((size, i) => `${size}-${i}`))
    }))

  it.live("come back to whoever asked, two hundred at a time, in any order", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(child(({ serve, text }) =>
        serve({
          "tools/call": (message) =>
            setTimeout(() => text(message, message.params.name), (message.params.arguments.n * 37) % 100)
        })
      ))
      const names = Array.from({ length: 200 }, (_, n) => `tool-${n}`)
      const answers = yield* Effect.forEach(names, (name, n) => connection.callTool(name, { n }), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(answers.map(({ text }) => text), names)
    }))

  it.live("may come several on a line at 2025-03-26, and alone in an array at any revision", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const batching = child(({ args: [version], legacy, result, serve, write }) => {
        const answer = (id: number) => ({ jsonrpc: "2.0", id, result: { content: [] } })
        const noted = { jsonrpc: "2.0", method: "notifications/message", params: {} }
        serve({
          ...legacy,
          initialize: (message) => result(message, { protocolVersion: version, capabilities: { tools: {} } }),
          "tools/call": ({ id, params }) =>
            write(`${JSON.stringify(params.name === "several" ? [noted, answer(id)] : [answer(id)])}\n`)
        })
      }, "2025-03-26")
      const early = yield* stdio.connect(batching)
      assert.deepStrictEqual((yield* early.callTool("several")).content, [])
      const late = yield* stdio.connect({ ...batching, args: [...batching.args.slice(0, 2), "2025-11-25"] })
      assert.deepStrictEqual((yield* late.callTool("alone")).content, [])
      yield* failsWith(late.callTool("several", {}, { timeout: 300 }), "ConnectionFailed/TimedOut")
    }))

  it.live("that nobody waits for any more are dropped, and the connection goes on", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(child(({ serve, text }) => {
        let first: any
        serve({
          "tools/call": (message) => {
            if (first === undefined) return void (first = message)
            text(first, "late")
            text(message, "second")
          }
        })
      }))
      yield* failsWith(connection.callTool("t", {}, { timeout: 100 }), "ConnectionFailed/TimedOut")
      assert.strictEqual((yield* connection.callTool("t")).text, "second")
    }))
})

describe("an error that names no request", () => {
  it.live("is for no call where it may answer a notification", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(child(({ legacy, send, serve, text }) => {
        const none = { id: null, error: { code: -32601, message: "Method not found" } }
        let slow: Stdio.Message | undefined
        serve({
          ...legacy,
          "notifications/cancelled": () => {
            send(none)
            text(slow!, "slow")
          },
          "tools/call": (message) => {
            if (message.params.name === "first") {
              // As if it were for `notifications/initialized`.
              send(none)
              text(message, "first")
            } else if (message.params.name === "slow") slow = message
          }
        })
      }))
      assert.strictEqual((yield* connection.callTool("first")).text, "first")
      const slow = yield* Effect.forkChild(connection.callTool("slow"))
      yield* failsWith(connection.callTool("given up", {}, { timeout: 100 }), "ConnectionFailed/TimedOut")
      assert.strictEqual((yield* Fiber.join(slow)).text, "slow")
    }))
})

describe("a child that is gone", () => {
  it.live("fails what is pending within a second, and what comes later", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(
        child(({ send, serve }) => serve({ "tools/call": () => send({ method: "notifications/message", params: {} }) }))
      )
      const calls = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3], () => Effect.flip(connection.callTool("t")), { concurrency: "unbounded" })
      )
      yield* Effect.sleep("50 millis")
      process.kill(stdio.pids[0]!, "SIGKILL")
      const [elapsed, errors] = yield* Effect.timed(Fiber.join(calls))
      assert.isBelow(Duration.toMillis(elapsed), 1000)
      for (const error of [...errors, yield* Effect.flip(connection.callTool("t"))]) {
        assert.strictEqual(kind(error), "ConnectionFailed/ProcessExited")
        assert.strictEqual(error.message, "tools/call t: the server's process exited by SIGKILL")
      }
      yield* Stdio.nothingLeft(stdio)
    }))

  it.live("has said what it said: an answer that was written before the exit is an answer", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect(child(({ serve, text }) =>
        serve({
          "tools/call": (message) => {
            text(message, "x".repeat(200_000))
            process.stdout.end(() => process.exit(0))
          }
        })
      ))
      assert.strictEqual((yield* connection.callTool("t")).text.length, 200_000)
      const error = yield* failsWith(connection.callTool("t"), "ConnectionFailed/ProcessExited")
      assert.strictEqual(error.message, "tools/call t: the server's process exited with code 0")
    }))
})

describe("standard error", () => {
  it.live("is handed on as it comes", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      let seen = ""
      const all = yield* Deferred.make<void>()
      const connection = yield* stdio.connect({
        ...child(({ serve, text }) => {
          process.stderr.write("starting\n")
          serve({ "tools/call": (message) => process.stderr.write("called é\n", () => text(message, "ok")) })
        }),
        onStderr: (text) =>
          Effect.suspend(() => {
            seen += text
            return seen.includes("called") ? Deferred.succeed(all, undefined) : Effect.void
          })
      })
      yield* connection.callTool("t")
      yield* Deferred.await(all)
      assert.strictEqual(seen, "starting\ncalled é\n")
    }))

  it.live("ends when the scope closes", () =>
    Effect.gen(function*() {
      const heard = yield* Effect.scoped(Effect.gen(function*() {
        const { stderr } = yield* Server.make(child(() => void process.stderr.write("starting\n")))
        const fiber = yield* Effect.forkDetach(Stream.mkString(stderr))
        yield* Stream.runHead(stderr)
        return fiber
      })).pipe(Effect.provide(NodeServices.layer))
      assert.strictEqual(yield* Fiber.join(heard), "starting\n")
    }))

  it.live("is read whoever listens, and its end is in the error, without secrets and escapes", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const connection = yield* stdio.connect({
        ...child(({ serve }) =>
          serve({
            "tools/call": () =>
              process.stderr.write("flood\n".repeat(1_000_000), () =>
                process.stderr.write(`\u001b[31mkey ${process.env["KEY"]}\nbad\n`, () => process.exit(7)))
          })
        ),
        env: { KEY: Redacted.make("s3cret") },
        onStderr: () => Effect.never
      })
      const error = yield* Effect.flip(connection.callTool("t"))
      assert(error._tag === "ConnectionFailed" && error.reason._tag === "ProcessExited")
      assert.strictEqual(error.reason.exitCode, 7)
      assert.isTrue(error.reason.stderrTail.endsWith("flood\n\\u001b[31mkey <redacted>\nbad\n"))
      assert.isAtMost(error.reason.stderrTail.length, 4200)
      assert.strictEqual(error.message, "tools/call t: the server's process exited with code 7; its last words: bad")
    }))

  it("is quoted without secrets: those that begin like others, and the lines of long ones; not the shortest", () => {
    const key = "-----BEGIN KEY-----\r\nMIIEvQIBADAN\r\nshort\r\n-----END KEY-----\r\n"
    const without = Secrets.remover(["abcd", "abcdTOPSECRET", "1", "", key])
    assert.strictEqual(without("error 11 abcdTOPSECRET abcd"), "error 11 <redacted> <redacted>")
    assert.strictEqual(without(`the key is ${key}.`), "the key is <redacted>.")
    assert.strictEqual(
      without("config: -----BEGIN KEY-----\nconfig: MIIEvQIBADAN\nconfig: short"),
      "config: <redacted>\nconfig: <redacted>\nconfig: short"
    )
  })

  it.live("of a secret that was wiped is never written: it is no environment", () =>
    Effect.gen(function*() {
      const stdio = yield* Stdio.make
      const wiped = Redacted.make("s3cret")
      Redacted.wipeUnsafe(wiped)
      const error = yield* failsWith(stdio.connect({ ...modern, env: { KEY: wiped } }), "InvalidInput")
      assert.strictEqual(error.message, "connect: a secret of the environment was wiped")
      assert.isEmpty(stdio.pids)
    }))
})
