import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { faultOfNode, supportedNode } from '#supported-node';
import { SystemClock } from '../../core/time/clock.js';
import { type Place, listeningFault, originOf } from '../../core/config/listening-faults.js';
import type { Settings } from '../../core/config/settings.js';
import type { Database } from '../../database/database.js';
import { type Check, fail, faultsIn, skip } from './finding.js';

/** Maximum difference between the clocks of two machines, in milliseconds; ends of keys, minutes and days are instants. */
const MAX_OFF_MS = 5_000;
/** Time limit for a running service to respond on its port, in milliseconds. */
const ANSWER_LIMIT_MS = 2_000;
const SYNCHRONISE = 'Use a time service (chrony, systemd-timesyncd)';

/** Whether this Node.js runs the service. */
export function nodeText(): string {
  const fault = faultOfNode();
  if (fault !== undefined) fail(fault);
  return `Node.js ${process.versions.node} (${supportedNode()} run the service)`;
}

/** Whether the service can listen on its ports, or already does, as a text in its response on a path shows. */
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

async function portText(place: Place, path: string, text: string): Promise<string> {
  const { variable, port, host } = place;
  if (port === null) skip(`${variable} is off`);
  if (port === 0) return `${variable}: a free port is selected`;
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return `${variable}: ${port} is free`;
  } catch (error) {
    const fault = error as NodeJS.ErrnoException;
    if (fault.code === 'EADDRINUSE' && (await responseOf(place, path)).includes(text))
      return `${variable}: this service runs on ${port}`;
    throw listeningFault(place, fault);
  } finally {
    server.close();
  }
}

/** The response of the program on a port; empty without one. */
async function responseOf({ host, port }: Place, path: string): Promise<string> {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
  return fetch(`${originOf(reached, port ?? 0)}${path}`, { signal })
    .then((response) => response.text())
    .catch(() => '');
}

/**
 * Whether Redis accepts counts and keeps them, and whether this machine's clock agrees with that of Redis: instances count together in
 * minutes by their clocks, and Redis is the one place that all of them reach.
 */
export async function redisChecks({ redisUrl, redisCa }: Settings): Promise<Check[]> {
  if (redisUrl === null)
    return [['redis', () => skip('REDIS_URL is not set: each process counts on its own')]];
  try {
    const { checkRedis } = await import('../../throttling/redis/check-redis.js');
    const { aheadMs, evictsKeys, isVolatile } = await checkRedis({ url: redisUrl, ca: redisCa });
    return [
      ['redis', () => keptText(evictsKeys, isVolatile)],
      ['clock', () => comparedClockText(aheadMs, 'Redis')],
    ];
  } catch (error) {
    const reason = faultsIn(error).join(' ').replace(/\.$/, '');
    return [['redis', () => fail(`it stores no counts: ${reason}. Check REDIS_URL and the server.`)]];
  }
}

/** Whether Redis keeps the counts that it is given. */
function keptText(evicts: string | undefined, forgets: boolean): string {
  if (evicts !== undefined)
    fail(
      `it stores counts, but evicts them if memory runs low (${evicts}). Set maxmemory-policy to noeviction; otherwise, ` +
        'clients can use their quotas again after an eviction.',
    );
  return forgets
    ? 'it stores counts, but loses them and all bans when it restarts, and clients can then use their quotas again. Set appendonly to yes.'
    : 'it stores counts';
}

/** Whether this machine's clock agrees with that of PostgreSQL, or is behind the last write to the SQLite file. */
export async function clockText(database?: Database, file?: string): Promise<string> {
  const clock = new SystemClock();
  if (file !== undefined) {
    const written = (await stat(file).catch(() => undefined))?.mtimeMs ?? 0;
    const now = clock.now();
    if (written - now <= MAX_OFF_MS) return instant(now);
    fail(`it shows ${instant(now)}, but ${file} was written at ${instant(written)}. ${SYNCHRONISE}.`);
  }
  if (database?.options.type !== 'postgres') return instant(clock.now());
  const before = clock.now();
  const [row] = await database.query<{ now: string }[]>(
    'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now',
  );
  return comparedClockText(Number(row?.now) - (before + clock.now()) / 2, 'PostgreSQL');
}

/** Whether this machine's clock agrees with that of a server, which is `aheadMs` milliseconds ahead; negative if it is behind. */
function comparedClockText(aheadMs: number, server: 'PostgreSQL' | 'Redis'): string {
  const off = `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} that of ${server}`;
  if (Math.abs(aheadMs) > MAX_OFF_MS) fail(`it is ${off}. ${SYNCHRONISE}, there too.`);
  return `${instant(new SystemClock().now())}, ${off}`;
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
