import { Controller, type DynamicModule, Get, Module, type Type, forwardRef } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import {
  Column,
  DataSource,
  Entity,
  type MigrationInterface,
  type QueryRunner,
  type Repository,
  Table,
} from 'typeorm';
import { describe, expect, it } from 'vitest';
import { Public } from '../../../src/auth/auth.decorators.js';
import { declaredTables, openDataSource } from '../../../src/database/data-source.js';
import { Int64Key } from '../../../src/database/int64.js';
import { migrate, schemaStatus } from '../../../src/database/schema.js';
import { TablesModule } from '../../../src/database/tables.module.js';
import { Pet } from '../../support/pets/pet.entity.js';
import { Pets1793491201000 } from '../../support/pets/pets.migration.js';
import { PetsService } from '../../support/pets/pets.service.js';
import { databaseOfTest } from '../../support/service-process.js';
import { openForTest } from '../../support/opened.js';

@Entity('leashes')
class Leash {
  @Int64Key()
  id!: bigint;

  @Column('varchar', { length: 20 })
  colour!: string;
}

/** Older than every migration of the service: a module that is installed after the service was. */
class Leashes1600000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const id = { name: 'id', type: 'integer', isPrimary: true, isGenerated: true } as const;
    await runner.createTable(
      new Table({
        name: 'leashes',
        columns: [
          { ...id, generationStrategy: 'increment' },
          { name: 'colour', type: 'varchar', length: '20' },
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('leashes');
  }
}

@Controller({ path: 'leashes', version: '1' })
class LeashesController {
  constructor(@InjectRepository(Leash) private readonly leashes: Repository<Leash>) {}

  @Get()
  @Public()
  async add(): Promise<object> {
    await this.leashes.insert({ colour: 'red' });
    return { leashes: await this.leashes.count() };
  }
}

@Module({})
class LeashesModule {
  static forRoot(): DynamicModule {
    return {
      module: LeashesModule,
      imports: [TablesModule.forFeature({ entities: [Leash], migrations: [Leashes1600000000000] })],
      controllers: [LeashesController],
    };
  }

  /** As forRoot(), with the entity in TypeORM's own module. */
  static plain(): DynamicModule {
    const migrations = TablesModule.forFeature({ entities: [], migrations: [Leashes1600000000000] });
    return { ...this.forRoot(), imports: [Promise.resolve(migrations), TypeOrmModule.forFeature([Leash])] };
  }
}

const PROMISED = Promise.resolve(LeashesModule.forRoot());

describe('the tables of a module', () => {
  it('are added to a database that has all the others, though their migration is older', async () => {
    const url = await databaseOfTest();
    const before = await openDataSource({ databaseUrl: url });
    await migrate(before);
    await before.destroy();

    const module = LeashesModule.forRoot();
    const tables = await declaredTables([module]);
    const dataSource = await openDataSource({ databaseUrl: url }, { tables });
    expect((await schemaStatus(dataSource)).pending).toEqual(['Leashes1600000000000']);
    await dataSource.destroy();

    const service = await openForTest({ modules: [module], environment: { DATABASE_URL: url } });
    const { status, body } = await service.request('GET', '/v1/leashes');
    expect([status, body]).toEqual([200, { leashes: 1 }]);
  });

  it('exist once when two modules add them, or when they were found in src', async () => {
    const again = TablesModule.forFeature({ entities: [Pet], migrations: [Pets1793491201000] });
    const service = await openForTest({
      modules: [LeashesModule.forRoot(), LeashesModule.forRoot(), again],
    });
    expect((await service.request('GET', '/v1/leashes')).body).toEqual({ leashes: 1 });
    await service.app.get(PetsService).create({ name: 'Rex', categoryId: 1n, status: 'available' });
    const { entities, migrations } = service.app.get(DataSource).options;
    const count = (all: unknown, one: unknown) => (all as unknown[]).filter((other) => other === one).length;
    expect([count(entities, Leash), count(migrations, Leashes1600000000000)]).toEqual([1, 1]);
    expect([count(entities, Pet), count(migrations, Pets1793491201000)]).toEqual([1, 1]);
  });

  it.each<[what: string, imported: () => object]>([
    ['a promise of a dynamic module', () => Promise.resolve(LeashesModule.forRoot())],
    [
      'a promise of a class',
      () =>
        Promise.resolve(
          class {
            static {
              Module({ imports: [LeashesModule.forRoot()] })(this);
            }
          },
        ),
    ],
    ['a forward reference', () => forwardRef(() => LeashesModule.forRoot())],
    ['a forward reference to a promise', () => forwardRef(() => PROMISED)],
    [
      'a promise within a dynamic module',
      () => ({ module: class Outer {}, imports: [Promise.resolve(LeashesModule.forRoot())] }),
    ],
    [
      'TypeORM’s own module behind a promise',
      () => ({ module: class Outer {}, imports: [Promise.resolve(LeashesModule.plain())] }),
    ],
  ])('are found in a module imported as %s', async (_, imported) => {
    @Module({ imports: [imported() as never] })
    class Importing {}
    const service = await openForTest({ modules: [Importing] });
    expect((await service.request('GET', '/v1/leashes')).body).toEqual({ leashes: 1 });
  });

  it('are absent from services without the module, and from databases that no service opens', async () => {
    const tablesOf = async (modules: Type[]) => {
      const service = await openForTest({ modules });
      const { entityMetadatas } = service.app.get(DataSource);
      const runner = service.app.get(DataSource).createQueryRunner();
      const exists = await runner.hasTable('leashes');
      await runner.release();
      return [entityMetadatas.some(({ target }) => target === Leash), exists];
    };
    @Module({ imports: [LeashesModule.forRoot()] })
    class Importing {}
    expect(await tablesOf([Importing])).toEqual([true, true]);
    expect(await tablesOf([])).toEqual([false, false]);
    expect((await declaredTables()).entities).not.toContain(Leash);
  });
});

describe('a database with the tables of a removed module', () => {
  it('is refused by a start that names the migration, and says to add the module again', async () => {
    const url = await databaseOfTest();
    const dataSource = await openDataSource({ databaseUrl: url });
    await migrate(dataSource);
    await dataSource.query(
      `INSERT INTO schema_migrations (timestamp, name) VALUES (1600000000001, 'Bowls1600000000001')`,
    );
    await expect(migrate(dataSource)).rejects.toThrow(/Bowls1600000000001.*add the module again/);
    await dataSource.destroy();
  });
});
