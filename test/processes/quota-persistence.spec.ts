import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MINUTE_MS } from '../../src/core/time/duration.js';
import { clientWithKey, jsonHere } from '../support/petstore-here.js';
import { folderOfTest, serviceOfTest, ServiceProcess } from '../support/service-process.js';
import { onFile } from '../support/sqlite-file.js';

it('counts of the day survive a stop by any signal exactly and kill -9 but for the last second, bans until they are lifted', async () => {
  const path = await folderOfTest();
  const { clientId, id: bannedId, key: bannedKey } = await clientWithKey(path, {}, ['--plan', 'pro']);
  const { key } = await jsonHere(path, ['key', 'issue', '--client', clientId]);
  const shown = () => jsonHere(path, ['client', 'show', clientId]);
  const start = () => serviceOfTest(path);
  const request = async (service: ServiceProcess, by: string) => {
    const { headers, body } = await service.request('GET', '/v1/pets?limit=1', { key: by });
    const left = Number(/"day";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
    return { left, code: (body as { code?: string }).code };
  };
  const dayLeft = async (service: ServiceProcess) => (await request(service, key)).left;

  // A ban takes 20 seconds to earn: this one is from before the start.
  await onFile(
    join(path, 'data/petstore.sqlite'),
    `INSERT INTO key_bans (key_id, retry_at, forgiven_until, strikes, last_strike_at, bans, banned_until, lifted_at)
     SELECT '${bannedId}', until, 0, 0, until, 1, until, 0 FROM (SELECT ${Date.now() + 5 * MINUTE_MS} AS until)`,
  );
  const first = await start();
  for (let sent = 0; sent < 25; sent += 1) await dayLeft(first);
  expect((await request(first, bannedKey)).code).toBe('api_key_banned');
  let second = first;
  for (const [at, signal] of (['SIGTERM', 'SIGINT', 'SIGTERM'] as const).entries()) {
    expect((await second.stop(signal)).code).toBe(0);
    second = await start();
    expect(await dayLeft(second)).toBe(10_000 - 26 - at);
  }
  // Written when another process can see them.
  await expect.poll(async () => (await shown()).days[0]?.requests).toBe(28);
  expect((await request(second, bannedKey)).code).toBe('api_key_banned');
  expect((await shown()).bans).toMatchObject([{ keyId: bannedId }]);
  await jsonHere(path, ['key', 'unban', bannedId]);
  await expect
    .poll(async () => (await request(second, bannedKey)).code, { interval: 300 })
    .not.toBe('api_key_banned');
  const left = await dayLeft(second);
  await second.stop('SIGKILL');

  const third = await start();
  const lost = (await dayLeft(third)) - (left - 1);
  expect([0, 1, 2]).toContain(lost);
});
