import { execFile } from 'node:child_process';
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { keepDoing } from '../support/keep-doing.js';
import { NetworkProxy } from '../support/network-proxy.js';
import { PostgresServer } from '../support/postgres-server.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest, ServiceProcess, emptyFolder } from '../support/service-process.js';

const run = promisify(execFile);

/** Within this time a refusal must come, in milliseconds. */
const REFUSED_WITHIN_MS = 5_000;
/** The same once the service knows of the failure. */
const KNOWN_WITHIN_MS = 1_000;
/** Maximum time for which keys are cached, in milliseconds. After it, looking them up requires connections as well. */
const KEYS_CACHED_MS = 1_000;
/** Connections of the service, and those of a process alongside them: for its locks, for snapshots, and for a try. */
const [POOL, OUTSIDE_THE_POOL] = [3, 3];

/** What is sent while something is wrong. */
const REQUESTS = {
  list: { path: '/v1/pets?limit=1' },
  animal: { path: '/v1/pets/1' },
  write: { method: 'POST', path: '/v1/pets' },
  'write with an Idempotency-Key': { method: 'POST', path: '/v1/pets', isKeyed: true },
} as const;
type Sent = keyof typeof REQUESTS;
const ALL = Object.keys(REQUESTS) as Sent[];

let server: PostgresServer;
let proxy: NetworkProxy;
let service: ServiceProcess;
let key: string;
let sent = 0;

async function request(what: Sent, of = service, as = key) {
  const { path, ...more }: { path: string; method?: string; isKeyed?: boolean } = REQUESTS[what];
  const since = performance.now();
  sent += 1;
  const { status, headers, body } = await of.request(more.method ?? 'GET', path, {
    key: as,
    json: more.method && { name: `Rex ${sent}`, categoryId: 1 },
    headers: more.isKeyed ? { 'Idempotency-Key': `fault-${sent}` } : {},
  });
  const { id, code } = body as { id?: number; code?: string };
  const isRefusal = code === 'service_unavailable' && headers.get('Retry-After') !== null;
  const ms = Math.round(performance.now() - since);
  return { what, status, id, limit: headers.get('X-RateLimit-Limit'), isRefusal, ms };
}
type Response = Awaited<ReturnType<typeof request>>;

const succeeded = ({ status }: Response) => status === 200 || status === 201;
const isAsPromised = (result: Response) =>
  succeeded(result) || (result.status === 503 && result.isRefusal && result.ms < REFUSED_WITHIN_MS);
const statusOf = async (path: string) => (await service.request('GET', path)).status;
const linesWith = (text: string) => service.output.split('\n').filter((line) => line.includes(text)).length;
const backAgain = async () => {
  const statuses = async () =>
    Promise.all([...ALL.map(async (what) => (await request(what)).status), statusOf('/health/ready')]);
  await expect.poll(statuses).toEqual([200, 200, 201, 201, 200]);
};

/** Four clients that add animals; returns the ids that were acknowledged. */
function writing() {
  const acknowledged: number[] = [];
  const wrong: Response[] = [];
  const end = keepDoing(4, async (client) => {
    const result = await request(client % 2 === 0 ? 'write' : 'write with an Idempotency-Key');
    if (result.id !== undefined) acknowledged.push(result.id);
    if (!isAsPromised(result)) wrong.push(result);
    await pause(result.status === 201 ? 0 : 50);
  });
  return { acknowledged, wrong, end };
}

async function lost(acknowledged: readonly number[]): Promise<number[]> {
  const rows = await server.query('SELECT id FROM pets');
  const there = new Set(rows.map(({ id }) => Number(id)));
  return acknowledged.filter((id) => !there.has(id));
}

const sessions = async () =>
  (await server.query(`SELECT FROM pg_stat_activity WHERE application_name LIKE 'petstore%'`)).length;
const reload = async (setting: string) => void (await server.query(setting, 'SELECT pg_reload_conf()'));
/** Each commit waits for a standby that there is not, and no limit of the server ends that wait. */
const holdCommits = () => reload(`ALTER SYSTEM SET synchronous_standby_names = 'absent'`);
const releaseCommits = () => reload('ALTER SYSTEM RESET synchronous_standby_names');
const commitsHeld = async (database: string) =>
  (
    await server.query(
      `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = '${database}'`,
    )
  ).length;

/** A session of somebody else, who ends it. */
async function another(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
const others: pg.Client[] = [];
const locked = async (table: string) => {
  others.push(await another());
  await others[0]?.query('BEGIN');
  await others[0]?.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
};
const endOthers = async () => void (await Promise.all(others.splice(0).map((one) => one.end())));
let ending: Promise<void> | undefined;

interface Failure {
  readonly name: string;
  readonly start: () => unknown;
  readonly end: () => unknown;
  /** What is refused immediately when the service knows of it; undefined where each request finds out again. */
  readonly refused?: 'all' | 'writes';
  /** Whether requests hang in it, so that its end must come after those that hang were refused. */
  readonly hangs?: boolean;
  /** The log lines at its start and at its end, once each. */
  readonly logged?: readonly [string, string];
}
const AWAY = ['does not respond:', 'responds again'] as const;

const FAILURES: readonly Failure[] = [
  {
    name: 'was stopped',
    start: () => server.stop('fast'),
    end: () => server.start('max_connections=40'),
    refused: 'all',
    logged: AWAY,
  },
  {
    name: 'crashed',
    start: () => server.stop('immediate'),
    end: () => server.start('max_connections=40'),
    refused: 'all',
    logged: AWAY,
  },
  {
    name: 'stands still',
    hangs: true,
    start: () => server.signal('SIGSTOP'),
    end: () => server.signal('SIGCONT'),
    refused: 'all',
    logged: AWAY,
  },
  {
    name: 'is behind a network that swallows everything',
    hangs: true,
    start: () => (proxy.swallows = true),
    end: () => (proxy.swallows = false),
    refused: 'all',
    logged: AWAY,
  },
  {
    name: 'was made read-only',
    start: () => reload('ALTER SYSTEM SET default_transaction_read_only = on'),
    end: () => reload('ALTER SYSTEM RESET default_transaction_read_only'),
    refused: 'writes',
    logged: ['cannot be written to:', 'accepts writes again'],
  },
  {
    name: 'answers no commit',
    hangs: true,
    start: holdCommits,
    end: releaseCommits,
    refused: 'writes',
    logged: ['does not confirm commits;', 'confirms commits again'],
  },
  {
    name: 'has a table locked',
    hangs: true,
    start: () => locked('pets'),
    end: endOthers,
    logged: ['does not keep up:', 'keeps up again'],
  },
  {
    name: 'has the table of keys locked, which are looked up anew',
    hangs: true,
    start: async () => {
      await locked('api_keys');
      await pause(KEYS_CACHED_MS);
    },
    end: endOthers,
  },
  {
    name: 'has no connection left',
    start: async () => {
      proxy.cut();
      const full = async () => {
        for (;;) others.push(await another());
      };
      await expect(full()).rejects.toThrow('too many clients');
    },
    end: endOthers,
  },
  {
    name: 'ends all sessions again and again',
    start: () => {
      ending = (async () => {
        for (let times = 0; times < 15; times += 1) {
          await server.endSessions();
          await pause(200);
        }
      })();
    },
    end: () => ending,
  },
];

describeWith('postgres-server', 'a service whose PostgreSQL', () => {
  let removeFolder: () => Promise<void>;

  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.stop('fast');
    await server.start('max_connections=40');
    proxy = await NetworkProxy.to(server.port);
    const folder = await emptyFolder();
    removeFolder = folder.remove;
    service = await ServiceProcess.start(folder.path, {
      DATABASE_URL: `postgres://petstore@127.0.0.1:${proxy.port}/postgres`,
      DATABASE_POOL: String(POOL),
      LOG_LEVEL: 'info',
    });
    key = service.demoKey;
    await server.query(`UPDATE clients SET plan = 'enterprise', per_minute = 1000000, per_day = 100000000`);
    // The plan of a client may be a second old.
    await vi.waitFor(async () => expect((await request('list')).limit).toBe('1000000'), 60_000);
  });
  afterAll(async () => {
    await service.stop();
    await proxy.close();
    await server.remove();
    await removeFolder();
  });

  it.each(FAILURES)(
    '$name refuses with 503 within 5 s, loses nothing acknowledged, and is back by itself',
    async ({ name, start, end, hangs, refused, logged }) => {
      await backAgain();
      const count = () => (logged ?? []).map(linesWith);
      // On a busy machine, the previous steps may have been slow as well.
      await expect.poll(() => new Set(count()).size).toBeLessThan(2);
      const before = count();
      const stacks = linesWith('"stack"');
      const { acknowledged, wrong, end: endWriting } = writing();
      await expect.poll(() => acknowledged.length).toBeGreaterThan(20);
      await start();
      const responses: Promise<Response>[] = [];
      try {
        const lasting = hangs ? REFUSED_WITHIN_MS + 500 : 2_000;
        for (const until = performance.now() + lasting; performance.now() < until;) {
          responses.push(...ALL.map((what) => request(what)));
          await pause(400);
        }
        const all = await Promise.all(responses);
        expect(all.filter((result) => !isAsPromised(result))).toEqual([]);
        if (hangs) expect(all.some(({ status }) => status === 503)).toBe(true);
        expect(await statusOf('/health/live')).toBe(200);
        if (refused) {
          await expect.poll(() => statusOf('/health/ready')).toBe(503);
          const isRefused = ({ what }: Response) => refused === 'all' || what.startsWith('write');
          // On a busy machine any one may be late.
          const unexpected = async () =>
            (await Promise.all(ALL.map((what) => request(what)))).filter(
              (one) => succeeded(one) === isRefused(one) || one.ms > KNOWN_WITHIN_MS,
            );
          await expect.poll(unexpected).toEqual([]);
          if (refused === 'writes') expect(await sessions()).toBeLessThanOrEqual(POOL + OUTSIDE_THE_POOL);
        }
      } finally {
        await end();
      }
      await backAgain();
      await endWriting();
      await expect.poll(sessions).toBeLessThanOrEqual(POOL + OUTSIDE_THE_POOL);
      expect(wrong).toEqual([]);
      expect([name, await lost(acknowledged)]).toEqual([name, []]);
      if (logged) await expect.poll(count).toEqual(before.map((lines) => lines + 1));
      expect(linesWith('"stack"')).toBe(stacks);
    },
  );

  it('ended its sessions continues: reads are sent again', async () => {
    const before = linesWith(AWAY[0]);
    for (let times = 0; times < 2; times += 1) {
      await server.endSessions();
      expect((await request('list')).status).toBe(200);
    }
    expect(linesWith(AWAY[0])).toBe(before);
    await backAgain();
  });

  it('cannot be connected to for want of descriptors: 503, nothing else, and back by itself', async () => {
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const status = (path: string) =>
      new Promise<string>((resolve, reject) => {
        get(`${service.url}${path}`, { agent, headers: { Authorization: `Bearer ${key}` } }, (response) => {
          response
            .resume()
            .on('end', () => resolve(`${response.statusCode} ${response.headers['retry-after']}`));
        }).on('error', reject);
      });
    const indexes = Array.from({ length: 12 }, (_, at) => at);
    await Promise.all(indexes.map(() => status('/health/live')));
    const read = ['--pid', String(service.pid), '--nofile', '--output=SOFT', '--noheadings'];
    const most = (await run('prlimit', read)).stdout.trim();
    await run('prlimit', ['--pid', String(service.pid), '--nofile=10:']);
    try {
      // Only now, because the service reconnects within a second.
      await server.endSessions();
      const responses = await Promise.all(indexes.map((at) => status(`/v1/pets?limit=${at + 1}`)));
      expect(responses.filter((result) => result !== '503 1' && result !== '200 undefined')).toEqual([]);
      expect(responses).toContain('503 1');
    } finally {
      await run('prlimit', ['--pid', String(service.pid), `--nofile=${most}:`]);
    }
    await backAgain();
  });

  describe('confirms no commit, and whose network', () => {
    it('has lost the connection of one that hangs: nobody waits for that any more', async () => {
      onTestFinished(releaseCommits);
      await holdCommits();
      const pending = request('write');
      await expect.poll(() => commitsHeld('postgres')).toBeGreaterThan(0);
      expect(isAsPromised(await pending)).toBe(true);
      proxy.cut();
      await releaseCommits();
      await backAgain();
      await expect
        .poll(() => linesWith('confirms commits again'))
        .toBe(linesWith('does not confirm commits;'));
    });

    it('has forgotten the connections that there are: they are given up, although new ones work', async () => {
      onTestFinished(releaseCommits);
      await holdCommits();
      await vi.waitFor(async () => {
        await Promise.all(Array.from({ length: POOL }, () => request('write')));
        expect(await statusOf('/health/ready')).toBe(503);
      }, 60_000);
      proxy.forget();
      await releaseCommits();
      await backAgain();
    });

    it('has confirmed nothing when a write of counts was given up: each request is counted once', async () => {
      await server.query(`CREATE DATABASE counted ENCODING 'UTF8' TEMPLATE template0`);
      const counting = await ServiceProcess.start(await folderOfTest(), {
        DATABASE_URL: `postgres://petstore@127.0.0.1:${proxy.port}/counted`,
        DATABASE_STATEMENT_TIMEOUT_MS: '500',
      });
      onTestFinished(async () => void (await counting.stop()));
      const database = new pg.Client({
        connectionString: server.url.replace(/[^/]*$/, 'counted'),
      });
      await database.connect();
      onTestFinished(() => database.end());
      const counted = async () => {
        const { rows } = await database.query<{ requests: number; used: number }>(`SELECT
          (SELECT SUM(requests)::int FROM request_counts WHERE length_ms = 86400000 AND outcome = '2xx' AND client_id <> '') AS requests,
          (SELECT SUM(used)::int FROM quota_counts) AS used`);
        return rows[0];
      };
      onTestFinished(releaseCommits);
      await holdCommits();
      let responded = 0;
      const hanging = new Set<number>();
      while (responded < 20) {
        if ((await request('list', counting, counting.demoKey)).status === 200) responded += 1;
        hanging.add(await commitsHeld('counted'));
        await pause(200);
      }
      expect(Math.max(...hanging)).toBeGreaterThan(0);
      proxy.cut();
      await releaseCommits();
      await expect.poll(counted).toEqual({ requests: responded, used: responded });
      await pause(3 * KNOWN_WITHIN_MS);
      expect(await counted()).toEqual({ requests: responded, used: responded });
    });

    it('was away: those that hang are given up once, with every older connection, and then keep their places', async () => {
      await server.query(`CREATE DATABASE narrow ENCODING 'UTF8' TEMPLATE template0`);
      const narrow = await ServiceProcess.start(await folderOfTest(), {
        DATABASE_URL: `postgres://petstore@127.0.0.1:${proxy.port}/narrow`,
        DATABASE_POOL: '2',
        DATABASE_STATEMENT_TIMEOUT_MS: '500',
      });
      onTestFinished(async () => void (await narrow.stop()));
      const post = async () => (await request('write', narrow, narrow.demoKey)).status;
      await expect.poll(post).toBe(201);
      onTestFinished(releaseCommits);
      await holdCommits();
      const hanging = async () => {
        expect(await post()).toBe(503);
        return commitsHeld('narrow');
      };
      await expect.poll(hanging).toBe(2);
      // Later no statement of a request finds out: no connection is left for one.
      await pause(3 * KNOWN_WITHIN_MS);
      proxy.swallows = true;
      // What it has in memory needs no connection for a while.
      await expect
        .poll(async () => [await post(), narrow.output])
        .toEqual([503, expect.stringContaining('does not respond: ')]);
      proxy.swallows = false;
      await expect.poll(() => narrow.output).toContain('responds again');
      // The server still works on those that were given up.
      await expect.poll(hanging).toBe(4);
      for (let times = 0; times < 2; times += 1) expect(await hanging()).toBe(4);
      await releaseCommits();
      await expect.poll(post).toBe(201);
      await backAgain();
    });
  });
});
