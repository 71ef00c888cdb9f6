import { Module } from '@nestjs/common';
import { Column, Entity, type QueryRunner, Table } from 'typeorm';
import { expect, it } from 'vitest';
import { Int64Key } from '../../src/database/int64.js';
import { TablesModule } from '../../src/database/tables.module.js';
import { TestService } from '../kit/test-service.js';

@Entity('shows')
class Show {
  @Int64Key()
  id!: bigint;

  @Column('varchar', { length: 40, default: 'red' })
  colour!: string;

  @Column('integer', { default: 1 })
  size!: number;
}

class Shows1799700000001 {
  async up(runner: QueryRunner): Promise<void> {
    const id = { name: 'id', type: 'integer', isPrimary: true, isGenerated: true } as const;
    const colour = { name: 'colour', type: 'varchar', length: '40', default: "'blue'" };
    const size = { name: 'size', type: 'integer', default: '1' };
    const columns = [{ ...id, generationStrategy: 'increment' as const }, colour, size];
    await runner.createTable(new Table({ name: 'shows', columns }));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('shows');
  }
}

@Module({ imports: [TablesModule.forFeature({ entities: [Show], migrations: [Shows1799700000001] })] })
class ShowsModule {}

it('a default that differs between an entity and its migration stops the start, which names the column', async () => {
  await expect(TestService.open({ modules: [ShowsModule] })).rejects.toThrow(
    'Entities have tables or columns that no migration creates (shows.colour). Run ',
  );
});
