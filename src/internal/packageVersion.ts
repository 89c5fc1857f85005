/**
 * The version of this package: `scripts/release.mjs` writes it, and a test compares it.
 */
export const packageVersion = "0.0.0"
