import truncatedWidth from 'fast-string-truncated-width';
import { shortTime } from './short-times.js';
import { type Cell, alignedLines, printable, widthOf } from './table.js';

/** The terminal that standard output is. */
export interface Screen {
  /** How many characters fit into a line. */
  readonly columns: number;
  /** Whether it shows colours, and is to. */
  readonly isColoured: boolean;
}

/** How a result is shown to people. */
export interface View {
  /** Absent where standard output is no terminal: programs that read lines get all of each. */
  readonly screen?: Screen;
  /** Whether everything is to be shown, however long lines become. */
  readonly isWide: boolean;
  /** Milliseconds since the epoch that short times are told from. */
  readonly now: number;
}

/** A column of a list. */
export interface Column {
  readonly title: string;
  /** The width down to which its cells may be cut; without it they are whole, as an id has to be that is to be copied. */
  readonly least?: number;
  /** Where the lines are too long, the column with 1 is left out first; without it, only when nothing else helps. */
  readonly leaves?: number;
}

/** A cell with an instant in ISO 8601, which narrow lists show as `3 min ago`; null is shown as `without`. */
export class Moment {
  constructor(
    readonly at: string | null,
    readonly without = '-',
  ) {}
}

const GAP = 2;
const ELLIPSIS = '…';
const [BOLD, PLAIN] = ['\u001B[1m', '\u001B[22m'];

/** Formats a list: whole, or so that it fits the terminal, with a last line that tells how to see the rest. */
export function listTable(
  columns: readonly Column[],
  rows: readonly (readonly (Cell | Moment)[])[],
  view: View,
): string {
  const { screen, isWide } = view;
  const isNarrow = screen !== undefined && !isWide;
  const texts = rows.map((row) => row.map((cell) => textOf(cell, isNarrow ? view.now : undefined)));
  const whole = columns.map(({ title }, column) =>
    texts.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? '')), widthOf(title)),
  );
  const { shown, widths } = isNarrow
    ? fitted(columns, whole, screen.columns)
    : { shown: columns.map((_, column) => column), widths: whole };
  const lines = alignedLines(
    [columns.map(({ title }) => title), ...texts].map((row) =>
      shown.map((column) => cut(row[column] ?? '', widths[column] ?? 0)),
    ),
  );
  const [heading = '', ...body] = lines;
  const hidden = columns.filter((_, column) => !shown.includes(column)).map(({ title }) => title);
  const isCut = shown.some((column) => (widths[column] ?? 0) < (whole[column] ?? 0));
  const rest = cut(
    `(--wide shows ${hidden.length > 0 ? hidden.join(', ') : 'all'})`,
    screen?.columns ?? Infinity,
  );
  return [
    screen?.isColoured === true ? BOLD + heading + PLAIN : heading,
    ...body,
    ...(hidden.length > 0 || isCut ? [rest] : []),
  ].join('\n');
}

function textOf(cell: Cell | Moment, now: number | undefined): string {
  if (!(cell instanceof Moment)) return printable(String(cell ?? '-'));
  if (cell.at === null) return cell.without;
  return now === undefined ? cell.at : shortTime(cell.at, now);
}

/** Leaves out columns until the others can be made to fit, and then cuts the widest first. */
function fitted(
  columns: readonly Column[],
  whole: readonly number[],
  most: number,
): { shown: number[]; widths: number[] } {
  const leastOf = (column: number) => Math.min(whole[column] ?? 0, columns[column]?.least ?? Infinity);
  let shown = columns.map((_, column) => column);
  const total = (widthAt: (column: number) => number) =>
    shown.reduce((sum, column) => sum + widthAt(column) + GAP, -GAP);
  // Those without an order leave last, from the right; the first one stays.
  const leaving = columns
    .map(({ leaves }, column) => ({ column, order: leaves ?? 2 * columns.length - column }))
    .slice(1)
    .toSorted((a, b) => a.order - b.order);
  for (const { column } of leaving) {
    if (total(leastOf) <= most) break;
    shown = shown.filter((one) => one !== column);
  }
  const widths = [...whole];
  while (total((column) => widths[column] ?? 0) > most) {
    const [widest] = shown
      .filter((column) => (widths[column] ?? 0) > leastOf(column))
      .toSorted((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0));
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return { shown, widths };
}

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const { index } = truncatedWidth(text, { limit: width, ellipsis: ELLIPSIS });
  return text.slice(0, index) + ELLIPSIS;
}
