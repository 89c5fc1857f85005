/**
 * What each request proves about us.
 *
 * Secrets are `Redacted` from the moment they are given until they are written to the socket. They are sent to the
 * server's own origin alone.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/**
 * Headers that sign a request, by name. Names are in lower case.
 *
 * @category models
 * @since 0.1.0
 */
export type SigningHeaders = Readonly<Record<string, Redacted.Redacted>>

/**
 * Known once and for all, or had anew for every request.
 *
 * @category models
 * @since 0.1.0
 */
export type Credentials =
  | { readonly _tag: "Static"; readonly headers: SigningHeaders }
  | { readonly _tag: "Provider"; readonly headers: Effect.Effect<SigningHeaders, unknown> }

/**
 * The credentials of connections that are given none. Default: `anonymous`.
 *
 * @category references
 * @since 0.1.0
 */
export const Credentials: Context.Reference<Credentials> = Context.Reference<Credentials>(
  "effect-mcp-client/Credentials",
  { defaultValue: () => anonymous }
)

/**
 * Nothing is proved.
 *
 * @category constructors
 * @since 0.1.0
 */
export const anonymous: Credentials = { _tag: "Static", headers: {} }

const toRedacted = (value: string | Redacted.Redacted): Redacted.Redacted =>
  typeof value === "string" ? Redacted.make(value) : value

const bearerHeaders = (token: Redacted.Redacted): SigningHeaders => ({
  authorization: Redacted.make(`Bearer ${Redacted.value(token)}`)
})

/**
 * A bearer token (RFC 6750, section 2.1). A value that cannot stand in a header fails the connection with
 * `InvalidInput`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const bearer = (token: string | Redacted.Redacted): Credentials => ({
  _tag: "Static",
  headers: bearerHeaders(toRedacted(token))
})

/**
 * A header of the server's own choosing, such as `x-api-key`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const header = (name: string, value: string | Redacted.Redacted): Credentials => ({
  _tag: "Static",
  headers: { [name.toLowerCase()]: toRedacted(value) }
})

/**
 * Credentials that are had anew for every request: an Effect that succeeds with a bearer token, or with headers by name.
 *
 * It runs within the deadline of the request. Where it fails, the request fails with `Unauthorized` without a status,
 * and nothing is sent; what it failed with stays with whoever wrote it. It requires nothing: what it needs is had when
 * the layer is built.
 *
 * **Example** (A token from a service)
 *
 * ```ts
 * const Server = Layer.unwrap(Effect.map(Vault, (vault) =>
 *   NodeMcp.layerHttp({ url, credentials: Credentials.provider(vault.token("mcp")) })
 * ))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const provider = <E>(
  effect: Effect.Effect<Redacted.Redacted | Readonly<Record<string, Redacted.Redacted>>, E>
): Credentials => ({
  _tag: "Provider",
  headers: Effect.map(effect, (given) =>
    Redacted.isRedacted(given)
      ? bearerHeaders(given)
      : Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value])))
})
