import type { Comparison, Ledger } from './ledger.js';

/** What one scenario showed. */
export interface Line {
  readonly name: string;
  readonly faults: number;
  readonly ledger: Ledger;
  readonly comparison: Comparison;
  /** How long clean stops took, in milliseconds. */
  readonly stops: readonly number[];
  /** Most that was admitted in a minute, as a multiple of its limit. */
  readonly factor: number;
}

/** Writes the figures of a scenario to standard output. */
export function report({ name, faults, ledger, comparison, stops, factor }: Line): void {
  const { answers, acknowledgements, refused, cut, unexpected } = ledger;
  const slowestStopMs = Math.max(0, ...stops);
  const { lost, twice } = comparison;
  const figures = { faults, refused, cut, acknowledgements, lost, twice, unexpected, factor, slowestStopMs };
  process.stdout.write(
    `\n${name}: ${JSON.stringify({ ...figures, answers: Object.fromEntries(answers) })}\n`,
  );
}
