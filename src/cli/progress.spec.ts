import { describe, expect, it } from 'vitest';
import { fittingText, ProgressLine, progressText } from './progress.js';

const HALF = { phase: 'Copying', done: 500_000, of: 1_000_000 };

describe('progress on a terminal', () => {
  it.each([
    [120, 'Copying   [############            ]  50 %  500,000 of 1,000,000 rows  41,000 a second'],
    [80, 'Copying   [####    ]  50 %  500,000 of 1,000,000 rows  41,000 a second'],
    [60, 'Copying   [####    ]  50 %  500,000 of 1,000,000 rows'],
    [50, 'Copying    50 %  500,000 of 1,000,000 rows'],
    [20, 'Copying    50 %  50'],
    [1, ''],
  ])('of %i columns fits a line', (columns, text) => {
    expect(fittingText(HALF, 41_000, columns)).toBe(text);
    expect(text.length).toBeLessThan(columns);
  });

  it('is drawn anew in its line, as wide as the terminal is now', () => {
    let columns = 60;
    const written: string[] = [];
    const line = new ProgressLine(
      (text) => written.push(text),
      () => columns,
    );
    line.show({ ...HALF, done: 0 });
    columns = 30;
    line.show({ ...HALF, done: 1_000_000 });
    line.end();
    const [first, second = '', ...rest] = written;
    expect(first).toBe('\r\u001B[KCopying   [        ]   0 %  0 of 1,000,000 rows');
    expect(second.startsWith('\r\u001B[KCopying   100 %  1,000,000')).toBe(true);
    expect(second.length).toBeLessThan(30 + '\r\u001B[K'.length);
    expect(rest).toEqual(['\n']);
  });
});

it('progress is told whole in lines that stay, where there is no terminal', () => {
  expect(progressText(HALF, 41_000)).toBe(fittingText(HALF, 41_000, 120));
});
