import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LONGEST_TOLD, toldFrom, toldText } from './told-json.js';

const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
);
const name = fc.oneof(fc.string(), fc.constantFrom('$int64', '$date', '$$int64', '$', '__proto__', 'toJSON'));
const { told } = fc.letrec<{ told: unknown }>((tie) => ({
  told: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('told'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('told')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
  ),
}));

describe('what an event tells', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(told, (value) => {
        expect(toldFrom(toldText({ value }))).toEqual({ value });
      }),
    );
  });

  it('has every int64 as a bigint, small ones too', () => {
    expect(toldFrom(toldText({ id: 1n, big: 9_223_372_036_854_775_807n }))).toEqual({
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
    expect(() => toldText({ a: { b: value } })).toThrow(/^the event\.a\.b(\[0\])? cannot be stored/);
  });

  it('leaves out what is undefined, and has an end', () => {
    expect(toldText({ a: undefined })).toBe('{}');
    expect(toldText({ a: 'x'.repeat(LONGEST_TOLD - 8) })).toHaveLength(LONGEST_TOLD);
    expect(() => toldText({ a: 'x'.repeat(LONGEST_TOLD - 7) })).toThrow(RangeError);
  });
});
