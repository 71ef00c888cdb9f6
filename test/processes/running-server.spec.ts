import { beforeAll, expect, it } from 'vitest';
import { clientWithKey, jsonHere } from '../support/petstore-here.js';
import { emptyFolder, ServiceProcess } from '../support/service-process.js';

/** How long a server may take to learn of it on the slowest machine, in milliseconds; test/api/key-clock.spec.ts holds the 5 s. */
const WITHIN_MS = 60_000;

let folder: string;
let service: ServiceProcess;
beforeAll(async () => {
  const { path, remove } = await emptyFolder();
  service = await ServiceProcess.start((folder = path), { NODE_ENV: 'production' });
  return () => service.stop().then(remove);
});

const json = (...args: string[]) => jsonHere(folder, args, { NODE_ENV: 'production' });

async function knownClient(plan = 'pro') {
  const order = ['--plan', plan];
  const { clientId: client, id, key } = await clientWithKey(folder, { NODE_ENV: 'production' }, order);
  const request = async () => {
    const { headers, body } = await service.request('GET', '/v1/pets?limit=1', { key });
    return { code: (body as { code?: string }).code ?? 200, policy: headers.get('ratelimit-policy') };
  };
  // The server caches the key here, so that a change which it does not notice would be visible.
  expect((await request()).code).toBe(200);
  return { client, id, ask: request };
}

it('a server that runs alongside the command line on one SQLite file notices each change', async () => {
  const { client, id, ask: request } = await knownClient();
  const business = '"minute";q=1000;w=60, "day";q=100000;w=86400';
  // The order counts as given when its process has ended.
  for (const [expected, ...order] of [
    [{ code: 'client_suspended' }, 'client', 'suspend', client],
    [{ code: 200 }, 'client', 'resume', client],
    [{ code: 200, policy: business }, 'client', 'set-plan', client, '--plan', 'business'],
    [{ code: 'revoked_api_key' }, 'key', 'revoke', id, '--yes'],
    [{ code: 'invalid_api_key' }, 'client', 'delete', client, '--yes'],
  ] as const) {
    await json(...order);
    await expect
      .poll(request, { timeout: WITHIN_MS, interval: 1, message: order.join(' ') })
      .toMatchObject(expected);
  }
});

it('the command line sees what the server counts: both windows, the last use, the day', async () => {
  const { client, ask: request } = await knownClient();
  interface Seen {
    readonly windows: readonly { readonly used: number }[];
    readonly lastUsedAt: string | null;
    readonly days: readonly { readonly requests: number }[];
  }
  // A minute that turns in between starts again.
  const isSeen = async () => {
    await request();
    const { windows, lastUsedAt, days }: Seen = await json('client', 'show', client);
    const [minute = 0, day = 0] = windows.map(({ used }) => used);
    return lastUsedAt !== null && day >= 2 && minute >= 1 && minute <= day && days[0]?.requests === day;
  };
  await expect.poll(isSeen, { interval: 2_000 }).toBe(true);
});
