/**
 * Proxy variables: row 23.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { certificate } from "../../support/certificate.ts"
import * as Raw from "../../support/rawServer.ts"
import { resolver } from "../../support/resolver.ts"
import { type Case, type Other, run } from "../kit/suite.ts"
import { json, okAnswer, script } from "../kit/wire.ts"

/**
 * Sets variables of the environment until the scope closes.
 */
const environment = (values: Readonly<Record<string, string>>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = { ...process.env }
      Object.assign(process.env, values)
      return before
    }),
    (before) =>
      Effect.sync(() => {
        for (const name of Object.keys(values)) {
          if (before[name] === undefined) delete process.env[name]
          else process.env[name] = before[name]
        }
      })
  ).pipe(Effect.asVoid)

/**
 * A server that variables may name as the proxy.
 */
const makeProxy = Raw.make((socket) => Raw.send(socket, 200, {}))

const variablesFor = (names: ReadonlyArray<string>, { port }: Raw.RawServer): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(names.map((name) => [name, `http://127.0.0.1:${port}`])),
  NO_PROXY: "",
  no_proxy: "",
  NODE_USE_ENV_PROXY: "1"
})

const proxyVariables = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]

/**
 * What is reached past the proxy, and how.
 */
const ways: Readonly<Record<string, Partial<Case>>> = {
  "an address": {},
  "a name": { url: ({ port }) => `http://mcp.example:${port}/mcp`, pool: { dns: resolver(["127.0.0.1"]).dns } },
  TLS: { tls: true, pool: { tls: { ca: certificate.cert } } },
  "a legacy server": { speaks: "2025-11-25" }
}

/**
 * Runs a case with proxy variables set. The proxy sees nothing.
 */
const pastProxy = (name: string, variables: ReadonlyArray<string>): ReadonlyArray<Other> =>
  Object.entries(ways).map(([way, given]) => ({
    row: 23,
    name: `${name}: ${way}`,
    test: Effect.gen(function*() {
      const proxy = yield* makeProxy
      yield* environment(variablesFor(variables, proxy))
      yield* run({ row: 23, name, outcome: "ok", ...given })
      assert.strictEqual(proxy.connections(), 0)
    })
  }))

/**
 * Runs `kit/client.ts` under Node's own proxy support, which is switched on as a process starts, and answers what it
 * printed.
 */
const inChild = (server: Raw.RawServer, proxy: Raw.RawServer): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const client = fileURLToPath(new URL("../kit/client.ts", import.meta.url))
    const child = spawn(process.execPath, [client, server.url, "http://fetched.example/"], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...variablesFor(proxyVariables, proxy) }
    })
    let printed = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => printed += text)
    child.on("close", () => resume(Effect.succeed(printed)))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

export const proxies: ReadonlyArray<Other> = [
  ...proxyVariables.flatMap((name) => pastProxy(name, [name])),
  ...pastProxy("all of them", proxyVariables),
  {
    row: 23,
    name: "NODE_USE_ENV_PROXY as the process starts: fetch goes to the proxy, the client does not",
    test: Effect.gen(function*() {
      const proxy = yield* makeProxy
      const server = yield* Raw.make(Raw.modern({ "tools/call": script(json(okAnswer)) }))
      assert.strictEqual(yield* inChild(server, proxy), "ok")
      assert.deepStrictEqual(server.methods(), ["server/discover", "tools/call"])
      assert.deepStrictEqual(proxy.requests.map(({ headers }) => headers["host"]), ["fetched.example"])
    })
  }
]
