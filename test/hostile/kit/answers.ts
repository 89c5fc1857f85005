/**
 * Good answers but for the members that a case gives them, as text.
 */
import { assert } from "@effect/vitest"
import { answer, type Text } from "./wire.ts"

/**
 * To `tools/call`.
 */
export const called = (...members: ReadonlyArray<string>): Text =>
  answer(`{${[`"resultType":"complete"`, ...members].join()}}`)

/**
 * To `tools/list`.
 */
export const listed = (tools: ReadonlyArray<string>, ...members: ReadonlyArray<string>): Text =>
  called(`"tools":[${tools.join()}]`, ...members)

/**
 * To `server/discover`.
 */
export const discovered = (...members: ReadonlyArray<string>): Text =>
  called(`"supportedVersions":["2026-07-28"]`, ...members)

/**
 * To `server/discover`, by a server with tools that has this to say of itself.
 */
export const introduced = (serverInfo: string, ...members: ReadonlyArray<string>): Text =>
  discovered(
    `"capabilities":{"tools":{}}`,
    `"_meta":{"io.modelcontextprotocol/serverInfo":${serverInfo}}`,
    ...members
  )

/**
 * Members of a result of `tools/call`. The text is what stands between the quotes.
 */
export const textMember = (text: string): string => `"content":[{"type":"text","text":"${text}"}]`
export const structuredMember = (json: string): string => `"structuredContent":${json}`

/**
 * That a call brought the text of `okAnswer`.
 */
export const isOk = ({ text }: { readonly text: string }): void => assert.strictEqual(text, "ok")
