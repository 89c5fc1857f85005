/**
 * Makes text that a server wrote safe to stand in a message or a log line.
 */

// C0, DEL, C1; Arabic letter mark, direction marks, embeddings, overrides and isolates; line and paragraph
// separators; lone surrogates, which terminals and log shippers mangle each in its own way.
const unsafe =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/**
 * Escapes what could move a cursor, colour a terminal, or make text read in another order than it is stored, and cuts
 * the rest off after `limit` UTF-16 code units.
 */
export const printable = (text: string, limit: number = 300): string => {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text
  return cut.replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
}
