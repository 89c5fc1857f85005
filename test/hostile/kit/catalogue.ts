/**
 * The kinds of hostile and odd servers, by the numbers that the cases carry. `npm run hostile` shows each with its cases.
 */
export const sections = {
  "Event streams": [1, 9],
  HTTP: [10, 19],
  "Where it may connect": [20, 24],
  "JSON and JSON-RPC": [25, 28],
  "Lists and results": [29, 35],
  stdio: [36, 38],
  Lifetimes: [39, 40]
} as const satisfies Record<string, readonly [first: number, last: number]>

export type Section = keyof typeof sections

export const rows: Readonly<Record<number, string>> = {
  1: "an open stream, silent or with signs of life only",
  2: "comments, newlines, bytes and lines without end",
  3: "line ends, byte order marks and characters cut anywhere",
  4: "the answer under another event name, or without its blank line",
  5: "a stream that ends without the answer",
  6: "resumption without end, odd waits and ids",
  7: "a resumption answered with something else",
  8: "bytes and answers after the answer",
  9: "requests and event ids from the server",
  10: "lengths, chunks, headers and trailers beyond measure",
  11: "content encodings that nobody asked for",
  12: "bodies that are slow, cut short or reset",
  13: "a request answered with what is no answer",
  14: "a notification answered with a body",
  15: "JSON-RPC errors under HTTP errors",
  16: "sessions: forgotten, malformed, changed, not deleted",
  17: "Retry-After beyond sense",
  18: "redirects and cookies",
  19: "refusals: 401 and 403 in every shape",
  20: "addresses inside, in every spelling",
  21: "names that change, mix, hang or do not exist",
  22: "URLs that are none, or say too much",
  23: "proxy variables",
  24: "an endpoint event that leads elsewhere",
  25: "JSON that is deep, odd or not quite JSON",
  26: "envelopes that are not quite answers",
  27: "batches",
  28: "result types and rounds of input",
  29: "cursors",
  30: "tool lists with bad entries",
  31: "fields of the wrong type",
  32: "schemas that are deep, dangling or catastrophic",
  33: "annotations that would become bad headers",
  34: "content blocks of every kind and none",
  35: "control and direction characters in the server's words",
  36: "standard output that is noise, endless, cut short or in crumbs",
  37: "processes that exit, or never start",
  38: "processes that do not read, do not go, or leave others behind",
  39: "interrupting and closing at every step",
  40: "versions that nobody speaks"
}
