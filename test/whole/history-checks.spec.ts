import { describe, expect, it } from 'vitest';
import { brokenPromises } from '../support/history/checks.js';
import { type Fault, type History, emptyHistory } from '../support/history/history.js';
import type { Promises } from '../support/history/promises.js';

/** The promises that these histories are held against. */
const PROMISES: Promises = {
  rowsMs: { http: 0, command: 0, sql: 5_000, time: 0 },
  keysMs: { http: 1_000, command: 1_000, sql: 1_000, time: 0 },
  isMonotonic: true,
  isRefusalReadAnew: true,
  lostCountsMs: 0,
  timesTheLimit: (faults) => (faults.some(({ kind }) => kind.startsWith('redis')) ? 2 : 1),
};
/** On one process, which writes its counts each second. */
const ALONE: Promises = { ...PROMISES, lostCountsMs: 1_000, timesTheLimit: () => 1 };
const MINUTE = 60_000;
const LIMIT = 3;

/** Something that happened, from one moment to another. */
const from = (start: number, end: number, on = 0) => ({ start, end, on });
const added = (start: number, end: number, value = 'sold Rex 1') =>
  ({ subject: 'pet:1', value, via: 'http', ...from(start, end) }) as const;
const changed = (start: number, end: number | undefined, value: string | undefined) =>
  ({ subject: 'pet:1', value, via: 'sql', start, end }) as const;
const one = (start: number, end: number, value?: string, subject = 'pet:1') => ({
  ...from(start, end, 1),
  what: 'GET',
  about: subject,
  shows: new Map(value === undefined ? [] : [[subject, value]]),
});
const list = (start: number, end: number, about: object, ...pets: [string, string][]) => ({
  ...from(start, end, 1),
  what: 'GET',
  about,
  shows: new Map(pets),
});
const ended = (end: number, on = 0) =>
  [
    { subject: 'key:1', value: 'works', via: 'http', ...from(0, 1, on) },
    { subject: 'key:1', value: undefined, via: 'http', ...from(end - 1, end, on) },
  ] as const;
const request = (start: number, end: number, status?: number, fault?: string) => ({
  ...from(start, end),
  what: 'GET',
  allowed: [200],
  status,
  fault,
});
const posted = (id: number, idempotencyKey?: string) => ({
  ...from(0, 1),
  value: 'sold Rex 1',
  idempotencyKey,
  text: JSON.stringify({ id }),
});
const counted = (at: number, remaining: number, status = 200) => ({
  ...from(at, at + 1),
  status,
  limit: LIMIT,
  remaining,
  reset: MINUTE,
});
const used = (...remaining: number[]) => remaining.map((left, at) => counted(10 * at, left));
const fault = (kind: Fault['kind'], start: number, end: number): Fault => ({ kind, ...from(start, end) });

const broken = (part: Partial<History>, promises = PROMISES): string[] =>
  brokenPromises({ ...emptyHistory(2, LIMIT), stored: [], ...part }, promises);
const stored = [{ id: 1, value: 'sold Rex 1' }];
const rex: [string, string] = ['pet:1', 'sold Rex 1'];

describe('a history that keeps its promises', () => {
  it.each<[string, Partial<History>, Promises?]>([
    [
      'a row before and during its write',
      { writes: [added(10, 20)], stored, reads: [one(5, 9), one(15, 18)] },
    ],
    ['a row shown during its write', { writes: [added(10, 20)], stored, reads: [one(15, 18, 'sold Rex 1')] }],
    [
      'the old row within the bound of a change by SQL',
      {
        writes: [added(0, 1), changed(10, 20, 'sold Max 2')],
        stored: [{ id: 1, value: 'sold Max 2' }],
        reads: [one(5_019, 5_020, 'sold Rex 1')],
      },
    ],
    [
      'a change that was not acknowledged, whether it was carried out or not',
      {
        writes: [added(0, 1), changed(10, undefined, 'sold Max 2')],
        stored,
        reads: [one(9_000, 9_001, 'sold Rex 1')],
      },
    ],
    [
      'a row of another status, and one beyond a full page, that a list lacks',
      {
        writes: [added(0, 1)],
        stored,
        reads: [list(5, 6, { status: 'pending' }), list(5, 6, { lastId: 0 })],
      },
    ],
    [
      'a key that works in another process for its second',
      { writes: [...ended(20)], reads: [one(1_019, 1_020, 'works', 'key:1')] },
    ],
    [
      'an aborted request while its instance is killed',
      { exchanges: [request(5, 8)], faults: [fault('instance killed', 7, 900)] },
    ],
    ['a 503', { exchanges: [request(5, 8, 503)] }],
    ['a limit that is used up, and a refusal', { counted: [...used(2, 1, 0), counted(50, 0, 429)] }],
    [
      'twice the limit while Redis is away',
      { counted: used(2, 1, 0, 2, 1, 0), faults: [fault('redis killed', 25, 900)] },
    ],
    [
      'counts that were lost with their process',
      { counted: used(2, 1, 0, 2), faults: [fault('instance killed', 25, 28)] },
      ALONE,
    ],
    [
      'minutes that steps of the clock start anew',
      { counted: used(2, 1, 0, 2, 1, 0, 2, 1, 0), faults: [fault('clock set', 25, 28)] },
      ALONE,
    ],
    [
      'retries with the same response',
      { posts: [posted(1, 'a'), posted(1, 'a')], writes: [added(0, 1)], stored },
    ],
  ])('%s', (_, part, promises) => {
    expect(broken(part, promises)).toEqual([]);
  });
});

describe('a history that breaks one', () => {
  it.each<[string, Partial<History>, RegExp, Promises?]>([
    [
      'a row that a later response lacks',
      { writes: [added(10, 20)], stored, reads: [one(20, 21)] },
      /missing, not sold Rex 1/,
    ],
    [
      'a row that a later list lacks',
      { writes: [added(10, 20)], stored, reads: [list(20, 21, {})] },
      /missing/,
    ],
    [
      'an old row after the bound',
      {
        writes: [added(0, 1), changed(10, 20, 'sold Max 2')],
        stored: [{ id: 1, value: 'sold Max 2' }],
        reads: [one(5_020, 5_021, 'sold Rex 1')],
      },
      /is sold Rex 1, not sold Max 2/,
    ],
    [
      'a deleted row that a list shows again',
      {
        writes: [added(0, 1), changed(10, 20, undefined)],
        reads: [list(5_020, 5_021, {}), list(5_022, 5_023, {}, rex)],
      },
      /is sold Rex 1, not gone/,
    ],
    [
      'a row that is shown before it is written',
      { writes: [added(10, 20)], stored, reads: [one(5, 9, 'sold Rex 1')] },
      /nobody wrote/,
    ],
    ['a value that nobody wrote', { reads: [list(5, 9, {}, rex)] }, /which nobody wrote/],
    [
      'a row that one response shows and a later one does not',
      {
        writes: [added(10, 90)],
        stored,
        reads: [one(15, 18, 'sold Rex 1'), one(19, 20)],
      },
      /missing/,
    ],
    [
      'an animal twice in a list',
      { posts: [posted(1)], reads: [list(5, 9, {}, rex, ['pet:2', 'sold Rex 1'])] },
      /twice/,
    ],
    ['a row that is lost', { writes: [added(0, 1)] }, /stored: pet:1 is missing/],
    [
      'a row with an old value',
      { writes: [added(0, 1), changed(10, 20, 'sold Max 2')], stored },
      /stored: pet:1 is sold Rex 1/,
    ],
    ['a row that nobody sent', { stored }, /stored: 1 is sold Rex 1, which nobody wrote/],
    [
      'an animal that is added twice',
      { posts: [posted(1)], writes: [added(0, 1)], stored: [...stored, { id: 2, value: 'sold Rex 1' }] },
      /added 2 times/,
    ],
    [
      'retries with two responses',
      { posts: [posted(1, 'a'), { ...posted(2, 'a'), value: 'sold Rex 2' }] },
      /a retry got/,
    ],
    [
      'a key that works after its second',
      { writes: [...ended(20)], reads: [one(1_020, 1_021, 'works', 'key:1')] },
      /works/,
    ],
    [
      'a key that works where it was ended',
      { writes: [...ended(20, 1)], reads: [one(20, 21, 'works', 'key:1')] },
      /works/,
    ],
    [
      'a key that is refused before its end',
      { writes: [...ended(20)], reads: [one(5, 6, undefined, 'key:1')] },
      /key:1 is missing/,
    ],
    ['an unexpected status', { exchanges: [request(5, 8, 500)] }, /500/],
    ['an error without its body', { exchanges: [request(5, 8, 503, 'no JSON: Bad Gateway')] }, /no JSON/],
    ['a request that hangs', { exchanges: [request(5, 15_006, 200)] }, /took 15001 ms/],
    ['a connection that breaks', { exchanges: [request(5, 8)] }, /aborted/],
    ['more than the limit', { counted: used(2, 1, 0, -1) }, /4 were admitted, not 3/],
    [
      'more than twice the limit while Redis is away',
      { counted: used(2, 1, 0, 2, 1, 0, 0), faults: [fault('redis killed', 25, 900)] },
      /7 were admitted, not 6/,
    ],
    ['a count that is left out', { counted: used(2, 2, 1) }, /the same count, 2 left/],
    ['a refusal below the limit', { counted: [...used(2, 1), counted(50, 0, 429)] }, /below the limit/],
    ['headers with another limit', { counted: [{ ...counted(0, 2), limit: 5 }] }, /2 of 5 are left/],
    [
      'more than the clock explains',
      { counted: used(2, 1, 0, 2, 1, 0, 2, 1, 0, 0, 0, 0, 0), faults: [fault('clock set', 25, 28)] },
      /under other clocks/,
      ALONE,
    ],
    ['an instance that does not heal', { heals: [30_001] }, /30001 ms after/],
  ])('%s', (_, part, message, promises) => {
    expect(broken(part, promises)).toEqual([expect.stringMatching(message)]);
  });
});
