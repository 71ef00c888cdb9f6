import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keepDoing } from '../support/keep-doing.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest, serviceOfTest } from '../support/service-process.js';

/** As builds of November 2026 beat, by the clock of Redis. */
const BEAT =
  "local t = redis.call('TIME') return redis.call('ZADD', KEYS[1], t[1] * 1000 + math.floor(t[2] / 1000), ARGV[1])";
const EVERY_MS = 500;

describeWith('redis-server', 'a start while instances of an older build use the same Redis', () => {
  const beat = (redis: RedisServer) => redis.command('EVAL', BEAT, '1', 'petstore:quota:instances', 'older');
  const start = (redis: RedisServer, folder: string) => serviceOfTest(folder, { REDIS_URL: redis.url });

  it('waits for them, and is refused in one sentence that says what to do, before it migrates anything', async () => {
    const folder = await folderOfTest();
    const redis = await RedisServer.ofTest();
    beat(redis);
    keepDoing(1, async () => {
      beat(redis);
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    });
    await expect(start(redis, folder)).rejects.toThrow(
      /Instances of an older build use this Redis, and this build cannot run alongside them. Stop all of them, run `petstore db migrate` and start again/,
    );
    expect(existsSync(join(folder, 'data/petstore.sqlite'))).toBe(false);
  });

  it('succeeds when they have been killed', async () => {
    const redis = await RedisServer.ofTest();
    beat(redis);
    const { output } = await start(redis, await folderOfTest());
    expect(output).toContain('Listening on');
    expect(redis.command('ZCARD', 'petstore:quota:instances')).toBe('1');
  });
});
