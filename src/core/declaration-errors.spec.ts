import { describe, expect, it } from 'vitest';
import { checkDeclaredName } from './declaration-errors.js';

type Form = Parameters<typeof checkDeclaredName>[2];

const check = (name: string, form: Form) => () => checkDeclaredName('Thing', name, form, 'an example');

/** Two words in each form. */
const JOINED: [form: Form, join: string][] = [
  ['subject.verb', '.'],
  ['feature:right', ':'],
  ['name', '.'],
];

describe.each(JOINED)('a name of the form %s', (form, join) => {
  it.each(['toy', 'toy-box', 'toy_box', 'toy2', 'a', 'a-', 't'.repeat(95)])(
    'may have the word %s',
    (word) => {
      expect(check(`${word}${join}sold`, form)).not.toThrow();
      expect(check(`boy${join}${word}`, form)).not.toThrow();
    },
  );

  it.each(['', 'Toy', '1toy', '-toy', '_toy', 'toy box', 'tøy', 'toy\n', 't'.repeat(97)])(
    'has not the word %o',
    (word) => {
      expect(check(`boy${join}${word}`, form)).toThrow(
        `Thing "boy${join}${word}" is not of the form ${form}, such as an example: each word has lower-case letters, digits, ` +
          '"-" and "_" and begins with a letter, and the name has at most 100 characters. Rename it.',
      );
    },
  );
});

it('an event has two words, a scope one or two, a listener one or more', () => {
  expect(check('toys', 'subject.verb')).toThrow('is not of the form subject.verb');
  expect(check('toys.box.sold', 'subject.verb')).toThrow('is not of the form subject.verb');
  expect(check('toys', 'feature:right')).not.toThrow();
  expect(check('toys:box:read', 'feature:right')).toThrow('is not of the form feature:right');
  expect(check('toys', 'name')).not.toThrow();
  expect(check('toys.box.mail', 'name')).not.toThrow();
});
