import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonDecimal, parseExactJson, writeExactJson } from './exact-json.js';

/** The result of JSON.parse for the same text: every number is a double. */
function inDoubles(value: unknown): unknown {
  if (typeof value === 'bigint' || value instanceof JsonDecimal) return Number(value);
  if (Array.isArray(value)) return value.map(inDoubles);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inDoubles(member)]));
}

/** JSON text, or a modified version of it, which is rarely JSON. */
const almost = fc
  .tuple(
    fc.json(),
    fc.nat(),
    fc.nat(3),
    fc.constantFrom('', ...'{}[]",:\\-+.eE0tfn \n\u0000\u00a0\ufeff'.split('')),
  )
  .map(([text, at, length, insert]) => {
    const from = at % (text.length + 1);
    return text.slice(0, from) + insert + text.slice(from + length);
  });

function outcomeOf(parse: (text: string) => unknown, text: string): unknown {
  try {
    return { value: parse(text) };
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return 'refused';
  }
}

describe('a value that contains itself', () => {
  const toy: Record<string, unknown> = { name: 'Bear' };
  const boxes = [{ toys: [toy] }];
  toy['box'] = boxes[0];
  const node: Record<string, unknown> = {};
  node['parent'] = node;

  it.each([
    ['a relation', boxes, 'the result.0.toys.0.box refers back to the result.0'],
    ['the object itself', node, 'the result.parent refers back to the result'],
  ])('cannot be written: %s', (_, value, text) => {
    expect(() => writeExactJson(value)).toThrow(
      new TypeError(`A result cannot be written as JSON: ${text}.`),
    );
  });

  it('is not reported for an object that occurs twice, at any depth', () => {
    const shared = { id: 1n };
    expect(writeExactJson([shared, { shared }])).toBe('[{"id":1},{"shared":{"id":1}}]');
    let deep: object = {};
    for (let level = 0; level < 20_000; level += 1) deep = { deep };
    expect(() => writeExactJson(deep)).toThrow(RangeError);
  });
});

describe('parseExactJson', () => {
  it('accepts what JSON.parse accepts, with the same value, except for members named twice', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), almost, fc.string({ unit: 'binary' })), (text) => {
        const ours = outcomeOf((json) => inDoubles(parseExactJson(json)), text);
        const native = outcomeOf(JSON.parse, text);
        if (ours === 'refused' && native !== 'refused')
          expect(() => parseExactJson(text)).toThrow(
            /^it has (?:the member ".*" twice|a member named __proto__)$/s,
          );
        else expect(ours).toStrictEqual(native);
      }),
      { numRuns: 500 },
    );
  });

  it('preserves every integer, as a number if a double holds it and otherwise as a bigint', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (integer) => {
        const isSafe = Number.isSafeInteger(Number(integer));
        expect(parseExactJson(String(integer))).toBe(isSafe ? Number(integer) : integer);
      }),
    );
  });

  it('keeps the text of what has a fraction or an exponent, also through a copy', () => {
    for (const text of ['1.0', '-0.0', '1e3', '1E+3', '1.50e-7', '1e999', '9007199254740993.0']) {
      const { amount } = parseExactJson(`{"amount":${text}}`) as { amount: JsonDecimal };
      expect(amount).toEqual(new JsonDecimal(text));
      expect(Object.assign(new JsonDecimal(''), amount).text).toBe(text);
      expect(Number(amount)).toBe(Number(text));
    }
  });

  it('keeps each number at its own place, also where names are numbers', () => {
    expect(parseExactJson('{"b":1.0,"1":[-2,{"c":-0}],"0":-1,"-1":12345678901234567890}')).toEqual({
      0: -1,
      1: [-2, { c: -0 }],
      b: new JsonDecimal('1.0'),
      '-1': 12345678901234567890n,
    });
  });

  it('treats names of an object’s prototype as names', () => {
    const text = '{"constructor":2,"hasOwnProperty":3,"prototype":{"a":1},"toString":4}';
    const parsed = parseExactJson(text) as object;
    expect(writeExactJson(parsed)).toBe(text);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
  });
});
