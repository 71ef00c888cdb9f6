import { Module, type Type } from '@nestjs/common';
import {
  Column,
  CreateDateColumn,
  DataSource,
  Entity,
  JoinColumn,
  ManyToOne,
  type MigrationInterface,
  PrimaryGeneratedColumn,
  type QueryRunner,
  type Relation,
  Table,
} from 'typeorm';
import { expect, it } from 'vitest';
import { schemaChanges } from '../../src/cli/generate/schema-changes.js';
import { Int64Column, Int64Key } from '../../src/database/int64.js';
import { TablesModule } from '../../src/database/tables.module.js';
import { Pet } from '../support/pets/pet.entity.js';
import { TestService } from '../kit/test-service.js';
import { addedTable } from '../support/added-table.js';
import { ON_POSTGRES, itOnSqlite } from '../support/databases.js';
import { openForTest } from '../support/opened.js';

/** Types of PostgreSQL, which SQLite lacks. */
@Entity('gadgets')
class Gadget {
  @Int64Key()
  id!: bigint;

  @Column('timestamptz', { name: 'sold_at', default: () => 'now()' })
  soldAt!: Date;

  @CreateDateColumn({ type: 'timestamptz', name: 'made_at' })
  madeAt!: Date;

  @Column('jsonb', { default: {} })
  details!: object;

  @Column({ type: 'enum', enum: ['red', 'blue'], default: 'red' })
  color!: string;

  @Column('text', { array: true, default: [] })
  labels!: string[];

  @Column('inet', { nullable: true })
  address!: string | null;

  @Column('tstzrange', { nullable: true })
  during!: string | null;

  @Column('numeric', { precision: 10, scale: 2, default: 0 })
  price!: string;
}

it.runIf(ON_POSTGRES)('types of PostgreSQL are compared with the configured database', async () => {
  const service = await openForTest({
    modules: [addedTable(Gadget)],
    environment: { NODE_ENV: 'development' },
  });
  const gadgets = service.repository(Gadget);
  const soldAt = new Date('2026-11-20T12:00:00.123Z');
  await gadgets.insert({ soldAt, details: { a: [1] }, color: 'blue', labels: ['x'] });
  const [found] = await gadgets.find();
  expect(found).toMatchObject({ soldAt, details: { a: [1] }, color: 'blue', labels: ['x'], price: '0.00' });
  expect(await schemaChanges(service.app.get(DataSource))).toEqual([]);
});

itOnSqlite('types that the database lacks stop the start, which names the column', async () => {
  await expect(TestService.open({ modules: [addedTable(Gadget)] })).rejects.toThrow(
    /^Data type "timestamptz" in "Gadget\.soldAt" is not supported by "sqlite" database\. Use a type that both databases have/,
  );
});

@Entity('leads')
class Lead {
  @Int64Key()
  id!: bigint;

  @Int64Column({ name: 'pet_id' })
  petId!: bigint;

  @ManyToOne(() => Pet)
  @JoinColumn({ name: 'pet_id' })
  pet?: Relation<Pet>;
}

class Leads1799700000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const id = {
      type: 'integer',
      isPrimary: true,
      isGenerated: true,
      generationStrategy: 'increment',
    } as const;
    const columns = [
      { name: 'id', ...id },
      { name: 'pet_id', type: 'integer' },
    ];
    const foreignKeys = [
      { columnNames: ['pet_id'], referencedTableName: 'pets', referencedColumnNames: ['id'] },
    ];
    await runner.createTable(new Table({ name: 'leads', columns, foreignKeys }));
  }

  async down(): Promise<void> {}
}

@Module({ imports: [TablesModule.forFeature({ entities: [Lead], migrations: [Leads1799700000002] })] })
class LeadsModule {}

it('a column of another type stops the start, which names it, what is declared and what was found', async () => {
  const failure = await TestService.open({ modules: [LeadsModule] }).then(
    () => '',
    (error: unknown) => String(error),
  );
  expect(failure).toMatch(
    /\(leads\.pet_id\)\..* leads\.pet_id is integer, not null, declared bigint, not null\.$/,
  );
  expect(failure).not.toMatch(/backup/);
});

@Entity('texts')
class KeyAsText {
  @PrimaryGeneratedColumn('increment', { type: 'bigint' })
  id!: string;
}

@Entity('texts')
class ReferenceAsText {
  @Int64Key()
  id!: bigint;

  @Column('bigint', { name: 'pet_id' })
  petId!: string;

  @ManyToOne(() => Pet)
  @JoinColumn({ name: 'pet_id' })
  pet?: Relation<Pet>;
}

it.each<[what: string, entity: Type, says: string]>([
  [
    'a generated key',
    KeyAsText,
    'KeyAsText.id: without a transformer a bigint is read as text. Use @Int64Key().',
  ],
  ['one beside a relation', ReferenceAsText, 'Use @Int64Column().'],
])('a bigint without a transformer stops the start: %s', async (_, entity, expected) => {
  await expect(TestService.open({ modules: [addedTable(entity)] })).rejects.toThrow(expected);
});
