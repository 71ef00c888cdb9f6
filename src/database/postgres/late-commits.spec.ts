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

it.each<[what: string, error: Error | undefined, isCertain: boolean]>([
  ['is answered', undefined, true],
  [
    'is answered by the end of its session',
    Object.assign(new Error('terminating'), { severity: 'FATAL' }),
    true,
  ],
  ['loses its connection', new Error('Connection terminated unexpectedly'), false],
])(
  'a late commit that %s leaves its connection free; it is over at once: %s %s',
  async (_, error, isCertain) => {
    const late = commits();
    const { client, answer } = connection();
    const { done, over } = late.send(client, { text: 'COMMIT' });
    const failure = done.catch((thrown: unknown) => thrown);
    await vi.advanceTimersByTimeAsync(LIMIT_MS + 500);
    expect(await failure).toBeInstanceOf(LateCommit);
    expect(late.fault).toMatchObject({ status: 503 });
    await vi.advanceTimersByTimeAsync(3_600_000);
    const free = late.free(client);
    expect([await isDone(free), await isDone(over)]).toEqual([false, false]);
    answer(error);
    expect([await isDone(free), await isDone(over)]).toEqual([true, isCertain]);
    expect([late.fault, late.free(client)]).toEqual([undefined, undefined]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await isDone(over)).toBe(true);
  },
);

it('a statement behind a commit is waited for no longer than a commit', async () => {
  const query = vi
    .fn<() => Promise<object>>()
    .mockResolvedValueOnce({})
    .mockReturnValue(new Promise(() => undefined));
  const { ask } = commits().send({ query } as unknown as PoolClient, { text: 'COMMIT' });
  const asked = ask('SELECT 1', []).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(LIMIT_MS + 500);
  expect(await asked).toBeInstanceOf(LateCommit);
});

it('a late commit is waited for no longer where the server does not work on it', async () => {
  const late = commits();
  const { client } = connection();
  late.send(Object.assign(client, { processID: 7 }), { text: 'COMMIT' }).done.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(LIMIT_MS + 500);
  const free = late.free(client);
  late.giveUpOthers(late.processes);
  expect(await isDone(free)).toBe(false);
  late.giveUpOthers([8]);
  expect([await isDone(free), late.fault]).toEqual([true, undefined]);
});
