import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MINUTE_MS } from '../../src/throttling/quota.js';
import { emptyFolder, petstore, ServiceProcess } from '../support/service-process.js';

/** Day's requests left, as the service tells. */
async function dayLeft(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/pets?limit=1`, { headers: { authorization: `Bearer ${key}` } });
  return Number(/"day";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
}

async function production(): Promise<{
  path: string;
  id: string;
  key: string;
  keyId: string;
  start: () => Promise<ServiceProcess>;
}> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  const json = async (...args: string[]) =>
    JSON.parse((await petstore(path, [...args, '--json'])).stdout) as { id: string; key: string };
  const { id } = await json('client', 'create', '--name', 'A', '--plan', 'pro');
  const { key, id: keyId } = await json('key', 'issue', '--client', id);
  const start = async () => {
    const service = await ServiceProcess.start(path);
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    return service;
  };
  return { path, id, key, keyId, start };
}

/** Runs one statement on a database file. */
function run(file: string, statement: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const database = new sqlite3.Database(file);
    database.run(statement, (error) => {
      database.close();
      if (error) reject(error);
      else resolve();
    });
  });
}

describe('the day’s counters', () => {
  it('survive a clean stop exactly', async () => {
    const { key, start } = await production();
    const first = await start();
    for (let sent = 0; sent < 25; sent += 1) await dayLeft(first.url, key);
    await first.stop();
    const second = await start();
    expect(await dayLeft(second.url, key)).toBe(10_000 - 26);
  });

  it('survive kill -9, but for at most the last second', async () => {
    const { path, id, key, start } = await production();
    const first = await start();
    for (let sent = 0; sent < 25; sent += 1) await dayLeft(first.url, key);
    // Written when another process can see them.
    await expect
      .poll(
        async () =>
          (
            JSON.parse((await petstore(path, ['client', 'show', id, '--json'])).stdout) as {
              days: { requests: number }[];
            }
          ).days[0]?.requests,
      )
      .toBe(25);
    await dayLeft(first.url, key);
    await first.stop('SIGKILL');
    const second = await start();
    expect([10_000 - 27, 10_000 - 26]).toContain(await dayLeft(second.url, key));
  });
});

it('petstore key unban reaches a running service', async () => {
  const { path, id, key, keyId, start } = await production();
  // A ban takes 20 seconds to earn: this one is from before the start.
  await run(
    join(path, 'data/petstore.sqlite'),
    `INSERT INTO key_bans (key_id, retry_at, forgiven_until, strikes, last_strike_at, bans, banned_until, lifted_at)
     SELECT '${keyId}', until, 0, 0, until, 1, until, 0 FROM (SELECT ${Date.now() + 5 * MINUTE_MS} AS until)`,
  );
  const service = await start();
  const send = async () =>
    (
      await fetch(`${service.url}/v1/pets?limit=1`, { headers: { authorization: `Bearer ${key}` } })
    ).json() as Promise<{ code?: string }>;
  expect((await send()).code).toBe('api_key_banned');
  const show = async () =>
    JSON.parse((await petstore(path, ['client', 'show', id, '--json'])).stdout) as {
      bans: { keyId: string }[];
    };
  expect((await show()).bans.map((ban) => ban.keyId)).toEqual([keyId]);
  expect((await petstore(path, ['key', 'unban', keyId])).code).toBe(0);
  await expect.poll(async () => (await send()).code, { interval: 300 }).not.toBe('api_key_banned');
});
