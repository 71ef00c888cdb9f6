import { expect, it } from 'vitest';
import { ApiError } from './api-error.js';
import type { ErrorRow } from './define-errors.js';

const row = (message: string): ErrorRow => ({ code: 'x', status: 400, message, cause: '', remedy: '' });

it.each([
  ['no placeholder', 'It failed.', { a: 'A' }, 'It failed.'],
  ['values', '{a}{b} and {a}', { a: 'A', b: 2 }, 'A2 and A'],
  ['a placeholder in a value', '{a} {b}', { a: '{b} $& $1', b: 'B' }, '{b} $& $1 B'],
  ['absent values', '{a} {b}', { a: 'A' }, 'A {b}'],
  ['no values, and names that objects inherit', '{constructor} {a}', undefined, '{constructor} {a}'],
  ['braces that are no placeholder', '{} {a-b} {{a}} {a', { a: 'A' }, '{} {a-b} {A} {a'],
  ['a long value', '{a}', { a: 'x'.repeat(501) }, `${'x'.repeat(499)}…`],
])('replaces the placeholders of a message: %s', (_, message, params, expected) => {
  const error = new ApiError(row(message), params && { params });
  expect([error.message, error.body.message]).toEqual([expected, expected]);
});

it('has the message of the row at that time, such as one in another language', () => {
  const changing: { -readonly [Member in keyof ErrorRow]: ErrorRow[Member] } = row('{a} is taken.');
  const message = () => new ApiError(changing, { params: { a: 'Rex' } }).message;
  expect(message()).toBe('Rex is taken.');
  changing.message = '{a} ist vergeben.';
  expect(message()).toBe('Rex ist vergeben.');
});
