/**
 * One life of a connection: it is opened, used for a handful of listings and calls, and closed, now and then in the
 * middle of them.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { EgressGuard, type McpConnection, type McpError, McpPolicy } from "../../src/index.ts"
import { NodeMcp } from "../../src/node.ts"
import type { Ledger } from "./ledger.ts"
import * as Random from "./random.ts"
import { type ClientOptions, foreign } from "./shared.ts"

/**
 * One policy for all, so that all share one pool.
 */
export const guard = EgressGuard.allowLoopback

/**
 * Deadlines in milliseconds.
 */
interface Limits {
  readonly request: number
  readonly operation: number
  readonly close: number
}

const limitsOf = ({ int }: Random.Random): Limits => ({
  request: int(50, 300),
  operation: int(100, 500),
  close: int(50, 150)
})

const policyOf = ({ close, operation, request }: Limits): McpPolicy.McpPolicy =>
  McpPolicy.make({
    requestTimeout: request,
    operationTimeout: operation,
    closeTimeout: close,
    resumption: McpPolicy.resumption({ maxIdle: 3, maxTotal: 20, minDelay: 1, maxDelay: 50, delay: 10 })
  })

/**
 * Most go to the server; some go where nobody is, or nobody may go, or are no URL.
 */
const urlOf = ({ chance, pick }: Random.Random, own: string): string =>
  chance(0.97) ? own : pick(["http://127.0.0.1:9/", "http://[::]/", "ftp://127.0.0.1/", "not a URL"])

const sometimes = <A>({ chance }: Random.Random, probability: number, value: () => A): A | undefined =>
  chance(probability) ? value() : undefined

const list = (
  connection: McpConnection.Service,
  timeout: number | undefined
): Effect.Effect<void, McpError.McpError> =>
  Effect.asVoid(connection.listTools({ timeout, onRefused: () => Effect.void }))

/**
 * Said twice, so that a server's garbage is not taken for another call's answer.
 */
const echoOf = (name: string): string => `${name} = ${name}`
const isEcho = (text: string): boolean => text.length < 100 && /^(.+) = \1$/.test(text)

/**
 * Reads the result as an application would, getters and all.
 */
const call = (
  connection: McpConnection.Service,
  { fault }: Ledger,
  echo: string,
  timeout: number | undefined
): Effect.Effect<void, McpError.McpError> =>
  Effect.map(connection.callTool("tool-1-1", { echo }, { timeout }), ({ content, text }) => {
    if (text.includes(foreign) || (isEcho(text) && text !== echo)) {
      fault(`"${echo}" was answered "${text.slice(0, 100)}"`)
    }
    for (const block of content) if (block.type === "image" || block.type === "audio") block.data.subarray(0, 1)
  })

/**
 * Lives one life to its end. What becomes of it is in the ledger.
 */
export const live = (number: number, { origin, seed }: ClientOptions, ledger: Ledger): Effect.Effect<void> =>
  Effect.gen(function*() {
    const random = Random.make(`${seed} client ${number}`)
    const limits = limitsOf(random)
    const policy = policyOf(limits)
    const scope = yield* Scope.make()
    const opened = yield* ledger.operation(
      `connect of life ${number}`,
      { limit: limits.operation, interruptedAfter: sometimes(random, 0.1, () => random.int(0, limits.operation)) },
      Scope.provide(
        NodeMcp.connectHttp({
          url: urlOf(random, `${origin}/${number}`),
          guard,
          policy,
          budget: { limit: random.pick([65_536, 2 ** 20, 2 ** 23]), scope: random.pick(["connection", "operation"]) },
          protocol: random.pick(["auto", "auto", "auto", "legacy", "2026-07-28"]),
          redirects: random.pick(["never", "same-origin"])
        }),
        scope
      )
    )

    let closedAt: number | undefined
    const act = (connection: McpConnection.Service, name: string): Effect.Effect<unknown> => {
      const timeout = sometimes(random, 0.3, () => random.int(1, limits.operation))
      const bounds = {
        limit: timeout ?? limits.operation,
        interruptedAfter: sometimes(random, 0.2, () => random.int(0, limits.operation)),
        closedAt: () => closedAt
      }
      return random.chance(0.3)
        ? ledger.operation(`listing of ${name}`, bounds, list(connection, timeout))
        : ledger.operation(`call of ${name}`, bounds, call(connection, ledger, echoOf(name), timeout))
    }

    const acts = Option.match(opened, {
      onNone: () => [],
      onSome: (connection) =>
        Array.from({ length: random.int(1, 8) }, (_, i) => act(connection, `life ${number}, ${i}`))
    })
    const using = yield* Effect.forkChild(Effect.all(acts, { concurrency: random.int(1, 4), discard: true }))
    if (random.chance(0.3)) yield* Effect.sleep(random.int(0, 200))
    else yield* Fiber.join(using)

    closedAt = performance.now()
    yield* ledger.operation(`closing of life ${number}`, { limit: limits.close }, Scope.close(scope, Exit.void))
    yield* Fiber.join(using)
  })
