import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PostgresServer } from '../support/postgres-server.js';
import { describeWith } from '../support/requirements.js';
import { ServiceProcess, emptyFolder } from '../support/service-process.js';

/** Within this time a refusal must come, in milliseconds. */
const REFUSED_WITHIN_MS = 5_000;

/** How long keys are remembered at most, in milliseconds: later their look-ups need connections, too. */
const KEYS_KEPT_MS = 5_000;
/** Connections of the service. */
const POOL = 3;
/** Connections of a process beside its pool. */
const BESIDE_THE_POOL = 2;
/** How long it waits for one at most, in milliseconds. */
const CONNECTION_WAIT_MS = 2_000;

/** What is sent while something is in the way. */
const REQUESTS = {
  list: { path: '/v1/pets?limit=1' },
  animal: { path: '/v1/pets/1' },
  write: { method: 'POST', path: '/v1/pets' },
  'write with an Idempotency-Key': { method: 'POST', path: '/v1/pets', isKeyed: true },
} as const;

describeWith('postgres-server', 'a service all of whose connections to PostgreSQL wait', () => {
  let server: PostgresServer;
  let service: ServiceProcess;
  let key: string;
  let removeFolder: () => Promise<void>;
  let sent = 0;

  beforeAll(async () => {
    server = await PostgresServer.start();
    const folder = await emptyFolder();
    removeFolder = folder.remove;
    service = await ServiceProcess.start(folder.path, {
      DATABASE_URL: server.url,
      DATABASE_POOL: String(POOL),
      LOG_LEVEL: 'info',
    });
    key = service.demoKey;
    await server.query(`UPDATE clients SET plan = 'enterprise', per_minute = 1000000, per_day = 100000000`);
  });
  afterAll(async () => {
    await service.stop();
    await server.remove();
    await removeFolder();
  });

  const ask = async (what: keyof typeof REQUESTS) => {
    const { path, ...more }: { path: string; method?: string; isKeyed?: boolean } = REQUESTS[what];
    const since = performance.now();
    sent += 1;
    const response = await fetch(`${service.url}${path}`, {
      method: more.method ?? 'GET',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        ...(more.isKeyed ? { 'Idempotency-Key': `waits-${sent}` } : {}),
      },
      ...(more.method ? { body: `{"name":"Rex ${sent}","categoryId":1}` } : {}),
    });
    const body = (await response.json()) as { id?: number };
    return {
      what,
      status: response.status,
      id: body.id,
      retryAfter: response.headers.get('Retry-After'),
      ms: Math.round(performance.now() - since),
    };
  };
  const names = Object.keys(REQUESTS) as (keyof typeof REQUESTS)[];
  const isAsPromised = ({ status, retryAfter, ms }: Awaited<ReturnType<typeof ask>>) =>
    (status === 503 && retryAfter !== null && ms < REFUSED_WITHIN_MS) || status === 200 || status === 201;
  const linesWith = (text: string) => service.output.split('\n').filter((line) => line.includes(text)).length;
  const backAgain = async () => {
    await expect
      .poll(() => Promise.all(names.map(async (name) => (await ask(name)).status)), { timeout: 30_000 })
      .toEqual([200, 200, 201, 201]);
  };

  it.each([
    ['a table is locked', 'pets', 6],
    ['the table of keys is locked', 'api_keys', 6],
    ['a table is locked for a moment again and again', 'pets', 3],
  ])('while %s: refused within 5 s, nothing acknowledged lost, back by itself', async (_, table, seconds) => {
    const lock = `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`;
    if (table === 'api_keys') await pause(KEYS_KEPT_MS + 500);
    const locked = (async () => {
      for (let times = 6 / seconds; times > 0; times -= 1)
        await server.query('BEGIN', lock, `SELECT pg_sleep(${seconds})`, 'COMMIT');
    })();
    await pause(200);
    const answers: ReturnType<typeof ask>[] = [];
    answers.push(...Array.from({ length: POOL }, () => ask('list')));
    // These wait for connections that come free only when the statements before them have been ended.
    await pause(CONNECTION_WAIT_MS + 700);
    answers.push(...names.map(ask), ask('write with an Idempotency-Key'));
    const all = await Promise.all(answers);
    expect(all.filter((answer) => !isAsPromised(answer))).toEqual([]);
    expect(all.filter(({ status }) => status === 503).length).toBeGreaterThan(0);
    await locked;
    await backAgain();
    const acknowledged = all.filter(({ status }) => status === 201).map(({ id }) => Number(id));
    const rows = await server.query('SELECT id FROM pets');
    const there = new Set(rows.map(({ id }) => Number(id)));
    expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
  });

  it('while no commit is answered: reads go on, writes are refused, no sessions are added, back by itself', async () => {
    const writes = ['write', 'write with an Idempotency-Key', 'write with an Idempotency-Key'] as const;
    const answers: ReturnType<typeof ask>[] = [];
    const sessions: number[] = [];
    const late: unknown[] = [];
    // Every commit waits for a standby that is not there, and no limit of the server ends that wait.
    await server.query(`ALTER SYSTEM SET synchronous_standby_names = 'absent'`, 'SELECT pg_reload_conf()');
    try {
      for (const until = performance.now() + 11_000; performance.now() < until;) {
        answers.push(ask('list'), ask('animal'), ...writes.map(ask));
        const [row] = await server.query(
          `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name LIKE 'petstore%'`,
        );
        sessions.push(row?.n as number);
        await pause(500);
      }
      const at = await Promise.all([...names, ...names].map(ask));
      late.push(...at.filter(({ ms }) => ms > 1_000));
      answers.push(...at.map((answer) => Promise.resolve(answer)));
    } finally {
      await server.query('ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()');
    }
    const all = await Promise.all(answers);
    expect(all.filter((answer) => !isAsPromised(answer))).toEqual([]);
    expect(all.filter(({ what, status }) => !what.startsWith('write') && status !== 200)).toEqual([]);
    expect(late).toEqual([]);
    expect(Math.max(...sessions)).toBeLessThanOrEqual(POOL + BESIDE_THE_POOL);
    await backAgain();
    const rows = await server.query('SELECT id FROM pets');
    const there = new Set(rows.map(({ id }) => Number(id)));
    const acknowledged = all.filter(({ status }) => status === 201).map(({ id }) => Number(id));
    expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
    await expect.poll(() => linesWith('answers commits again'), { timeout: 15_000 }).toBe(1);
    expect(['does not answer commits:', 'does not answer:', 'ended a connection'].map(linesWith)).toEqual([
      1, 0, 0,
    ]);
  });
});
