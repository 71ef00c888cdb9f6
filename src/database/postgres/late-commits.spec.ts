import { Logger } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { unavailable } from '../unavailable.js';
import { LateCommit, LateCommits, lateCommitOf } from './late-commits.js';

const LIMIT_MS = 100;
const MOST = 2;

/** A connection whose commits are answered when the test says so. */
function connection() {
  const answers: ((error?: Error) => void)[] = [];
  const query = () =>
    new Promise((resolve, reject) =>
      answers.push((error) => (error ? reject(error) : resolve({ command: 'COMMIT' }))),
    );
  return { client: { query } as unknown as PoolClient, answers };
}

let lines: string[];
let commits: LateCommits;
let isAtWork: boolean;
const onFull = vi.fn<() => void>();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'performance'] });
  lines = [];
  isAtWork = true;
  onFull.mockClear();
  const said = (line: unknown) => void lines.push(String(line));
  vi.spyOn(Logger.prototype, 'error').mockImplementation(said);
  vi.spyOn(Logger.prototype, 'log').mockImplementation(said);
  commits = new LateCommits('PostgreSQL', LIMIT_MS, MOST, () => Promise.resolve(isAtWork), onFull);
});
afterEach(() => commits.giveUp());

async function late(one: { client: PoolClient }): Promise<LateCommit> {
  const thrown = commits.commit(one.client, { text: 'COMMIT' }).catch((error: unknown) => error);
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
  it.each([
    ['the server answers it', undefined],
    [
      'the server ends its session',
      Object.assign(new Error('terminating'), { severity: 'FATAL', code: '57P01' }),
    ],
  ])('that is late is over when %s', async (_, error) => {
    const one = connection();
    const thrown = await late(one);
    expect(lateCommitOf(unavailable('late', thrown))).toBe(thrown);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await isOver(thrown)).toBe(false);
    expect(commits.over(one.client)).toBe(thrown.over);
    one.answers[0]?.(error);
    expect(await isOver(thrown)).toBe(true);
    expect(commits.over(one.client)).toBeUndefined();
  });

  it('that is late is over when the server works on none any more', async () => {
    const thrown = await late(connection());
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await isOver(thrown)).toBe(false);
    isAtWork = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await isOver(thrown)).toBe(true);
    expect(lines).toHaveLength(2);
  });

  it.each([true, false])(
    'whose connection is lost is over unless the server works on it: %s',
    async (isWorking) => {
      const one = connection();
      const thrown = await late(one);
      isAtWork = isWorking;
      one.answers[0]?.(new Error('Connection terminated unexpectedly'));
      expect(await isOver(thrown)).toBe(!isWorking);
    },
  );

  it('that the network has swallowed is over when it is given up', async () => {
    const thrown = await late(connection());
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await isOver(thrown)).toBe(false);
    commits.giveUp();
    expect(await isOver(thrown)).toBe(true);
  });
});

it('while as many are late as may be, nothing is written', async () => {
  const first = connection();
  await late(first);
  expect([commits.fault, onFull.mock.calls.length]).toEqual([undefined, 0]);
  await late(connection());
  expect(commits.fault).toMatchObject({ status: 503 });
  expect(onFull).toHaveBeenCalledOnce();
  first.answers[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(commits.fault).toBeUndefined();
});

describe('the log', () => {
  it('has one line when commits are late, and one when none has been for a while', async () => {
    for (let times = 0; times < 3; times += 1) {
      const one = connection();
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
});
