import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { EgressGuard, type McpConnection, type McpError } from "../../src/index.ts"
import { NodeMcp } from "../../src/node.ts"
import { kind } from "./kind.ts"

export { kind } from "./kind.ts"

/**
 * Connects through the guarded pool, with loopback allowed.
 */
export const connect = (
  url: string,
  options?: Partial<NodeMcp.HttpOptions>
): Effect.Effect<McpConnection.Service, McpError.McpError, Scope.Scope> =>
  NodeMcp.connectHttp({ url, guard: EgressGuard.allowLoopback, ...options })

/**
 * Runs an effect that must fail with a kind of error, and answers the error.
 */
export const failsWith = <A, E extends Parameters<typeof kind>[0], R>(
  effect: Effect.Effect<A, E, R>,
  expected: string
): Effect.Effect<E, never, R> =>
  Effect.flip(effect).pipe(
    Effect.catch((value) => Effect.die(new Error(`succeeded with ${JSON.stringify(value)}`))),
    Effect.tap((error) => Effect.sync(() => assert.strictEqual(kind(error), expected)))
  )
