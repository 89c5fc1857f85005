/**
 * Spans, and the trace context that servers see.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Tracer from "effect/Tracer"

/**
 * Runs an operation in a client span where its caller has one, and gives it the `traceparent` of that span. Outside any
 * span there is none, and servers are sent nothing. Attributes are those of OpenTelemetry's conventions for MCP.
 */
export const traced = <A, E, R>(
  name: string,
  attributes: Record<string, unknown>,
  run: (traceparent: string | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    if (Context.getOrUndefined(fiber.context, Tracer.ParentSpan) === undefined) return run(undefined)
    return Effect.useSpan(name, { kind: "client", attributes }, (span) => {
      const isPropagated = !fiber.getRef(Tracer.DisablePropagation)
      return run(isPropagated ? HttpTraceContext.toHeaders(span)["traceparent"] : undefined)
    })
  })
