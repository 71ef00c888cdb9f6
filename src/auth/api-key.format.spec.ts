import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf, displayablePrefixOf, generateApiKey, isWellFormedApiKey } from './api-key.format.js';

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

  it('is well-formed as made', () => {
    fc.assert(
      fc.property(key, (made) => {
        expect(isWellFormedApiKey(made)).toBe(true);
      }),
    );
  });

  it('is not well-formed with any one character changed', () => {
    const other = fc.stringMatching(/^[0-9A-Za-z_ -]$/);
    fc.assert(
      fc.property(key, fc.nat(44), other, (made, position, character) => {
        fc.pre(made[position] !== character);
        expect(isWellFormedApiKey(made.slice(0, position) + character + made.slice(position + 1))).toBe(
          false,
        );
      }),
    );
  });

  it('is not well-formed with neighbours swapped, cut, or lengthened', () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 9, max: 43 }), (made, at) => {
        const swapped = made.slice(0, at) + (made[at + 1] ?? '') + (made[at] ?? '') + made.slice(at + 2);
        if (swapped !== made) expect(isWellFormedApiKey(swapped)).toBe(false);
        expect(isWellFormedApiKey(made.slice(0, at))).toBe(false);
        expect(isWellFormedApiKey(`${made}0`)).toBe(false);
      }),
    );
  });

  it('is never what arbitrary text is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(isWellFormedApiKey(text)).toBe(false);
      }),
    );
  });

  it('does not repeat', () => {
    expect(new Set(Array.from({ length: 2_000 }, () => generateApiKey('test'))).size).toBe(2_000);
  });

  it('ends in the CRC-32 that any other program computes', () => {
    // zlib.crc32 of Python over the first 39 characters: 2,315,860,113.
    expect(isWellFormedApiKey(`pst_test_${'0'.repeat(30)}2Wj70T`)).toBe(true);
    expect(isWellFormedApiKey(`pst_test_${'0'.repeat(30)}2Wj70S`)).toBe(false);
  });

  it('shows no more than its first four random characters', () => {
    fc.assert(
      fc.property(key, (made) => {
        expect(displayablePrefixOf(made)).toBe(made.slice(0, 13));
      }),
    );
  });

  it('is stored as its SHA-256', () => {
    expect(digestOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
