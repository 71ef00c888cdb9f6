/** Control and format characters, which could break a row or control the terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}]/gu;

/** A cell of a table; null is shown as a dash. */
export type Cell = string | number | null;

/** Formats rows as aligned columns; the first row sets the number of columns. */
export function tableOf(given: readonly (readonly Cell[])[]): string {
  const rows = given.map((row) => row.map((cell) => String(cell ?? '-').replace(UNPRINTABLE, escaped)));
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => line.trimEnd()).join('\n');
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`;
}
