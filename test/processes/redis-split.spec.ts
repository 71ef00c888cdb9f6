import { expect, it, onTestFinished, vi } from 'vitest';
import { postgresOfTest } from '../support/databases.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest, ServiceProcess } from '../support/service-process.js';

const COUNTED = 'Quotas are counted in Redis';
const REFUSAL =
  /Another instance on this database uses a different Redis server.*Set the same REDIS_URL for all instances/;
const LOGGED_WITHIN = { timeout: 60_000, interval: 50 };

const count = (service: ServiceProcess, line: RegExp | string) => service.output.split(line).length - 1;

describeWith('postgres', 'instances on one PostgreSQL', () => {
  it('use one Redis server: another is refused at the start', async () => {
    const folder = await folderOfTest();
    const DATABASE_URL = await postgresOfTest();
    const [first, other] = await Promise.all([RedisServer.ofTest(), RedisServer.ofTest()]);
    const started = async (redis: string) => {
      const environment = { DATABASE_URL, REDIS_URL: redis, REDIS_TIMEOUT_MS: '1000' };
      const service = await ServiceProcess.start(folder, environment);
      onTestFinished(async () => void (await service.stop()));
      return service;
    };

    const one = await started(first.url);
    await expect(started(other.url)).rejects.toThrow(REFUSAL);

    // The same server under another name, and whatever it forgets, is the same.
    first.command('FLUSHALL');
    const same = await started(first.url.replace('127.0.0.1', 'localhost'));
    const before = [one, same].map((instance) => count(instance, COUNTED));
    await first.kill();
    for (const instance of [one, same])
      await vi.waitFor(() => expect(instance.output).toContain('Redis failed'), LOGGED_WITHIN);
    // While it is away, it stays the one that they count in.
    await expect(started(other.url)).rejects.toThrow(REFUSAL);
    await first.start();
    for (const [at, instance] of [one, same].entries())
      await vi.waitFor(
        () => expect(count(instance, COUNTED)).toBeGreaterThan(before[at] ?? 0),
        LOGGED_WITHIN,
      );
    await expect(started(other.url)).rejects.toThrow(REFUSAL);
  });
});
