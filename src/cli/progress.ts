import { SystemClock } from '../core/time/clock.js';
import { columnsOf } from './table.js';

/** How often a line is drawn anew, in milliseconds. */
const REDRAWN_MS = 100;
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
  private phase = '';
  private shownAt = -Infinity;

  /** `columns` answers how wide the terminal is, and is absent without one. */
  constructor(
    private readonly write: (text: string) => void,
    private readonly columns: (() => number) | undefined = terminalColumns(),
  ) {}

  /** Shows it, unless something was shown a moment ago. The begin and the end of a phase are always shown. */
  show({ phase, done, of }: Progress): void {
    const now = this.clock.steady();
    if (!this.columns) return;
    if (phase === this.phase && done < of && now - this.shownAt < REDRAWN_MS) return;
    this.phase = phase;
    this.shownAt = now;
    const percent = of === 0 ? 100 : Math.min(100, Math.floor((done / of) * 100));
    const text = `${phase} ${String(percent).padStart(3)} %  ${grouped(done)} of ${grouped(of)} rows`;
    // A longer line cannot be drawn anew, and some terminals wrap as soon as the last column is written.
    this.write(ANEW + text.slice(0, Math.max(0, this.columns() - 1)));
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

/** A whole number with commas between thousands. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}
