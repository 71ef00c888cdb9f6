import type { History } from './history.js';

/** The error, a history that contains it, and the expected message of the check. */
type Falsified = [what: string, wrong: History, message: RegExp];

/** Histories with one error each. If the machine was too slow for an exact count, the history with a missing count is omitted. */
export function falsified(history: History): Falsified[] {
  const stored = new Map(history.stored.map(({ id, value }) => [value, id]));
  const post = found(history.posts, ({ text, value }) => text !== undefined && stored.has(value));
  const id = stored.get(post.value);
  const added = found(history.writes, ({ subject, via }) => subject === `pet:${id}` && via === 'http');
  const start = (added.end ?? 0) + 15;
  const late = { start, end: start + 1, on: 0, what: 'GET late', about: `pet:${id}`, shows: new Map() };
  const disturbing = history.faults.filter(({ kind }) => /^redis|^clock|killed$/.test(kind));
  const exact = history.counted.filter(
    ({ status, end, reset }) =>
      status === 200 && !disturbing.some((fault) => fault.start <= end && fault.end >= reset - 65_000),
  );
  const ended = found(
    history.writes,
    ({ subject, value, end }) => isKey(subject) && !value && end !== undefined,
  );
  const used = { start: (ended.end ?? 0) + 5_100, end: (ended.end ?? 0) + 5_101, on: 0, what: 'used' };
  const twice = { id: -1, value: post.value };
  return [
    [
      'a row is lost',
      { ...history, stored: history.stored.filter((row) => row.id !== id) },
      /stored: .*missing/,
    ],
    ['a row is added twice', { ...history, stored: [...history.stored, twice] }, /was added 2 times/],
    ['a response is 15 ms too old', { ...history, reads: [...history.reads, late] }, /GET late .*missing/],
    ...exact
      .slice(0, 1)
      .map((counted): Falsified => [
        'a count is left out',
        { ...history, counted: [counted, ...history.counted] },
        /the same count/,
      ]),
    [
      'a key works 5 s after its end',
      {
        ...history,
        reads: [
          ...history.reads,
          { ...used, about: ended.subject, shows: new Map([[ended.subject, 'works']]) },
        ],
      },
      /used .*works/,
    ],
    [
      'a request ends with 500',
      { ...history, exchanges: [...history.exchanges, { ...late, status: 500, allowed: [200] }] },
      /500/,
    ],
  ];
}

const isKey = (subject: string): boolean => subject.startsWith('key:');

function found<T>(all: readonly T[], is: (one: T) => boolean): T {
  const one = all.find(is);
  if (one === undefined) throw new Error('The run was too short to be falsified');
  return one;
}
