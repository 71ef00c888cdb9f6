import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { TurnBatch } from './turn.js';

it('makes the calls of a turn together, in order, each in its own async context', async () => {
  const context = new AsyncLocalStorage<string>();
  const made: unknown[] = [];
  const batch = new TurnBatch((name: string) => made.push([name, context.getStore()]));
  for (const name of ['a', 'b', 'c']) context.run(`of ${name}`, () => batch.add(name));
  await Promise.resolve();
  expect(made).toEqual([]);
  await nextTurn();
  expect(made).toEqual([
    ['a', 'of a'],
    ['b', 'of b'],
    ['c', 'of c'],
  ]);
});

it('makes at most as many as it may at once, and then the next ones', async () => {
  const made: number[][] = [];
  const batch = new TurnBatch(
    (number: number) => made.at(-1)?.push(number),
    () => {
      do made.push([]);
      while (batch.run(2) > 0);
    },
  );
  for (let number = 0; number < 5; number += 1) batch.add(number);
  await nextTurn();
  expect(made).toEqual([[0, 1], [2, 3], [4], []]);
});

it('makes the other calls although one throws, which is then uncaught', async () => {
  const made: string[] = [];
  const batch = new TurnBatch((name: string) => {
    if (name === 'b') throw new Error('of b');
    made.push(name);
  });
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const thrown = once(process, 'uncaughtException');
  for (const name of ['a', 'b', 'c']) batch.add(name);
  const [error] = (await thrown) as [Error];
  for (const listener of listeners) process.on('uncaughtException', listener);
  expect([made, error.message]).toEqual([['a', 'c'], 'of b']);
});
