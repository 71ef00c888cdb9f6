// Writes benchmark results to tables in docs/, each between two HTML comments.
import { readFileSync, writeFileSync } from 'node:fs';

/** Replaces the part of a document between the two comments with this name. */
export function replaceTable(document, name, content) {
  const path = new URL(`../docs/${document}`, import.meta.url);
  const [start, end] = [`<!-- ${name}: table -->`, `<!-- ${name}: end of the table -->`];
  const text = readFileSync(path, 'utf8');
  const [before, after] = [text.indexOf(start), text.indexOf(end)];
  if (before < 0 || after < before)
    throw new Error(`${path.pathname} has no comments that mark the table "${name}".`);
  writeFileSync(path, `${text.slice(0, before)}${start}\n\n${content}\n\n${text.slice(after)}`);
}

/** A Markdown table with aligned columns, as prettier formats it. */
export function aligned(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const joined = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const rule = joined(widths.map((width) => '-'.repeat(width)));
  return [joined(rows[0]), rule, ...rows.slice(1).map(joined)].join('\n');
}
