import { expect, it } from 'vitest';
import { ProgressLine } from './progress.js';

const HALF = { phase: 'Copying', done: 500_000, of: 1_000_000 };

it('progress is drawn anew in its line, and not at all without a terminal', () => {
  const written: string[] = [];
  const line = new ProgressLine(
    (text) => written.push(text),
    () => 30,
  );
  line.show({ ...HALF, done: 0 });
  line.show({ ...HALF, done: 1_000_000 });
  line.end();
  expect(written).toEqual([
    '\r\u001B[KCopying   0 %  0 of 1,000,000',
    expect.stringContaining('Copying 100 %'),
    '\n',
  ]);
  const none: string[] = [];
  new ProgressLine((text) => none.push(text)).show(HALF);
  expect(none).toEqual(process.stderr.isTTY ? [expect.anything()] : []);
});
