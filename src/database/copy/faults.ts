import { CopyRefusal } from './copy-refusal.js';
import { type RawValue, shownRaw } from './raw-value.js';

/** How many faults are named. */
const MOST_NAMED = 20;

/** Collects what PostgreSQL would refuse; names the first of them and counts all. */
export class Faults {
  private readonly named: string[] = [];
  private count = 0;

  /** A fault of a row, by the values of its key; `what` completes the line. */
  add(table: string, key: Readonly<Record<string, RawValue>>, what: string): void {
    this.count += 1;
    if (this.named.length === MOST_NAMED) return;
    const row = Object.entries(key).map(([name, value]) => `${name} ${shownRaw(value)}`);
    this.named.push(`  ${[table, ...row].join(' ')}: ${what}`);
  }

  /** Throws CopyRefusal with all of them, if there are any. */
  refuse(file: string): void {
    if (this.count === 0) return;
    const more = this.count - this.named.length;
    throw new CopyRefusal(
      [
        `PostgreSQL would refuse ${this.count} ${this.count === 1 ? 'value' : 'values'} of ${file}; no row was copied. Correct them there, then copy again:`,
        ...this.named,
        ...(more > 0 ? [`  … and ${more} more`] : []),
      ].join('\n'),
    );
  }
}
