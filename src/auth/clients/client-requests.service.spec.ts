import { expect, it } from 'vitest';
import { openParts } from '../../../test/support/service-parts.js';

const operation = 'GET /v1/pets';

it('what waits to be written is bounded, and so is what one second writes; a stop writes all of it', async () => {
  const { requests, dataSource } = await openParts();
  const note = (clientId: string, status: number) => {
    const caller = { clientId, keyId: clientId, user: null, scopes: [] };
    requests.note({
      caller,
      operation,
      status,
      code: 'x',
      durationMs: 1,
      requestId: 'r',
      address: undefined,
    });
  };
  for (let client = 0; client < 60_000; client += 1) note(`c${client}`, 200);
  for (let client = 0; client < 300; client += 1)
    for (let sent = 0; sent < 250; sent += 1) note(`c${client}`, 404);
  const rows = async () => {
    const counted = await dataSource.query<{ n: number }[]>('SELECT COUNT(*) AS n FROM request_counts');
    const refused = await dataSource.query<{ n: number }[]>('SELECT COUNT(*) AS n FROM refused_requests');
    return [counted[0]?.n, refused[0]?.n];
  };
  await requests.flush();
  expect(await rows()).toEqual([4_000, 2_000]);
  await requests.onModuleDestroy();
  expect(await rows()).toEqual([100_000, 50_000]);
});
