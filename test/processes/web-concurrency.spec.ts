import { execFileSync, spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { metricIn } from '../kit/metric-samples.js';
import { freePort } from '../support/free-port.js';
import { PostgresServer } from '../support/postgres-server.js';
import { RedisServer } from '../support/redis-server.js';
import { BARE_ENVIRONMENT, ROOT, ServiceProcess, emptyFolder } from '../support/service-process.js';

let redis: RedisServer;
beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(() => redis.remove());

async function folder(): Promise<string> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  return path;
}

/** Starts so many workers; the service ends with the test. */
async function start(environment: NodeJS.ProcessEnv, path?: string) {
  const managementPort = await freePort();
  const service = await ServiceProcess.start(path ?? (await folder()), {
    WEB_CONCURRENCY: '2',
    REDIS_URL: redis.url,
    // A slow machine is no failure of Redis.
    REDIS_TIMEOUT_MS: '60000',
    MANAGEMENT_PORT: String(managementPort),
    ...environment,
  });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  await expect.poll(() => service.output.split('Listening on').length - 1).toBeGreaterThanOrEqual(2);
  const metric = async (name: string, labels: Record<string, string> = {}) =>
    metricIn(await (await fetch(`http://127.0.0.1:${managementPort}/metrics`)).text(), name, labels);
  return { service, metric };
}

/** The ids of the workers of a parent. */
const workersOf = ({ pid }: ServiceProcess): number[] => childrenOf(pid);

function childrenOf(pid: number | undefined): number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number);
  } catch {
    return [];
  }
}

const live = async ({ url }: ServiceProcess) =>
  (await fetch(`${url}/health/live`, { headers: { connection: 'close' } })).status;

describe('WEB_CONCURRENCY=2 on SQLite with Redis', () => {
  it('prepares the first start once, serves one port with both, counts quotas and metrics together', async () => {
    const { service, metric } = await start({});
    expect(service.output.match(/Its key is shown this once/g)).toHaveLength(1);
    const [, key] = /Bearer (pst_\w+)/.exec(service.output) ?? [];
    const remaining: number[] = [];
    for (let sent = 0; sent < 10; sent += 1) {
      const response = await fetch(`${service.url}/v1/pets?limit=1`, {
        headers: { authorization: `Bearer ${key}`, connection: 'close' },
      });
      await response.text();
      remaining.push(Number(/"day";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]));
    }
    expect(remaining).toEqual(Array.from({ length: 10 }, (_, index) => 999 - index));
    const pids = () =>
      new Set(
        service.output
          .split('\n')
          .filter((line) => line.includes('"route":"/v1/pets"'))
          .map((line) => (JSON.parse(line) as { pid: number }).pid),
      );
    await expect.poll(() => pids()).toEqual(new Set(workersOf(service)));
    await expect.poll(() => metric('http_requests_total', { route: '/v1/pets' })).toBe(10);
    await expect.poll(() => metric('petstore_quota_redis_up')).toBe(1);
    await expect.poll(() => metric('petstore_quota_redis_instances')).toBe(2);
    expect(service.output).not.toContain('each counts quotas for itself');
  });

  it('a worker that dies is started again, with one line; what it counted stays', async () => {
    const { service, metric } = await start({});
    for (let sent = 0; sent < 6; sent += 1) await live(service);
    await expect.poll(() => metric('http_requests_total')).toBe(6);
    const [victim = 0, other = 0] = workersOf(service);
    process.kill(victim, 'SIGKILL');
    await expect.poll(() => service.output.split('Listening on').length - 1).toBe(3);
    expect(workersOf(service)).toHaveLength(2);
    expect(workersOf(service)).toContain(other);
    expect(service.output.match(/Worker \d+ ended.*/g)).toEqual([
      expect.stringContaining(`Worker ${victim} ended by SIGKILL; another starts in 100 ms`),
    ]);
    await expect.poll(() => metric('http_requests_total')).toBe(6);
    expect(await live(service)).toBe(200);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('%s stops all, and answers what is in flight', async (signal) => {
    const { service } = await start({}, await folder());
    const answers = Array.from({ length: 20 }, () => live(service));
    await Promise.all(answers);
    const more = Array.from({ length: 20 }, () => live(service).catch(() => 'refused'));
    const workers = workersOf(service);
    // As Ctrl-C does: the workers get it, too.
    if (signal === 'SIGINT') for (const worker of workers) process.kill(worker, signal);
    const { code, stdout } = await service.stop(signal);
    expect(code).toBe(0);
    expect((await Promise.all(more)).filter((status) => status !== 200 && status !== 'refused')).toEqual([]);
    expect(stdout.match(/"msg":"Stopped"/g)).toHaveLength(3);
    expect(stdout).not.toContain('another starts');
  });

  it('a worker that stands still is killed when SHUTDOWN_TIMEOUT_MS is over', async () => {
    const { service } = await start({ SHUTDOWN_TIMEOUT_MS: '2000' });
    const [still = 0, other = 0] = workersOf(service);
    process.kill(still, 'SIGSTOP');
    const since = performance.now();
    const { code, stdout } = await service.stop();
    expect(performance.now() - since).toBeLessThan(4_000);
    expect(code).toBe(1);
    expect(stdout.match(/Worker \d+ .*? is killed/g)).toEqual([
      `Worker ${still} has not heard of the stop in 2000 ms and is killed`,
    ]);
    expect(stdout.match(/"msg":"Stopped"/g)).toHaveLength(2);
    expect([still, other].filter((pid) => isAlive(pid))).toEqual([]);
  });

  it('a worker that stands still while it stops is killed when its last writes are due, too', async () => {
    const { service } = await start({ SHUTDOWN_TIMEOUT_MS: '2000' });
    const [, key] = /Bearer (pst_\w+)/.exec(service.output) ?? [];
    const half = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void half.destroy());
    half.write(
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    );
    // The other one of both answers it: the request has arrived.
    for (let asked = 0; asked < 2; asked += 1) expect(await live(service)).toBe(200);
    const since = performance.now();
    const ended = service.stop();
    await expect.poll(() => service.output.match(/The parent stops: finishing/g)?.length).toBe(2);
    await expect.poll(() => workersOf(service).length, { interval: 20 }).toBe(1);
    const [still = 0] = workersOf(service);
    process.kill(still, 'SIGSTOP');
    const { code, stdout } = await ended;
    expect(performance.now() - since).toBeLessThan(8_000);
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`Worker ${still} has not ended in \\d+ ms and is killed`));
  });

  it('when the parent is killed the workers end by themselves', async () => {
    const { service } = await start({});
    const workers = workersOf(service);
    process.kill(service.pid, 'SIGKILL');
    await expect.poll(() => workers.filter((pid) => isAlive(pid)), { interval: 50 }).toEqual([]);
    expect((await service.ended).stdout.match(/The parent is gone: finishing/g)).toHaveLength(2);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the start ends with the reason, once, and code 1:', () => {
  const cases: [string, () => Promise<NodeJS.ProcessEnv>, RegExp][] = [
    [
      'without Redis',
      () => Promise.resolve({ REDIS_URL: '' }),
      /WEB_CONCURRENCY=2: without Redis.*Set REDIS_URL/,
    ],
    [
      'on PostgreSQL without Redis',
      () => Promise.resolve({ REDIS_URL: '', DATABASE_URL: 'postgres://postgres@127.0.0.1/none' }),
      /WEB_CONCURRENCY=2: without Redis/,
    ],
    [
      'in memory',
      () => Promise.resolve({ DATABASE_URL: 'sqlite::memory:' }),
      /WEB_CONCURRENCY=2: each process would/,
    ],
    ['a port in use', async () => ({ PORT: String(await taken()) }), /PORT: port \d+ is in use/],
    [
      'a management port in use',
      async () => ({ MANAGEMENT_PORT: String(await taken()) }),
      /MANAGEMENT_PORT: port/,
    ],
    [
      'several wrong settings',
      () => Promise.resolve({ PORT: 'x', WEB_CONCURRENCY: '65' }),
      /The settings are wrong:\n.*PORT.*\n.*WEB_CONCURRENCY/,
    ],
  ];
  it.each(cases)('%s', async (_name, environment, reason) => {
    const path = await folder();
    const failed = ServiceProcess.start(path, {
      WEB_CONCURRENCY: '2',
      REDIS_URL: redis.url,
      ...(await environment()),
    });
    const message = String(
      await failed.then(
        () => '',
        (error: unknown) => error,
      ),
    );
    expect(message).toContain('ended with 1');
    expect(message).toMatch(reason);
    expect(message.match(new RegExp(reason, 'g'))).toHaveLength(1);
  });
});

/** A port that something else listens on. */
async function taken(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

it('on PostgreSQL with Redis, both serve', async () => {
  const server = await PostgresServer.start();
  onTestFinished(() => server.remove());
  const { service } = await start({ DATABASE_URL: server.url });
  expect(service.output.match(/Its key is shown this once/g)).toHaveLength(1);
  expect(workersOf(service)).toHaveLength(2);
  const statuses = await Promise.all(Array.from({ length: 10 }, () => live(service)));
  expect(new Set(statuses)).toEqual(new Set([200]));
});

it('while PostgreSQL is away, workers that cannot start are told of once, and once when they start again', async () => {
  const server = await PostgresServer.start();
  onTestFinished(() => server.remove());
  const { service } = await start({ DATABASE_URL: server.url });
  await server.stop();
  for (const worker of workersOf(service)) process.kill(worker, 'SIGKILL');
  const attempts = new Set<number>();
  const seen = () => {
    for (const worker of workersOf(service)) attempts.add(worker);
    return attempts.size;
  };
  await expect.poll(seen, { interval: 20, timeout: 60_000 }).toBeGreaterThanOrEqual(8);
  await server.start();
  await expect.poll(() => service.output.split('Listening on').length - 1, { timeout: 60_000 }).toBe(4);
  const { stdout, stderr } = await service.stop();
  expect(stdout.match(/A worker cannot start, and is tried again and again: .*?(?=")/g)).toEqual([
    expect.stringMatching(/The service could not start: Cannot open DATABASE_URL postgres:.* ECONNREFUSED/),
  ]);
  expect(stdout.match(/Workers start again, after \d+ that could not/g)).toHaveLength(1);
  expect(stdout.match(/Worker \d+ ended by SIGKILL/g)).toHaveLength(2);
  expect(stdout).not.toContain('with exit code');
  expect(stderr).toBe('');
});

/** What a worker has logged of one request. */
interface Logged {
  readonly pid: number;
  readonly time: string;
}

it('of a worker that is killed no more than the counts of its last second are lost, and sums never fall', async () => {
  // Probes are told at this level alone.
  const { service, metric } = await start({ LOG_LEVEL: 'debug' });
  const logged = () =>
    service.output
      .split('\n')
      .filter((line) => line.includes('"route":"/health/live"'))
      .map((line) => JSON.parse(line) as Logged);
  const killedAt = new Map<number, number>();
  for (let round = 0, before = 0; round < 3; round += 1) {
    const [victim = 0] = workersOf(service);
    // No scrape meanwhile: a worker tells its counts by itself.
    const since = performance.now();
    while (performance.now() - since < 3_000) await live(service);
    process.kill(victim, 'SIGKILL');
    killedAt.set(victim, Date.now());
    await expect.poll(() => service.output.split('Listening on').length - 1).toBe(3 + round);
    await expect.poll(() => workersOf(service)).toHaveLength(2);
    const sum = await metric('http_requests_total', { route: '/health/live' });
    // Half a second more, for a machine that has other work: timers are late there.
    const certain = logged().filter(
      ({ pid, time }) => Date.parse(time) < (killedAt.get(pid) ?? Infinity) - 1_500,
    );
    expect(sum).toBeGreaterThanOrEqual(Math.max(before, certain.length));
    // Lines are written a moment later.
    await expect.poll(() => logged().length).toBeGreaterThanOrEqual(sum);
    before = sum;
  }
}, 120_000);

it('a stop before the first worker serves ends all, with code 0', async () => {
  const parent = spawn(process.execPath, [join(ROOT, 'dist/bundle/main.js')], {
    cwd: await folder(),
    env: {
      ...BARE_ENVIRONMENT,
      PORT: '0',
      MANAGEMENT_PORT: 'off',
      WEB_CONCURRENCY: '2',
      REDIS_URL: redis.url,
    },
    stdio: 'ignore',
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const ended = once(parent, 'exit');
  await expect.poll(() => childrenOf(parent.pid), { interval: 5 }).toHaveLength(1);
  const [worker = 0] = childrenOf(parent.pid);
  parent.kill('SIGTERM');
  expect((await ended)[0]).toBe(0);
  await expect.poll(() => isAlive(worker)).toBe(false);
});

it('without the setting there is one process, whose lines have no pid', async () => {
  const service = await ServiceProcess.start(await folder(), { PORT: '0' });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  expect(workersOf(service)).toEqual([]);
  expect(service.output).not.toContain('"pid"');
});
