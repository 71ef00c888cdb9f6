/** Where a command writes: text for people by default, one JSON document on stdout with `--json`. */
export interface Output {
  /** Prints `document` with `--json`, else `text`. */
  print(document: unknown, text: string): void;
}

/** The output of a process, `json` or not. */
export function outputOf(json: boolean): Output {
  return {
    print: (document, text) => {
      process.stdout.write(json ? `${JSON.stringify(document, null, 2)}\n` : `${text}\n`);
    },
  };
}

/** Lines a table up in columns; the first row is its heading. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
