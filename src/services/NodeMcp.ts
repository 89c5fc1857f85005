/**
 * The layers wired for Node: a guarded pool of connections, the standard guard, a budget of 8 MiB.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { InvalidInput, type McpError } from "../errors/McpError.ts"
import * as ChildPipes from "../internal/node/childPipes.ts"
import * as GuardedPool from "../internal/node/guardedPool.ts"
import { inOwnScope } from "../internal/ownScope.ts"
import * as ByteBudget from "./ByteBudget.ts"
import * as EgressGuard from "./EgressGuard.ts"
import { HttpExchange } from "./HttpExchange.ts"
import * as McpConnection from "./McpConnection.ts"

/**
 * Options of `layerHttpExchange`.
 *
 * @category models
 * @since 0.1.0
 */
export type PoolOptions = GuardedPool.PoolOptions

/**
 * Options of `connectHttp` and `layerHttp`.
 *
 * @category models
 * @since 0.1.0
 */
export interface HttpOptions extends McpConnection.HttpOptions {
  /**
   * Where it may connect. Default: `EgressGuard.standard`. Connections with the same policy share one pool.
   */
  readonly guard?: EgressGuard.Policy | undefined
  /**
   * How much it may read. Default: 8 MiB a connection. It is this connection's own: for a `total` of several, build them
   * over one `ByteBudget.layer` and `layerHttpExchange`.
   */
  readonly budget?: ByteBudget.Options | undefined
}

/**
 * Options of `connectStdio` and `layerStdio`.
 *
 * @category models
 * @since 0.1.0
 */
export interface StdioOptions extends McpConnection.StdioOptions {
  /**
   * How much it may read. Default: 8 MiB a connection. It is this connection's own: for a `total` of several, build them
   * with `McpConnection.connectStdio` over one `ByteBudget.layer`.
   */
  readonly budget?: ByteBudget.Options | undefined
}

/**
 * One guarded pool of connections, shared by all that is built over it. Sockets go when its scope closes; those that lie
 * idle go after 90 seconds.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttpExchange = (
  options?: PoolOptions
): Layer.Layer<HttpExchange, never, EgressGuard.EgressGuard> =>
  Layer.effect(
    HttpExchange,
    Effect.flatMap(EgressGuard.EgressGuard, (guard) => GuardedPool.make(guard, options ?? {}))
  )

/**
 * What connections with one policy share: a pool lives as long as the first and the last that use it.
 */
const sharedPools = Layer.makeMemoMapUnsafe()
const guardedPools = new WeakMap<EgressGuard.Policy, Layer.Layer<HttpExchange | EgressGuard.EgressGuard>>()

const guardedPool = (policy: EgressGuard.Policy): Layer.Layer<HttpExchange | EgressGuard.EgressGuard> => {
  const existing = guardedPools.get(policy)
  if (existing !== undefined) return existing
  const pool = layerHttpExchange().pipe(Layer.provideMerge(EgressGuard.layer(policy)))
  guardedPools.set(policy, pool)
  return pool
}

const makeBudget = (
  options: ByteBudget.Options | undefined
): Effect.Effect<ByteBudget.ByteBudget["Service"], McpError> =>
  Effect.try({
    try: () => ByteBudget.make(options),
    catch: () => new InvalidInput({ operation: "connect", server: undefined, detail: "the budget is not a size" })
  })

/**
 * Connects over Streamable HTTP with everything wired, for servers that are known at run time. The connection lasts as
 * long as the scope; connections that are open at the same time under one guard policy share one pool.
 *
 * @category constructors
 * @since 0.1.0
 */
export const connectHttp = (
  options: HttpOptions
): Effect.Effect<McpConnection.Service, McpError, Scope.Scope> =>
  inOwnScope(Effect.gen(function*() {
    const pool = yield* Layer.buildWithMemoMap(
      guardedPool(options.guard ?? EgressGuard.standard),
      sharedPools,
      yield* Effect.scope
    )
    const budget = yield* makeBudget(options.budget)
    return yield* Effect.provideContext(
      McpConnection.connectHttp(options),
      Context.add(pool, ByteBudget.ByteBudget, budget)
    )
  }))

/**
 * As `connectHttp`, as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttp = (options: HttpOptions): Layer.Layer<McpConnection.McpConnection, McpError> =>
  Layer.effect(McpConnection.McpConnection, connectHttp(options))

/**
 * Starts a process and connects to it with everything wired, for servers that are known at run time. The connection lasts
 * as long as the scope.
 *
 * @category constructors
 * @since 0.1.0
 */
export const connectStdio = (
  options: StdioOptions
): Effect.Effect<McpConnection.Service, McpError, Scope.Scope> =>
  Effect.flatMap(makeBudget(options.budget), (budget) =>
    McpConnection.connectStdio(options).pipe(
      Effect.provideService(ByteBudget.ByteBudget, budget),
      Effect.provide(ChildPipes.layerSpawner)
    ))

/**
 * As `connectStdio`, as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStdio = (options: StdioOptions): Layer.Layer<McpConnection.McpConnection, McpError> =>
  Layer.effect(McpConnection.McpConnection, connectStdio(options))
