import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';

import { finding, findingsIn, wrong } from '../support/doctor-findings.js';
import { petstoreHere as petstore } from '../support/petstore-here.js';
import { RedisServer } from '../support/redis-server.js';
import { FAKETIME, POSTGRES_URL, describeWith } from '../support/requirements.js';
import { folderOfTest, petstore as petstoreProcess, serviceOfTest } from '../support/service-process.js';

describeWith('redis-server', 'doctor sends Redis the commands of the service', () => {
  const ALL_BUT = ['ACL', 'SETUSER', 'pet', 'on', '>word', '~petstore:quota:*', '+@all'];

  async function redisAfter(...command: readonly string[]) {
    const server = await RedisServer.ofTest();
    server.command(...command);
    return { server, url: server.url, asPet: server.url.replace('//', '//pet:word@') };
  }
  const ofRedis = async (REDIS_URL: string) => finding(await folderOfTest(), 'redis', { REDIS_URL });

  it('and finds scripts that are not allowed', async () => {
    const { asPet } = await redisAfter(...ALL_BUT, '-eval', '-evalsha');
    expect(await ofRedis(asPet)).toMatchObject(wrong(/NOPERM/));
  });

  it('and finds that it evicts counts when memory is short, unless it lacks the permission', async () => {
    const { server, url, asPet } = await redisAfter('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    const evicts = wrong(/\(allkeys-lru\)\. Set maxmemory-policy to noeviction/);
    expect(await ofRedis(url)).toMatchObject(evicts);
    server.command(...ALL_BUT, '-info');
    expect(await ofRedis(asPet)).toMatchObject({ state: 'ok' });
    // It needs its own keys alone, and leaves no other.
    expect(server.command('KEYS', '*').split('\n')).toEqual(
      expect.not.arrayContaining([expect.not.stringMatching(/^(?:petstore:quota:.*)?$/)]),
    );
  });

  it.each([
    [
      'that it loses counts when it restarts',
      ['save', ''],
      'warning',
      /^Redis stores counts, but .*Set appendonly to yes\.$/,
    ],
    ['that it keeps them in a log', ['appendonly', 'yes'], 'ok', /^Redis stores counts$/],
    ['that it keeps them in snapshots', ['save', '60 1'], 'ok', /^Redis stores counts$/],
  ])('and finds %s', async (_, args, state, found) => {
    const { url } = await redisAfter('CONFIG', 'SET', ...args);
    expect(await ofRedis(url)).toMatchObject({ state, found: expect.stringMatching(found) as string });
  });

  describeWith('faketime', 'whose clock is another', () => {
    it.each([
      ['+3s', 'ok', / 3\.\d s ahead of that of Redis$/],
      [
        '-20s',
        'wrong',
        /^the clock is (?:19|20)\.\d s behind that of Redis\. .*time service.* on both machines\.$/,
      ],
    ])('by %s', async (FAKETIME_OFFSET, state, found) => {
      const environment = {
        REDIS_URL: (await redisAfter('PING')).url,
        LD_PRELOAD: FAKETIME,
        FAKETIME: FAKETIME_OFFSET,
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      };
      const { code, stdout } = await petstoreProcess(await folderOfTest(), ['doctor', '--json'], environment);
      expect(code).toBe(state === 'ok' ? 0 : 1);
      const clock = { check: 'clock', state, found: expect.stringMatching(found) as string };
      expect(findingsIn(stdout)).toContainEqual(clock);
    });
  });
});

describeWith('postgres', 'doctor on PostgreSQL', () => {
  /** Makes a database with its own user for the test; statements are run there before the test. */
  async function withUser(...statements: readonly string[]): Promise<string> {
    const name = `petstore_doctor_${randomBytes(4).toString('hex')}`;
    const [server, inside] = [new URL(POSTGRES_URL), new URL(POSTGRES_URL)];
    inside.pathname = `/${name}`;
    const run = async (url: URL, ...all: string[]) => {
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      for (const sql of all) await client.query(sql.replaceAll('<user>', name));
      await client.end();
    };
    await run(server, `CREATE DATABASE ${name}`, `CREATE ROLE ${name} LOGIN PASSWORD 'word'`);
    onTestFinished(() => run(server, `DROP DATABASE ${name} WITH (FORCE)`, `DROP ROLE ${name}`));
    await petstore(await folderOfTest(), ['db', 'migrate'], { DATABASE_URL: inside.href });
    await run(inside, 'GRANT ALL ON SCHEMA public TO <user>', ...statements);
    const own = new URL(inside);
    Object.assign(own, { username: name, password: 'word' });
    onTestFinished(() => run(inside, 'DROP OWNED BY <user>'));
    return own.href;
  }
  const ALL = 'GRANT ALL ON ALL TABLES IN SCHEMA public TO <user>';

  it.each([
    [
      'who may not read the tables of another',
      [],
      wrong(/the table api_keys, which another user owns\..*REASSIGN OWNED/),
    ],
    [
      'who may not write all of them',
      [ALL, 'REVOKE DELETE ON pets FROM <user>'],
      wrong(/the table pets, which/),
    ],
    [
      'with fewer connections than a process may need',
      [ALL, 'ALTER ROLE <user> CONNECTION LIMIT 5'],
      wrong(
        /PostgreSQL allows 5 connections, and DATABASE_POOL=10 needs 13\. .*CONNECTION LIMIT of the user/,
      ),
    ],
    ['who may use them, and is content', [ALL], { state: 'ok' }],
  ])('finds a user %s', async (_, statements, found) => {
    const DATABASE_URL = await withUser(...statements);
    expect(await finding(await folderOfTest(), 'database', { DATABASE_URL })).toMatchObject(found);
  });

  it('finds that others use the connections of a user', async () => {
    const DATABASE_URL = await withUser(ALL, 'ALTER ROLE <user> CONNECTION LIMIT 13');
    for (let made = 0; made < 6; made += 1) {
      const other = new pg.Client({ connectionString: DATABASE_URL });
      await other.connect();
      onTestFinished(() => other.end());
    }
    const few = wrong(
      /: [2-6] connections are free, and DATABASE_POOL is 10\. .*CONNECTION LIMIT of the user/,
    );
    expect(await finding(await folderOfTest(), 'database', { DATABASE_URL })).toMatchObject(few);
  });

  it('finds instances alongside which a start would be refused, and accepts its own', async () => {
    const DATABASE_URL = await withUser(ALL, 'GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO <user>');
    const path = await folderOfTest();
    const processes = (REDIS_URL?: string) =>
      finding(path, 'processes', REDIS_URL === undefined ? { DATABASE_URL } : { DATABASE_URL, REDIS_URL });
    expect(await processes()).toMatchObject({ state: 'ok', found: 'no process serves this database' });
    const alone = await serviceOfTest(path, { DATABASE_URL });
    expect(await processes()).toMatchObject({ state: 'ok', found: 'a process serves this database' });
    const [redis, other] = [await RedisServer.ofTest(), await RedisServer.ofTest()];
    expect(await processes(redis.url)).toMatchObject(wrong(/^An instance without REDIS_URL runs/));
    await alone.stop();
    await serviceOfTest(path, { DATABASE_URL, REDIS_URL: redis.url });
    expect(await processes(redis.url)).toMatchObject({
      state: 'ok',
      found: 'a process serves this database',
    });
    expect(await processes()).toMatchObject(wrong(/^Another instance runs on this database\./));
    expect(await processes(other.url)).toMatchObject(wrong(/uses a different Redis server/));
  });
});
