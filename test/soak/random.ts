/**
 * Chance that comes out the same for the same seed.
 */
import * as Effect from "effect/Effect"
import * as EffectRandom from "effect/Random"

export interface Random {
  /**
   * A whole number, both ends included.
   */
  readonly int: (minimum: number, maximum: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <const A>(items: ReadonlyArray<A>) => A
  readonly bytes: (length: number) => Buffer
}

export const make = (seed: string): Random => {
  const source = Effect.runSync(EffectRandom.withSeed(Effect.service(EffectRandom.Random), seed))
  const int = (minimum: number, maximum: number): number =>
    minimum + Math.floor(source.nextDoubleUnsafe() * (maximum - minimum + 1))
  return {
    int,
    chance: (probability) => source.nextDoubleUnsafe() < probability,
    pick: (items) => items[int(0, items.length - 1)]!,
    bytes: (length) => Buffer.from(Array.from({ length }, () => int(0, 255)))
  }
}
