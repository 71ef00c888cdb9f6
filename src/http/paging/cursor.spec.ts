import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decodeCursor } from './pager.js';

describe('a cursor', () => {
  it.each(['', 'x', '{"a":1}', '[1]', '[', 'null', '["a\\u0000"]', '["\\ud800"]'])(
    'forged around %j is refused, not believed',
    (text) => {
      const tail = Buffer.from(text).toString('base64url');
      const digest = createHash('sha256').update(`list\n${tail}`).digest('base64url').slice(0, 8);
      expect(() => decodeCursor(digest + tail, 'list')).toThrow(/details/);
    },
  );
});
