import type * as Undici from "@effect/platform-node/Undici"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Net from "node:net"
import { ByteBudget } from "../src/index.ts"
import { Exchange } from "../src/internal/node/exchange.ts"
import * as OriginPool from "../src/internal/node/originPool.ts"
import * as Turns from "../src/internal/node/turns.ts"
import * as Raw from "./support/rawServer.ts"
import { until } from "./support/until.ts"

/**
 * A pool for one server, and what came of what was sent over it.
 */
const poolFor = (port: number) => {
  const sockets: Array<Net.Socket> = []
  const outcomes: Array<string> = []
  let emptied = 0
  const connector: OriginPool.Connector = (_, callback) => {
    const socket = Net.connect(port, "127.0.0.1")
    socket.once("connect", () => callback(null, socket))
    socket.once("error", (error) => callback(error, null))
    sockets.push(socket)
    return socket
  }
  const pool = OriginPool.make(`http://127.0.0.1:${port}`, {}, connector, Turns.make(), () => emptied++)
  const send = (): void => {
    const request = {
      method: "POST",
      url: new URL("http://x/"),
      headers: [],
      body: "{}",
      meter: ByteBudget.make().open(),
      onHead: () => "text" as const
    } as const
    const options: Undici.Dispatcher.DispatchOptions = { origin: "", path: "/", method: "POST", body: "{}" }
    pool.send(options, new Exchange(request, ({ _tag }) => outcomes.push(_tag)))
  }
  return { pool, send, sockets, outcomes, emptied: () => emptied }
}

describe("the connections to an origin", () => {
  it.live("are forgotten when they have ended, and dialled anew", () =>
    Effect.gen(function*() {
      const server = yield* Raw.make((socket) => Raw.sendJson(socket, {}))
      const { emptied, outcomes, pool, send, sockets } = poolFor(server.port)
      send()
      send()
      yield* until(() => outcomes.length === 2)
      assert.strictEqual(sockets.length, 2)
      sockets[0]!.destroy()
      yield* until(() => server.openSockets() === 1)
      assert.strictEqual(emptied(), 0)
      sockets[1]!.destroy()
      yield* until(() => emptied() === 1)
      send()
      yield* until(() => outcomes.length === 3)
      assert.strictEqual(sockets.length, 3)
      assert.deepStrictEqual(outcomes, ["Answer", "Answer", "Answer"])
      yield* Effect.promise(pool.destroy)
      yield* server.quiet
    }))

  it.live("are forgotten where they were never had", () =>
    Effect.gen(function*() {
      const server = yield* Effect.scoped(Raw.make(() => {}))
      const { emptied, outcomes, send } = poolFor(server.port)
      send()
      yield* until(() => emptied() === 1)
      assert.deepStrictEqual(outcomes, ["Failure"])
    }))
})
