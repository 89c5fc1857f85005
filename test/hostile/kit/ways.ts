/**
 * Cases whose subject is the text of one answer, tried in both ways in which it can come, and in both eras.
 */
import { assert } from "@effect/vitest"
import type { Case } from "./suite.ts"
import { asBody, asStream, script, type Text } from "./wire.ts"

export interface Said extends Omit<Case, "answers"> {
  /**
   * What answers the request that the case is about.
   */
  readonly text: Text
  /**
   * That request, where `act` does not say it.
   */
  readonly method?: "tools/list" | "server/discover" | undefined
  /**
   * What differs on a stream.
   */
  readonly streamed?: Partial<Omit<Case, "answers">> | undefined
}

/**
 * What comes of a text that is no message: as a body it is a violation; a stream drops it, and ends without an answer.
 */
export const noMessage: Pick<Said, "outcome" | "streamed"> = {
  outcome: "ConnectionFailed/ProtocolViolation",
  streamed: {
    outcome: "ConnectionFailed/Unreachable",
    check: ({ reason }) => assert.strictEqual(reason.delivered, "unknown")
  }
}

const methodOf = ({ act, method, speaks = "2026-07-28" }: Said): string => {
  if (method !== undefined) return method
  if (act === "connect") return speaks === "2026-07-28" ? "server/discover" : "initialize"
  return act === "list" ? "tools/list" : "tools/call"
}

const inWay = (said: Said, name: string, way: typeof asStream): Case => {
  const { method: _, streamed: __, text, ...common } = said
  return { ...common, name: `${said.name}, ${name}`, answers: { [methodOf(said)]: script(way(text)) } }
}

const asJson = (said: Said): Case => inWay(said, "as JSON", asBody)
const onStream = (said: Said): Case => ({ ...inWay(said, "on a stream", asStream), ...said.streamed })

/**
 * As a JSON body, and as the one event of a stream.
 */
export const bothWays = (said: Said): ReadonlyArray<Case> => [asJson(said), onStream(said)]

export const legacy = (said: Said): Said => ({ ...said, name: `legacy: ${said.name}`, speaks: "2025-11-25" })

/**
 * What is the same in both ways and eras: at a modern server as a JSON body, at a legacy one as an event.
 */
export const crosswise = (said: Said, atLegacy: Said = said): ReadonlyArray<Case> => [
  asJson(said),
  onStream(legacy(atLegacy))
]

/**
 * These, so many times.
 */
export const times = (count: number, ...what: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from({ length: count }, () => what).flat()
