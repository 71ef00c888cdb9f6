import truncatedWidth from 'fast-string-truncated-width';
import { stringify } from 'lossless-json';
import { shortTime } from './short-times.js';
import { alignedLines, printable, widthOf, widthsOf } from './table.js';

/** The terminal on standard output. */
export interface Screen {
  /** Characters per line. */
  readonly columns: number;
  /** Whether it supports colors and the user wants them. */
  readonly isColored: boolean;
}

/** How to display a result. */
export interface View {
  /** Absent if standard output is not a terminal, so that scripts get complete lines. */
  readonly screen?: Screen;
  /** Whether to show all columns in full, however long the lines become. */
  readonly isWide: boolean;
  /** The current time in milliseconds since the Unix epoch, for relative times. */
  readonly now: number;
}

/** A row of a list, or a single object. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * A column of a list, or a line about a single object: either a property, whose name becomes the title (`expiresAt` is `expires`), or a
 * title and the cell. For a single object, a property whose name ends in `?` is omitted while it is null.
 */
export type Column = string | readonly [title: string, cell: (row: never) => unknown];

const GAP = 2;
/** Maximum width of a cell in a list that must fit the terminal: the length of an id. */
const LONGEST = 36;
/** Minimum width to which the last column may be cut. */
const LEAST = 8;
const ELLIPSIS = '…';
const [BOLD, PLAIN] = ['\u001B[1m', '\u001B[22m'];
/** A timestamp of the service. Lists that must fit the terminal show it as `3 min ago`. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Formats a single object, one line for each property. Lists inside it follow as tables. */
export function factsText(row: Row, columns: readonly Column[], view: View): string {
  const facts = columns
    .map((column) => ({ column, cell: cellOf(row, column) }))
    .filter(({ column, cell }) => cell !== null || !nameOf(column).endsWith('?'));
  const isTable = ({ cell }: { cell: unknown }): boolean =>
    Array.isArray(cell) && typeof cell[0] === 'object';
  const lines = alignedLines(
    facts.filter((one) => !isTable(one)).map(({ column, cell }) => [titleOf(column), textOf(cell, ', ')]),
  );
  const tables = facts.filter(isTable).map(({ cell }) => {
    const rows = cell as readonly Row[];
    return `\n${listTable(rows, Object.keys(rows[0] ?? {}), { ...view, isWide: true })}`;
  });
  return [...lines, ...tables].join('\n');
}

/**
 * Formats a list in full, or cut to fit the terminal, with a last line that says how to see the rest. Columns that do not fit are omitted
 * from the right, and the last remaining one is cut; the first column is always shown in full.
 */
export function listTable(
  rows: readonly object[],
  columns: readonly Column[],
  { screen, isWide, now }: View,
): string {
  const maxWidth = isWide || !screen ? Infinity : screen.columns;
  const whole = [
    columns.map((column) => titleOf(column).toUpperCase()),
    ...rows.map((row) =>
      columns.map((column) =>
        textOf(cellOf(row as Row, column), ',', maxWidth === Infinity ? undefined : now),
      ),
    ),
  ];
  const texts = maxWidth === Infinity ? whole : whole.map((row) => row.map((text) => cut(text, LONGEST)));
  const count = columnsThatFit(widthsOf(texts), maxWidth);
  const shown = cutLast(
    texts.map((row) => row.slice(0, count)),
    maxWidth,
  );
  const [heading = '', ...body] = alignedLines(shown);
  const hint = hintOf(shown, whole);
  return [
    screen?.isColored === true ? BOLD + heading + PLAIN : heading,
    ...body,
    ...(hint === undefined ? [] : [cut(hint, maxWidth)]),
  ].join('\n');
}

/** How many columns fit on a line: always the first, and each further one of which at least LEAST characters fit. */
function columnsThatFit([first = 0, ...others]: readonly number[], maxWidth: number): number {
  let used = first;
  const tooMany = others.findIndex((width) => {
    const isTooMuch = used + GAP + Math.min(width, LEAST) > maxWidth;
    used += GAP + width;
    return isTooMuch;
  });
  return 1 + (tooMany === -1 ? others.length : tooMany);
}

/** Cuts the last column to the remaining width; a single column is not cut. */
function cutLast(rows: readonly string[][], maxWidth: number): string[][] {
  const others = widthsOf(rows).slice(0, -1);
  const left = others.length === 0 ? Infinity : others.reduce((rest, width) => rest - width - GAP, maxWidth);
  return rows.map((row) => [...row.slice(0, -1), cut(row.at(-1) ?? '', left)]);
}

/** How to see the omitted columns and text; undefined if nothing is omitted. */
function hintOf(shown: readonly string[][], whole: readonly string[][]): string | undefined {
  const [titles = []] = whole;
  const hidden = titles.slice(shown[0]?.length).join(', ');
  const isCut = shown.some((row, at) => row.some((text, column) => text !== whole[at]?.[column]));
  return hidden !== '' || isCut ? `(--wide shows ${hidden || 'all'})` : undefined;
}

function nameOf(column: Column): string {
  return typeof column === 'string' ? column : column[0];
}

function titleOf(column: Column): string {
  const name = nameOf(column).replace(/\?$/, '');
  if (typeof column !== 'string') return name;
  return name.replace(/(?:At|Id)$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function cellOf(row: Row, column: Column): unknown {
  return typeof column === 'string' ? (row[column.replace(/\?$/, '')] ?? null) : column[1](row as never);
}

/**
 * Formats a value on one line: text, a list of texts, or JSON. With `now` (milliseconds since the Unix epoch), timestamps become relative.
 */
export function textOf(cell: unknown, separator: string, now?: number): string {
  if (cell === null) return '-';
  if (Array.isArray(cell)) return cell.map((one) => textOf(one, separator)).join(separator) || '-';
  const text = typeof cell === 'string' ? cell : (stringify(cell) ?? '');
  return now !== undefined && INSTANT.test(text) ? shortTime(text, now) : printable(text);
}

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const { index } = truncatedWidth(text, { limit: width, ellipsis: ELLIPSIS });
  return text.slice(0, index) + ELLIPSIS;
}
