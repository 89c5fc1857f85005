/**
 * A resolver that says what a test wants.
 */
import * as Effect from "effect/Effect"
import * as Dns from "effect/net/Dns"
import * as NetAddress from "effect/net/NetAddress"

/**
 * Has an answer for the first look-up, the second, and so on; the last one stands for all after it. `lookups` are the
 * names that were asked for.
 */
export const resolver = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  const lookups: Array<string> = []
  const dns = Dns.make({
    lookup: (host) =>
      Effect.sync(() => {
        const answer = answers[Math.min(lookups.length, answers.length - 1)]!
        lookups.push(host)
        return answer.map(NetAddress.ipFromStringUnsafe)
      })
  })
  return { dns, lookups }
}
