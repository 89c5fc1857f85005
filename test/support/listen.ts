/**
 * Servers that a test makes itself, on a loopback port.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Net from "node:net"

/**
 * Listens until the scope closes; `dropSockets` ends what is still open then, so that the server can close. Answers
 * the port.
 */
export const listen = (
  server: Net.Server,
  dropSockets: () => void,
  host = "127.0.0.1"
): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, host, () => resume(Effect.succeed((server.address() as Net.AddressInfo).port)))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        dropSockets()
      })
  )
