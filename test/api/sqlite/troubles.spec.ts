import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { JsonRows } from '../../../src/database/json-rows.js';
import { Pet } from '../../support/pets/pet.entity.js';
import { PetDto } from '../../support/pets/pets.dto.js';
import { TestService } from '../../kit/test-service.js';
import { openForTest } from '../../support/opened.js';

const open = () => openForTest({ database: 'file' });

async function add(service: TestService, headers: Record<string, string>): Promise<number> {
  const json = { name: 'x'.repeat(250), categoryId: 1 };
  return (await service.request('POST', '/v1/pets', { json, headers })).status;
}

describe.each([
  ['a plain POST', {}],
  ['a POST with an Idempotency-Key', { 'idempotency-key': 'a' }],
] as [string, Record<string, string>][])('%s', (_, headers) => {
  it('is refused with 503 while the database is full, and works again afterwards', async () => {
    const service = await open();
    const dataSource = service.app.get(DataSource);
    const [{ page_count: pages }] = (await dataSource.query('PRAGMA page_count')) as [{ page_count: number }];
    await dataSource.query(`PRAGMA max_page_count = ${pages}`);
    const statuses: number[] = [];
    while (!statuses.includes(503) && statuses.length < 60)
      statuses.push(
        await add(service, {
          ...headers,
          ...(headers['idempotency-key'] ? { 'idempotency-key': `${statuses.length}` } : {}),
        }),
      );
    expect(new Set(statuses)).toEqual(new Set([201, 503]));
    await dataSource.query('PRAGMA max_page_count = 1000000');
    expect(await add(service, headers)).toBe(201);
  });
});

describe('a read that the database refuses', () => {
  it('fails each time, without effects on later reads', async () => {
    const service = await open();
    const dataSource = service.app.get(DataSource);
    await dataSource.query('ALTER TABLE pets RENAME TO pets_away');
    for (let sent = 0; sent < 2; sent += 1)
      expect((await service.request('GET', '/v1/pets')).status).toBe(500);
    await dataSource.query('ALTER TABLE pets_away RENAME TO pets');
    expect((await service.request('GET', '/v1/pets')).status).toBe(200);
  });

  it('for a property that the entity does not have is refused by its name', async () => {
    const service = await open();
    await expect(
      service.app.get(JsonRows).page(Pet, PetDto, { limit: 1 }, { unknown: 'red' } as object),
    ).rejects.toThrow('unknown');
  });
});
