import { execFile } from 'node:child_process';
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { PostgresServer } from '../support/postgres-server.js';
import { describeWith } from '../support/requirements.js';
import { ServiceProcess, emptyFolder } from '../support/service-process.js';

const run = promisify(execFile);

/** Within this time a refusal must come, in milliseconds. */
const REFUSED_WITHIN_MS = 5_000;

describeWith('postgres-server', 'a service whose PostgreSQL', () => {
  let server: PostgresServer;
  let service: ServiceProcess;
  let key: string;
  let removeFolder: () => Promise<void>;

  beforeAll(async () => {
    server = await PostgresServer.start();
    const folder = await emptyFolder();
    removeFolder = folder.remove;
    service = await ServiceProcess.start(folder.path, { DATABASE_URL: server.url, LOG_LEVEL: 'info' });
    key = service.demoKey;
    await server.query(`UPDATE clients SET plan = 'enterprise', per_minute = 1000000, per_day = 100000000`);
    // A client's new plan counts when the key is looked up again.
    await vi.waitFor(async () => expect((await ask('GET')).limit).toBe('1000000'), 60_000);
  });
  afterAll(async () => {
    await service.stop();
    await server.remove();
    await removeFolder();
  });

  const ask = async (method: 'GET' | 'POST', path = '/v1/pets?limit=1') => {
    const since = performance.now();
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(method === 'POST' ? { body: '{"name":"Rex","categoryId":1}' } : {}),
    });
    const body = (await response.json()) as { code?: string; id?: number };
    return {
      status: response.status,
      code: body.code,
      id: body.id,
      limit: response.headers.get('X-RateLimit-Limit'),
      retryAfter: response.headers.get('Retry-After'),
      ms: performance.now() - since,
    };
  };
  const ready = async () => (await fetch(`${service.url}/health/ready`)).status;
  const refusal = { status: 503, code: 'service_unavailable', retryAfter: '1' };

  /** Sends reads and writes while something is wrong; answers those that were not refused as they must be. */
  async function refusedFor(ms: number, methods: readonly ('GET' | 'POST')[] = ['GET', 'POST']) {
    const wrong = [];
    let refused = 0;
    for (const until = performance.now() + ms; performance.now() < until;) {
      const answers = await Promise.all(methods.map((method) => ask(method)));
      for (const answer of answers) {
        const { status, code, retryAfter, ms: took } = answer;
        if (status === 200 || status === 201) continue;
        refused += 1;
        if (status !== 503 || code !== refusal.code || retryAfter === null || took > REFUSED_WITHIN_MS)
          wrong.push(answer);
      }
      await pause(100);
    }
    return { wrong, refused };
  }

  const backAgain = async () => {
    await expect
      .poll(async () => [(await ask('GET')).status, (await ask('POST', '/v1/pets')).status, await ready()], {
        timeout: 30_000,
      })
      .toEqual([200, 201, 200]);
  };
  const linesWith = (text: string) => service.output.split('\n').filter((line) => line.includes(text)).length;

  let before: { away: number; back: number };
  beforeEach(() => {
    before = { away: linesWith('does not answer:'), back: linesWith('answers again') };
  });

  it('was stopped refuses with 503 at once, is live, ready for a moment, and back by itself', async () => {
    await server.stop('fast');
    expect(await refusedFor(700)).toMatchObject({ wrong: [] });
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    await expect.poll(ready, { timeout: 10_000 }).toBe(503);
    expect((await refusedFor(1_000)).refused).toBeGreaterThan(0);
    await server.start();
    await backAgain();
    expect([linesWith('does not answer:') - before.away, linesWith('answers again') - before.back]).toEqual([
      1, 1,
    ]);
  });

  it('crashed in the middle of writes has lost nothing that was acknowledged', async () => {
    const acknowledged: number[] = [];
    const load = { goesOn: true };
    const writers = Array.from({ length: 8 }, async () => {
      while (load.goesOn) {
        const { status, id } = await ask('POST', '/v1/pets');
        if (status === 201 && id !== undefined) acknowledged.push(id);
      }
    });
    await expect.poll(() => acknowledged.length).toBeGreaterThan(20);
    await server.stop('immediate');
    await pause(200);
    await server.start();
    await backAgain();
    load.goesOn = false;
    await Promise.all(writers);
    const rows = await server.query('SELECT id FROM pets');
    const there = new Set(rows.map(({ id }) => Number(id)));
    expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
  });

  it('stands still is refused within 5 s, then at once, and answers when it goes on', async () => {
    server.signal('SIGSTOP');
    try {
      expect(await refusedFor(5_500)).toMatchObject({ wrong: [] });
      const { status, ms } = await ask('GET');
      expect([status, ms < 1_000]).toEqual([503, true]);
    } finally {
      server.signal('SIGCONT');
    }
    await backAgain();
    expect([linesWith('does not answer:') - before.away, linesWith('answers again') - before.back]).toEqual([
      1, 1,
    ]);
  });

  it('has a table locked for all: each is refused, with one line at the beginning, one at the end, and no stack', async () => {
    // On a busy machine an earlier case may have been slow, too.
    await expect.poll(() => linesWith('does not keep up:') - linesWith('keeps up again')).toBe(0);
    const [slow, stacks] = [linesWith('does not keep up:'), linesWith('"stack"')];
    const locked = server.query(
      'BEGIN',
      'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE',
      'SELECT pg_sleep(6)',
      'COMMIT',
    );
    await pause(200);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, at) => ask('GET', `/v1/pets/${at + 1}`)),
    );
    expect(answers.filter(({ status }) => status === 503).length).toBeGreaterThan(20);
    expect(answers.filter(({ status, code }) => status !== 200 && code !== refusal.code)).toEqual([]);
    await locked;
    await backAgain();
    await expect.poll(() => linesWith('keeps up again') - slow).toBe(1);
    expect([linesWith('does not keep up:') - slow, linesWith('"stack"') - stacks]).toEqual([1, 0]);
  });

  it('ended its sessions goes on: reads are asked again', async () => {
    for (let times = 0; times < 2; times += 1) {
      await server.endSessions();
      expect((await ask('GET')).status).toBe(200);
    }
    expect(linesWith('does not answer:') - before.away).toBe(0);
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
    const asked = Array.from({ length: 12 }, (_, at) => at);
    await server.endSessions();
    await Promise.all(asked.map(() => status('/health/live')));
    const read = ['--pid', String(service.pid), '--nofile', '--output=SOFT', '--noheadings'];
    const most = (await run('prlimit', read)).stdout.trim();
    await run('prlimit', ['--pid', String(service.pid), '--nofile=10:']);
    try {
      const answers = await Promise.all(asked.map((at) => status(`/v1/pets?limit=${at + 1}`)));
      expect(answers.filter((answer) => answer !== '503 1' && answer !== '200 undefined')).toEqual([]);
      expect(answers).toContain('503 1');
    } finally {
      await run('prlimit', ['--pid', String(service.pid), `--nofile=${most}:`]);
    }
    await backAgain();
  });

  it('was made read-only reads on and refuses writes, until it writes again', async () => {
    await server.query('ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()');
    await expect.poll(async () => (await ask('POST', '/v1/pets')).status, { timeout: 10_000 }).toBe(503);
    expect(await ask('POST', '/v1/pets')).toMatchObject(refusal);
    expect((await ask('GET')).status).toBe(200);
    expect(await ready()).toBe(503);
    await server.query('ALTER SYSTEM RESET default_transaction_read_only', 'SELECT pg_reload_conf()');
    await backAgain();
    expect(linesWith('cannot be written:')).toBe(1);
    await expect.poll(() => linesWith('is written again')).toBe(1);
  });
});
