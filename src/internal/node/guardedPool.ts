/**
 * The connection pool: undici's clients, with a dial that asks the guard and a tap that counts what comes in.
 */
import * as Undici from "@effect/platform-node/Undici"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Dns } from "effect/net/Dns"
import * as NetAddress from "effect/net/NetAddress"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as NodeDns from "node:dns"
import * as Net from "node:net"
import type { ConnectionOptions } from "node:tls"
import { type ConnectionFailedReason, EgressDenied, Unreachable } from "../../errors/McpError.ts"
import type { EgressGuard } from "../../services/EgressGuard.ts"
import { type HttpAnswer, type HttpExchange, type HttpRequest, maxHeaderBlock } from "../../services/HttpExchange.ts"
import { Abort, Exchange, type Outcome } from "./exchange.ts"
import * as OriginPool from "./originPool.ts"
import * as Turns from "./turns.ts"

/**
 * Options of the pool.
 */
export interface PoolOptions {
  /**
   * How long a socket may lie idle. Default: 90 seconds.
   */
  readonly idleTimeout?: Duration.Input | undefined
  /**
   * What one dial may take: look-up, TCP and TLS together. Default: 10 seconds.
   */
  readonly connectTimeout?: Duration.Input | undefined
  /**
   * Offers HTTP/2 to https servers. Off by default: over HTTP/2 a header block is measured after Node has parsed it, so
   * that its 64 KiB cap bounds what is used and not what is received; and cancelling many calls at once can keep
   * `node:http2` of Node 26 busy for ever, and break calls beside them.
   */
  readonly http2?: boolean | undefined
  /**
   * Certificates and keys for TLS. Servers are always verified.
   */
  readonly tls?: Pick<ConnectionOptions, "ca" | "cert" | "key" | "passphrase" | "minVersion"> | undefined
  /**
   * Resolves names instead of the operating system.
   */
  readonly dns?: Dns["Service"] | undefined
}

type Guard = EgressGuard["Service"]
type LookupAddress = NodeDns.LookupAddress
type LookupCallback = (error: Error | null, addresses: ReadonlyArray<LookupAddress>) => void
/**
 * Starts a look-up, and answers what gives it up.
 */
type Resolve = (hostname: string, options: NodeDns.LookupOptions, callback: LookupCallback) => () => void

class LookupFailed extends Error {
  readonly code: string
  constructor(code: string) {
    super(code)
    this.code = code
  }
}

const systemResolve: Resolve = (hostname, options, callback) => {
  // Where it fails, it gives no addresses at all, whatever its type says.
  NodeDns.lookup(hostname, { ...options, all: true }, (error, addresses) => callback(error, addresses ?? []))
  // The operating system's cannot be given up; nobody listens to it any more.
  return () => {}
}

const toLookupAddress = (address: NetAddress.IpAddress): LookupAddress => ({
  address: NetAddress.formatIp(address),
  family: NetAddress.isIpv4Address(address) ? 4 : 6
})

const resolveWith = (dns: Dns["Service"], services: Context.Context<never>): Resolve => {
  const runFork = Effect.runForkWith(services)
  return (hostname, _options, callback) => {
    const lookingUp = runFork(Effect.suspend(() => dns.lookup(hostname)))
    // However it ends, the dial is waiting.
    lookingUp.addObserver(Exit.match({
      onFailure: (cause) => {
        const error = Option.getOrUndefined(Cause.findErrorOption(cause))
        callback(new LookupFailed(error?.reason ?? "LookupFailed"), [])
      },
      onSuccess: (addresses) => callback(null, addresses.map(toLookupAddress))
    }))
    return () => lookingUp.interruptUnsafe()
  }
}

/**
 * A guard of the application's own may throw; nothing that is not allowed is let through.
 */
const vet = (guard: Guard, host: string, address: string): Abort | undefined => {
  try {
    const verdict = guard.vetAddress(host, address)
    return Result.isFailure(verdict) ? new Abort(verdict.failure) : undefined
  } catch {
    return new Abort(new EgressDenied({ host, address }))
  }
}

/**
 * A look-up for `net.connect`: every address is vetted, one that is refused refuses the name, and the dial goes to what
 * was vetted.
 */
const guardedLookup =
  (guard: Guard, resolve: Resolve, onStart: (giveUp: () => void) => void): Net.LookupFunction =>
  (hostname, options, callback) =>
    onStart(resolve(hostname, options, (error, addresses) => {
      const found = addresses[0]
      if (error !== null || found === undefined) return callback(error ?? new LookupFailed("ENOTFOUND"), "", 0)
      for (const { address } of addresses) {
        const refusal = vet(guard, hostname, address)
        if (refusal !== undefined) return callback(refusal, "", 0)
      }
      if (options.all === true) callback(null, [...addresses])
      else callback(null, found.address, found.family)
    }))

/**
 * The dials of a pool that are under way, which undici leaves to their own end when the pool goes.
 */
class Dials {
  readonly #sockets = new Set<Net.Socket>()
  #isClosed = false

  add(socket: Net.Socket): void {
    this.#sockets.add(socket)
    if (this.#isClosed) socket.destroy(new Abort())
  }

  remove(socket: Net.Socket): void {
    this.#sockets.delete(socket)
  }

  close(): void {
    this.#isClosed = true
    for (const socket of this.#sockets) socket.destroy(new Abort())
  }
}

/**
 * Dials for all clients of a pool.
 */
const guardedConnector = (
  guard: Guard,
  resolve: Resolve,
  dials: Dials,
  options: PoolOptions
): OriginPool.Connector => {
  const limit = Duration.fromInputUnsafe(options.connectTimeout ?? "10 seconds")
  let giveUpLookup = (): void => {}
  const dial = Undici.buildConnector({
    ...options.tls,
    rejectUnauthorized: true,
    allowH2: options.http2 === true,
    // The deadline below is exact; undici's is not.
    timeout: 0,
    lookup: guardedLookup(guard, resolve, (giveUp) => {
      giveUpLookup = giveUp
    })
  } as Undici.buildConnector.BuildOptions) as (
    target: Undici.buildConnector.Options,
    callback: Undici.buildConnector.Callback
  ) => Net.Socket

  return (target, callback) => {
    // `lookup` is not called where there is nothing to look up.
    if (Net.isIP(target.hostname) !== 0) {
      const refusal = vet(guard, target.hostname, target.hostname)
      if (refusal !== undefined) {
        callback(refusal, null)
        return undefined
      }
    }
    giveUpLookup = () => {}
    // May throw, where TLS cannot be set up with the options it was given: undici fails the request.
    const socket = dial(target, (...result) => {
      clearTimeout(timer)
      dials.remove(socket)
      callback(...result)
    })
    const timer = setTimeout(() => {
      socket.destroy(
        new Abort(new Unreachable({ delivered: "no", detail: `no connection within ${Duration.format(limit)}` }))
      )
    }, timerMillis(limit))
    // A dial starts its look-up before it returns.
    const giveUp = giveUpLookup
    socket.once("close", () => {
      clearTimeout(timer)
      dials.remove(socket)
      giveUp()
    })
    dials.add(socket)
    return socket
  }
}

/**
 * What a timer of Node can hold.
 */
const timerMillis = (duration: Duration.Duration): number =>
  Math.min(Math.max(Duration.toMillis(duration), 1), 2 ** 31 - 1)

/**
 * A pool that asks this guard at every dial. Its sockets go when the scope closes.
 */
export const make = Effect.fnUntraced(function*(
  guard: Guard,
  options: PoolOptions
): Effect.fn.Return<HttpExchange["Service"], never, Scope.Scope> {
  const resolve = options.dns === undefined
    ? systemResolve
    : resolveWith(options.dns, yield* Effect.context<never>())
  const dials = new Dials()
  const idle = timerMillis(Duration.fromInputUnsafe(options.idleTimeout ?? "90 seconds"))
  const clientOptions: Undici.Client.Options = {
    allowH2: options.http2 === true,
    // Deadlines belong to whoever asks.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: idle,
    keepAliveMaxTimeout: idle,
    maxHeaderSize: maxHeaderBlock,
    // An environment variable decides otherwise.
    useMilo: false
  } as Undici.Client.Options
  const connector = guardedConnector(guard, resolve, dials, options)
  const turns = Turns.make()
  const pools = new Map<string, OriginPool.OriginPool>()
  const poolOf = (origin: string): OriginPool.OriginPool => {
    const existing = pools.get(origin)
    if (existing !== undefined) return existing
    const pool = OriginPool.make(origin, clientOptions, connector, turns, () => pools.delete(origin))
    pools.set(origin, pool)
    return pool
  }
  yield* Effect.addFinalizer(() =>
    Effect.promise(() => {
      dials.close()
      return Promise.all([...pools.values()].map((pool) => pool.destroy()))
    })
  )
  return {
    send: (request) =>
      Effect.callback<HttpAnswer, ConnectionFailedReason>((resume) => {
        const exchange = new Exchange(request, (outcome) => resume(toEffect(outcome)))
        poolOf(request.url.origin).send(toDispatch(request), exchange)
        return Effect.sync(() => exchange.cancel())
      })
  }
})

const toEffect = (outcome: Outcome): Effect.Effect<HttpAnswer, ConnectionFailedReason> =>
  outcome._tag === "Answer" ? Effect.succeed(outcome.answer) : Effect.fail(outcome.reason)

const toDispatch = ({ body, headers, method, url }: HttpRequest): Undici.Dispatcher.DispatchOptions => ({
  origin: url.origin,
  path: url.pathname + url.search,
  method,
  headers: headers as Array<string>,
  ...(body === undefined ? {} : { body })
})
