import { performance } from 'node:perf_hooks';
import { expect, it, onTestFinished } from 'vitest';
import { EventLoopShare } from './event-loop-share.js';

/** Blocks the event loop for this many milliseconds. */
function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

it('leaves half of the event loop to others', async () => {
  const share = new EventLoopShare(() => false);
  const shares: number[] = [];
  // The minimum of several rounds: on a busy machine, time taken by other processes counts as work.
  for (let round = 0; round < 5; round += 1) {
    const before = performance.eventLoopUtilization();
    await Promise.all(Array.from({ length: 20 }, () => share.nextSlot().then(() => work(2))));
    shares.push(performance.eventLoopUtilization(before).utilization);
  }
  expect(Math.min(...shares)).toBeLessThan(0.8);
});

it('gives a slot in 10 ms while others keep the event loop busy', async () => {
  let isBusy = true;
  const busy = (): void => {
    work(1);
    if (isBusy) setImmediate(busy);
  };
  busy();
  onTestFinished(() => void (isBusy = false));
  const share = new EventLoopShare(() => false);
  const startedAt = performance.now();
  for (let slots = 0; slots < 20; slots += 1) await share.nextSlot();
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(150);
});

it('grants every slot immediately when it is over', async () => {
  const share = new EventLoopShare(() => true);
  work(5);
  let granted = 0;
  for (let slots = 0; slots < 100; slots += 1) void share.nextSlot().then(() => (granted += 1));
  await new Promise((resolve) => setImmediate(resolve));
  expect(granted).toBe(100);
});
