import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { faultOfNode, supportedNode } from '#supported-node';
import { SystemClock } from '../core/time/clock.js';
import { listeningFault } from '../core/config/listening-faults.js';
import { unreadSettings } from '../core/config/unread-settings.js';
import type { Settings } from '../core/config/settings.js';
import type { Database } from '../database/database.js';
import { rightsOfOthers } from '../database/sqlite/private-files.js';
import { type Finding, messageOf, well, wrong } from './finding.js';

/** By how much the clocks of two machines may differ, in milliseconds: ends of keys, minutes and days are instants. */
const MOST_OFF_MS = 5_000;
/** How long a running service may take to say that a port is its own, in milliseconds. */
const ANSWER_LIMIT_MS = 2_000;
const SYNCHRONISE = 'Have it set by a time service (chrony, systemd-timesyncd)';

/** Whether this Node.js runs the service. */
export function examineNode(): Finding {
  const fault = faultOfNode();
  if (fault !== undefined) return wrong('node', fault);
  return well('node', `Node.js ${process.versions.node} (${supportedNode()} run the service)`);
}

/** Variables that look like settings and are not read, one finding for each. The settings themselves are right. */
export function examineNames(): Finding[] {
  const unread = unreadSettings();
  return unread.length === 0
    ? [well('settings', 'all are allowed, and none is misspelt or gone')]
    : unread.map((line) => wrong('settings', line));
}

/** Whether others than the user of the service may read or write the files of a database. */
export async function examineRights(file: string): Promise<Finding> {
  const others = await rightsOfOthers(file);
  return others === undefined
    ? well('rights', 'no other user may read or write the files of the database')
    : wrong('rights', others);
}

/** Whether the service can listen on its ports, or does already. */
export function examinePorts({ host, port, managementPort }: Settings): Promise<Finding[]> {
  return Promise.all([
    examinePort({ variable: 'PORT', host, port, path: '/health/live', holds: '"status"' }),
    examinePort({
      variable: 'MANAGEMENT_PORT',
      host,
      port: managementPort,
      path: '/metrics',
      holds: 'petstore_',
    }),
  ]);
}

interface ExaminedPort {
  readonly variable: 'PORT' | 'MANAGEMENT_PORT';
  readonly port: number | null;
  readonly host: string;
  /** What the service answers there, and a text that the answer holds. */
  readonly path: string;
  readonly holds: string;
}

async function examinePort(place: ExaminedPort): Promise<Finding> {
  const { variable, port, host } = place;
  if (port === null) return { check: 'ports', state: 'skipped', found: `${variable} is off` };
  if (port === 0) return well('ports', `${variable} takes any free one`);
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return well('ports', `${variable}: ${port} is free`);
  } catch (error) {
    const fault = error as NodeJS.ErrnoException;
    if (fault.code === 'EADDRINUSE' && (await isOurs(place)))
      return well('ports', `${variable}: this service runs on ${port}`);
    return wrong('ports', messageOf(listeningFault(place, fault)));
  } finally {
    server.close();
  }
}

/** Whether the service answers on a port. */
async function isOurs({ host, port, path, holds }: ExaminedPort): Promise<boolean> {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  try {
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
    const origin = `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
    return (await (await fetch(`${origin}${path}`, { signal })).text()).includes(holds);
  } catch {
    return false;
  }
}

/** Whether the clock of this machine is that of PostgreSQL, or behind what was written to the file of SQLite. */
export async function examineClock(
  database: Database | undefined,
  file: string | undefined,
): Promise<Finding> {
  const clock = new SystemClock();
  if (file !== undefined) {
    const written = (await stat(file).catch(() => undefined))?.mtimeMs ?? 0;
    const now = clock.now();
    if (written - now <= MOST_OFF_MS) return well('clock', instant(now));
    const found = `it stands at ${instant(now)}, but ${file} was written at ${instant(written)}`;
    return wrong('clock', `${found}. ${SYNCHRONISE}.`);
  }
  if (database?.options.type !== 'postgres') return well('clock', instant(clock.now()));
  const before = clock.now();
  const [row] = await database.query<{ now: string }[]>(
    'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now',
  );
  return comparedClock(Number(row?.now) - (before + clock.now()) / 2, 'PostgreSQL');
}

/** Whether this machine has the clock of a server, which is `aheadMs` milliseconds ahead of it; less than 0 when it is behind. */
export function comparedClock(aheadMs: number, server: 'PostgreSQL' | 'Redis'): Finding {
  const off = `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} that of ${server}`;
  return Math.abs(aheadMs) <= MOST_OFF_MS
    ? well('clock', `${instant(new SystemClock().now())}, ${off}`)
    : wrong('clock', `it is ${off}. ${SYNCHRONISE}, there too.`);
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
