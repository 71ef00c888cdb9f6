import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from 'vitest';
import { listens } from './free-port.js';
import { NGINX } from './nginx.js';
import { PGBOUNCER } from './pooler.js';
import { POSTGRES_PROGRAMS } from './postgres-server.js';

/** Servers and programs outside the project that a suite may require. */
export type Requirement =
  | 'browser'
  | 'faketime'
  | 'nginx'
  | 'pgbouncer'
  | 'postgres'
  | 'postgres-server'
  | 'prometheus'
  | 'redis'
  | 'redis-server';

/** The path of Debian's Chromium; CHROMIUM_PATH overrides it. */
export const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

/** The path of Debian's libfaketime, which sets the clock of a single process; undefined if it is not installed. */
export const FAKETIME = readdirSync('/usr/lib')
  .map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path));

/**
 * The Redis server in which suites may create keys; PETSTORE_TEST_REDIS_URL overrides it. Suites that run in parallel use separate
 * databases, so that instances of different suites are not counted together.
 */
export const REDIS_URL =
  process.env.PETSTORE_TEST_REDIS_URL ??
  `redis://127.0.0.1:6379/${Number(process.env['VITEST_POOL_ID'] ?? 0) % 16}`;

/** The PostgreSQL server on which suites create databases; PETSTORE_TEST_POSTGRES overrides it. */
export const POSTGRES_URL =
  process.env.PETSTORE_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres';

/** Whether Redis and PostgreSQL are available, checked once when this file is loaded. */
const [hasRedis, hasPostgres] = await Promise.all([accepts(REDIS_URL, 6379), accepts(POSTGRES_URL, 5432)]);

function accepts(url: string, defaultPort: number): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return listens(Number(port || defaultPort), hostname);
}

/** Whether a program is in PATH. */
export const isInstalled = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));

const missing: Readonly<Record<Requirement, () => string | undefined>> = {
  redis: () => (hasRedis ? undefined : `no Redis answers at ${REDIS_URL}; set PETSTORE_TEST_REDIS_URL`),
  faketime: () => (FAKETIME === undefined ? 'libfaketime is not installed (Debian: faketime)' : undefined),
  nginx: () => (existsSync(NGINX) ? undefined : 'nginx is not installed (Debian: nginx)'),
  'redis-server': () => (isInstalled('redis-server') ? undefined : 'there is no redis-server in PATH'),
  postgres: () =>
    hasPostgres ? undefined : `no PostgreSQL answers at ${POSTGRES_URL}; set PETSTORE_TEST_POSTGRES`,
  'postgres-server': () =>
    POSTGRES_PROGRAMS === undefined ? 'PostgreSQL is not installed (Debian: postgresql)' : undefined,
  prometheus: () => (isInstalled('promtool') ? undefined : 'promtool is not installed (Debian: prometheus)'),
  pgbouncer: () => (existsSync(PGBOUNCER) ? undefined : 'PgBouncer is not installed (Debian: pgbouncer)'),
  browser: () => (existsSync(CHROMIUM) ? undefined : `there is no ${CHROMIUM}; set CHROMIUM_PATH`),
};

/**
 * `describe` for a suite with external requirements. If one is missing, the suite is skipped with the reason, unless PETSTORE_TEST_REQUIRE
 * (a comma-separated list) contains it. In that case, the suite runs and fails.
 */
export function describeWith(requirement: Requirement, name: string, suite: () => void): void {
  const required = (process.env.PETSTORE_TEST_REQUIRE ?? '').split(',').includes(requirement);
  const why = required ? undefined : missing[requirement]();
  const title = why === undefined ? name : `${name} (skipped: ${why})`;
  // oxlint-disable-next-line vitest/valid-title, vitest/valid-describe-callback -- both are this function's own
  describe.skipIf(why !== undefined)(title, suite);
}
