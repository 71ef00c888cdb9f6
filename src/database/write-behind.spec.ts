import { Logger } from '@nestjs/common';
import { describe, expect, it, vi } from 'vitest';
import type { Transactions } from './transactions/transactions.js';
import { unavailable } from './unavailable.js';
import { WriteBehind, type WriteBehindMessages } from './write-behind.js';

/** Writes numbers, and fails while `isBroken`. */
class Numbers extends WriteBehind {
  readonly written: number[][] = [];
  isBroken = false;
  noted: number[] = [];

  constructor(messages: WriteBehindMessages = { failing: 'cannot be written', recovered: 'written again' }) {
    super({} as Transactions, new Logger('Numbers'), messages);
  }

  protected write(): Promise<void> {
    if (this.isBroken) return Promise.reject(new Error('broken'));
    this.written.push(this.noted);
    this.noted = [];
    return Promise.resolve();
  }
}

describe('a delayed write', () => {
  it('is not written when something stops that never started', async () => {
    const numbers = new Numbers();
    await numbers.onModuleDestroy();
    expect(numbers.written).toEqual([]);
  });

  it('is written at the start of a second, no matter when the process started', async () => {
    vi.useFakeTimers({ now: 10_400 });
    try {
      const early = new Numbers();
      early.onModuleInit();
      await vi.advanceTimersByTimeAsync(300);
      const late = new Numbers();
      late.onModuleInit();
      await vi.advanceTimersByTimeAsync(299);
      expect([early.written.length, late.written.length]).toEqual([0, 0]);
      await vi.advanceTimersByTimeAsync(2);
      expect([early.written.length, late.written.length]).toEqual([1, 1]);
      await vi.advanceTimersByTimeAsync(1_000);
      expect([early.written.length, late.written.length]).toEqual([2, 2]);
      await Promise.all([early.onModuleDestroy(), late.onModuleDestroy()]);
      await vi.advanceTimersByTimeAsync(5_000);
      expect([early.written.length, late.written.length]).toEqual([3, 3]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('does not repeat what is already logged', async () => {
    const numbers = new Numbers();
    const logged = [vi.spyOn(Logger.prototype, 'error'), vi.spyOn(Logger.prototype, 'log')];
    const write = vi.spyOn(numbers as unknown as { write(): Promise<void> }, 'write');
    write.mockRejectedValueOnce(unavailable('the database does not respond', new Error('away'), true));
    await numbers.flush();
    await numbers.flush();
    expect(logged.map(({ mock }) => mock.calls)).toEqual([[], []]);
  });

  it('is written one write at a time, and all requests in the meantime share the next', async () => {
    const numbers = new Numbers();
    const waits: (() => void)[] = [];
    vi.spyOn(numbers as unknown as { write(): Promise<void> }, 'write').mockImplementation(
      () => new Promise((resolve) => waits.push(resolve)),
    );
    // A call right after the previous write has ended, before the next one starts.
    const again = numbers.flush().then(() => numbers.flush());
    const others = [numbers.flush(), numbers.flush()];
    expect(waits).toHaveLength(1);
    waits[0]?.();
    await expect.poll(() => waits.length).toBeGreaterThan(1);
    for (const end of waits) end();
    await Promise.all([again, ...others]);
    expect(waits).toHaveLength(2);
  });

  it('logs once that it fails, and once that it succeeds again', async () => {
    const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    const log = vi.spyOn(Logger.prototype, 'log').mockReturnValue();
    const numbers = new Numbers();
    for (let outage = 1; outage <= 2; outage += 1) {
      numbers.isBroken = true;
      await numbers.flush();
      await numbers.flush();
      expect([error.mock.calls.length, log.mock.calls.length]).toEqual([outage, outage - 1]);
      numbers.isBroken = false;
      await numbers.flush();
      await numbers.flush();
      expect([error.mock.calls.length, log.mock.calls.length]).toEqual([outage, outage]);
    }
    expect(error).toHaveBeenCalledWith('cannot be written', new Error('broken'));
    expect(log).toHaveBeenCalledWith('written again');
  });
});
