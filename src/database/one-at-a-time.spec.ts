import { expect, it } from 'vitest';
import { OneAtATime } from './one-at-a-time.js';

it('shares the run that follows among all who ask while one runs', async () => {
  const ends: (() => void)[] = [];
  const turns = new OneAtATime(
    () =>
      new Promise<void>((resolve) => {
        ends.push(resolve);
      }),
  );
  const first = turns.run();
  const others = [turns.run(), turns.run(), turns.run()];
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await first;
  await Promise.resolve();
  expect(ends).toHaveLength(2);
  const last = turns.run();
  ends[1]?.();
  await Promise.all(others);
  await Promise.resolve();
  expect(ends).toHaveLength(3);
  ends[2]?.();
  await last;
  expect(ends).toHaveLength(3);
});
