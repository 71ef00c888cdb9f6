import { isIP } from 'node:net';

/** How the value of one kind of setting is parsed. */
export interface SettingType<T> {
  /** What is allowed, in words that complete "must be …". */
  readonly allowed: string;
  /** The value, or undefined when the text is not allowed. */
  parse(text: string): T | undefined;
}

interface SettingDefinition {
  readonly variable: string;
  readonly type: SettingType<unknown>;
  readonly fallback: unknown;
  readonly secret: boolean;
}

const definitions = new Map<object, Map<string, SettingDefinition>>();

/**
 * Declares a property of a settings class. Its environment variable is the property's name in
 * SCREAMING_SNAKE case: `databaseUrl` is `DATABASE_URL`. An unset or empty variable takes the default.
 * The message of a fault does not contain a `secret` value.
 */
export function Setting<T>(type: SettingType<T>, fallback: T, options: { secret?: boolean } = {}) {
  return (target: object, property: string): void => {
    const own = definitions.get(target.constructor) ?? new Map<string, SettingDefinition>();
    const variable = property.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
    own.set(property, { variable, type, fallback, secret: options.secret ?? false });
    definitions.set(target.constructor, own);
  };
}

/** Thrown when settings are invalid; `faults` has one line for each of them. */
export class SettingsError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

/** Names of the environment variables that a settings class reads, in the order of its properties. */
export function settingVariables(settingsClass: object): string[] {
  return [...(definitions.get(settingsClass)?.values() ?? [])].map(({ variable }) => variable);
}

/** Reads every declared property from the environment; throws SettingsError naming all faults at once. */
export function readSettings<T extends object>(
  settingsClass: new () => T,
  environment: Readonly<Record<string, string | undefined>>,
): T {
  const settings = new settingsClass();
  const faults: string[] = [];
  for (const [property, { variable, type, fallback, secret }] of definitions.get(settingsClass) ?? []) {
    const text = environment[variable]?.trim() ?? '';
    const value = text === '' ? fallback : type.parse(text);
    if (value === undefined) {
      const shown = secret ? 'the value given' : JSON.stringify(text);
      faults.push(`${variable}: ${shown} is not allowed; it must be ${type.allowed}.`);
    }
    Object.assign(settings, { [property]: value });
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return settings;
}

/** A whole number within bounds, both included. */
export function wholeNumber(min: number, max: number): SettingType<number> {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    parse(text) {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  };
}

/** A TCP port, or `off` (null). Port 0 takes any free port. */
export const portOrOff: SettingType<number | null> = {
  allowed: 'a port from 0 to 65535 (0 takes any free one), or off',
  parse: (text) => (text === 'off' ? null : wholeNumber(0, 65_535).parse(text)),
};

/** One of the given words. */
export function oneOf<const Word extends string>(...words: Word[]): SettingType<Word> {
  return {
    allowed: `one of ${words.join(', ')}`,
    parse: (text) => words.find((word) => word === text),
  };
}

/** A host name or IP address to listen on. */
export const host: SettingType<string> = {
  allowed: 'an IP address or a host name',
  parse: (text) => (isIP(text) !== 0 || /^[A-Za-z0-9.-]{1,253}$/.test(text) ? text : undefined),
};

/** The database: an SQLite file, or memory. */
export const databaseUrl: SettingType<string> = {
  allowed: 'sqlite:<file> or sqlite::memory:',
  parse: (text) => (/^sqlite:[^?#]+$/.test(text) ? text : undefined),
};

/** The URL of Redis. */
export const redisUrl: SettingType<string> = {
  allowed: 'redis://host:port, or rediss:// for TLS, with user, password and database if need be',
  parse: (text) => (/^rediss?:\/\/./.test(text) && URL.canParse(text) ? text : undefined),
};

/** An absolute http(s) URL, or a path beginning with a slash; it has no trailing slash, query or fragment. */
export const baseUrl: SettingType<string> = {
  allowed: 'a path such as /v1 or an http(s) URL that ends in /v1, without query, fragment or trailing slash',
  parse(text) {
    if (!text.endsWith('/v1')) return undefined;
    if (/^\/[\w./~-]*$/.test(text)) return text;
    if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return undefined;
    const { search, hash } = new URL(text);
    return search === '' && hash === '' ? text : undefined;
  },
};

/** Origins separated by commas, or `*`. */
export const origins: SettingType<readonly string[]> = {
  allowed: '* or origins such as https://shop.example, separated by commas',
  parse(text) {
    const list = text.split(',').map((origin) => origin.trim());
    if (list.length === 1 && list[0] === '*') return list;
    return list.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)
      ? list
      : undefined;
  },
};

/** The proxies whose X-Forwarded-For is trusted: a number of hops, or address ranges; null for none. */
export const trustedProxies: SettingType<number | readonly string[] | null> = {
  allowed: 'the number of proxies in front (1 to 32) or their addresses as CIDRs, separated by commas',
  parse(text) {
    if (/^\d+$/.test(text)) return wholeNumber(1, 32).parse(text);
    const ranges = text.split(',').map((range) => range.trim());
    return ranges.every(isAddressRange) ? ranges : undefined;
  },
};

function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  // A prefix of 0 would trust every address.
  return (
    prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
  );
}

/** An instant as ISO 8601 text in UTC; the value is in milliseconds since the Unix epoch. */
export const instant: SettingType<number> = {
  allowed: 'an instant in UTC such as 2031-06-01T00:00:00Z',
  parse(text) {
    const value = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(value) ? undefined : value;
  },
};
