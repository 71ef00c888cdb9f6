import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entityTag, namesEntityTag } from './conditional-get.js';

const text = fc.string({ unit: 'binary' });

describe('an entity tag', () => {
  it('is strong, and the same only for the same body and link', () => {
    fc.assert(
      fc.property(text, text, text, text, (body, link, otherBody, otherLink) => {
        const tag = entityTag(body, link);
        expect(tag).toMatch(/^"[\w-]{22}"$/);
        expect(entityTag(body, link)).toBe(tag);
        fc.pre(!link.includes('\n') && !otherLink.includes('\n'));
        const same = Buffer.from(`${body}${link}`).equals(Buffer.from(`${otherBody}${otherLink}`));
        if (!same) expect(entityTag(otherBody, otherLink)).not.toBe(tag);
      }),
    );
  });
});

describe('If-None-Match', () => {
  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['"b",W/"a","c"', true],
    ['*', true],
    [' * ', true],
    ['"b"', false],
    ['a', false],
    ['""', false],
    ['"a', false],
    ['"A"', false],
    ['', false],
  ])('%s names "a": %s', (header, expected) => {
    expect(namesEntityTag(header, '"a"')).toBe(expected);
  });
});
