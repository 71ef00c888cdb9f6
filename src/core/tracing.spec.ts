import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTraceparent } from './tracing.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const PARENT = { traceId: TRACE, spanId: SPAN };

describe('traceparent', () => {
  it.each([
    ['the example of the specification', `00-${TRACE}-${SPAN}-01`, PARENT],
    ['a later version', `cc-${TRACE}-${SPAN}-01`, PARENT],
    ['a later version with more behind', `cc-${TRACE}-${SPAN}-01-what-the-future`, PARENT],
    ['a later version with an empty field behind', `cc-${TRACE}-${SPAN}-01-`, PARENT],
    ['nothing', '', undefined],
    ['version 00 with more behind', `00-${TRACE}-${SPAN}-01-more`, undefined],
    ['version 00 with an empty field behind', `00-${TRACE}-${SPAN}-01-`, undefined],
    ['a later version with more behind that is no field', `cc-${TRACE}-${SPAN}-01.more`, undefined],
    ['version ff', `ff-${TRACE}-${SPAN}-01`, undefined],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
    ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
    ['two headers', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`, undefined],
    [
      'two headers of a later version with more behind',
      `cc-${TRACE}-${SPAN}-01-a, cc-${TRACE}-${SPAN}-01-b`,
      undefined,
    ],
  ])('%s', (_, value, parent) => {
    expect(parseTraceparent(value)).toEqual(parent);
  });

  it('of any version and ids is read, and none with a character more, less, or another', () => {
    const hex = (length: number) => fc.stringMatching(new RegExp(`^[\\da-f]{${length}}$`));
    const place = fc.nat(54);
    const other = fc.constantFrom('g', 'A', ' ', ',', '.');
    fc.assert(
      fc.property(
        hex(2),
        hex(32),
        hex(16),
        hex(2),
        place,
        other,
        (version, traceId, spanId, flags, at, more) => {
          const value = `${version}-${traceId}-${spanId}-${flags}`;
          fc.pre(version !== 'ff' && ![traceId, spanId].some((id) => /^0+$/.test(id)));
          expect(parseTraceparent(value)).toEqual({ traceId, spanId });
          const [before, behind] = [value.slice(0, at), value.slice(at + 1)];
          for (const wrong of [
            before + more + behind,
            before + behind,
            `${value.slice(0, at)}0${value.slice(at)}`,
          ])
            expect(parseTraceparent(wrong)).toBeUndefined();
        },
      ),
    );
  });
});
