/**
 * Tables in Markdown, so that what is printed can be kept.
 */
export type Row = ReadonlyArray<string | number>

export const toTable = (header: Row, rows: ReadonlyArray<Row>): string => {
  const all = [header, ...rows].map((row) => row.map(String))
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
  const [head = "", ...body] = all.map((row) => line(row.map((cell, column) => cell.padEnd(widths[column]!))))
  return [head, line(widths.map((width) => "-".repeat(width))), ...body].join("\n")
}
