import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor, pageLinks } from './pager.js';

const position = fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 3 });

describe('a cursor', () => {
  it('is URL-safe, and leads back to its position in its own list', () => {
    fc.assert(
      fc.property(position, fc.string(), (values, list) => {
        const cursor = encodeCursor(values, list);
        expect(cursor).toMatch(/^[\w-]+$/);
        expect(decodeCursor(cursor, list)).toEqual(values);
      }),
    );
  });

  it('leads nowhere in another list, or with any character changed', () => {
    fc.assert(
      fc.property(position, fc.nat(), fc.stringMatching(/^[\w-]$/), (values, at, character) => {
        const cursor = encodeCursor(values, 'listPets');
        expect(() => decodeCursor(cursor, 'listPets status=sold')).toThrow(
          'The request holds invalid values',
        );
        const index = at % cursor.length;
        fc.pre(cursor[index] !== character);
        const changed = cursor.slice(0, index) + character + cursor.slice(index + 1);
        expect(() => decodeCursor(changed, 'listPets')).toThrow('The request holds invalid values');
      }),
    );
  });

  it.each(['', 'x', '{"a":1}', '[1]', '[', 'null', '["a\\u0000"]', '["\\ud800"]'])(
    'forged around %j is refused, not believed',
    (text) => {
      const tail = Buffer.from(text).toString('base64url');
      const digest = createHash('sha256').update(`list\n${tail}`).digest('base64url').slice(0, 8);
      expect(() => decodeCursor(digest + tail, 'list')).toThrow(/details/);
    },
  );
});

const KNOWN = new Set(['limit', 'status', 'cursor', 'text']);

it.each([
  ['', '</v1/pets?cursor=c>; rel="next", </v1/pets>; rel="first"'],
  [
    'limit=5&status=sold',
    '</v1/pets?limit=5&status=sold&cursor=c>; rel="next", </v1/pets?limit=5&status=sold>; rel="first"',
  ],
  ['cursor=b&limit=5', '</v1/pets?limit=5&cursor=c>; rel="next", </v1/pets?limit=5>; rel="first"'],
  ['text=b?c', '</v1/pets?text=b%3Fc&cursor=c>; rel="next", </v1/pets?text=b%3Fc>; rel="first"'],
  [
    'text=%3E%2C%22',
    '</v1/pets?text=%3E%2C%22&cursor=c>; rel="next", </v1/pets?text=%3E%2C%22>; rel="first"',
  ],
  ['color=red&limit=5&a', '</v1/pets?limit=5&cursor=c>; rel="next", </v1/pets?limit=5>; rel="first"'],
  ['"'.repeat(8_000), '</v1/pets?cursor=c>; rel="next", </v1/pets>; rel="first"'],
])('the links of the query %s', (query, links) => {
  expect(pageLinks('/v1/pets', query, 'c', (name) => KNOWN.has(name))).toBe(links);
});
