/**
 * Output for people: 80 columns, colours on a terminal alone, and nothing that a server wrote printed as it came.
 */
import { Console, Effect } from "effect"
import type { Tool } from "effect-mcp-client"
import { styleText } from "node:util"

const columns = 80
const labelWidth = 10
const nameWidth = 30

// A reader that goes away (`| head`) must not end the program before it has stopped its servers.
process.stdout.on("error", () => {})

// `styleText` would also obey FORCE_COLOR; a pipe gets no colours here, whoever asks for them.
const isColoured = process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === ""

const style = (format: "bold" | "cyan" | "dim" | "red", text: string): string =>
  isColoured ? styleText(format, text, { validateStream: false }) : text

/**
 * One line of text from outside. Control and format characters could move the cursor or hide what stands there.
 */
const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "�").trim()

const cut = (text: string, width: number): string => text.length <= width ? text : `${text.slice(0, width - 1)}…`

/**
 * Breaks between words, so that no line passes the last column where a word does not do so by itself.
 */
const wrap = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else {
      line = line === "" ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}

/**
 * Starts a part of the output.
 */
export const heading = (text: string): Effect.Effect<void> =>
  Console.log(`\n${style("bold", text)}\n${style("dim", "─".repeat(Math.min(columns, text.length)))}`)

/**
 * One thing that was found out.
 */
export const fact = (label: string, value: string): Effect.Effect<void> => {
  const [first, ...rest] = wrap(oneLine(value), columns - labelWidth - 2)
  const indent = " ".repeat(labelWidth)
  return Console.log(
    [`  ${style("dim", label.padEnd(labelWidth))}${first}`, ...rest.map((line) => `  ${indent}${line}`)]
      .join("\n")
  )
}

/**
 * A table of tools: names, and the first words of what the server says about each.
 */
export const tools = (listed: ReadonlyArray<Tool.Tool>): Effect.Effect<void> => {
  const width = Math.min(nameWidth, Math.max(...listed.map(({ name }) => name.length)))
  const rows = listed.map(({ description, name }) => {
    const words = cut(oneLine(description ?? ""), columns - width - 6)
    return `    ${style("cyan", cut(oneLine(name), width).padEnd(width))}  ${words}`
  })
  return Effect.andThen(fact("tools", String(listed.length)), Console.log(rows.join("\n")))
}

/**
 * A failure that was met and handled: its tag and reason, its message, and what this application does about it.
 */
export const failure = (
  situation: string,
  error: { readonly _tag: string; readonly reason?: { readonly _tag: string }; readonly message: string },
  decision: string
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const kind = error.reason === undefined ? error._tag : `${error._tag} / ${error.reason._tag}`
    yield* Console.log(`\n  ${style("bold", situation)}`)
    yield* Console.log(`  ${style("dim", "error".padEnd(labelWidth))}${style("red", kind)}`)
    yield* fact("message", error.message)
    yield* fact("so", decision)
  })
