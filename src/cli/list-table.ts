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

/** Between two columns. */
const GAP = 2;
/** Longest cell of a list that has to fit a terminal, as long as an id. */
const LONGEST = 36;
/** Width of the last column down to which it may be cut. */
const LEAST = 8;
const ELLIPSIS = '…';
const [BOLD, PLAIN] = ['\u001B[1m', '\u001B[22m'];

/**
 * Formats a list: whole, or so that it fits the terminal, with a last line that says how to see the rest. Columns that do not fit are
 * left out from the right, and the last one that is shown is cut; the first one is always whole.
 */
export function listTable(
  titles: readonly string[],
  rows: readonly (readonly (Cell | Moment)[])[],
  { screen, isWide, now }: View,
): string {
  const most = isWide || !screen ? Infinity : screen.columns;
  const whole = rows.map((row) => row.map((cell) => textOf(cell, most === Infinity ? undefined : now)));
  const texts = most === Infinity ? whole : whole.map((row) => row.map((text) => cut(text, LONGEST)));
  const widths = titles.map((title, at) =>
    texts.reduce((widest, row) => Math.max(widest, widthOf(row[at] ?? '')), widthOf(title)),
  );
  let [used = 0] = widths;
  let count = 1;
  for (; count < titles.length; count += 1) {
    const width = widths[count] ?? 0;
    if (used + GAP + Math.min(width, LEAST) > most) break;
    used += GAP + width;
  }
  const last = count === 1 ? Infinity : (widths[count - 1] ?? 0) - Math.max(0, used - most);
  const [heading = '', ...body] = alignedLines(
    [titles, ...texts].map((row) => [...row.slice(0, count - 1), cut(row[count - 1] ?? '', last)]),
  );
  const isWhole =
    count === titles.length && used <= most && texts.flat().every((text) => !text.endsWith(ELLIPSIS));
  const hidden = titles.slice(count).join(', ') || 'all';
  return [
    screen?.isColoured === true ? BOLD + heading + PLAIN : heading,
    ...body,
    ...(isWhole || most === Infinity ? [] : [cut(`(--wide shows ${hidden})`, most)]),
  ].join('\n');
}

function textOf(cell: Cell | Moment, now: number | undefined): string {
  if (!(cell instanceof Moment)) return printable(String(cell ?? '-'));
  if (cell.at === null) return cell.without;
  return now === undefined ? cell.at : shortTime(cell.at, now);
}

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const { index } = truncatedWidth(text, { limit: width, ellipsis: ELLIPSIS });
  return text.slice(0, index) + ELLIPSIS;
}
