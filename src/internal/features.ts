/**
 * What a server asks, answered by the application's handlers: the same for a request of a legacy server and for one that
 * stands in a modern server's answer.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Elicitation from "../schema/Elicitation.ts"
import type { JsonObject } from "../schema/Json.ts"
import { errorCodes } from "../schema/JsonRpc.ts"
import * as ProtocolVersion from "../schema/ProtocolVersion.ts"
import * as Root from "../schema/Root.ts"
import * as Sampling from "../schema/Sampling.ts"
import type { Asker, ClientFeatures, UrlHandler } from "../services/ClientFeatures.ts"
import type { Announcements } from "./announcements.ts"
import { type Arguments, read as readArguments } from "./arguments.ts"
import { warn } from "./dropped.ts"
import * as Roots from "./roots.ts"

/**
 * Handlers that run at the same time, for one connection or for one call.
 */
export const maxAtOnce = 8

/**
 * Why a server does not get what it asked for, as a legacy one is told.
 */
export interface Refusal {
  readonly code: number
  readonly message: string
}

/**
 * @see make
 */
export interface Features {
  /**
   * What to declare at a revision.
   */
  readonly capabilities: (version: ProtocolVersion.ProtocolVersion | undefined) => JsonObject
  /**
   * Whether pages that the user must visit are shown to them.
   */
  readonly hasUrls: boolean
  /**
   * The refusal of what was not declared; `undefined` where it was.
   */
  readonly undeclared: (method: string, params: JsonObject) => Refusal | undefined
  /**
   * Reads the parameters of something that was declared; the failure says what is wrong with them. The Effect asks the
   * handler, and succeeds with the result to send.
   */
  readonly prepare: (
    method: string,
    params: JsonObject
  ) => Result.Result<Effect.Effect<Arguments, Refusal>, string>
}

/**
 * Revision 2025-11-25, client/sampling, "Error Handling".
 */
const declined: Refusal = { code: -1, message: "the user declines" }

const failed: Refusal = { code: errorCodes.internalError, message: "the client could not answer" }

const unknownMethod: Refusal = { code: errorCodes.methodNotFound, message: "the client does not offer this method" }

const undeclaredMode: Refusal = { code: errorCodes.invalidParams, message: "the client does not offer this mode" }

const undeclaredTools: Refusal = { code: errorCodes.invalidParams, message: "the client does not take tools" }

/**
 * What a handler does at once is done in a turn of its own, not in the reader's.
 */
const later = <A>(ask: () => Effect.Effect<A, unknown>): Effect.Effect<A, unknown> =>
  Effect.andThen(Effect.yieldNow, ask)

/**
 * Runs a handler and writes down what it answered. Where that is not to be had, the application is told, by the method.
 */
const handled = <A>(
  method: string,
  ask: () => Effect.Effect<A, unknown>,
  encode: (answer: A) => Result.Result<JsonObject, string | Refusal>
): Effect.Effect<Arguments, Refusal> =>
  Effect.suspend(ask).pipe(
    Effect.map((answer): Result.Result<Arguments, string | Refusal> => Result.flatMap(encode(answer), readArguments)),
    Effect.catchCause((cause) =>
      Effect.succeed(Result.fail(Cause.hasDies(cause) ? "its handler died" : "its handler failed"))
    ),
    Effect.flatMap((answer) => {
      if (Result.isSuccess(answer)) return Effect.succeed(answer.success)
      if (typeof answer.failure !== "string") return Effect.fail(answer.failure)
      return Effect.andThen(warn("request not answered", `${method}: ${answer.failure}`), Effect.fail(failed))
    })
  )

/**
 * Has a handler know when the server says that the page is done with.
 */
const visiting = (
  handler: UrlHandler,
  request: Elicitation.UrlRequest,
  from: Asker,
  { during }: Announcements
): Effect.Effect<Elicitation.UrlAnswer, unknown> =>
  Effect.suspend(() => {
    const completed = Deferred.makeUnsafe<void>()
    return during(
      later(() => handler(request, { ...from, completed: Deferred.await(completed) })),
      ({ method, params }) =>
        method === "notifications/elicitation/complete" && request.elicitationId !== undefined &&
        params["elicitationId"] === request.elicitationId && Deferred.doneUnsafe(completed, Effect.void)
    )
  })

/**
 * Whether forms are told from pages, and sampling takes tools.
 */
const hasModes = (version: ProtocolVersion.ProtocolVersion | undefined): boolean =>
  ProtocolVersion.isModern(version) || version === "2025-11-25"

/**
 * The answerer that an application's handlers make. `announcements` brings what the server announces; `agreed` is the
 * revision in force, beyond which nothing is answered.
 */
export const make = (
  given: ClientFeatures,
  from: Asker,
  announcements: Announcements,
  agreed: () => ProtocolVersion.ProtocolVersion | undefined
): Features => {
  const { roots } = given
  const { form, url } = given.elicitation ?? {}
  const sampling = typeof given.sampling === "function" ? { handle: given.sampling, tools: false } : given.sampling
  const isUrlMode = (params: JsonObject): boolean => params["mode"] === "url"

  const askForm = (params: JsonObject) =>
    Result.map(Elicitation.formFromWire(params), (request) =>
      handled(
        "elicitation/create",
        () => later(() => form!(request, from)),
        (answer) => Elicitation.formToWire(request, answer)
      ))

  const askUrl = (params: JsonObject) =>
    Result.map(Elicitation.urlFromWire(params), (request) => {
      const answer = Elicitation.isSafeUrl(request.url)
        ? Effect.suspend(() => visiting(url!, request, from, announcements))
        : Effect.as(warn("request declined", "a page that is neither https nor on this machine"), Elicitation.decline)
      return handled("elicitation/create", () => answer, ({ action }) => Result.succeed({ action }))
    })

  const askModel = (params: JsonObject) =>
    Result.map(Sampling.requestFromWire(params), (request) =>
      handled(
        "sampling/createMessage",
        () => later(() => sampling!.handle(request, from)),
        (answer) => "action" in answer ? Result.fail(declined) : Sampling.toWire(answer)
      ))

  const listRoots = handled(
    "roots/list",
    () => later(() => Roots.current(roots!)),
    Root.toWire
  )

  return {
    hasUrls: url !== undefined,
    capabilities: (version) => {
      const modes = { ...(form && { form: {} }), ...(url && { url: {} }) }
      return {
        ...(hasModes(version) && (form || url) && { elicitation: modes }),
        // Where there are no modes yet, elicitation is that of forms.
        ...(version === "2025-06-18" && form && { elicitation: {} }),
        ...(sampling && { sampling: hasModes(version) && sampling.tools ? { tools: {} } : {} }),
        ...(roots &&
          { roots: Roots.areChanging(roots) && ProtocolVersion.isLegacy(version) ? { listChanged: true } : {} })
      }
    },
    undeclared: (method, params) => {
      const version = agreed()
      switch (method) {
        case "elicitation/create": {
          const pages = hasModes(version) ? url : undefined
          const forms = hasModes(version) || version === "2025-06-18" ? form : undefined
          if (forms === undefined && pages === undefined) return unknownMethod
          return (isUrlMode(params) ? pages : forms) === undefined ? undeclaredMode : undefined
        }
        case "sampling/createMessage":
          if (sampling === undefined) return unknownMethod
          return Sampling.wantsTools(params) && !(sampling.tools && hasModes(version)) ? undeclaredTools : undefined
        case "roots/list":
          return roots === undefined ? unknownMethod : undefined
        default:
          return unknownMethod
      }
    },
    prepare: (method, params) => {
      switch (method) {
        case "elicitation/create":
          return isUrlMode(params) ? askUrl(params) : askForm(params)
        case "sampling/createMessage":
          return askModel(params)
        default:
          return Result.succeed(listRoots)
      }
    }
  }
}
