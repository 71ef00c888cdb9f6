import { SystemClock } from '../core/time/clock.js';
import { columnsOf } from './table.js';

/** How often progress is shown, in milliseconds: on a terminal, and where lines stay. */
const [REDRAWN_MS, TOLD_MS] = [100, 5_000];
/** How wide the bar is, in characters: where there is room, and where there is little. */
const [WIDTH, NARROW] = [24, 8];
/** Moves the cursor to the start of the line and clears it (ECMA-48). */
const ANEW = '\r\u001B[K';

/** How far work is. */
export interface Progress {
  /** What is done. */
  readonly phase: string;
  readonly done: number;
  readonly of: number;
  /** What is counted; rows by default. */
  readonly unit?: string;
}

/** Shows how far long work is: one line that is drawn anew on a terminal, a line now and then elsewhere. */
export class ProgressLine {
  private readonly clock = new SystemClock();
  private shownAt = -Infinity;
  private began = { phase: '', at: 0, done: 0 };
  private readonly quietUntil: number;
  private isDrawn = false;
  private isWhole = false;

  /**
   * Shows nothing in the first `quietMs` milliseconds: what is done by then needs no progress. `columns` answers how wide the terminal is;
   * it is absent where lines stay.
   */
  constructor(
    private readonly write: (text: string) => void,
    private readonly columns: (() => number) | undefined = terminalColumns(),
    quietMs = 0,
  ) {
    this.quietUntil = this.clock.steady() + quietMs;
  }

  /** Shows it, unless something was shown a moment ago. The begin and the end of a phase are always shown. */
  show({ phase, done, of, unit }: Progress): void {
    const now = this.clock.steady();
    const isNew = phase !== this.began.phase;
    if (isNew) this.began = { phase, at: now, done };
    if (now < this.quietUntil) return;
    const isDue = now - this.shownAt >= (this.columns ? REDRAWN_MS : TOLD_MS);
    if (!isNew && (this.isWhole || (!isDue && done < of))) return;
    this.shownAt = now;
    this.isWhole = done >= of;
    const seconds = (now - this.began.at) / 1_000;
    const rate = seconds > 0 ? (done - this.began.done) / seconds : 0;
    const made = { phase, done, of, unit };
    this.write(
      this.columns ? `${ANEW}${fittingText(made, rate, this.columns())}` : `${progressText(made, rate)}\n`,
    );
    this.isDrawn = this.columns !== undefined;
  }

  /** Leaves the line, so that what is written next has one of its own. */
  end(): void {
    if (this.isDrawn) this.write('\n');
    this.isDrawn = false;
  }
}

/** How wide the terminal that standard error is may be asked for; undefined where it is none, or one that cannot draw a line anew. */
function terminalColumns(): (() => number) | undefined {
  const { stderr } = process;
  return stderr.isTTY && process.env['TERM'] !== 'dumb' ? () => columnsOf(stderr) : undefined;
}

/** The text with as much of the bar and of the rate as a line of the terminal has room for: what is wrapped cannot be drawn anew. */
export function fittingText(progress: Progress, perSecond: number, columns: number): string {
  // Some terminals wrap as soon as the last column is written.
  const most = columns - 1;
  const texts = [
    progressText(progress, perSecond),
    progressText(progress, perSecond, NARROW),
    progressText(progress, 0, NARROW),
    progressText(progress, 0, 0),
  ];
  return texts.find(({ length }) => length <= most) ?? (texts.at(-1) ?? '').slice(0, Math.max(0, most));
}

/** Such as `Copying    [############            ]  50 %  50,000 of 100,000 rows  41,000 a second`. */
export function progressText(
  { phase, done, of, unit = 'rows' }: Progress,
  perSecond: number,
  width = WIDTH,
): string {
  const share = of === 0 ? 1 : Math.min(1, done / of);
  const bar = width === 0 ? '' : `[${'#'.repeat(Math.floor(share * width)).padEnd(width)}] `;
  const percent = String(Math.floor(share * 100)).padStart(3);
  const rate = perSecond >= 1 ? `  ${grouped(Math.round(perSecond))} a second` : '';
  return `${phase.padEnd(9)} ${bar}${percent} %  ${grouped(done)} of ${grouped(of)} ${unit}${rate}`;
}

/** A whole number with commas between thousands. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}
