import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHAPE = /^pst_(?:live|test)_[0-9A-Za-z]{36}$/;
const LENGTH = 'pst_live_'.length + SECRET_LENGTH + CHECKSUM_LENGTH;

/** The regular expression, without flags, by which secret scanners find keys in any text. */
export const API_KEY_PATTERN = String.raw`\bpst_(live|test)_[0-9A-Za-z]{36}\b`;

/** The environment that a key was issued in; it is part of the key. */
export type KeyEnvironment = 'live' | 'test';

/** Makes a new key: `pst_`, environment, `_`, 30 random base62 (178 bits), 6 base62 of CRC-32 over the rest. */
export function generateApiKey(environment: KeyEnvironment): string {
  const secret = Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  const rest = `pst_${environment}_${secret}`;
  return rest + checksumOf(rest);
}

/** Whether text has the shape and the checksum of a key. A mistyped key is so refused without a database query. */
export function isWellFormedApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const rest = text.slice(0, -CHECKSUM_LENGTH);
  return text.slice(-CHECKSUM_LENGTH) === checksumOf(rest);
}

/** Whether a string is well-formed, and why not. */
export type FormVerdict =
  | { readonly wellFormed: true; readonly environment: KeyEnvironment; readonly prefix: string }
  | { readonly wellFormed: false; readonly reason: string };

/** Checks whether a string has the shape and checksum of a key, and if not, the reason. Needs no database. */
export function verifyApiKey(text: string): FormVerdict {
  if (isWellFormedApiKey(text)) {
    const environment = text.startsWith('pst_live_') ? 'live' : 'test';
    return { wellFormed: true, environment, prefix: displayablePrefixOf(text) };
  }
  return { wellFormed: false, reason: faultOf(text) };
}

/** Whether text contains a key anywhere; such text is neither stored nor logged. */
export function holdsApiKey(text: string): boolean {
  return [...text.matchAll(/pst_(?:live|test)_[0-9A-Za-z]{36}/g)].some(([key]) => isWellFormedApiKey(key));
}

/** The stored form of a key: its SHA-256 in hexadecimal. */
export function digestOf(key: string): string {
  return hash('sha256', key);
}

/** The part of a key that may be shown: `pst_live_` and four more characters. */
export function displayablePrefixOf(key: string): string {
  return key.slice(0, 'pst_live_'.length + 4);
}

function faultOf(text: string): string {
  if (!/^pst_(?:live|test)_/.test(text)) return 'It does not begin with pst_live_ or pst_test_.';
  if (text.length !== LENGTH) return `It has ${text.length} characters; a key has ${LENGTH}.`;
  if (!SHAPE.test(text)) return 'It contains a character that is not an ASCII letter or digit.';
  return 'Its checksum is wrong: it was mistyped, or it was never issued.';
}

function checksumOf(rest: string): string {
  let value = crc32(rest);
  let text = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    text = ALPHABET.charAt(value % ALPHABET.length) + text;
    value = Math.floor(value / ALPHABET.length);
  }
  return text;
}
