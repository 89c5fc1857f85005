/**
 * How much this program is willing to read from a server.
 *
 * Header blocks count as received, bodies in full, however they are cut into chunks. Exactly the limit passes; one byte
 * more fails with `ConnectionFailed`, reason `BudgetExceeded`, and the socket is closed at once. What was read until then
 * stays counted, so that a meter of a connection is used up by it; a response that says beforehand that it is too long
 * is not read, and costs its header block alone. Where a meter is used up, nothing more is sent.
 *
 * By default a meter lasts as long as its connection. A connection that lives long wants `scope: "operation"`, where every
 * call and every listing has a meter of its own.
 *
 * @since 0.1.0
 */
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

/**
 * Counts the bytes of one connection or of one operation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Meter {
  /**
   * In bytes; `Infinity` where there is none.
   */
  readonly limit: number
  /**
   * What may still be read, in bytes.
   */
  readonly remaining: () => number
  /**
   * Takes what was read. `false` says that it was too much: stop reading.
   */
  readonly take: (bytes: number) => boolean
  /**
   * Gives what was taken back to the layer's `total`. Safe to call twice.
   */
  readonly close: () => void
}

/**
 * @category services
 * @since 0.1.0
 */
export class ByteBudget extends Context.Service<ByteBudget, {
  /**
   * What one meter lasts for: all of a connection's responses together, or those of one operation.
   */
  readonly scope: "connection" | "operation"
  readonly open: () => Meter
}>()("effect-mcp-client/ByteBudget") {}

/**
 * Options of `layer`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * What one meter allows. Default: 8 MiB.
   */
  readonly limit?: ByteSize.Input | undefined
  /**
   * `"connection"` (default) counts all responses of a connection together; `"operation"` those of one call or listing,
   * for connections that live long.
   */
  readonly scope?: "connection" | "operation" | undefined
  /**
   * What all open meters of this layer may have read together, for a host with many connections. Default: no bound.
   */
  readonly total?: ByteSize.Input | undefined
}

/**
 * @category constants
 * @since 0.1.0
 */
export const defaultLimit: ByteSize.ByteSize = ByteSize.mebibytes(8)

/**
 * A budget of its own. Throws where a size is none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options?: Options): ByteBudget["Service"] => {
  const limit = options?.limit === undefined ? defaultLimit : ByteSize.fromInputUnsafe(options.limit)
  const total = options?.total === undefined
    ? Number.POSITIVE_INFINITY
    : Number(ByteSize.fromInputUnsafe(options.total))
  return fromLimits(options?.scope ?? "connection", Number(limit), total)
}

const fromLimits = (scope: "connection" | "operation", limit: number, total: number): ByteBudget["Service"] => {
  let totalUsed = 0
  return {
    scope,
    open: () => {
      let used = 0
      let closed = false
      return {
        limit: Math.min(limit, total),
        remaining: () => Math.max(0, Math.min(limit - used, total - totalUsed)),
        take: (bytes) => {
          if (closed) return false
          used += bytes
          totalUsed += bytes
          return used <= limit && totalUsed <= total
        },
        close: () => {
          if (closed) return
          closed = true
          totalUsed -= used
        }
      }
    }
  }
}

/**
 * Provides a budget: 8 MiB a connection where nothing else is said. Every build of the layer has its own `total`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<ByteBudget> => Layer.sync(ByteBudget, () => make(options))

/**
 * No bound at all, for servers that are your own. The 64 KiB cap of a header block still holds.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerUnlimited: Layer.Layer<ByteBudget> = Layer.sync(
  ByteBudget,
  () => fromLimits("operation", Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
)
