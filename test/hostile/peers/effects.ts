/**
 * Sessions of the clients that are made of Effects: each in a scope of its own.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Session, Value } from "./client.ts"

export const openScoped = async <C>(
  connect: Effect.Effect<C, unknown, Scope.Scope>,
  use: (client: C) => { readonly list: Effect.Effect<Value, unknown>; readonly call: Effect.Effect<Value, unknown> }
): Promise<Session> => {
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const connected = Scope.provide(connect, scope).pipe(
    Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
  )
  const { call, list } = use(await Effect.runPromise(connected))
  return { list: () => Effect.runPromise(list), call: () => Effect.runPromise(call), close }
}
