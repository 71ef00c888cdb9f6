import type { PoolClient } from 'pg';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LateCommit, LateCommits } from './late-commits.js';

const LIMIT_MS = 100;
const commits = () => new LateCommits('PostgreSQL', LIMIT_MS, 1, () => undefined);

/** A connection on which the test decides when a commit gets its response. */
function connection() {
  let answer!: (error?: Error) => void;
  const query = () =>
    new Promise((resolve, reject) => (answer = (error) => (error ? reject(error) : resolve({}))));
  return { client: { query } as unknown as PoolClient, answer: (error?: Error) => answer(error) };
}

const isDone = async (promise: Promise<void> | undefined) => {
  let done = false;
  void promise?.then(() => (done = true));
  await vi.advanceTimersByTimeAsync(0);
  return done;
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it.each<[what: string, error: Error | undefined]>([
  ['gets its response', undefined],
  ['loses its connection', new Error('Connection terminated unexpectedly')],
])('a late commit keeps its connection until it %s', async (_, error) => {
  const late = commits();
  const { client, answer } = connection();
  const failure = late.send(client, { text: 'COMMIT' }).catch((thrown: unknown) => thrown);
  await vi.advanceTimersByTimeAsync(LIMIT_MS + 500);
  expect(await failure).toBeInstanceOf(LateCommit);
  expect(late.fault).toMatchObject({ status: 503 });
  await vi.advanceTimersByTimeAsync(3_600_000);
  const free = late.free(client);
  expect(await isDone(free)).toBe(false);
  answer(error);
  expect([await isDone(free), late.fault, late.free(client)]).toEqual([true, undefined, undefined]);
});

it('a late commit is waited for no longer where the server does not work on it', async () => {
  const late = commits();
  const { client } = connection();
  late.send(Object.assign(client, { processID: 7 }), { text: 'COMMIT' }).catch(() => undefined);
  await vi.advanceTimersByTimeAsync(LIMIT_MS + 500);
  const free = late.free(client);
  late.giveUpOthers(late.processes);
  expect(await isDone(free)).toBe(false);
  late.giveUpOthers([8]);
  expect([await isDone(free), late.fault]).toEqual([true, undefined]);
});
