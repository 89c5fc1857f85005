/**
 * A script on a loopback port.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import type { Incoming, Scripted } from "./script.ts"

const readBody = (request: Http.IncomingMessage): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => resume(Effect.succeed(Buffer.concat(chunks).toString("utf8"))))
  })

const headersOf = (request: Http.IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))

const respond = (response: Http.ServerResponse, { body, headers, isCut, status }: Scripted): void => {
  const bytes = Buffer.from(body)
  response.writeHead(status, { ...headers, "content-length": bytes.length })
  if (!isCut) return void response.end(bytes)
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
}

/**
 * Serves a handler until the scope closes; answers the port.
 */
export const listen = Effect.fnUntraced(function*(
  handle: (incoming: Incoming) => Effect.Effect<Scripted>
): Effect.fn.Return<number, never, Scope.Scope> {
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const server = Http.createServer((request, response) => {
    const serving = runFork(Effect.gen(function*() {
      const body = yield* readBody(request)
      respond(response, yield* handle({ httpMethod: request.method ?? "", headers: headersOf(request), body }))
    }))
    response.on("close", () => void runFork(Fiber.interrupt(serving)))
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  return (server.address() as AddressInfo).port
})
