import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { waitForOlderBuilds } from '../../src/throttling/redis/older-builds.js';
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
  const keepBeating = (redis: RedisServer) =>
    keepDoing(1, async () => {
      beat(redis);
      await pause(EVERY_MS);
    });
  const start = (redis: RedisServer, folder: string) => serviceOfTest(folder, { REDIS_URL: redis.url });

  it('waits for them, and is refused in one sentence that says what to do, before it migrates anything', async () => {
    const folder = await folderOfTest();
    const redis = await RedisServer.ofTest();
    beat(redis);
    keepBeating(redis);
    await expect(start(redis, folder)).rejects.toThrow(
      /Instances of an older build use this Redis, and this build cannot run alongside them. Stop all of them, run `petstore db migrate` and start again/,
    );
    expect(existsSync(join(folder, 'data/petstore.sqlite'))).toBe(false);
  });

  it('finds them although Redis takes two seconds to respond', async () => {
    const redis = await RedisServer.ofTest();
    beat(redis);
    redis.signal('SIGSTOP');
    const refused = expect(waitForOlderBuilds({ url: redis.url, ca: null })).rejects.toThrow(
      /^Instances of an older build use this Redis/,
    );
    await pause(2_000);
    redis.signal('SIGCONT');
    keepBeating(redis);
    await refused;
  });

  it('succeeds without a response of Redis, and warns that it did not find out', async () => {
    const redis = await RedisServer.ofTest();
    redis.signal('SIGSTOP');
    onTestFinished(() => redis.signal('SIGCONT'));
    const { output } = await start(redis, await folderOfTest());
    expect(output).toMatch(
      /Redis did not respond \(.+\), so it is unknown whether instances of a build from before 1\.0\.0/,
    );
  });

  it('succeeds when they have been killed', async () => {
    const redis = await RedisServer.ofTest();
    beat(redis);
    const { output } = await start(redis, await folderOfTest());
    expect(output).toContain('Listening on');
    expect(redis.command('ZCARD', 'petstore:quota:instances')).toBe('1');
  });
});
