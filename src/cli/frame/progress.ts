import { columnsOf } from './table.js';

/** Moves the cursor to the start of the line and clears it (ECMA-48). */
const ANEW = '\r\u001B[K';

/** Progress of work, in rows. */
export interface Progress {
  readonly phase: string;
  readonly done: number;
  readonly of: number;
}

/** Shows progress on one line of the terminal, redrawn at each percent. Without a terminal, shows nothing. */
export class ProgressLine {
  private shown = '';
  private readonly columns = terminalColumns();

  constructor(private readonly write: (text: string) => void) {}

  show({ phase, done, of }: Progress): void {
    const percent = of === 0 ? 100 : Math.min(100, Math.floor((done / of) * 100));
    const shown = `${phase} ${String(percent).padStart(3)} %`;
    if (!this.columns || shown === this.shown) return;
    this.shown = shown;
    const text = `${shown}  ${grouped(done)} of ${grouped(of)} rows`;
    // A longer line cannot be redrawn, and some terminals wrap as soon as the last column is written.
    this.write(ANEW + text.slice(0, Math.max(0, this.columns() - 1)));
  }

  /** Ends the line, so that further output starts on a new one. */
  end(): void {
    if (this.shown !== '') this.write('\n');
    this.shown = '';
  }
}

/** A function that returns the width of the terminal on standard error; undefined if there is no terminal or it cannot redraw a line. */
function terminalColumns(): (() => number) | undefined {
  const { stderr } = process;
  return stderr.isTTY && process.env['TERM'] !== 'dumb' ? () => columnsOf(stderr) : undefined;
}

/** Formats an integer with thousands separators. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

/** Signals that abort long-running work, which then cleans up. */
const STOPS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs long work, shows its progress on standard error, and aborts it on a signal. */
export async function stoppable<T>(
  write: (text: string) => void,
  work: (options: {
    readonly signal: AbortSignal;
    readonly onProgress: (progress: Progress) => void;
  }) => Promise<T>,
): Promise<T> {
  const progress = new ProgressLine(write);
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  // Only once, because a second signal ends the process immediately. An aborted copy leaves nothing behind, and the next backup removes
  // leftovers.
  for (const signal of STOPS) process.once(signal, abort);
  try {
    return await work({ signal: stop.signal, onProgress: (update) => progress.show(update) });
  } finally {
    progress.end();
    for (const signal of STOPS) process.off(signal, abort);
  }
}
