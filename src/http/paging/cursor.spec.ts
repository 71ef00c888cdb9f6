import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor } from './pager.js';

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
          'The request contains invalid values',
        );
        const index = at % cursor.length;
        fc.pre(cursor[index] !== character);
        const changed = cursor.slice(0, index) + character + cursor.slice(index + 1);
        expect(() => decodeCursor(changed, 'listPets')).toThrow('The request contains invalid values');
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
