/**
 * What is asked of every client, this one and its peers, and how their answers are compared.
 */
import type { Case } from "../kit/suite.ts"

export interface Attempt {
  readonly url: string
  /**
   * The revision that the server speaks.
   */
  readonly version: NonNullable<Case["speaks"]>
  /**
   * Of each operation, in milliseconds, for clients that can be given one. Default: their own.
   */
  readonly deadline?: number | undefined
  /**
   * In bytes, for this client alone.
   */
  readonly budget?: number | undefined
}

/**
 * What was had, as text by which clients can be compared; made where it is asked for, since it costs memory too.
 */
export type Value = () => string

export interface Session {
  readonly list: () => Promise<Value>
  /**
   * Calls the tool `t`.
   */
  readonly call: () => Promise<Value>
  readonly close: () => Promise<void>
}

export type Open = (attempt: Attempt) => Promise<Session>

export const toolsValue = (tools: ReadonlyArray<{ readonly name: string }>): Value => () =>
  JSON.stringify(tools.map(({ name }) => name))

/**
 * Texts and verdict alone: the clients keep other blocks in shapes of their own.
 */
export const resultValue = (
  { content, isError, structuredContent }: {
    readonly content: ReadonlyArray<object>
    readonly isError?: boolean | undefined
    readonly structuredContent?: unknown
  }
): Value =>
() =>
  JSON.stringify([
    content.flatMap((block) => "text" in block ? [block.text] : []),
    isError === true,
    structuredContent
  ])
