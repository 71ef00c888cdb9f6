import { ApiProperty } from '@nestjs/swagger';
import { Column, DataSource, Entity } from 'typeorm';
import { expect, it } from 'vitest';
import { Int64Key } from '../../src/database/int64.js';
import { JsonRows } from '../../src/database/json-rows.js';
import { Sweeper } from '../../src/database/sweeper.js';
import { addedTable } from '../support/added-table.js';
import { ON_POSTGRES, itOnSqlite } from '../support/databases.js';
import { TestService } from '../kit/test-service.js';
import { openForAll, openForTest } from '../support/opened.js';

@Entity('trunks', { schema: 'archive' })
class Trunk {
  @Int64Key()
  id!: bigint;

  @Column('varchar')
  name!: string;
}

class TrunkDto {
  @ApiProperty({ type: 'integer' })
  id!: bigint;

  @ApiProperty()
  name!: string;
}

const service = await openForAll({ modules: [addedTable(Trunk)] });

it('an entity with a schema is read and written there, next to a table of the same name', async () => {
  const { manager } = service.app.get(DataSource);
  if (ON_POSTGRES) {
    await manager.query('CREATE TABLE trunks (id bigserial PRIMARY KEY, name varchar)');
    await manager.query(`INSERT INTO trunks (name) VALUES ('another'), ('another')`);
  }
  const trunk = manager.create(Trunk, { name: 'old' });
  await manager.insert(Trunk, trunk);
  expect(trunk.id).toBe(1n);
  const rows = service.app.get(JsonRows);
  const page = async () => (await rows.page(Trunk, TrunkDto, { limit: 5 })).items.text;
  expect([await page(), (await rows.one(Trunk, TrunkDto, 1n))?.text]).toEqual([
    '[{"id":1,"name":"old"}]',
    '{"id":1,"name":"old"}',
  ]);
  await manager.transaction(async (within) => {
    await within.save(within.create(Trunk, { name: 'new' }));
    expect((await rows.one(Trunk, TrunkDto, 2n))?.text).toBe('{"id":2,"name":"new"}');
  });
  await service.app
    .get(Sweeper)
    .run({ entity: Trunk, where: 'name = :name', parameters: () => ({ name: 'old' }) });
  expect([await page(), await manager.count(Trunk)]).toEqual(['[{"id":2,"name":"new"}]', 1]);
  if (ON_POSTGRES)
    expect(await manager.query('SELECT COUNT(*)::integer AS count FROM public.trunks')).toEqual([
      { count: 2 },
    ]);
});

@Entity('trunks')
class OtherTrunk {
  @Int64Key()
  id!: bigint;
}

itOnSqlite('two tables of one name in two schemas stop the start', async () => {
  await expect(TestService.open({ modules: [Trunk, OtherTrunk].map(addedTable) })).rejects.toThrow(
    /^(?:Trunk and OtherTrunk|OtherTrunk and Trunk): SQLite has no schemas, so both would have the table trunks\. Rename one of them\.$/,
  );
});

it.runIf(ON_POSTGRES)('two tables of one name in two schemas are two', async () => {
  const { manager } = (await openForTest({ modules: [Trunk, OtherTrunk].map(addedTable) })).app.get(
    DataSource,
  );
  await manager.insert(Trunk, { name: 'old' });
  expect([await manager.count(Trunk), await manager.count(OtherTrunk)]).toEqual([1, 0]);
});
