import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_DATA_LENGTH, eventDataFrom, textOfEventData } from './event-data.js';

const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
);
const name = fc.oneof(fc.string(), fc.constantFrom('$int64', '$date', '$$int64', '$', '__proto__', 'toJSON'));
const { data } = fc.letrec<{ data: unknown }>((tie) => ({
  data: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('data'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('data')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
  ),
}));

describe('the data of an event', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(data, (value) => {
        expect(eventDataFrom(textOfEventData({ value }))).toEqual({ value });
      }),
    );
  });

  it('has every int64 as a bigint, small ones too', () => {
    expect(eventDataFrom(textOfEventData({ id: 1n, big: 9_223_372_036_854_775_807n }))).toEqual({
      id: 1n,
      big: 9_223_372_036_854_775_807n,
    });
  });

  it.each([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-0', -0],
    ['a function', () => undefined],
    ['a symbol', Symbol('x')],
    ['a Map', new Map()],
    ['a Buffer', Buffer.from('x')],
    ['an Error', new Error('x')],
    ['an invalid Date', new Date(Number.NaN)],
    ['undefined in an array', [undefined]],
  ])('is not %s, which would not come back', (_, value) => {
    expect(() => textOfEventData({ a: { b: value } })).toThrow(/^the event\.a\.b(\[0\])? cannot be stored/);
  });

  it('leaves out what is undefined, and has an end', () => {
    expect(textOfEventData({ a: undefined })).toBe('{}');
    expect(textOfEventData({ a: 'x'.repeat(MAX_DATA_LENGTH - 8) })).toHaveLength(MAX_DATA_LENGTH);
    expect(() => textOfEventData({ a: 'x'.repeat(MAX_DATA_LENGTH - 7) })).toThrow(RangeError);
  });
});
