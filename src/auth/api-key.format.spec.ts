import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  API_KEY_PATTERN,
  digestOf,
  generateApiKey,
  holdsApiKey,
  isWellFormedApiKey,
  partialPrefixOf,
  verifyApiKey,
} from './api-key.format.js';

const environment = fc.constantFrom('live' as const, 'test' as const);
const key = environment.map(generateApiKey);

describe('an API key', () => {
  it('has the form pst_, environment, 30 random base62, 6 of checksum', () => {
    fc.assert(
      fc.property(environment, (tag) => {
        expect(generateApiKey(tag)).toMatch(new RegExp(`^pst_${tag}_[0-9A-Za-z]{36}$`));
      }),
    );
  });

  it('is not well-formed with any one character changed', () => {
    const other = fc.stringMatching(/^[0-9A-Za-z_ -]$/);
    fc.assert(
      fc.property(key, fc.nat(44), other, (generated, position, character) => {
        fc.pre(generated[position] !== character);
        expect(
          isWellFormedApiKey(generated.slice(0, position) + character + generated.slice(position + 1)),
        ).toBe(false);
      }),
    );
  });

  it('ends in the CRC-32 that any other program computes', () => {
    // zlib.crc32 of Python over the first 39 characters: 2,315,860,113.
    expect(isWellFormedApiKey(`pst_test_${'0'.repeat(30)}2Wj70T`)).toBe(true);
    expect(isWellFormedApiKey(`pst_test_${'0'.repeat(30)}2Wj70S`)).toBe(false);
  });

  it.each([
    `pst_prod_${'0'.repeat(30)}38G4B2`,
    `pst_test_${'0'.repeat(29)}1p5mxR`,
    `pst_test_${'0'.repeat(31)}26y51v`,
    `pst_test_${'0'.repeat(29)}-4GcMZc`,
    ` pst_test_${'0'.repeat(30)}3q36zN`,
    'hello0zNvy2',
  ])('is not %o, which ends in its checksum and has another form', (text) => {
    expect(isWellFormedApiKey(text)).toBe(false);
  });

  it('is stored as its SHA-256', () => {
    expect(digestOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('the beginning of an API key', () => {
  it.each([
    ['pst_live_4fTz', 'pst_live_4fTz'],
    ['pst_live_4', 'pst_live_4'],
    ['pst_test_4fTz…', 'pst_test_4fTz'],
    ['pst_live_4fTzAbC', 'pst_live_4fTz'],
    ['a2_live_4fTz', 'a2_live_4fTz'],
    ['abcdefghij_live_4fTz', 'abcdefghij_live_4fTz'],
    [`pst_live_${'0'.repeat(35)}`, 'pst_live_0000'],
    [`pst_live_${'0'.repeat(35)}…`, 'pst_live_0000'],
  ])('%s identifies keys that start with %s', (text, prefix) => {
    expect(partialPrefixOf(text)).toBe(prefix);
  });

  it.each([
    ['no character of the key', 'pst_live_'],
    ['another environment', 'pst_prod_4fTz'],
    ['no environment', 'pst_4fTz'],
    ['a prefix of one character', 'p_live_4fTz'],
    ['a prefix of eleven characters', 'abcdefghijk_live_4fTz'],
    ['a prefix that starts with a digit', '1st_live_4fTz'],
    ['a prefix with a capital letter', 'pSt_live_4fTz'],
    ['text before it', ' pst_live_4fTz'],
    ['text after it', 'pst_live_4fTz… '],
    ['a character that no key has', 'pst_live_-fTz'],
    ['such a character later', 'pst_live_4fTz-'],
    ['a whole key', `pst_test_${'0'.repeat(30)}2Wj70T`],
  ])('is not a text with %s', (_what, text) => {
    expect(partialPrefixOf(text)).toBeUndefined();
  });
});

/** 30 zeros as the secret, with their checksum. */
const GENUINE = `pst_test_${'0'.repeat(30)}2Wj70T`;

it('a key of any prefix is one', () => {
  const generated = generateApiKey('live', 'acme2');
  expect(verifyApiKey(generated)).toEqual({
    wellFormed: true,
    environment: 'live',
    prefix: generated.slice(0, 15),
  });
  expect(isWellFormedApiKey(generated.replace('acme2', 'acme3'))).toBe(false);
});

describe('what is reported about a string', () => {
  it.each([
    ['', 'It does not begin with a prefix and _live_ or _test_.'],
    [`pst_prod_${GENUINE.slice(9)}`, 'It does not begin with a prefix and _live_ or _test_.'],
    [` ${GENUINE}`, 'It does not begin with a prefix and _live_ or _test_.'],
    [GENUINE.slice(0, -1), 'It has 44 characters; a key has 45.'],
    [`${GENUINE}0`, 'It has 46 characters; a key has 45.'],
    ['pst_live_', 'It has 9 characters; a key has 45.'],
    [GENUINE.replace('0', '-'), 'It contains a character that is not an ASCII letter or digit.'],
    [GENUINE.replace('0', 'é'), 'It contains a character that is not an ASCII letter or digit.'],
    [`${GENUINE.slice(0, -1)}U`, 'Its checksum is wrong: it was mistyped, or it was never issued.'],
  ])('that is not a key: what is wrong with %o', (text, reason) => {
    expect(verifyApiKey(text)).toEqual({ wellFormed: false, reason });
  });
});

describe('a text', () => {
  it.each([
    ['a key alone', GENUINE, true],
    ['a key in the middle', `Bearer ${GENUINE}, please`, true],
    ['a key right behind letters', `${'x'.repeat(20)}${GENUINE}`, true],
    ['a key right behind another cut short', `pst_live_${'0'.repeat(33)}${GENUINE}`, true],
    ['a key of another prefix', `?key=3${generateApiKey('live', 'acme2')}`, true],
    ['a key behind something of its shape', `pst_live_${'0'.repeat(36)} ${GENUINE}`, true],
    ['something of its shape with another checksum', `${GENUINE.slice(0, -1)}U`, false],
    ['a key cut short', GENUINE.slice(0, -1), false],
    ['no key', 'pst_test_', false],
  ])('with %s is recognized as one that contains a key, or not', (_, text, expected) => {
    expect(holdsApiKey(text)).toBe(expected);
  });

  it('is scanned for keys with a pattern that finds every key that is a separate word', () => {
    const pattern = new RegExp(API_KEY_PATTERN);
    expect(pattern.exec(`key=${GENUINE};`)?.[0]).toBe(GENUINE);
    const acme = generateApiKey('live', 'acme2');
    expect(pattern.exec(`key=${acme};`)?.[0]).toBe(acme);
    for (const text of [`X${GENUINE}`, `${GENUINE}0`, GENUINE.slice(0, -1)])
      expect(text).not.toMatch(pattern);
  });
});
