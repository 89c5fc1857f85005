/**
 * What the three processes tell one another.
 */

/**
 * To the server, as JSON in its arguments.
 */
export interface ServerOptions {
  readonly seed: number
  /**
   * The misdeeds that are done, by name.
   */
  readonly misdeeds: ReadonlyArray<string>
}

/**
 * From the server, once it listens.
 */
export interface Listening {
  readonly origin: string
}

/**
 * Asks the server for its tally: how often it did what.
 */
export const askTally = "tally"

export type Tally = Readonly<Record<string, number>>

/**
 * The path at which the server does no wrong.
 */
export const goodPath = "/good"

/**
 * What the server says in answers that belong to nobody: a client that believes one is found out by it.
 */
export const foreign = "somebody else's"

/**
 * How far a deadline may be overshot, in milliseconds.
 */
export const overshoot = 100

/**
 * To the client, as JSON in its arguments.
 */
export interface ClientOptions {
  readonly seed: number
  readonly origin: string
  readonly seconds: number
}

/**
 * In bytes, after a collection, once all lives so far have ended.
 */
export interface HeapSample {
  readonly lives: number
  readonly bytes: number
}

/**
 * In milliseconds.
 */
export interface Delay {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/**
 * From the client, when it is done.
 */
export interface Report {
  readonly lives: number
  /**
   * How many operations ended so: `ok`, `interrupted`, or the tag and reason of the error.
   */
  readonly outcomes: Tally
  /**
   * What must never be, in words; and how many more there were.
   */
  readonly faults: ReadonlyArray<string>
  readonly moreFaults: number
  /**
   * How many operations ended too late; and the latest of all, in milliseconds after it had to, less what the machine
   * itself was late.
   */
  readonly late: number
  readonly latest: { readonly operation: string; readonly millis: number }
  /**
   * Of the event loop: as it was, and less what was the machine's.
   */
  readonly delay: { readonly all: Delay; readonly own: Delay }
  readonly heap: ReadonlyArray<HeapSample>
  /**
   * What keeps the process alive at the end and did not at the beginning; fibers that are still running.
   */
  readonly handlesLeft: ReadonlyArray<string>
  readonly fibersLeft: number
}
