import { Logger } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { unavailable } from '../unavailable.js';
import { LateCommit, LateCommits, lateCommitOf } from './late-commits.js';

const LIMIT_MS = 100;
const MOST = 2;

/** A connection whose commits are answered when the test says so. */
function connection(processID: number) {
  const answers: ((error?: Error) => void)[] = [];
  const query = () =>
    new Promise((resolve, reject) =>
      answers.push((error) => (error ? reject(error) : resolve({ command: 'COMMIT' }))),
    );
  return { client: { processID, query } as unknown as PoolClient, answers };
}

let working: Set<number> | undefined;
let isReadable: boolean;
let lines: string[];
let commits: LateCommits;
const onFull = vi.fn<() => void>();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'performance'] });
  working = new Set();
  isReadable = true;
  lines = [];
  onFull.mockClear();
  const said = (line: unknown) => void lines.push(String(line));
  vi.spyOn(Logger.prototype, 'error').mockImplementation(said);
  vi.spyOn(Logger.prototype, 'log').mockImplementation(said);
  const workingOf = () => (isReadable ? Promise.resolve(working) : Promise.reject(new Error('away')));
  commits = new LateCommits('PostgreSQL', LIMIT_MS, MOST, workingOf, onFull);
});
afterEach(() => {
  commits.end();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function late(one: { client: PoolClient }): Promise<LateCommit> {
  const thrown = commits.commit(one.client, { text: 'COMMIT' }, undefined).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(LIMIT_MS + 500);
  return (await thrown) as LateCommit;
}

const isOver = async ({ over }: LateCommit) => {
  let done = false;
  void over.then(() => (done = true));
  await vi.advanceTimersByTimeAsync(0);
  return done;
};

describe('a commit', () => {
  it('that is answered in time is answered', async () => {
    const one = connection(1);
    const answer = commits.commit(one.client, { text: 'COMMIT' }, undefined);
    one.answers[0]?.();
    expect(await answer).toEqual({ command: 'COMMIT' });
    expect(commits.over(one.client)).toBeUndefined();
  });

  it.each([
    ['the server answers it', undefined],
    ['its connection is lost', new Error('Connection terminated')],
  ])('that is late is over when %s', async (_, error) => {
    const one = connection(1);
    working = new Set([1]);
    const thrown = await late(one);
    expect(lateCommitOf(unavailable('late', thrown))).toBe(thrown);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await isOver(thrown)).toBe(false);
    expect(commits.over(one.client)).toBe(thrown.over);
    one.answers[0]?.(error);
    expect(await isOver(thrown)).toBe(true);
    expect(commits.over(one.client)).toBeUndefined();
  });

  it('that the network has swallowed is over when the server does not work on it in two looks', async () => {
    const thrown = await late(connection(1));
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await isOver(thrown)).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await isOver(thrown)).toBe(true);
  });

  it('behind a pooler, which hides what the server does, stays late', async () => {
    working = undefined;
    const thrown = await late(connection(1));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await isOver(thrown)).toBe(false);
  });
});

it('while as many are late as may be, nothing is written', async () => {
  working = new Set([1, 2]);
  const first = connection(1);
  await late(first);
  expect([commits.fault, onFull.mock.calls.length]).toEqual([undefined, 0]);
  await late(connection(2));
  expect(commits.fault).toMatchObject({ status: 503 });
  expect(onFull).toHaveBeenCalledOnce();
  first.answers[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(commits.fault).toBeUndefined();
});

describe('the log', () => {
  it('has one line when commits are late, and one when none has been for a while', async () => {
    working = new Set([1]);
    for (let times = 0; times < 3; times += 1) {
      const one = connection(1);
      await late(one);
      await vi.advanceTimersByTimeAsync(3_000);
      one.answers[0]?.();
    }
    await vi.advanceTimersByTimeAsync(10_000);
    expect(lines).toEqual([
      expect.stringContaining('does not answer commits'),
      expect.stringMatching(/answers commits again, after \d+ s: 3 were late/),
    ]);
  });

  it('has none of a server that is away altogether', async () => {
    isReadable = false;
    const one = connection(1);
    await late(one);
    await vi.advanceTimersByTimeAsync(3_000);
    one.answers[0]?.(new Error('Connection terminated'));
    isReadable = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(lines.filter((line) => line.includes('does not answer commits'))).toEqual([]);
  });
});
