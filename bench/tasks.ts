/**
 * What is measured, and what server and clients must agree on for it.
 */

/**
 * The two revisions that the server speaks. Whoever can speaks the modern one.
 */
export const modernVersion = "2026-07-28"
export const legacyVersion = "2025-11-25"

/**
 * What a client can be asked to do once.
 */
export type Operation = "call" | "list" | "large" | "workItem" | "echo"

export interface Task {
  readonly name: string
  readonly title: string
  readonly operation: Operation
  /**
   * How many operations one turn is. Turns are short, so that clients take them in quick succession, and `turns` of them
   * are the task.
   */
  readonly times: number
  readonly turns: number
  /**
   * How many are under way at the same time.
   */
  readonly width: number
  /**
   * The most that this client may cost, as a multiple of bare undici.
   */
  readonly target: number
}

export const tasks: ReadonlyArray<Task> = [
  {
    name: "sequential",
    title: "1,500 calls in sequence",
    operation: "call",
    times: 500,
    turns: 3,
    width: 1,
    target: 1.3
  },
  {
    name: "concurrent",
    title: "3,000 calls, 32 at a time",
    operation: "call",
    times: 1000,
    turns: 3,
    width: 32,
    target: 1.4
  },
  {
    name: "list",
    title: "1,000 tools on 10 pages, ×9",
    operation: "list",
    times: 3,
    turns: 3,
    width: 1,
    target: 1.3
  },
  { name: "large", title: "one 4 MiB text, ×6", operation: "large", times: 2, turns: 3, width: 1, target: 1.05 },
  {
    name: "work-item",
    title: "connect, call, close, ×300",
    operation: "workItem",
    times: 100,
    turns: 3,
    width: 1,
    target: 1.5
  },
  {
    name: "stdio",
    title: "3,000 calls over stdio",
    operation: "echo",
    times: 1000,
    turns: 3,
    width: 1,
    target: 1.5
  }
]

export const tool = "search_documents"
export const largeTool = "export_report"

export const args = {
  query: "revenue by region, last quarter",
  limit: 20,
  includeArchived: false,
  tags: ["finance", "emea", "2026"]
}

/**
 * What `tool` answers: as long as answers of that kind are.
 */
export const answer = [
  "Found 3 documents.",
  "1. Q3 revenue by region (2026-10-04): EMEA up 4.1 %, APAC up 7.9 %, Americas flat.",
  "2. Regional forecast, \"base case\" (2026-09-17): see the assumptions on page 4.",
  "3. Notes of the finance sync (2026-10-11): figures are preliminary until the audit closes."
].join("\n")

export const pages = 10
export const toolsPerPage = 100

export const largeLength = 4 * 1024 * 1024

const wrong = (what: string): never => {
  throw new Error(`the client handed back something else: ${what}`)
}

/**
 * Every result is looked at, so that nobody is fast by leaving work out.
 */
export const checkAnswer = (text: unknown): void => {
  if (text !== answer) wrong("the text of a call")
}

export const checkLarge = (text: unknown): void => {
  if (typeof text !== "string" || text.length !== largeLength) wrong("the large text")
}

export const checkTools = (tools: ReadonlyArray<unknown>): void => {
  if (tools.length !== pages * toolsPerPage) wrong("the list of tools")
}

/**
 * The text of a result's first block, for clients that have no accessor of their own.
 */
export const firstText = (content: unknown): unknown => (content as ReadonlyArray<{ readonly text?: unknown }>)[0]?.text
