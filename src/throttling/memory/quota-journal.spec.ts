import { describe, expect, it } from 'vitest';
import { neverRefused } from '../bans.js';
import { DAY_MS, MINUTE_MS } from '../quota.js';
import { UnsavedChanges } from './quota-journal.js';

/** Notes requests of a client `A` at minutes of days, such as `[0, 5]` for the first day's sixth minute. */
function noting(requests: readonly (readonly [day: number, minute: number])[]): UnsavedChanges {
  const unsaved = new UnsavedChanges();
  for (const [day, minute] of requests)
    unsaved.noteCount('A', day * DAY_MS + minute * MINUTE_MS, day * DAY_MS);
  return unsaved;
}

/** What is to be written, in the words of `noting`: `[day, requests in it, minute, requests in it]`. */
const countsOf = ({ counts }: { counts: ReturnType<UnsavedChanges['drain']>['counts'] }) =>
  counts.map(({ dayStart, inDay, minuteStart, inMinute }) => [
    dayStart / DAY_MS,
    inDay,
    (minuteStart - dayStart) / MINUTE_MS,
    inMinute,
  ]);

const struck = (strikes: number) => ({ ...neverRefused(), strikes });

describe('the requests of a client between two writings', () => {
  it.each<[string, [number, number][], [number, number][], number[][]]>([
    [
      'and nothing came since',
      [
        [0, 5],
        [0, 5],
      ],
      [],
      [[0, 2, 5, 2]],
    ],
    [
      'and more came in the same minute',
      [
        [0, 5],
        [0, 5],
      ],
      [[0, 5]],
      [[0, 3, 5, 3]],
    ],
    [
      'and more came in a later minute, which counts alone',
      [
        [0, 5],
        [0, 5],
      ],
      [[0, 6]],
      [[0, 3, 6, 1]],
    ],
    [
      'and more came on a later day',
      [[0, 1439]],
      [[1, 0]],
      [
        [0, 1, 1439, 1],
        [1, 1, 0, 1],
      ],
    ],
    [
      'of two days, and more came',
      [
        [0, 1439],
        [1, 0],
      ],
      [[1, 0]],
      [
        [0, 1, 1439, 1],
        [1, 2, 0, 2],
      ],
    ],
  ])('are all there when they could not be written, %s', (_, failed, since, expected) => {
    const unsaved = noting(failed);
    const changes = unsaved.drain();
    for (const [day, minute] of since)
      unsaved.noteCount('A', day * DAY_MS + minute * MINUTE_MS, day * DAY_MS);
    unsaved.putBack(changes);
    expect(countsOf(unsaved.drain())).toEqual(expected);
  });
});

describe('the strikes of a key between two writings', () => {
  it('that could not be written are written the next time, unless there are newer ones', () => {
    const unsaved = new UnsavedChanges();
    unsaved.noteBan('key', struck(1));
    unsaved.noteBan('other', struck(1));
    const changes = unsaved.drain();
    unsaved.noteBan('key', struck(2));
    unsaved.putBack(changes);
    expect(unsaved.drain().bans.map(({ keyId, state }) => [keyId, state.strikes])).toEqual([
      ['key', 2],
      ['other', 1],
    ]);
  });
});
