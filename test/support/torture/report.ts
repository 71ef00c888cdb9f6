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

/** The figures of a run, as a table. */
export class Report {
  private readonly rows: string[] = [];

  constructor(
    private readonly seed: number,
    private readonly whole: boolean,
  ) {}

  /** Adds the line of a scenario. */
  add({ name, faults, ledger, comparison, stops, factor }: Line): void {
    const { answers, acknowledgements, refused, cut, unexpected } = ledger;
    const total = [...answers.values()].reduce((sum, count) => sum + count, 0);
    const slowest = stops.length === 0 ? '' : (Math.max(...stops) / 1_000).toFixed(1);
    const cells = [
      name,
      faults,
      total,
      refused,
      cut,
      acknowledgements,
      comparison.lost.length,
      comparison.twice.length,
      answers.get(503) ?? 0,
      unexpected.length,
      factor.toFixed(2),
      slowest,
    ];
    this.rows.push(`| ${cells.join(' | ')} |`);
    for (const line of unexpected.slice(0, 10)) this.rows.push(`  ${line}`);
  }

  /** Writes it to standard output. */
  print(): void {
    const head =
      '| scenario | faults | answers | not connected | cut | acknowledged | lost | twice | 503 | unexpected | most admitted / limit | slowest stop, s |';
    const rule = head.replace(/[^|]+/g, ' --- ');
    const title = `Torture, ${this.whole ? 'whole' : 'short'}, seed ${this.seed}`;
    process.stdout.write(`\n${[title, head, rule, ...this.rows].join('\n')}\n`);
  }
}
