import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyBuild, copyProject, writeFiles } from '../support/project-copy.js';
import { emptyFolder, ROOT, serviceOfTest } from '../support/service-process.js';
import { rowsOf } from '../support/sqlite-file.js';

/**
 * Features of the project itself. The entity of one imports what another feature shows: in the bundle all of that moves into a file of
 * its own. The other has its own database.
 */
const FEATURES: readonly (readonly [string, string])[] = [
  [
    'src/visits/visit.entity.ts',
    `import { Entity, ForeignKey } from 'typeorm';
     import { Int64Column, Int64Key } from 'petstore-service';
     import { Pet } from '../pets/pets.public.js';

     @Entity('visits')
     export class Visit {
       @Int64Key() id!: bigint;
       @Int64Column({ name: 'pet_id' }) @ForeignKey(() => Pet, { name: 'visits_pet' }) petId!: bigint;
     }`,
  ],
  [
    'src/visits/visits.migration.ts',
    `import { type QueryRunner, Table } from 'typeorm';

     export class Visits1795600000001 {
       readonly onlyExpands = true;
       async up(runner: QueryRunner) {
         const key = { name: 'id', type: 'integer', isPrimary: true, isGenerated: true } as const;
         const pet = { name: 'visits_pet', columnNames: ['pet_id'], referencedTableName: 'pets' };
         await runner.createTable(new Table({
           name: 'visits',
           columns: [{ ...key, generationStrategy: 'increment' }, { name: 'pet_id', type: 'bigint' }],
           foreignKeys: [{ ...pet, referencedColumnNames: ['id'] }],
         }));
       }
       async down(runner: QueryRunner) { await runner.dropTable('visits'); }
     }`,
  ],
  [
    'src/reports/reports.module.ts',
    `import { Module } from '@nestjs/common';
     import { TypeOrmModule } from '@nestjs/typeorm';
     import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

     @Entity('reports')
     export class Report {
       @PrimaryGeneratedColumn() id!: number;
       @Column('varchar', { length: 200 }) text!: string;
     }
     const database = { name: 'reports', type: 'sqlite', database: 'data/reports.sqlite' } as const;
     @Module({
       imports: [
         TypeOrmModule.forRoot({ ...database, entities: [Report], synchronize: true }),
         TypeOrmModule.forFeature([Report], 'reports'),
       ],
     })
     export class ReportsModule {}`,
  ],
];

/** Runs a script in a folder; returns what it wrote to standard output. */
async function run(cwd: string, script: string, ...args: string[]): Promise<string> {
  const { PATH } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], { cwd, env: { PATH } });
  return stripVTControlCharacters(stdout);
}

/** The tables of a file of SQLite. */
async function tablesOf(file: string): Promise<string[]> {
  const sql = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`;
  const rows = await rowsOf<{ name: string }>(file, sql);
  return rows.map(({ name }) => name);
}

/** A copy of this project with the features. */
let project: string;
/** Where its service runs. */
let data: string;
const removals: (() => Promise<void>)[] = [];
beforeAll(async () => {
  for (const { path, remove } of [await emptyFolder(), await emptyFolder()]) {
    removals.push(remove);
    [project, data] = [data, path];
  }
  await copyProject(project);
  await copyBuild(project);
  const modules = await readFile(join(project, 'src/app.module.ts'), 'utf8');
  const added = `import { ReportsModule } from './reports/reports.module.js';`;
  await writeFiles(project, [
    ['src/app.module.ts', `${added}\n${modules.replace(' PetsModule,', ' PetsModule, ReportsModule,')}`],
    ...FEATURES,
  ]);
  await run(project, 'scripts/build-if-stale.mjs', '--always');
});
afterAll(() => Promise.all(removals.map((remove) => remove())));

// One after the other, on one store.
describe('features that are added to the service', () => {
  it('are migrated, checked and shown by the command line and the TypeORM CLI', async () => {
    const command = (...args: string[]) => run(data, join(project, 'bin/petstore.js'), ...args);
    const typeorm = (name: string) =>
      run(data, join(ROOT, 'node_modules/typeorm/cli.js'), name, '-d', join(project, 'dist/ormconfig.js'));
    expect(await command('db', 'migrate')).toMatch(/^Applied .*\bVisits1795600000001\b/m);
    expect(await typeorm('migration:show')).toMatch(/\[X\] \d+ Visits1795600000001/);
    expect(await typeorm('schema:log')).toMatch(/up to date/);
    expect(await command('doctor')).toMatch(/migrations.*all \d+ have run/);
  });

  it.each(['dist/bundle/main.js', 'dist/src/main.js'])(
    'have each database its own tables: %s',
    async (main) => {
      const service = await serviceOfTest(data, {}, join(project, main));
      expect((await service.request('GET', '/health/ready')).status).toBe(200);
      expect(await tablesOf(join(data, 'data/reports.sqlite'))).toEqual(['reports']);
      const own = await tablesOf(join(data, 'data/petstore.sqlite'));
      expect(own).toContain('visits');
      expect(own).not.toContain('reports');
      await service.stop();
    },
  );
});
