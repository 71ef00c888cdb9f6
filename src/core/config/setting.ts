import { isIP } from 'node:net';
import { DATABASE_URL_ALLOWED, sqlitePathError, readDatabaseUrl } from './database-url.js';
import { parseInstant } from '../time/instant.js';
import { REDIS_URL_ALLOWED, readRedisUrl } from './redis-url.js';

/** How to parse a kind of setting. You can define your own. */
export interface SettingType<T> {
  /** The allowed values, to complete "must be …". */
  readonly mustBe: string;
  /** The value; undefined if the text is invalid. */
  parse(text: string): T | undefined;
  /** A sentence about an invalid text, which must not be quoted, if `mustBe` is not enough to find the error. */
  hint?(text: string): string | undefined;
  /** Converts a value to text that `parse` accepts, for the docs; required unless values are strings, numbers or booleans. */
  format?(value: T): string;
}

/** An integer within inclusive bounds. */
export function wholeNumber(min: number, max: number): SettingType<number> {
  return {
    mustBe: `a whole number from ${min} to ${max}`,
    parse(text) {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  };
}

/** `true` or `false`. */
export const flag: SettingType<boolean> = {
  mustBe: 'true or false',
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
};

/** Text of at most this length, without surrounding white space. */
export function textUpTo(maxLength: number): SettingType<string> {
  return {
    mustBe: `a string of at most ${maxLength} characters`,
    parse: (value) => (value.length <= maxLength ? value : undefined),
  };
}

/** An absolute http or https URL. If it may contain a password or token, declare the setting as secret. */
export const httpUrl: SettingType<string> = {
  mustBe: 'a URL that begins with http:// or https://',
  parse: (value) => (/^https?:\/\/./.test(value) && URL.canParse(value) ? value : undefined),
};

/** A TCP port, or `off` (null). Port 0 selects any free port. */
export const portOrOff: SettingType<number | null> = {
  mustBe: 'a port from 0 to 65535 (0 selects a free port), or off',
  parse: (value) => (value === 'off' ? null : wholeNumber(0, 65_535).parse(value)),
};

/** `on` (1), `off` (0), or a share between them. */
export const share: SettingType<number> = {
  mustBe: 'on, off, or a share from 0.0001 to 1, such as 0.01',
  parse(text) {
    if (text === 'on' || text === 'off') return text === 'on' ? 1 : 0;
    const value = /^(?:1|0?\.\d{1,4})$/.test(text) ? Number(text) : 0;
    return value > 0 ? value : undefined;
  },
  format: (value) => (value === 1 ? 'on' : value === 0 ? 'off' : String(value)),
};

/** One of these words. */
export function oneOf<const Word extends string>(...allowed: Word[]): SettingType<Word> {
  return {
    mustBe: `one of ${allowed.join(', ')}`,
    parse: (text) => allowed.find((word) => word === text),
  };
}

/** A host name or IP address to listen on. */
export const host: SettingType<string> = {
  mustBe: 'an IP address or a host name',
  parse: (text) => (isIP(text) !== 0 || /^[A-Za-z0-9.-]{1,253}$/.test(text) ? text : undefined),
};

/** The database: an SQLite file, memory, or PostgreSQL. */
export const databaseUrl: SettingType<string> = {
  mustBe: DATABASE_URL_ALLOWED,
  parse: (text) => (readDatabaseUrl(text) ? text : undefined),
  hint: sqlitePathError,
};

/** The path of a file. */
export const filePath: SettingType<string | null> = {
  mustBe: 'the path of a file',
  parse: (text) => text,
};

/** The URL of a Redis server, a Sentinel group or a Redis Cluster. */
export const redisUrl: SettingType<string> = {
  mustBe: REDIS_URL_ALLOWED,
  parse: (text) => (readRedisUrl(text) ? text : undefined),
};

/** An absolute http(s) URL, or a path with a leading slash; without trailing slash, query or fragment. */
export const baseUrl: SettingType<string> = {
  mustBe: 'a path such as /v1 or an http(s) URL that ends in /v1, without query, fragment or trailing slash',
  parse(text) {
    if (!text.endsWith('/v1')) return undefined;
    if (/^\/[\w./~-]*$/.test(text)) return text;
    if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return undefined;
    const { search, hash } = new URL(text);
    return search === '' && hash === '' ? text : undefined;
  },
};

/** Comma-separated origins, or `*`. */
export const origins: SettingType<readonly string[]> = {
  mustBe: '* or origins such as https://shop.example, separated by commas',
  parse(text) {
    const list = listIn(text);
    if (list.length === 1 && list[0] === '*') return list;
    return list.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)
      ? list
      : undefined;
  },
  format: (list) => list.join(','),
};

/** The proxies whose X-Forwarded-For is trusted: a number of hops, or address ranges; null for none. */
export const trustedProxies: SettingType<number | readonly string[] | null> = {
  mustBe: 'the number of proxies in front (1 to 32) or their addresses as CIDRs, separated by commas',
  parse(text) {
    if (/^\d+$/.test(text)) return wholeNumber(1, 32).parse(text);
    return networks.parse(text);
  },
};

/** Comma-separated networks as CIDRs; a single address is a network of one. */
export const networks: SettingType<readonly string[]> = {
  mustBe: 'networks as CIDRs such as 10.0.0.0/8, separated by commas',
  parse(text) {
    const list = listIn(text);
    return list.every(isAddressRange) ? list : undefined;
  },
  format: (list) => list.join(','),
};

function listIn(text: string): string[] {
  return text.split(',').map((one) => one.trim());
}

function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  // A prefix of 0 would include every address.
  return (
    prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
  );
}

/** A timestamp as ISO 8601 text in UTC; the value is in milliseconds since the Unix epoch. */
export const instant: SettingType<number> = {
  mustBe: 'an instant in UTC such as 2031-06-01T00:00:00Z',
  parse: (text) => parseInstant(text)?.getTime(),
  // 0 means unset.
  format: (value) => (value === 0 ? '' : new Date(value).toISOString().replace('.000Z', 'Z')),
};
