import fc from 'fast-check';
import { parse as parseLossless } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { readJson } from '../../clients/typescript/src/json/exact-json.js';
import type { Shape } from '../../clients/typescript/src/json/shape.js';
import { writeJson } from '../../clients/typescript/src/json/write-json.js';
import { linkTarget } from '../../clients/typescript/src/link.js';

const read = (text: string, shape?: Shape, form: 'bigint' | 'string' = 'bigint') =>
  readJson(text, { shape, shapes: { Tree: TREE }, form });
const TREE: Shape = { fields: { id: 'int64', children: { items: { schema: 'Tree' } } } };
/** A text that the fast way does not take: what is read of it must be the same. */
const slowly = (text: string) => (read(`[1.5,${text}]`) as unknown[])[1];
/** An integer beyond 2⁵³ that is written in digits comes out with all of them. */
const unrounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' &&
  Number.isInteger(value) &&
  !Number.isSafeInteger(value) &&
  Math.abs(value) < 1e21
    ? BigInt(String(value))
    : value;
const outcome = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return (error as Error).constructor;
  }
};
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe('the exact reader', () => {
  it('reads what JSON.parse reads, where nothing is rounded', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, '\t'), (value, space) => {
        const text = JSON.stringify(value, undefined, space);
        expect(slowly(text)).toEqual(JSON.parse(text, unrounded));
      }),
      { numRuns: 500 },
    );
  });

  it('refuses what JSON.parse refuses, and nothing else', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      'u',
      '0',
      '1',
      '-',
      '.',
      'e',
      '+',
      ' ',
      '\n',
      'true',
      'null',
      '"a"',
      '\u0001',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const text = pieces.join('');
        expect(outcome(() => slowly(text))).toEqual(
          outcome(() => (JSON.parse(`[1.5,${text}]`) as unknown[])[1]),
        );
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1},"constructor":1}',
    '"\\u2028\\\\\\""',
    '-0',
    '1E400',
    '[,]',
    '01',
    '1.',
    '.5',
    '+1',
    'NaN',
    "{'a':1}",
    '[1,]',
    '{12345678901234567890:1}',
    '"a\nb"',
    '\uFEFF1',
    '1//',
  ])('reads %j as JSON.parse does', (text) => {
    expect(outcome(() => slowly(text))).toEqual(outcome(() => (JSON.parse(`[1.5,${text}]`) as unknown[])[1]));
    const own = outcome(() => slowly(text));
    if (own !== null && typeof own === 'object') expect(Object.getPrototypeOf(own)).toBe(Object.prototype);
  });

  it('reads integers as lossless-json does, of any size', () => {
    const parseNumber = (digits: string) =>
      Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
    fc.assert(
      fc.property(fc.array(fc.array(fc.bigInt())), (lists) => {
        const text = `{"lists":[${lists.map((list) => `[${list.join()}]`).join(' , ')}]}`;
        expect(read(text)).toEqual(parseLossless(text, undefined, { parseNumber }));
      }),
    );
  });

  it('reads declared integers exactly, in either form, however they are written', () => {
    fc.assert(
      fc.property(int64, int64, (id, inner) => {
        const text = `{"id":${id},"children":[{"id":${inner}.0e0}],"other":"${id}"}`;
        expect(read(text, { schema: 'Tree' })).toEqual({ id, children: [{ id: inner }], other: String(id) });
        expect(read(text, { schema: 'Tree' }, 'string')).toEqual({
          id: String(id),
          children: [{ id: String(inner) }],
          other: String(id),
        });
      }),
    );
  });

  it.each([
    ['1.50e1', 15n],
    ['-0.5e1', -5n],
    ['1e3', 1000n],
    ['1200e-2', 12n],
    ['0e999999', 0n],
    ['-0', 0n],
    ['922337203685477580.7e1', 9223372036854775807n],
    ['1.5', SyntaxError],
    ['1e-1', SyntaxError],
    ['1e999999999', SyntaxError],
    ['9223372036854775808', SyntaxError],
    ['1.0000000000000000001', SyntaxError],
  ])('of a declared integer written %s', (text, expected) => {
    expect(outcome(() => (read(`{"id":${text}}`, TREE) as { id: bigint }).id)).toEqual(expected);
  });

  it('takes no member for declared that every object has', () => {
    const text = '{"constructor":[1],"toString":{"a":2},"hasOwnProperty":3,"__proto__":{"id":4}}';
    expect(read(text, TREE)).toEqual(JSON.parse(text));
    expect(read(text, { schema: 'constructor' })).toEqual(JSON.parse(text));
    expect(writeJson(JSON.parse(text), TREE, { Tree: TREE })).toBe(text);
  });

  it('leaves null, and what is not declared, as it is', () => {
    expect(read('{"id":null,"children":null,"x":[2.5]}', TREE)).toEqual({
      id: null,
      children: null,
      x: [2.5],
    });
    expect(read('null', TREE)).toBeNull();
  });

  it.each([
    ['{"id":"a"}', 'an integer'],
    ['{"id":[1]}', 'an integer'],
    ['{"children":{"id":7}}', 'an array'],
    ['{"children":[7]}', 'an object'],
    ['[{"id":7}]', 'an object'],
    ['"a"', 'an object'],
  ])('refuses %s, where %s belongs, with and without numbers that may be rounded', (text, belongs) => {
    expect(() => read(text, TREE)).toThrow(belongs);
    expect(() =>
      read(
        text.replace(/\}|\]|$/, (end) => (end === '}' ? ',"y":1.5}' : end)),
        TREE,
      ),
    ).toThrow(belongs);
  });

  it('leaves what may be one of several kinds as it is', () => {
    expect(read('{"id":"a"}', { fields: { id: { all: ['int64', {}] } } })).toEqual({ id: 'a' });
  });
});

describe('the writer', () => {
  it('writes what JSON.stringify writes', () => {
    const value = fc.object({
      withNullPrototype: true,
      withDate: true,
      withSparseArray: true,
      values: [
        fc.string({ unit: 'binary' }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constant(undefined),
        fc.boolean(),
        fc.constant(null),
      ],
    });
    fc.assert(
      fc.property(value, (one) => {
        expect(writeJson(one, undefined, {})).toBe(JSON.stringify(one));
      }),
    );
  });

  it('writes declared integers by their digits, and names the one that is none', () => {
    fc.assert(
      fc.property(int64, (id) => {
        const tree = { id, children: [{ id: String(id) }], other: id };
        expect(writeJson(tree, TREE, { Tree: TREE })).toBe(
          `{"id":${id},"children":[{"id":${id}}],"other":${id}}`,
        );
      }),
    );
    const wrong = { id: 1, children: [{ id: 2 }, { id: 2 ** 60 }] };
    expect(() => writeJson(wrong, TREE, { Tree: TREE })).toThrow(/^children\[1\]\.id must be an integer/);
  });
});

describe('a Link', () => {
  it.each([
    `<a>;a${' '.repeat(100_000)}x`,
    `<a>${';a'.repeat(50_000)}<`,
    `<a>;a="${'\\"'.repeat(50_000)}`,
    '<'.repeat(100_000),
  ])('that is none is refused in time that grows with its length', (value) => {
    const begun = performance.now();
    expect(() => linkTarget(value, 'next')).toThrow(SyntaxError);
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  it.each([
    ['</a>; rel="next"', '/a'],
    ['</b>; rel="first", </a>; rel="next"', '/a'],
    ['</a,b;c>;rel=next;title="x, <y>; rel=\\"first\\""', '/a,b;c'],
    ['</a>; title="rel=next"; rel="prev NEXT"', '/a'],
    ['</a>; rel="nextone", </b>; REL=next', '/b'],
    ['</b>; rel="first"', undefined],
    ['', undefined],
  ])('%s leads to %s', (value, target) => {
    expect(linkTarget(value, 'next')).toBe(target);
  });
});
