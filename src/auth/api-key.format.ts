import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHAPE = /^pst_(?:live|test)_[0-9A-Za-z]{36}$/;

/** Which environment a key was made for. */
export type KeyEnvironment = 'live' | 'test';

/** Makes a new key: `pst_`, environment, `_`, 30 random base62 (178 bits), 6 base62 of CRC-32 over the rest. */
export function generateApiKey(environment: KeyEnvironment): string {
  const secret = Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  const rest = `pst_${environment}_${secret}`;
  return rest + checksumOf(rest);
}

/** Whether text has the shape and the checksum of a key; needs no database, so typing errors cost nothing. */
export function isWellFormedApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const rest = text.slice(0, -CHECKSUM_LENGTH);
  return text.slice(-CHECKSUM_LENGTH) === checksumOf(rest);
}

/** What is stored of a key: its SHA-256 in hexadecimal. */
export function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** The beginning of a key that may be shown: `pst_live_` and four more characters. */
export function displayablePrefixOf(key: string): string {
  return key.slice(0, 'pst_live_'.length + 4);
}

function checksumOf(rest: string): string {
  let value = crc32(rest);
  let text = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    text = (ALPHABET[value % ALPHABET.length] ?? '') + text;
    value = Math.floor(value / ALPHABET.length);
  }
  return text;
}
