import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { TransientMap } from './transient-map.js';

describe('a TransientMap', () => {
  it('retains no memory of deleted entries, as a Map does until the next full garbage collection', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
    const young = () => collect({ type: 'minor' });
    const oldBytes = () =>
      getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
    /** Bytes in the old generation after 5,000 values of 4 KB have come and gone, 20 at a time. */
    const retained = (map: { set(key: number, value: unknown): unknown; delete(key: number): boolean }) => {
      // From here on its table is in the old generation, as in a process that has had quiet times.
      map.set(-1, 0);
      collect();
      const before = oldBytes();
      for (let key = 0; key < 5_000; key += 1) {
        map.set(
          key,
          Array.from({ length: 500 }, () => key),
        );
        if (key >= 20) map.delete(key - 20);
        if (key % 200 === 0) young();
      }
      young();
      return oldBytes() - before;
    };
    expect(retained(new Map())).toBeGreaterThan(3_000_000);
    expect(retained(new TransientMap<number, unknown>())).toBeLessThan(1_000_000);
  });
});
