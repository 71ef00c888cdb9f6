import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyBuild, copyProject, writeFiles } from '../support/project-copy.js';
import { emptyFolder, ROOT, serviceOfTest, ServiceProcess } from '../support/service-process.js';
import { rowsOf } from '../support/sqlite-file.js';

const NAME = 'petstore-adoptions';
const PACKAGE = 'examples/adoptions';
const TSC = join(ROOT, 'node_modules/typescript-7/bin/tsc');

/**
 * Features of the project itself. The entity of one imports what another feature shows: in the bundle all of that moves into a file of
 * its own. The other has a database of its own.
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

/** Calls the module of the package through the test kit of the service that was built. */
const WITH_THE_KIT = `
  import { TestService } from 'petstore-service/testing';
  import { AdoptionsModule } from '${NAME}';
  const service = await TestService.open({ modules: [AdoptionsModule] });
  console.log((await service.request('GET', '/v1/adoptions/99')).body.code);
  await service.close();`;

/** Runs a script in a folder; answers what it wrote to standard output. */
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

/**
 * A copy of this project to which the package of examples/adoptions was added as its README tells, and the features. What npm installs
 * is linked.
 */
let project: string;
/** Where its service runs. */
let data: string;
let installed: string;
/** What the kit answered before the package was named in the list of modules, as its author runs it. */
let answeredByKit: string;
const removals: (() => Promise<void>)[] = [];
beforeAll(async () => {
  for (const { path, remove } of [await emptyFolder(), await emptyFolder()]) {
    removals.push(remove);
    [project, data] = [data, path];
  }
  installed = join(project, 'node_modules', NAME);
  await copyProject(project);
  const filter = (path: string) => !path.endsWith('/dist');
  await cp(join(ROOT, PACKAGE), join(project, PACKAGE), { recursive: true, filter });
  await copyBuild(project);
  await run(join(project, PACKAGE), TSC, '-p', 'tsconfig.build.json');
  await symlink(join('..', PACKAGE), installed);
  await writeFile(join(project, 'kit.mjs'), WITH_THE_KIT);
  answeredByKit = await run(project, 'kit.mjs');
  const manifest = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as {
    dependencies: object;
  };
  manifest.dependencies = { ...manifest.dependencies, [NAME]: `file:${PACKAGE}` };
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
  const modules = await readFile(join(project, 'src/app.module.ts'), 'utf8');
  const added = `import { AdoptionsModule } from '${NAME}';\nimport { ReportsModule } from './reports/reports.module.js';`;
  await writeFiles(project, [
    [
      'src/app.module.ts',
      `${added}\n${modules.replace(' PetsModule,', ' PetsModule, AdoptionsModule, ReportsModule,')}`,
    ],
    ...FEATURES,
  ]);
  await run(project, 'scripts/build-if-stale.mjs', '--always');
});
afterAll(() => Promise.all(removals.map((remove) => remove())));

/** Puts what npm packs of the package in the place of the link. */
async function installPacked(change: object = {}): Promise<void> {
  const manifest = JSON.parse(await readFile(join(project, PACKAGE, 'package.json'), 'utf8')) as object;
  await rm(installed, { recursive: true });
  await mkdir(installed);
  await cp(join(project, PACKAGE, 'dist'), join(installed, 'dist'), { recursive: true });
  await writeFile(join(installed, 'package.json'), JSON.stringify({ ...manifest, ...change }));
}

const started = (main: string) => serviceOfTest(data, {}, main);

// One after the other, on one store.
describe('the module of another package', () => {
  let key = '';

  const call = (service: ServiceProcess, method: string, path: string, json?: object) =>
    service.request(method, path, { key, json, headers: { 'if-match': '*' } });

  it('is tested with the kit of the service that was built', () => {
    expect(answeredByKit).toBe('adoption_not_found\n');
  });

  it('is migrated, checked and shown by the command line and the TypeORM CLI', async () => {
    const command = (...args: string[]) => run(data, join(project, 'bin/petstore.js'), ...args);
    const typeorm = (name: string) =>
      run(data, join(ROOT, 'node_modules/typeorm/cli.js'), name, '-d', join(project, 'dist/ormconfig.js'));
    expect(await command('db', 'migrate')).toMatch(/Adoptions1795400000000, .*Visits1795600000001\.$/m);
    expect(await typeorm('migration:show')).toMatch(/\[X\] \d+ Adoptions1795400000000/);
    expect(await typeorm('schema:log')).toMatch(/up to date/);
    expect(await command('doctor')).toMatch(/migrations.*all \d+ ran/);
  });

  it('has its routes, errors, tables, events and demo data in the bundle, and each database its own tables', async () => {
    const service = await started(join(project, 'dist/bundle/main.js'));
    key = service.demoKey;
    const wish = { petId: 1, adopterName: 'Ada' };
    // The demo data has twelve.
    expect(await call(service, 'POST', '/v1/adoptions', wish)).toMatchObject({
      status: 201,
      body: { id: 13 },
    });
    expect(await call(service, 'POST', '/v1/adoptions', wish)).toMatchObject({
      status: 409,
      body: { code: 'pet_not_available' },
    });
    expect((await call(service, 'PATCH', '/v1/adoptions/13', { state: 'approved' })).status).toBe(200);
    expect(await call(service, 'GET', '/v1/pets/1')).toMatchObject({ status: 200, body: { status: 'sold' } });
    const { body: document } = await call(service, 'GET', '/docs/openapi.json');
    expect(document).toHaveProperty(['paths', '/adoptions/{adoptionId}']);
    expect(await tablesOf(join(data, 'data/reports.sqlite'))).toEqual(['reports']);
    const own = await tablesOf(join(data, 'data/petstore.sqlite'));
    expect(own).toEqual(expect.arrayContaining(['adoptions', 'adoption_letters', 'visits']));
    expect(own).not.toContain('reports');
  });

  it('is served without the bundle, too, and as npm installs it from a file', async () => {
    await installPacked();
    const service = await started(join(project, 'dist/src/main.js'));
    expect(await call(service, 'GET', '/v1/adoptions/13')).toMatchObject({
      status: 200,
      body: { state: 'approved' },
    });
  });

  it('stops the start when its package does not name the service as a peer, and would bring a second', async () => {
    await installPacked({ peerDependencies: undefined });
    await run(project, join(project, 'scripts/bundle.mjs'));
    await expect(started(join(project, 'dist/bundle/main.js'))).rejects.toThrow(
      /petstore-service is in this process twice.*peerDependencies/,
    );
  });
});
