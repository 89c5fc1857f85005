/**
 * The connections to one origin: each carries one exchange at a time, so that what its socket brings belongs to that one.
 *
 * Not undici's `Pool`, since to that one a connection counts as busy until the turn after its answer: requests that come
 * one by one would be sent over two connections in turn, at the price of a second dial.
 */
import * as Undici from "@effect/platform-node/Undici"
import type * as Net from "node:net"
import type { Exchange } from "./exchange.ts"
import type { Turns } from "./turns.ts"

/**
 * Dials, and answers the socket that it is at.
 */
export type Connector = (
  target: Undici.buildConnector.Options,
  callback: Undici.buildConnector.Callback
) => Net.Socket | undefined

/**
 * One connection, with a tap on what its socket brings.
 */
class TappedClient extends Undici.Client {
  #current: Exchange | undefined
  #socket: Net.Socket | undefined
  #isHttp2 = false
  #isTapped = false

  constructor(origin: string, options: Undici.Client.Options, connector: Connector, turns: Turns) {
    super(origin, {
      ...options,
      connect: (target, callback) => {
        this.#socket = connector(target, (...result) => {
          if (result[1]) this.#tap(result[1], turns)
          callback(...result)
        })
      }
    })
  }

  /**
   * Whether there is a connection, be it one that is used.
   */
  get isOpen(): boolean {
    return this.#socket?.destroyed === false
  }

  /**
   * Whether an exchange that is sent now would be sent at once. Over HTTP/2 there is room for many.
   */
  get isFree(): boolean {
    return this.#isHttp2 || this.#current === undefined || this.#current.isOver
  }

  send(options: Undici.Dispatcher.DispatchOptions, exchange: Exchange): void {
    this.#current = exchange
    exchange.isTapped = this.#isTapped
    exchange.abortDial = (reason) => this.#socket?.destroy(reason)
    this.dispatch(options, exchange)
  }

  #tap(socket: Net.Socket, turns: Turns): void {
    this.#isHttp2 = (socket as { alpnProtocol?: unknown }).alpnProtocol === "h2"
    this.#isTapped = !this.#isHttp2
    if (this.#current !== undefined) this.#current.isTapped = this.#isTapped
    if (this.#isHttp2) return
    const read = socket.read.bind(socket)
    const again = (): void => {
      if (!socket.destroyed) socket.emit("readable")
    }
    socket.read = (size?: number) => {
      // To be asked for more says that the piece before has been parsed.
      turns.leave()
      if (!turns.isOpen(again)) return null
      const chunk: Buffer | null = read(size)
      if (chunk === null) return null
      turns.enter()
      return this.#current === undefined || this.#current.onBytes(chunk) ? chunk : null
    }
  }
}

/**
 * All connections to one origin.
 */
export interface OriginPool {
  readonly send: (options: Undici.Dispatcher.DispatchOptions, exchange: Exchange) => void
  readonly destroy: () => Promise<void>
}

/**
 * No connection yet: one is dialled where none is free. `onEmpty` is told when there is none any more.
 */
export const make = (
  origin: string,
  options: Undici.Client.Options,
  connector: Connector,
  turns: Turns,
  onEmpty: () => void
): OriginPool => {
  const clients = new Set<TappedClient>()
  const retire = (client: TappedClient): void => {
    if (client.isOpen || !client.isFree || !clients.delete(client)) return
    void client.destroy()
    if (clients.size === 0) onEmpty()
  }
  const dialled = (): TappedClient => {
    const client = new TappedClient(origin, options, connector, turns)
    clients.add(client)
    // Nothing is kept of a connection that has ended, or was never had. In a turn of its own: whoever waited for an answer
    // is told first, and may ask again.
    const later = (): void => void setImmediate(retire, client)
    client.on("disconnect", later)
    client.on("connectionError", later)
    return client
  }
  return {
    send: (request, exchange) => {
      let chosen: TappedClient | undefined
      for (const client of clients) {
        if (!client.isFree) continue
        chosen ??= client
        if (!client.isOpen) continue
        chosen = client
        break
      }
      ;(chosen ?? dialled()).send(request, exchange)
    },
    destroy: async () => {
      await Promise.all([...clients].map((client) => client.destroy()))
    }
  }
}
