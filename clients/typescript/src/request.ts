import { SHAPES } from './generated/operations.js';
import { int64Digits } from './int64.js';
import { writeJson } from './json/write-json.js';
import type { Operation } from './operation.js';
import { platform } from './platform.js';

/** What an operation is called with. */
export interface Input {
  readonly path?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly header?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

/** A request that may be sent more than once: every time the same bytes, with the same Idempotency-Key. */
export interface PreparedRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  /** Whether it may be repeated when it is unknown whether it was carried out. */
  readonly isSafe: boolean;
}

const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;

/** Prepares a request. Throws a TypeError that names the field before anything is sent. */
export function prepare(
  root: string,
  operation: Operation,
  input: Input,
  idempotencyKey: string | undefined,
): PreparedRequest {
  const { method, isIdempotent } = operation;
  const query = queryOf(operation, input.query ?? {});
  const headers = headersOf(operation, input.header ?? {});
  headers['Accept'] = 'application/json';
  if (isIdempotent) headers['Idempotency-Key'] = usableIdempotencyKey(idempotencyKey ?? randomKey());
  else if (idempotencyKey !== undefined) throw new TypeError('This operation takes no idempotencyKey.');
  const body =
    input.body === undefined ? undefined : writeJson(input.body, operation.body ?? undefined, SHAPES);
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  return {
    url: root + pathOf(operation, input.path ?? {}) + (query === '' ? '' : `?${query}`),
    method,
    headers,
    body,
    isSafe: isIdempotent || method === 'GET' || method === 'HEAD',
  };
}

type Values = Readonly<Record<string, unknown>>;

function pathOf({ path, int64Parameters }: Operation, values: Values): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    segment(name, parameter(name, values[name], int64Parameters)),
  );
}

function queryOf({ int64Parameters, commaParameters }: Operation, values: Values): string {
  const pairs = Object.entries(values).flatMap(([name, value]) => {
    const given: unknown[] = (Array.isArray(value) ? value : [value]).filter((one) => one !== undefined);
    const texts = given.map((one) => encode(name, parameter(name, one, int64Parameters)));
    const joined = commaParameters.includes(name) && texts.length > 0 ? [texts.join(',')] : texts;
    return joined.map((text) => `${encode(name, name)}=${text}`);
  });
  return pairs.join('&');
}

function headersOf({ headerParameters, int64Parameters }: Operation, values: Values): Record<string, string> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (!headerParameters.includes(name)) throw new TypeError(`This operation takes no header ${name}.`);
      const text = parameter(name, value, int64Parameters);
      if (!/^[ -~]*$/.test(text)) throw new TypeError(`${name} must have ASCII characters only.`);
      return [name, text];
    }),
  );
}

function parameter(name: string, value: unknown, int64: readonly string[]): string {
  if (int64.includes(name)) return int64Digits(value, name);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${name} must be finite.`);
  if (['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return String(value);
  throw new TypeError(`${name} must be a string, a number or a boolean.`);
}

/** A segment of a path; what means another path is none. */
function segment(name: string, value: string): string {
  if (value === '' || value === '.' || value === '..') throw new TypeError(`${name} must name something.`);
  return encode(name, value);
}

function encode(name: string, value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    throw new TypeError(`${name} holds half of a surrogate pair.`);
  }
}

function usableIdempotencyKey(key: string): string {
  if (IDEMPOTENCY_KEY.test(key)) return key;
  throw new TypeError('idempotencyKey must have 1 to 255 visible ASCII characters.');
}

/**
 * 128 random bits: unique, but no secret. crypto.randomUUID() is missing in pages that were not loaded over TLS, `crypto` itself in
 * Node 18.
 */
function randomKey(): string {
  const bytes = new Uint8Array(16);
  if (platform.crypto) platform.crypto.getRandomValues(bytes);
  else bytes.forEach((_, at) => (bytes[at] = Math.random() * 256));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
