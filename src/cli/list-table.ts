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
  { screen, isWide, now }: View,
): string {
  const most = isWide || !screen ? Infinity : screen.columns;
  const all = columns.map(({ title, least = Infinity, leaves }, at) => {
    const texts = rows.map((row) => textOf(row[at] ?? null, most === Infinity ? undefined : now));
    const whole = texts.reduce((widest, text) => Math.max(widest, widthOf(text)), widthOf(title));
    // Those without an order leave last, from the right; the first one stays.
    const order = at === 0 ? Infinity : (leaves ?? 2 * columns.length - at);
    return { title, texts, order, whole, least: Math.min(whole, least), width: whole };
  });
  let shown = all;
  for (const leaving of all.toSorted((one, other) => one.order - other.order).slice(0, -1)) {
    if (shown.reduce((sum, { least }) => sum + least + GAP, -GAP) <= most) break;
    shown = shown.filter((one) => one !== leaving);
  }
  // The others are cut as far as they may be, the last one first.
  let over = shown.reduce((sum, { whole }) => sum + whole + GAP, -GAP) - most;
  for (const column of shown.toReversed()) {
    const less = Math.max(0, Math.min(over, column.whole - column.least));
    column.width -= less;
    over -= less;
  }
  const [heading = '', ...body] = alignedLines([
    shown.map(({ title, width }) => cut(title, width)),
    ...rows.map((_, row) => shown.map(({ texts, width }) => cut(texts[row] ?? '', width))),
  ]);
  const hidden = all.filter((one) => !shown.includes(one)).map(({ title }) => title);
  const isWhole = shown.length === all.length && shown.every(({ width, whole }) => width === whole);
  const rest = cut(`(--wide shows ${hidden.length > 0 ? hidden.join(', ') : 'all'})`, most);
  return [
    screen?.isColoured === true ? BOLD + heading + PLAIN : heading,
    ...body,
    ...(isWhole ? [] : [rest]),
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
