type Tagged = { readonly _tag: string; readonly reason?: { readonly _tag: string } }

/**
 * `"ConnectionFailed/TimedOut"`, or the tag alone.
 */
export const kind = (error: Tagged): string =>
  error.reason === undefined ? error._tag : `${error._tag}/${error.reason._tag}`
