import { DataSource } from 'typeorm';
import { expect, it } from 'vitest';
import { Metrics } from '../../core/metrics/metrics.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { Client } from '../clients/client.entity.js';
import { ClientRequests } from './client-requests.service.js';
import { openForTest } from '../../../test/support/opened.js';

const operation = 'GET /v1/pets';

it('pending writes are bounded, and so are the writes of one second, for any number of clients; a stop writes all of them', async () => {
  const service = await openForTest();
  const { app, clock } = service;
  const dataSource = app.get(DataSource);
  // A separate instance, which writes only when the test calls it.
  const requests = new ClientRequests(app.get(Transactions), clock, new Metrics());
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
  // Errors are stored only for existing clients.
  const existing = Array.from({ length: 700 }, (_, index) => (index < 400 ? `c${index}` : `d${index - 400}`));
  await service
    .repository(Client)
    .insert(existing.map((id) => ({ id, name: id, plan: 'free', createdAt: '2026-11-20T12:00:00.000Z' })));
  for (let client = 0; client < 60_000; client += 1) note(`c${client}`, 200);
  for (let client = 0; client < 400; client += 1)
    for (let sent = 0; sent < 250; sent += 1) note(`c${client}`, 404);
  note('one too many', 404);
  const rows = async () => {
    const counted = await dataSource.query<{ n: number }[]>(
      `SELECT COUNT(*) AS n FROM request_counts WHERE client_id <> ''`,
    );
    const refused = await dataSource.query<{ n: number }[]>('SELECT COUNT(*) AS n FROM refused_requests');
    // PostgreSQL counts in bigint, which its driver returns as text.
    return [Number(counted[0]?.n), Number(refused[0]?.n)];
  };
  await requests.flush();
  // The errors of ten clients.
  expect(await rows()).toEqual([4_000, 2_000]);
  await requests.onModuleDestroy();
  expect(await rows()).toEqual([100_000, 50_000]);
  for (let client = 0; client < 300; client += 1) note(`d${client}`, 404);
  await requests.flush();
  const ofNext = `SELECT 1 FROM refused_requests WHERE client_id NOT LIKE 'c%'`;
  expect(await dataSource.query(ofNext)).toHaveLength(300);
});
