import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesEntityTag } from './entity-tag.js';

describe('If-None-Match', () => {
  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['*', true],
    [' * ', true],
    ['"b"', false],
    ['a', false],
    ['""', false],
    ['"a', false],
    ['"A"', false],
    ['', false],
    [',, "b" ,, "a" ,', true],
    ['x"a"', false],
    ['"a"x', false],
    ['"a" "b"', false],
    ['"a";q=1', false],
    ['"a", b', false],
    ['b, "a"', false],
    ['"a", "b', false],
    ['W/ "a"', false],
    ['"a", *', false],
    ['*, "a"', false],
    ['"b, "a"', false],
    ['"b ", "a"', false],
    ['"b,", "a"', true],
    ['"b\\", "a"', true],
    ["'a'", false],
  ])('%s names "a": %s', (header, expected) => {
    expect(matchesEntityTag(header, '"a"')).toBe(expected);
  });

  it('of well-formed tags names each of them and no other', () => {
    const opaque = fc.stringMatching(/^[!#-~\u0080-\u00ff]{0,5}$/);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), opaque, fc.stringMatching(/^[ \t]{0,2},[ \t,]{0,2}$/))),
        opaque,
        (tags, other) => {
          const header = tags.map(([isWeak, tag, comma]) => `${isWeak ? 'W/' : ''}"${tag}"${comma}`).join('');
          for (const [, tag] of tags) expect(matchesEntityTag(header, `"${tag}"`)).toBe(true);
          const isNamed = tags.some(([, tag]) => tag === other);
          expect(matchesEntityTag(header, `"${other}"`)).toBe(isNamed);
        },
      ),
    );
  });
});
