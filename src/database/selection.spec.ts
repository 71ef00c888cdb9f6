import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textAfterPrefix } from './selection.js';

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe('textAfterPrefix', () => {
  it.each([
    ['a', 'b'],
    ['az', 'a{'],
    ['\ud7ff', '\ue000'],
    ['a\u{10ffff}', 'b'],
    ['😀', '😁'],
    ['\uffff', '\u{10000}'],
    ['\u{10ffff}', undefined],
    ['', undefined],
  ])('of %o is %o', (prefix, expected) => {
    expect(textAfterPrefix(prefix)).toBe(expected);
  });

  it('divides all texts: those with the prefix stand from it up to there', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', 'z', '\ud7ff', '\ue000', '\uffff', '😀', '\u{10ffff}'),
    });
    fc.assert(
      fc.property(text, text, (prefix, other) => {
        const end = textAfterPrefix(prefix);
        const isWithin = byBytes(other, prefix) >= 0 && (end === undefined || byBytes(other, end) < 0);
        expect(isWithin).toBe(other.startsWith(prefix));
      }),
      { numRuns: 300 },
    );
  });
});
