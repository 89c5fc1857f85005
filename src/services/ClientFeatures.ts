/**
 * What a server may ask of this client: input from the user, messages from a model, the roots of its work.
 *
 * By default nothing: what has no handler is not declared, and refused where a server asks for it all the same. A handler
 * is an Effect-returning function. It gets a request that is checked, all of it the server's words, and answers with a
 * value that is checked before it is sent. Whether a legacy server asks by a request of its own, or a modern one by an
 * answer that wants more, is the same to it.
 *
 * At most eight handlers run at the same time for what a legacy server asks, and as many for one call to a modern one.
 * They are interrupted where the server cancels its request, where the call that they serve ends, and where the
 * connection closes. A handler that fails or dies is logged by the name of the method alone: what it failed with stays
 * with whoever wrote it, and is not sent.
 *
 * **Example** (A form, answered by the application's own dialogue)
 *
 * ```ts
 * const Server = Layer.unwrap(Effect.map(Dialogue, (dialogue) =>
 *   NodeMcp.layerHttp({
 *     url,
 *     features: {
 *       elicitation: {
 *         form: ({ fields, message }, { server }) =>
 *           Effect.map(dialogue.ask(`${server} asks: ${message}`, fields), Option.match({
 *             onNone: () => Elicitation.decline,
 *             onSome: Elicitation.accept
 *           }))
 *       }
 *     }
 *   })
 * ))
 * ```
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as SubscriptionRef from "effect/SubscriptionRef"
import type * as Elicitation from "../schema/Elicitation.ts"
import type { Root } from "../schema/Root.ts"
import type * as Sampling from "../schema/Sampling.ts"

/**
 * Who asks. A user must be told: revision 2026-07-28, client/elicitation, "Security Considerations".
 *
 * @category models
 * @since 0.1.0
 */
export interface Asker {
  /**
   * Scheme and host, where the transport has them.
   */
  readonly server: string | undefined
}

/**
 * Has the user fill in a form. Fields that it leaves out get the server's defaults. Content that does not fit the fields
 * is not sent, and counts as a failure of the handler.
 *
 * @category models
 * @since 0.1.0
 */
export type FormHandler = (
  request: Elicitation.FormRequest,
  from: Asker
) => Effect.Effect<Elicitation.FormAnswer, unknown>

/**
 * Has the user visit a page, once they have agreed to. Nothing here opens it. Where the URL is neither https nor http on
 * loopback, or has userinfo, the server is told that the user declines, and this handler is not asked.
 *
 * @category models
 * @since 0.1.0
 */
export type UrlHandler = (
  request: Elicitation.UrlRequest,
  from: Asker & {
    /**
     * Waits until the server says that the user is done (`notifications/elicitation/complete`, revision 2025-11-25 alone).
     * It may never say so: give it a time-out. It is listened for while the handler runs.
     */
    readonly completed: Effect.Effect<void>
  }
) => Effect.Effect<Elicitation.UrlAnswer, unknown>

/**
 * Has a model write a message.
 *
 * @category models
 * @since 0.1.0
 */
export type SamplingHandler = (request: Sampling.Request, from: Asker) => Effect.Effect<Sampling.Answer, unknown>

/**
 * Roots that stay as they are, that are looked up whenever they are asked for, or that change: of changes a legacy server
 * is told.
 *
 * @category models
 * @since 0.1.0
 */
export type Roots =
  | ReadonlyArray<Root>
  | Effect.Effect<ReadonlyArray<Root>, unknown>
  | SubscriptionRef.SubscriptionRef<ReadonlyArray<Root>>

/**
 * Handlers by what they answer. They require nothing: what they need is had when the layer is built.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClientFeatures {
  /**
   * `elicitation/create`: revision 2026-07-28, client/elicitation.
   */
  readonly elicitation?: {
    readonly form?: FormHandler | undefined
    readonly url?: UrlHandler | undefined
  } | undefined
  /**
   * `sampling/createMessage`: revision 2025-11-25, client/sampling. With `tools` it also takes requests that have tools.
   */
  readonly sampling?: SamplingHandler | { readonly handle: SamplingHandler; readonly tools: boolean } | undefined
  /**
   * `roots/list`: revision 2025-11-25, client/roots.
   */
  readonly roots?: Roots | undefined
}

/**
 * The features of connections that are given none. Default: nothing.
 *
 * @category references
 * @since 0.1.0
 */
export const ClientFeatures: Context.Reference<ClientFeatures> = Context.Reference<ClientFeatures>(
  "effect-mcp-client/ClientFeatures",
  { defaultValue: () => ({}) }
)
