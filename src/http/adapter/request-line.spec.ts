import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { originFormOf } from './malformed-request.middleware.js';

describe('the origin form of a target', () => {
  it.each([
    ['/v1/pets', '/v1/pets'],
    ['/v1/pets?limit=1', '/v1/pets?limit=1'],
    ['//v1/pets', '//v1/pets'],
    ['http://a/v1/pets?limit=1', '/v1/pets?limit=1'],
    ['HTTPS://user@a.example:8443/v1', '/v1'],
    ['http://[::1]:80/v1', '/v1'],
    ['http://a', '/'],
    ['http://a?limit=1', '/?limit=1'],
    ['*', '*'],
  ])('of %s is %s', (target, expected) => {
    expect(originFormOf(target)).toBe(expected);
  });

  it.each([
    'http://[/v1/pets',
    'http:///v1/pets',
    'http://a:port/v1',
    'http://a b/v1',
    'ftp://a/v1',
    'v1/pets',
    'a:443',
    '?limit=1',
    '',
  ])('of %s does not exist', (target) => {
    expect(originFormOf(target)).toBeUndefined();
  });

  it('keeps path and query as they were sent, and nothing of the authority', () => {
    const part = fc.stringMatching(/^[\w.~!$&'()*+,;=:@%-]{0,20}$/);
    const target = fc
      .tuple(fc.array(part, { maxLength: 4 }), fc.option(part))
      .map(([segments, query]) => `/${segments.join('/')}${query === null ? '' : `?${query}`}`);
    fc.assert(
      fc.property(fc.webAuthority(), target, (authority, path) => {
        expect(originFormOf(`http://${authority}${path}`)).toBe(path);
      }),
    );
  });
});
