import { join } from 'node:path';
import { expect, it } from 'vitest';
import { clientWithKey, jsonHere } from '../support/petstore-here.js';
import { fakeClock } from '../support/fake-clock.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest, serviceOfTest, type ServiceProcess } from '../support/service-process.js';
import { onFile } from '../support/sqlite-file.js';

const SECOND = 1_000;
const HOUR = 3_600;
/** That of a third ban: a slow machine must not outlast it. */
const BAN_SECONDS = HOUR;

/** A started service whose clock can be set, alongside the machine's, which nobody touches. */
async function open() {
  const path = await folderOfTest();
  const { set: setClock, environment } = await fakeClock(path);
  const start = () => serviceOfTest(path, { NODE_ENV: 'production', ...environment });
  return { path, setClock, start };
}

/** The response; `at` is when by the service's clock, in ms since the Unix epoch, to the second. */
async function request(service: ServiceProcess, key: string) {
  const { status, headers, body } = await service.request('GET', '/v1/pets?limit=1', { key });
  return {
    status,
    code: (body as { code?: string }).code,
    at: Date.parse(headers.get('date') ?? ''),
    retryAfter: Number(headers.get('retry-after')),
    reset: Number(headers.get('x-ratelimit-reset')),
  };
}

/** Waits until the service's clock is as far ahead of the machine's as it was set. */
async function clockIs(ahead: number, service: ServiceProcess, key: string): Promise<void> {
  await expect
    .poll(async () => Math.abs((await request(service, key)).at - Date.now() - ahead * SECOND), {
      timeout: 60_000,
      interval: 250,
    })
    .toBeLessThan(600 * SECOND);
}

describeWith('faketime', 'a started service whose clock is set', () => {
  it('bans for no longer than the whole ban when it is put back, also over a restart, and no more beyond the end', async () => {
    const { path, setClock, start } = await open();
    const NODE_ENV = 'production';
    const { clientId, id: keyId, key } = await clientWithKey(path, { NODE_ENV }, ['--plan', 'pro']);
    const { key: other } = await jsonHere(path, ['key', 'issue', '--client', clientId], { NODE_ENV });
    await (await start()).stop();
    const until = Date.now() + BAN_SECONDS * SECOND;
    await onFile(
      join(path, 'data/petstore.sqlite'),
      `INSERT INTO key_bans (key_id, retry_at, forgiven_until, strikes, last_strike_at, bans, banned_until, lifted_at)
       VALUES ('${keyId}', ${until}, 0, 0, ${until}, 3, ${until}, 0)`,
    );
    const second = await start();
    const expectBanned = async (service: ServiceProcess, ahead: number): Promise<void> => {
      const { code, retryAfter, at, reset } = await request(service, key);
      expect(code, `${ahead} s ahead`).toBe('api_key_banned');
      expect(retryAfter).toBeGreaterThan(BAN_SECONDS / 2);
      expect(retryAfter).toBeLessThanOrEqual(BAN_SECONDS);
      expect(Math.abs(reset - at / SECOND - retryAfter)).toBeLessThanOrEqual(2);
    };
    for (const ahead of [0, -HOUR, -24 * HOUR]) {
      await setClock(ahead);
      await clockIs(ahead, second, other);
      await expectBanned(second, ahead);
    }
    await second.stop();
    await setClock(-48 * HOUR);
    const third = await start();
    await expectBanned(third, -48 * HOUR);
    await setClock(0);
    await clockIs(0, third, other);
    expect((await request(third, key)).status).toBe(200);
  }, 600_000);
});
