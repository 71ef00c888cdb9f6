import { beforeEach, expect, it, vi } from 'vitest';
import { inTime, TooLateError } from './in-time.js';

const LIMIT_MS = 50;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] });
});

/** An answer that comes when it is told to. */
function asked() {
  const told: string[] = [];
  let resolve = (_answer: string): void => undefined;
  let reject = (_error: Error): void => undefined;
  const promise = new Promise<string>((...settling) => ([resolve, reject] = settling));
  inTime(promise, LIMIT_MS).then(
    (answer) => told.push(answer),
    (error: unknown) => told.push(String(error)),
  );
  return { told, resolve, reject };
}

/** Lets promises settle; no timer runs meanwhile. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

it('answers what comes in time, and leaves no timer behind', async () => {
  const { told, resolve } = asked();
  vi.advanceTimersByTime(LIMIT_MS - 1);
  expect(told).toEqual([]);
  resolve('answer');
  await settle();
  expect([told, vi.getTimerCount()]).toEqual([['answer'], 0]);
});

it('fails as the answer fails', async () => {
  const { told, reject } = asked();
  reject(new Error('broken'));
  await settle();
  expect([told, vi.getTimerCount()]).toEqual([['Error: broken'], 0]);
});

it('fails when nothing comes', async () => {
  const late = inTime(new Promise(() => undefined), LIMIT_MS).catch((error: unknown) => error);
  vi.runAllTimers();
  expect(await late).toBeInstanceOf(TooLateError);
  expect(await late).toMatchObject({ message: 'no answer within 50 ms' });
});

it('takes an answer that lies in the socket when a busy process gets to its timer', async () => {
  const { told, resolve } = asked();
  // The timer runs, then the sockets are read, then the immediates run.
  vi.advanceTimersByTime(LIMIT_MS);
  resolve('answer');
  await settle();
  vi.runAllTimers();
  await settle();
  expect(told).toEqual(['answer']);
});
