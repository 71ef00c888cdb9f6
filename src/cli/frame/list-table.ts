import truncatedWidth from 'fast-string-truncated-width';
import { shortTime } from './short-times.js';
import { type Cell, alignedLines, printable, widthOf, widthsOf } from './table.js';

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

/** A cell with an instant in ISO 8601, which narrow lists show as `3 min ago`; null is shown as `without`. */
export class Moment {
  constructor(
    readonly at: string | null,
    readonly without = '-',
  ) {}
}

/** The value of a column for a row. */
type Value = Cell | readonly string[] | Moment;

/**
 * A column of a list, or a line of the facts about one row: a property, whose name gives the title (`expiresAt` is `expires`, and an
 * instant), or a title and the cell. Facts leave out a line whose name ends in `?` if its cell is null.
 */
export type Column<T> =
  (keyof T & string) | `${keyof T & string}?` | readonly [title: string, cell: (row: T) => Value];

/** Between two columns. */
const GAP = 2;
/** Longest cell of a list that has to fit a terminal, as long as an id. */
const LONGEST = 36;
/** Width of the last column down to which it may be cut. */
const LEAST = 8;
const ELLIPSIS = '…';
const [BOLD, PLAIN] = ['\u001B[1m', '\u001B[22m'];

/** The facts about one row, each with its title, for tableOf(). */
export function factsOf<T>(row: T, columns: readonly Column<T>[]): [title: string, fact: string][] {
  return columns
    .map((column) => ({ column, cell: cellOf(row, column) }))
    .filter(({ column, cell }) => cell !== null || !nameOf(column).endsWith('?'))
    .map(({ column, cell }) => [titleOf(column), textOf(cell, ', ')]);
}

/**
 * Formats a list: whole, or so that it fits the terminal, with a last line that says how to see the rest. Columns that do not fit are
 * left out from the right, and the last one that is shown is cut; the first one is always whole.
 */
export function listTable<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  { screen, isWide, now }: View,
): string {
  const most = isWide || !screen ? Infinity : screen.columns;
  const whole = [
    columns.map((column) => titleOf(column).toUpperCase()),
    ...rows.map((row) =>
      columns.map((column) => textOf(cellOf(row, column), ',', most === Infinity ? undefined : now)),
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

function nameOf<T>(column: Column<T>): string {
  return typeof column === 'string' ? column : column[0];
}

function titleOf<T>(column: Column<T>): string {
  const name = nameOf(column).replace(/\?$/, '');
  if (typeof column !== 'string') return name;
  return name.replace(/(?:At|Id)$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function cellOf<T>(row: T, column: Column<T>): Value {
  if (typeof column !== 'string') return column[1](row);
  const name = column.replace(/\?$/, '') as keyof T & string;
  const value = row[name] as Value;
  return typeof value === 'string' && /^at$|At$/.test(name) ? new Moment(value) : value;
}

function textOf(cell: Value, separator: string, now?: number): string {
  if (!(cell instanceof Moment)) return printable([cell ?? '-'].flat().join(separator));
  if (cell.at === null) return cell.without;
  return now === undefined ? cell.at : shortTime(cell.at, now);
}

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const { index } = truncatedWidth(text, { limit: width, ellipsis: ELLIPSIS });
  return text.slice(0, index) + ELLIPSIS;
}
