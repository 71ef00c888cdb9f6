import { expect, it } from 'vitest';
import { AddressTurns } from './api-key.guard.js';

/** Work that begins and ends when it is told to. */
function work(log: string[], name: string) {
  let finish!: (failure?: Error) => void;
  const done = new Promise<string>((resolve, reject) => {
    finish = (failure) => (failure ? reject(failure) : resolve(name));
  });
  const run = (): Promise<string> => {
    log.push(name);
    return done;
  };
  return { run, finish };
}

it('runs what comes from one address one after the other, and other addresses beside it', async () => {
  const turns = new AddressTurns();
  const log: string[] = [];
  const [first, second, other] = [work(log, 'first'), work(log, 'second'), work(log, 'other')];
  const results = [turns.run('a', first.run), turns.run('a', second.run), turns.run('b', other.run)];
  expect(log).toEqual(['first', 'other']);
  first.finish();
  await results[0];
  await Promise.resolve();
  expect(log).toEqual(['first', 'other', 'second']);
  second.finish();
  other.finish();
  expect(await Promise.all(results)).toEqual(['first', 'second', 'other']);
});

it('goes on after work that failed, which only its own caller is told', async () => {
  const turns = new AddressTurns();
  const log: string[] = [];
  const [first, second] = [work(log, 'first'), work(log, 'second')];
  const results = [turns.run('a', first.run), turns.run('a', second.run)];
  first.finish(new Error('away'));
  second.finish();
  await expect(results[0]).rejects.toThrow('away');
  expect(await results[1]).toBe('second');
});
