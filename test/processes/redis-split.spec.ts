import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { makeDatabase } from '../kit/test-database.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { ServiceProcess, emptyFolder, petstore } from '../support/service-process.js';

const COUNTED = 'Quotas are counted in Redis';
const BEGINS = /Another instance on this database uses another Redis server/g;
const ENDS = /All instances on this database use the same Redis server again/g;
const TOLD_WITHIN = { timeout: 60_000, interval: 50 };

describeWith('postgres', 'instances on one PostgreSQL', () => {
  let folder: string;
  let key: string;
  let database: string;
  let first: RedisServer;
  let other: RedisServer;
  const closing: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const empty = await emptyFolder();
    const made = await makeDatabase('postgres');
    [first, other] = await Promise.all([RedisServer.start(), RedisServer.start()]);
    folder = empty.path;
    database = made.url;
    closing.push(
      () => first.remove(),
      () => other.remove(),
      made.remove,
      empty.remove,
    );
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  const environment = (redis: string) => ({
    DATABASE_URL: database,
    REDIS_URL: redis,
    REDIS_TIMEOUT_MS: '1000',
  });
  const started = async (redis: string) => {
    const service = await ServiceProcess.start(folder, environment(redis));
    onTestFinished(async () => void (await service.stop()));
    return service;
  };
  const count = (service: ServiceProcess, line: RegExp | string) => service.output.split(line).length - 1;

  it('that would use another Redis server do not start, and say what to do', async () => {
    const service = await started(first.url);
    // It made the demo client.
    [key = ''] = /pst_test_\w+/.exec(service.output) ?? [];
    await expect(started(other.url)).rejects.toThrow(
      /Another instance on this database uses another Redis server.*Give all of them the same REDIS_URL/,
    );
    // The same server under another name.
    await started(first.url.replace('127.0.0.1', 'localhost'));
    const { code, stderr } = await petstore(folder, ['client', 'list'], environment(other.url));
    expect([code, stderr]).toEqual([0, '']);
  });

  it('start whatever their Redis forgets, and tell nothing of it', async () => {
    const one = await started(first.url);
    first.command('FLUSHALL');
    const second = await started(first.url);
    await first.kill();
    await first.start();
    const third = await started(first.url);
    const all = [one, second, third];
    for (const instance of all)
      await vi.waitFor(() => expect(count(instance, COUNTED)).toBeGreaterThan(0), TOLD_WITHIN);
    await vi.waitFor(() => expect(count(one, COUNTED)).toBe(2), TOLD_WITHIN);
    expect(all.map((instance) => count(instance, BEGINS))).toEqual([0, 0, 0]);
  });

  it('whose other Redis server came later say so once, show no old list meanwhile, and say when it ends', async () => {
    const one = await started(first.url);
    await other.kill();
    const second = await started(other.url);
    await other.start();
    const both = [one, second];
    for (const instance of both) await vi.waitFor(() => expect(count(instance, BEGINS)).toBe(1), TOLD_WITHIN);
    const { stdout } = await petstore(folder, ['key', 'list', '--json'], environment(first.url));
    const [{ id }] = JSON.parse(stdout) as [{ id: string }];
    const ask = async (instance: ServiceProcess, method = 'GET', body?: object) => {
      const response = await fetch(`${instance.url}/v1/pets?limit=100`, {
        method,
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return { status: response.status, text: await response.text() };
    };
    for (const [round, writer] of [one, second, one].entries()) {
      for (const instance of both) await ask(instance);
      const name = `Rex ${round}`;
      expect((await ask(writer, 'POST', { name, categoryId: 1 })).status).toBe(201);
      for (const instance of both) expect((await ask(instance)).text).toContain(name);
    }
    await petstore(folder, ['key', 'revoke', id, '--yes'], environment(other.url));
    for (const instance of both) expect((await ask(instance)).status).toBe(401);
    await second.stop();
    await vi.waitFor(() => expect(count(one, ENDS)).toBe(1), TOLD_WITHIN);
    expect(both.map((instance) => count(instance, BEGINS))).toEqual([1, 1]);
  });
});
