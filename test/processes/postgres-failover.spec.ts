import { Logger } from '@nestjs/common';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SoleProcessLock } from '../../src/throttling/memory/sole-process-lock.js';
import { send } from '../kit/test-response.js';
import type { TestService } from '../kit/test-service.js';
import { keepDoing } from '../support/keep-doing.js';
import { NetworkProxy } from '../support/network-proxy.js';
import { PostgresServer } from '../support/postgres-server.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { UNLIMITED, openForTest } from '../support/opened.js';

/** Callers that send one request after the other, more than the pool has connections. */
const CALLERS = 12;
/** Requests that are looked at after the recovery. */
const AFTERWARDS = 200;
/** The id of an animal that only the new server has. */
const MARKER = '4000000000000000';

interface Sent {
  readonly at: number;
  readonly method: string;
  readonly status: number;
}

/** Callers that write and read the marker in turn. */
function load(service: TestService) {
  const sent: Sent[] = [];
  const end = keepDoing(CALLERS, async (caller, turn) => {
    const at = performance.now();
    const method = (caller + turn) % 2 === 0 ? 'POST' : 'GET';
    const [path, json] =
      method === 'POST' ? ['/v1/pets', { name: 'Rex', categoryId: 1 }] : [`/v1/pets/${MARKER}`, undefined];
    // Not by way of request(): where neither Redis nor PostgreSQL tells what is used, a 503 shows no quota.
    const { status } = await send(service.url, method, path, { key: service.key, json });
    sent.push({ at, method, status });
  });
  const statuses = (method: string, since: number) =>
    sent.filter((one) => one.method === method && one.at > since).map(({ status }) => status);
  return { sent, end, statuses };
}

/** The names of the sessions that a server has of services. */
async function sessionsOf(server: PostgresServer): Promise<string[]> {
  const rows = await server.query(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE application_name LIKE 'petstore%'`,
  );
  return rows.map(({ name }) => String(name)).toSorted();
}

describeWith('postgres-server', 'a failover after which the old PostgreSQL lives on and only reads', () => {
  it.each([
    ['alone', false],
    ['with Redis', true],
  ])('is over at once for a service %s: it never meets the old one again', async (_, isShared) => {
    const sessions = ['petstore', 'petstore, instance', 'petstore, snapshots'];
    const logged: string[] = [];
    for (const level of ['log', 'warn', 'error'] as const)
      vi.spyOn(Logger.prototype, level).mockImplementation((line: string) => void logged.push(line));
    onTestFinished(() => void vi.restoreAllMocks());
    const old = await PostgresServer.start();
    onTestFinished(() => old.remove());
    const name = await NetworkProxy.to(old.port);
    onTestFinished(() => name.close());
    const redis = isShared ? await RedisServer.start() : undefined;
    onTestFinished(() => redis?.remove());
    const service = await openForTest({
      ...UNLIMITED,
      environment: {
        DATABASE_URL: `postgres://petstore@127.0.0.1:${name.port}/postgres`,
        ...(redis ? { REDIS_URL: redis.url } : {}),
      },
      prepare: (app) => app.get(SoleProcessLock).start(),
    });
    // A read opens the session of snapshots, and opens it again if the first attempt took too long.
    const afterRead = async () => {
      expect((await service.request('GET', '/v1/pets')).status).toBe(200);
      return sessionsOf(old);
    };
    await expect.poll(afterRead).toEqual(sessions);
    const standby = await PostgresServer.standbyOf(old);
    onTestFinished(() => standby.remove());
    const { sent, end, statuses } = load(service);
    await expect.poll(() => sent.length).toBeGreaterThan(100);

    logged.length = 0;
    await old.query('ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()');
    await expect.poll(() => statuses('POST', 0)).toContain(503);
    const ready = async () => (await fetch(`${service.url}/health/ready`)).status;
    await expect.poll(ready).toBe(503);
    await standby.untilEvenWith(old);
    await standby.promote();
    await standby.query(
      `INSERT INTO pets (id, name, category_id, status) VALUES (${MARKER}, 'Rex', 1, 'sold')`,
    );
    name.target = standby.port;
    const moved = performance.now();

    await expect.poll(() => statuses('POST', moved)).toContain(201);
    await expect.poll(() => logged.some((line) => line.includes('accepts writes again'))).toBe(true);
    const recovered = performance.now();
    expect(recovered - moved).toBeLessThan(5_000);
    await expect.poll(() => statuses('POST', recovered).length).toBeGreaterThan(AFTERWARDS / 2);
    await expect.poll(() => statuses('GET', recovered).length).toBeGreaterThan(AFTERWARDS / 2);
    await end();

    expect(new Set(statuses('POST', recovered))).toEqual(new Set([201]));
    expect(new Set(statuses('GET', recovered))).toEqual(new Set([200]));
    expect(await ready()).toBe(200);
    await expect.poll(() => sessionsOf(old)).toEqual([]);
    await expect.poll(() => sessionsOf(standby)).toEqual(sessions);
    // A busy machine may also be logged as a late connection.
    expect(logged.filter((line) => /^PostgreSQL .* (?:written|writes)/.test(line))).toEqual([
      expect.stringContaining('cannot be written'),
      expect.stringContaining('accepts writes again'),
    ]);
  });
});
