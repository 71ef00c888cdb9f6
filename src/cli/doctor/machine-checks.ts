import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { nodeVersionError, supportedNode } from '#supported-node';
import { SystemClock } from '../../core/time/clock.js';
import { type ListenAddress, listenError, originOf } from '../../core/config/listen-errors.js';
import type { Settings } from '../../core/config/settings.js';
import type { Database } from '../../database/database.js';
import { type Check, fail, messagesIn, skip, warn } from './finding.js';

/** Maximum difference between the clocks of two machines, in milliseconds. Expiry and quota windows are compared across machines. */
const MAX_OFF_MS = 5_000;
/** Time limit for a running service to respond on its port, in milliseconds. */
const RESPONSE_LIMIT_MS = 2_000;
const SYNCHRONIZE = 'Use a time service (chrony, systemd-timesyncd)';

/** Checks whether this version of Node.js can run the service. */
export function nodeText(): string {
  const error = nodeVersionError();
  if (error !== undefined) fail(error);
  return `Node.js ${process.versions.node} (${supportedNode()} run the service)`;
}

/** Checks that the service can listen on its ports, or already does, which `text` in the response on `path` proves. */
export function portChecks({ host, port, managementPort, managementHost }: Settings): Check[] {
  const management = {
    variable: 'MANAGEMENT_PORT',
    host: managementHost ?? host,
    port: managementPort,
  } as const;
  return [
    ['ports', () => portText({ variable: 'PORT', host, port }, '/health/live', '"status"')],
    ['ports', () => portText(management, '/metrics', 'petstore_')],
  ];
}

async function portText(address: ListenAddress, path: string, text: string): Promise<string> {
  const { variable, port, host } = address;
  if (port === null) skip(`${variable} is off`);
  if (port === 0) return `${variable}: a free port is selected`;
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return `${variable}: ${port} is free`;
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    if (failure.code === 'EADDRINUSE' && (await responseOf(address, path)).includes(text))
      return `${variable}: this service runs on ${port}`;
    throw listenError(address, failure);
  } finally {
    server.close();
  }
}

/** The response of whatever listens on a port; empty if nothing responds. */
async function responseOf({ host, port }: ListenAddress, path: string): Promise<string> {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const signal = AbortSignal.timeout(RESPONSE_LIMIT_MS);
  return fetch(`${originOf(reached, port ?? 0)}${path}`, { signal })
    .then((response) => response.text())
    .catch(() => '');
}

/**
 * Checks that Redis accepts and keeps counts, and that its clock agrees with this machine's. Each instance determines the current minute
 * from its own clock, and Redis is the only server that all of them use.
 */
export async function redisChecks({ redisUrl, redisCa }: Settings): Promise<Check[]> {
  if (redisUrl === null)
    return [['redis', () => skip('REDIS_URL is not set: each process counts on its own')]];
  try {
    const { checkRedis } = await import('../../throttling/redis/check-redis.js');
    const { aheadMs, evictsKeys, isVolatile } = await checkRedis({ url: redisUrl, ca: redisCa });
    return [
      ['redis', () => redisText(evictsKeys, isVolatile)],
      ['clock', () => comparedClockText(aheadMs, 'Redis')],
    ];
  } catch (error) {
    const reason = messagesIn(error).join(' ').replace(/\.$/, '');
    return [['redis', () => fail(`Redis stores no counts: ${reason}. Check REDIS_URL and the server.`)]];
  }
}

function redisText(evicts: string | undefined, forgets: boolean): string {
  if (evicts !== undefined)
    fail(
      `Redis stores counts, but evicts them if memory runs low (${evicts}). Set maxmemory-policy to noeviction; otherwise, ` +
        'clients can use their quotas again after an eviction.',
    );
  if (forgets)
    warn(
      'Redis stores counts, but loses them and all bans when it restarts, and clients can then use their quotas again. Set appendonly to yes.',
    );
  return 'Redis stores counts';
}

/** Checks that this machine's clock agrees with that of PostgreSQL, or is not behind the last write to the SQLite file. */
export async function clockText(database?: Database, file?: string): Promise<string> {
  const clock = new SystemClock();
  if (file !== undefined) {
    const written = (await stat(file).catch(() => undefined))?.mtimeMs ?? 0;
    const now = clock.now();
    if (written - now <= MAX_OFF_MS) return instant(now);
    fail(`the clock shows ${instant(now)}, but ${file} was written at ${instant(written)}. ${SYNCHRONIZE}.`);
  }
  if (database?.options.type !== 'postgres') return instant(clock.now());
  const before = clock.now();
  const [row] = await database.query<{ now: string }[]>(
    'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now',
  );
  return comparedClockText(Number(row?.now) - (before + clock.now()) / 2, 'PostgreSQL');
}

/** Compares this machine's clock with a server's, which is `aheadMs` milliseconds ahead (negative if behind). */
function comparedClockText(aheadMs: number, server: 'PostgreSQL' | 'Redis'): string {
  const off = `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} that of ${server}`;
  if (Math.abs(aheadMs) > MAX_OFF_MS) fail(`the clock is ${off}. ${SYNCHRONIZE} on both machines.`);
  return `${instant(new SystemClock().now())}, ${off}`;
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
