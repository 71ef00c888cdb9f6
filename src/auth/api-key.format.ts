import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
/** A key with any prefix, because API_KEY_PREFIX may have changed since it was issued. The checksum distinguishes it from other text. */
const SHAPE = /^[a-z][a-z0-9]{1,9}_(?:live|test)_[0-9A-Za-z]{36}$/;
const PREFIX_FORM = /^[a-z][a-z0-9]{1,9}_(?:live|test)_/;
const MAX_PREFIX_LENGTH = 10;

/** A regular expression, without flags, with which secret scanners find keys with any prefix in text. */
export const API_KEY_PATTERN = String.raw`\b[a-z][a-z0-9]{1,9}_(live|test)_[0-9A-Za-z]{36}\b`;

/** The environment that a key was issued for, which is part of the key. */
export type KeyEnvironment = 'live' | 'test';

/**
 * Generates a key: prefix, `_`, environment, `_`, 30 random base62 characters (178 bits), and the CRC-32 of all that in 6 base62
 * characters.
 */
export function generateApiKey(environment: KeyEnvironment, prefix = 'pst'): string {
  const secret = Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  const rest = `${prefix}_${environment}_${secret}`;
  return rest + checksumOf(rest);
}

/** Whether a text has the format of a key, but not necessarily its checksum. */
export function hasApiKeyShape(text: string): boolean {
  return SHAPE.test(text);
}

/** Whether a text has the format and checksum of a key. A mistyped key is refused without a database query. */
export function isWellFormedApiKey(text: string): boolean {
  if (!hasApiKeyShape(text)) return false;
  const rest = text.slice(0, -CHECKSUM_LENGTH);
  return text.slice(-CHECKSUM_LENGTH) === checksumOf(rest);
}

/** Whether a string is a well-formed key, and if not, why. */
export type FormatVerdict =
  | { readonly wellFormed: true; readonly environment: KeyEnvironment; readonly prefix: string }
  | { readonly wellFormed: false; readonly reason: string };

/** Checks the format and checksum of a key without a database, and reports why a string is not a key. */
export function verifyApiKey(text: string): FormatVerdict {
  if (isWellFormedApiKey(text)) {
    const environment = text.includes('_live_') ? 'live' : 'test';
    return { wellFormed: true, environment, prefix: displayablePrefixOf(text) };
  }
  return { wellFormed: false, reason: reasonOf(text) };
}

/** Whether a text contains a key. Such text is neither stored nor logged. */
export function holdsApiKey(text: string): boolean {
  return [...text.matchAll(/_(?:live|test)_[0-9A-Za-z]{36}/g)].some(({ 0: rest, index }) => {
    // Letters may precede the prefix, so every length is tried.
    const before = text.slice(Math.max(0, index - MAX_PREFIX_LENGTH), index);
    return Array.from(before, (_, at) => before.slice(at) + rest).some(isWellFormedApiKey);
  });
}

/** The stored form of a key: its SHA-256 in hexadecimal. */
export function digestOf(key: string): string {
  return hash('sha256', key);
}

/** The part of a key that may be displayed: such as `pst_live_` and four more characters. */
export function displayablePrefixOf(key: string): string {
  return key.slice(0, key.lastIndexOf('_') + 5);
}

/**
 * The displayable part of the beginning of a key, which must include at least one character after the environment, and may end with an
 * ellipsis. Undefined for any other text, and for a whole key.
 */
export function partialPrefixOf(text: string): string | undefined {
  return /^([a-z][a-z0-9]{1,9}_(?:live|test)_[0-9A-Za-z]{1,4})[0-9A-Za-z]{0,31}…?$/.exec(text)?.[1];
}

/** Whether a text starts like the keys issued with a prefix, or has the format of a key with another prefix. */
export function resemblesApiKey(text: string, prefix: string): boolean {
  return text.startsWith(`${prefix}_`) || SHAPE.test(text);
}

function reasonOf(text: string): string {
  const [start] = PREFIX_FORM.exec(text) ?? [];
  if (start === undefined) return 'It does not begin with a prefix and _live_ or _test_.';
  const length = start.length + SECRET_LENGTH + CHECKSUM_LENGTH;
  if (text.length !== length) return `It has ${text.length} characters; a key has ${length}.`;
  if (!SHAPE.test(text)) return 'It contains a character that is not an ASCII letter or digit.';
  return 'Its checksum is wrong: it was mistyped, or it was never issued.';
}

function checksumOf(rest: string): string {
  let value = crc32(rest);
  let text = '';
  for (let position = 0; position < CHECKSUM_LENGTH; position += 1) {
    text = ALPHABET.charAt(value % ALPHABET.length) + text;
    value = Math.floor(value / ALPHABET.length);
  }
  return text;
}
