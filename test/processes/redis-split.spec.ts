import { expect, it, onTestFinished, vi } from 'vitest';
import { postgresOfTest } from '../support/databases.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { jsonHere } from '../support/petstore-here.js';
import { folderOfTest, ServiceProcess } from '../support/service-process.js';

const COUNTED = 'Quotas are counted in Redis';
const BEGINS = /Another instance on this database uses another Redis server/g;
const ENDS = /All instances on this database use the same Redis server again/g;
const TOLD_WITHIN = { timeout: 60_000, interval: 50 };

const count = (service: ServiceProcess, line: RegExp | string) => service.output.split(line).length - 1;
const told = (service: ServiceProcess, line: RegExp | string, times: number) =>
  vi.waitFor(() => expect(count(service, line)).toBe(times), TOLD_WITHIN);

describeWith('postgres', 'instances on one PostgreSQL', () => {
  it('use one Redis server: another is refused at the start, and told of and survived when it comes later', async () => {
    const folder = await folderOfTest();
    const DATABASE_URL = await postgresOfTest();
    const [first, other] = await Promise.all([RedisServer.ofTest(), RedisServer.ofTest()]);
    const environment = (redis: string) => ({
      DATABASE_URL,
      REDIS_URL: redis,
      REDIS_TIMEOUT_MS: '1000',
    });
    const started = async (redis: string) => {
      const service = await ServiceProcess.start(folder, environment(redis));
      onTestFinished(async () => void (await service.stop()));
      return service;
    };

    const one = await started(first.url);
    // It made the demo client.
    const key = one.demoKey;
    await expect(started(other.url)).rejects.toThrow(
      /Another instance on this database uses another Redis server.*Give all of them the same REDIS_URL/,
    );
    const [{ id }] = await jsonHere(folder, ['key', 'list'], environment(other.url));

    // The same server under another name, and whatever it forgets, is the same.
    first.command('FLUSHALL');
    const same = await started(first.url.replace('127.0.0.1', 'localhost'));
    const before = [one, same].map((instance) => count(instance, COUNTED));
    await first.kill();
    await vi.waitFor(() => expect(one.output + same.output).toContain('Redis failed'), TOLD_WITHIN);
    await first.start();
    for (const [at, instance] of [one, same].entries())
      await vi.waitFor(() => expect(count(instance, COUNTED)).toBeGreaterThan(before[at] ?? 0), TOLD_WITHIN);
    expect([one, same].map((instance) => count(instance, BEGINS))).toEqual([0, 0]);
    await same.stop();

    // Another server that is away at the start is told of when it comes, and nobody shows an old list meanwhile.
    await other.kill();
    const second = await started(other.url);
    await other.start();
    const both = [one, second];
    for (const instance of both) await told(instance, BEGINS, 1);
    const ask = (instance: ServiceProcess, method = 'GET', json?: object) =>
      instance.request(method, '/v1/pets?limit=100', { key, json });
    for (const [round, writer] of [one, second, one].entries()) {
      for (const instance of both) await ask(instance);
      const name = `Rex ${round}`;
      expect((await ask(writer, 'POST', { name, categoryId: 1 })).status).toBe(201);
      for (const instance of both) expect((await ask(instance)).text).toContain(name);
    }
    await jsonHere(folder, ['key', 'revoke', id, '--yes'], environment(other.url));
    for (const instance of both) expect((await ask(instance)).status).toBe(401);
    await second.stop();
    await told(one, ENDS, 1);
    expect(both.map((instance) => count(instance, BEGINS))).toEqual([1, 1]);
  });
});
