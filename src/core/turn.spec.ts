import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { TurnBatch } from './turn.js';

it('makes the calls of a turn together, in order, each in its own async context', async () => {
  const context = new AsyncLocalStorage<string>();
  const made: unknown[] = [];
  const batch = new TurnBatch(
    (name: string) => made.push([name, context.getStore()]),
    () => made.push('after'),
  );
  for (const name of ['a', 'b', 'c']) context.run(`of ${name}`, () => batch.add(name));
  await Promise.resolve();
  expect(made).toEqual([]);
  await nextTurn();
  expect(made).toEqual([['a', 'of a'], ['b', 'of b'], ['c', 'of c'], 'after']);
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
