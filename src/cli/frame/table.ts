import truncatedWidth from 'fast-string-truncated-width';

/** Control and format characters, which could break a row or control the terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}]/gu;

/** A cell of a table; null is shown as a dash. */
export type Cell = string | number | bigint | null;

/** Formats rows as aligned columns; the first row sets the number of columns. */
export function tableOf(table: readonly (readonly Cell[])[]): string {
  return alignedLines(table.map((row) => row.map((cell) => printable(String(cell ?? '-'))))).join('\n');
}

/** Formats rows of printable text as lines with aligned columns; the first row sets the number of columns. */
export function alignedLines(rows: readonly (readonly string[])[]): string[] {
  const widths = widthsOf(rows);
  return rows.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell))))
      .join('  ')
      .trimEnd(),
  );
}

/** The width of each column; the first row sets their number. */
export function widthsOf(rows: readonly (readonly string[])[]): number[] {
  // Not `Math.max(...rows)`, because there may be more rows than a function can have arguments.
  return (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? '')), 0),
  );
}

/** Width to assume if a terminal does not report one. */
const USUAL_COLUMNS = 80;

/** The width of a terminal in characters. Serial lines and pseudo-terminals may report 0. */
export function columnsOf({ columns }: { readonly columns?: number }): number {
  return columns !== undefined && columns > 0 ? columns : USUAL_COLUMNS;
}

/** How many terminal columns a printable text takes: two for a wide character, none for a combining mark. */
export function widthOf(text: string): number {
  return truncatedWidth(text).width;
}

/** Escapes characters that could break a line or control the terminal as `\u{…}`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** Like printable(), but keeps line breaks. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`;
}
