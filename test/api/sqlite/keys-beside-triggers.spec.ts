import { DataSource } from 'typeorm';
import { expect, it } from 'vitest';
import { openForTest } from '../../support/opened.js';

it('a key that a trigger on an insert has revoked is refused at once', async () => {
  const service = await openForTest({ database: 'file' });
  const { id, key } = await service.issueKey();
  await service.app.get(DataSource).query(
    `CREATE TRIGGER revoke AFTER INSERT ON pets
     BEGIN UPDATE api_keys SET revoked_at = '2026-01-01T00:00:00.000Z' WHERE id = '${id}'; END`,
  );
  expect((await service.request('GET', '/v1/pets', { key })).status).toBe(200);
  await service.request('POST', '/v1/pets', { json: { name: 'Rex', categoryId: 1 } });
  expect((await service.request('GET', '/v1/pets', { key })).body).toMatchObject({ code: 'revoked_api_key' });
});
