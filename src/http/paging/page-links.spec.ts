import { expect, it } from 'vitest';
import { pageLinks } from './page-links.js';

it.each([
  ['/v1/pets', '</v1/pets?cursor=c>; rel="next", </v1/pets>; rel="first"'],
  [
    '/v1/pets?limit=5&status=sold',
    '</v1/pets?limit=5&status=sold&cursor=c>; rel="next", </v1/pets?limit=5&status=sold>; rel="first"',
  ],
  ['/v1/pets?cursor=b&limit=5', '</v1/pets?limit=5&cursor=c>; rel="next", </v1/pets?limit=5>; rel="first"'],
  ['/v1/pets?a=b?c', '</v1/pets?a=b%3Fc&cursor=c>; rel="next", </v1/pets?a=b%3Fc>; rel="first"'],
  [
    '/v1/pets?a=%3E%2C%22',
    '</v1/pets?a=%3E%2C%22&cursor=c>; rel="next", </v1/pets?a=%3E%2C%22>; rel="first"',
  ],
])('the links of %s', (target, links) => {
  expect(pageLinks(target, 'c')).toBe(links);
});
