import { expect, it } from 'vitest';
import { pageLinks } from './cursor.js';

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
