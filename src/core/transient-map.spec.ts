import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TransientMap } from './transient-map.js';

describe('a TransientMap', () => {
  it('is a Map, whatever is set and deleted', () => {
    const change = fc.record({ key: fc.nat(40), isSet: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { minLength: 600, maxLength: 2_000 }), (changes) => {
        const transient = new TransientMap<number, number>();
        const plain = new Map<number, number>();
        for (const [value, { key, isSet }] of changes.entries()) {
          if (isSet) {
            transient.set(key, value);
            plain.set(key, value);
          } else expect(transient.delete(key)).toBe(plain.delete(key));
          expect(transient.get(key)).toBe(plain.get(key));
          expect(transient.size).toBe(plain.size);
        }
        expect(transient.all()).toEqual([...plain]);
        expect(transient.first()).toEqual([...plain][0]);
        expect(transient.upTo(3)).toEqual([...plain].slice(0, 3));
        transient.clear();
        expect([transient.size, transient.first()]).toEqual([0, undefined]);
      }),
      { numRuns: 20 },
    );
  });

  it('keeps nothing of what has come and gone, as a Map does until the next full collection', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
    const young = () => collect({ type: 'minor' });
    const oldBytes = () =>
      getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
    /** How much is in the old generation after 5,000 values of 4 KB have come and gone, 20 at a time, in bytes. */
    const kept = (map: { set(key: number, value: unknown): unknown; delete(key: number): boolean }) => {
      // Its table is in the old generation from here on, as in a process that has had quiet times.
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
    expect(kept(new Map())).toBeGreaterThan(3_000_000);
    expect(kept(new TransientMap<number, unknown>())).toBeLessThan(1_000_000);
  });
});
