import { SystemClock } from '../core/time/clock.js';
import { columnsOf } from './table.js';

/** How often a line is drawn anew, in milliseconds. */
const REDRAWN_MS = 100;
/** How wide the bar is, in characters, where there is room; with less room than the least there is none. */
const [WIDEST, LEAST] = [24, 8];
/** Moves the cursor to the start of the line and clears it (ECMA-48). */
const ANEW = '\r\u001B[K';

/** How far work is, in rows. */
export interface Progress {
  /** What is done. */
  readonly phase: string;
  readonly done: number;
  readonly of: number;
}

/** Shows how far long work is, in one line of the terminal that is drawn anew; where there is no terminal it shows nothing. */
export class ProgressLine {
  private readonly clock = new SystemClock();
  private readonly quietUntil: number;
  private began = { phase: '', at: 0, done: 0 };
  private shownAt = -Infinity;

  /** Shows nothing in the first `quietMs` milliseconds; `columns` answers how wide the terminal is, and is absent without one. */
  constructor(
    private readonly write: (text: string) => void,
    quietMs = 0,
    private readonly columns: (() => number) | undefined = terminalColumns(),
  ) {
    this.quietUntil = this.clock.steady() + quietMs;
  }

  /** Shows it, unless something was shown a moment ago. The begin and the end of a phase are always shown. */
  show(progress: Progress): void {
    const { phase, done, of } = progress;
    const now = this.clock.steady();
    const isNew = phase !== this.began.phase;
    if (isNew) this.began = { phase, at: now, done };
    if (!this.columns || now < this.quietUntil) return;
    if (!isNew && done < of && now - this.shownAt < REDRAWN_MS) return;
    this.shownAt = now;
    const rate = (done - this.began.done) / ((now - this.began.at) / 1_000 || Infinity);
    this.write(ANEW + progressText(progress, rate, this.columns()));
  }

  /** Leaves the line, so that what is written next has one of its own. */
  end(): void {
    if (this.shownAt > -Infinity) this.write('\n');
    this.shownAt = -Infinity;
  }
}

/** How wide the terminal that standard error is may be asked for; undefined where it is none, or one that cannot draw a line anew. */
function terminalColumns(): (() => number) | undefined {
  const { stderr } = process;
  return stderr.isTTY && process.env['TERM'] !== 'dumb' ? () => columnsOf(stderr) : undefined;
}

/** Such as `Copying  50 %  50,000 of 100,000 rows  41,000 a second  [####    ]`, as far as a line has room: a longer one cannot be drawn anew. */
export function progressText({ phase, done, of }: Progress, perSecond: number, columns: number): string {
  const share = of === 0 ? 1 : Math.min(1, done / of);
  const percent = String(Math.floor(share * 100)).padStart(3);
  const text = `${phase} ${percent} %  ${grouped(done)} of ${grouped(of)} rows  ${grouped(Math.round(perSecond))} a second`;
  // Some terminals wrap as soon as the last column is written.
  const width = Math.min(WIDEST, columns - 1 - text.length - '  []'.length);
  const bar = width < LEAST ? '' : `  [${'#'.repeat(Math.floor(share * width)).padEnd(width)}]`;
  return (text + bar).slice(0, Math.max(0, columns - 1));
}

/** A whole number with commas between thousands. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}
