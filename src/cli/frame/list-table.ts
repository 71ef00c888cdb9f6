import truncatedWidth from 'fast-string-truncated-width';
import { stringify } from 'lossless-json';
import { shortTime } from './short-times.js';
import { alignedLines, printable, widthOf, widthsOf } from './table.js';

/** The terminal that standard output is. */
export interface Screen {
  /** How many characters fit into a line. */
  readonly columns: number;
  /** Whether it can show colours and the user wants them. */
  readonly isColoured: boolean;
}

/** How a result is shown on a terminal. */
export interface View {
  /** Absent where standard output is not a terminal: programs that read lines get all of each. */
  readonly screen?: Screen;
  /** Whether to show all columns, however long the lines become. */
  readonly isWide: boolean;
  /** Milliseconds since the epoch that short times are relative to. */
  readonly now: number;
}

/** A row of a list, or one thing with facts. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * A column of a list, or a line of the facts about one thing: a property, whose name gives the title (`expiresAt` is `expires`), or a
 * title and the cell. Facts leave out a property whose name ends in `?` while it is null.
 */
export type Column = string | readonly [title: string, cell: (row: never) => unknown];

/** Between two columns. */
const GAP = 2;
/** Longest cell of a list that has to fit a terminal, as long as an id. */
const LONGEST = 36;
/** Width of the last column down to which it may be cut. */
const LEAST = 8;
const ELLIPSIS = '…';
const [BOLD, PLAIN] = ['\u001B[1m', '\u001B[22m'];
/** An instant as the service writes it, which a list that has to fit a terminal shows as `3 min ago`. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The facts about one thing, each with its title; lists of things follow them as tables. */
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
 * Formats a list: whole, or so that it fits the terminal, with a last line that says how to see the rest. Columns that do not fit are
 * left out from the right, and the last one that is shown is cut; the first one is always whole.
 */
export function listTable(
  rows: readonly object[],
  columns: readonly Column[],
  { screen, isWide, now }: View,
): string {
  const most = isWide || !screen ? Infinity : screen.columns;
  const whole = [
    columns.map((column) => titleOf(column).toUpperCase()),
    ...rows.map((row) =>
      columns.map((column) => textOf(cellOf(row as Row, column), ',', most === Infinity ? undefined : now)),
    ),
  ];
  const texts = most === Infinity ? whole : whole.map((row) => row.map((text) => cut(text, LONGEST)));
  const count = columnsThatFit(widthsOf(texts), most);
  const shown = cutLast(
    texts.map((row) => row.slice(0, count)),
    most,
  );
  const [heading = '', ...body] = alignedLines(shown);
  const hint = hintOf(shown, whole);
  return [
    screen?.isColoured === true ? BOLD + heading + PLAIN : heading,
    ...body,
    ...(hint === undefined ? [] : [cut(hint, most)]),
  ].join('\n');
}

/** How many columns fit into a line: the first one always, and each further one of which at least LEAST characters fit. */
function columnsThatFit([first = 0, ...others]: readonly number[], most: number): number {
  let used = first;
  const tooMany = others.findIndex((width) => {
    const isTooMuch = used + GAP + Math.min(width, LEAST) > most;
    used += GAP + width;
    return isTooMuch;
  });
  return 1 + (tooMany === -1 ? others.length : tooMany);
}

/** Cuts the last column to what the others leave of a line; an only column is left whole. */
function cutLast(rows: readonly string[][], most: number): string[][] {
  const others = widthsOf(rows).slice(0, -1);
  const left = others.length === 0 ? Infinity : others.reduce((rest, width) => rest - width - GAP, most);
  return rows.map((row) => [...row.slice(0, -1), cut(row.at(-1) ?? '', left)]);
}

/** How to see the columns and the texts that are not shown; undefined where all are. */
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

/** A value on one line: a text, several of them, or JSON. Of `now`, in milliseconds since the epoch, instants are short. */
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
