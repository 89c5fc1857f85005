/**
 * The revisions of the protocol that this client speaks, and which era each belongs to.
 *
 * Modern revisions carry version, identity and capabilities with every request; legacy ones agree on them once, in an
 * `initialize` handshake: revision 2026-07-28, basic/versioning, "Terminology".
 *
 * @since 0.1.0
 */

/**
 * @category models
 * @since 0.1.0
 */
export type Modern = "2026-07-28"

/**
 * @category models
 * @since 0.1.0
 */
export type Legacy = "2025-11-25" | "2025-06-18" | "2025-03-26" | "2024-11-05"

/**
 * @category models
 * @since 0.1.0
 */
export type ProtocolVersion = Modern | Legacy

/**
 * Modern revisions, the preferred one first.
 *
 * @category constants
 * @since 0.1.0
 */
export const modern: readonly [Modern] = ["2026-07-28"]

/**
 * Legacy revisions, the preferred one first.
 *
 * @category constants
 * @since 0.1.0
 */
export const legacy: readonly [Legacy, ...ReadonlyArray<Legacy>] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05"
]

/**
 * A list, never a comparison of strings: a revision that we have not read is not one that we speak.
 *
 * @category guards
 * @since 0.1.0
 */
export const isModern = (u: unknown): u is Modern => modern.includes(u as Modern)

/**
 * @category guards
 * @since 0.1.0
 */
export const isLegacy = (u: unknown): u is Legacy => legacy.includes(u as Legacy)
