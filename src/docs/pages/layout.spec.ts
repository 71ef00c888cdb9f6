import { expect, it } from 'vitest';
import { relativeTo } from './layout.js';

it.each([
  ['/', '/docs', './docs'],
  ['/docs', '/docs/errors', './docs/errors'],
  ['/docs', '/', './'],
  ['/docs/', '/docs/errors', '../docs/errors'],
  ['/docs/guides/a', '/', '../../'],
])('at %s the address of %s is %s', (page, path, address) => {
  expect(relativeTo(page, path)).toBe(address);
});
