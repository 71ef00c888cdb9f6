import { describe, expect, it } from 'vitest';
import { retryAtOf, tightestWindow, violatedWindow, type QuotaVerdict, type WindowState } from './quota.js';

const window = (name: string, remaining: number, resetsAt: number, lengthMs = 60_000): WindowState => ({
  name,
  limit: 10,
  lengthMs,
  used: 10 - remaining,
  remaining,
  resetsAt,
});
const refused = (...windows: WindowState[]): QuotaVerdict => ({ admitted: false, at: 5, windows });

describe('the window to look at', () => {
  it.each<[string, WindowState[], string | undefined]>([
    ['is the one with fewest requests left', [window('a', 2, 9), window('b', 1, 9), window('c', 3, 9)], 'b'],
    [
      'is the one that resets last, with as many left',
      [window('a', 1, 8), window('b', 1, 9), window('c', 1, 7)],
      'b',
    ],
    [
      'is the longest, with as many left and one reset',
      [window('a', 1, 9, 2), window('b', 1, 9, 3), window('c', 1, 9, 1)],
      'b',
    ],
    ['is the first of several that are alike', [window('a', 1, 9), window('b', 1, 9)], 'a'],
    ['is none of none', [], undefined],
  ])('%s', (_, windows, expected) => {
    expect(tightestWindow(windows)?.name).toBe(expected);
  });
});

describe('the window that refused', () => {
  it.each<[string, QuotaVerdict, string | undefined]>([
    ['is the one without room', refused(window('a', 1, 9), window('b', 0, 8)), 'b'],
    [
      'is the one to wait longest for',
      refused(window('a', 0, 8), window('b', 0, 9), window('c', 1, 10)),
      'b',
    ],
    ['is the longer one of two with one reset', refused(window('a', 0, 9, 2), window('b', 0, 9, 3)), 'b'],
    ['is the longer one, in whatever order', refused(window('a', 0, 9, 3), window('b', 0, 9, 2)), 'a'],
    [
      'is none when it was admitted, with the last request',
      { ...refused(window('a', 0, 9)), admitted: true },
      undefined,
    ],
  ])('%s', (_, verdict, expected) => {
    expect(violatedWindow(verdict)?.name).toBe(expected);
  });
});

describe('when a refused request may come again', () => {
  it.each<[string, QuotaVerdict, number]>([
    ['is when the window that refused it resets', refused(window('a', 0, 9), window('b', 1, 12)), 9],
    ['is the end of the ban, whatever the windows say', { ...refused(window('a', 0, 9)), bannedUntil: 7 }, 7],
    ['is at once where nothing refused it', refused(window('a', 1, 9)), 5],
  ])('%s', (_, verdict, expected) => {
    expect(retryAtOf(verdict)).toBe(expected);
  });
});
