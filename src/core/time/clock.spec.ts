import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SystemClock } from './clock.js';

const READS_CLOCK = /\bDate\.now\b|\bperformance\.now\b|\bhrtime\b|\bnew Date\(\)/;
/** Of locks and outages of the database, in logs, metrics and the field Date, of connections, of the stop and of workers' lives; see clock.ts. */
const MEASURING =
  /^(?:core\/(?:time\/clock\.ts|logging\/|metrics\/|errors\/raw-response)|cli\/start\/|http\/|webhooks\/(?:event-loop-share|webhook-fan-outs)|database\/(?:sqlite\/|postgres\/|outage))/;

describe('the clock of the machine', () => {
  it('tells the time, and a time that never steps', () => {
    const clock = new SystemClock();
    const [now, steady] = [Date.now(), performance.now()];
    expect(clock.now()).toBeGreaterThanOrEqual(now);
    expect(clock.now()).toBeLessThanOrEqual(Date.now());
    expect(clock.steady()).toBeGreaterThanOrEqual(steady);
    expect(clock.steady()).toBeLessThanOrEqual(performance.now());
  });

  it('is read past Clock only by what measures how long the machine itself takes', async () => {
    const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
    const readers: string[] = [];
    for (const file of await readdir(root, { recursive: true })) {
      if (!file.endsWith('.ts') || file.endsWith('.spec.ts')) continue;
      const code = (await readFile(join(root, file), 'utf8')).replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, '');
      if (READS_CLOCK.test(code) && !MEASURING.test(file)) readers.push(file);
    }
    expect(readers).toEqual([]);
  });
});
