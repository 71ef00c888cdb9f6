import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { copyProject, filesOfGuide, writeFiles } from '../support/project-copy.js';
import { emptyFolder, ROOT, ServiceProcess } from '../support/service-process.js';

const GUIDE = 'docs/guides/modules-from-other-packages.md';
const NAME = 'petstore-adoptions';

/** A table in src whose entity imports what another feature shows: in the bundle all of that moves into a file of its own. */
const VISITS: readonly (readonly [string, string])[] = [
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
];

/** Runs a script in a folder; answers what it wrote to standard output. */
async function run(cwd: string, script: string, ...args: string[]): Promise<string> {
  const { PATH } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], {
    cwd,
    env: { PATH },
  });
  return stripVTControlCharacters(stdout);
}

/** A folder for the tests of this suite. */
async function folder(): Promise<string> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  return path;
}

const removals: (() => Promise<void>)[] = [];
async function folderOfSuite(): Promise<string> {
  const { path, remove } = await emptyFolder();
  removals.push(remove);
  return path;
}
afterAll(() => Promise.all(removals.map((remove) => remove())));

/** The package as its author has it: beside it is installed what is installed here, the service too. */
let author: string;
/** A copy of this project in which the package is installed, and named by the one line in app.module.ts. */
let project: string;
beforeAll(async () => {
  [author, project] = [await folderOfSuite(), await folderOfSuite()];
  const files = await filesOfGuide(GUIDE);
  const appModule = files.get('app.module.ts') ?? '';
  files.delete('app.module.ts');
  await writeFiles(author, files);
  await symlink(join(ROOT, 'node_modules'), join(author, 'node_modules'));
  await run(author, join(ROOT, 'node_modules/typescript/bin/tsc'));

  await copyProject(project);
  await writeFiles(project, [['src/app.module.ts', appModule], ...VISITS]);
  const installed = join(project, 'node_modules', NAME);
  for (const part of ['package.json', 'dist'])
    await cp(join(author, part), join(installed, part), { recursive: true });
  const manifest = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as {
    dependencies: object;
  };
  manifest.dependencies = { ...manifest.dependencies, [NAME]: '^1.0.0' };
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
  await run(project, join(project, 'scripts/build-if-stale.mjs'), '--always');
});

async function started(main: string, environment: NodeJS.ProcessEnv = {}) {
  const service = await ServiceProcess.start(await folder(), environment, join(project, main));
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  const key = /pst_test_\w{36}/.exec(service.output)?.[0] ?? '';
  const call = async (method: string, path: string, json?: object, as = key) =>
    fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
      ...(json ? { body: JSON.stringify(json) } : {}),
    });
  return { service, call };
}

describe('the module of another package', () => {
  it('passes its own suite, with the kit of the service', async () => {
    const report = await run(author, join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run');
    expect(report).toMatch(/Tests +2 passed \(2\)/);
  });

  describe.each(['dist/bundle/main.js', 'dist/src/main.js'])('in %s', (main) => {
    it('has its routes, scopes, quotas, errors, table, event and demo data', async () => {
      const { service, call } = await started(main);
      const demo = await call('GET', '/v1/adoptions/2');
      expect([demo.status, await demo.json()]).toEqual([200, { id: 2, petId: 2, adopter: 'Adopter 2' }]);
      expect(demo.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
      const created = await call('POST', '/v1/pets', { name: 'Rex', categoryId: 1 });
      const { id } = (await created.json()) as { id: number };
      const wish = { petId: id, adopter: 'Ada' };
      const statuses = [];
      for (const _ of [1, 2]) statuses.push((await call('POST', '/v1/adoptions', wish)).status);
      expect(statuses).toEqual([201, 409]);
      expect(await (await call('GET', '/v1/adoptions/99')).json()).toEqual({
        code: 'adoption_not_found',
        status: 404,
        message: 'There is no adoption with the id 99.',
      });
      expect((await call('GET', '/v1/adoptions/1', undefined, 'none')).status).toBe(401);
      await expect.poll(() => service.output).toContain('Welcome, Rex');
      const document = (await (await fetch(`${service.url}/docs/openapi.json`)).json()) as {
        paths: Record<string, object>;
      };
      expect(Object.keys(document.paths)).toContain('/adoptions/{adoptionId}');
    });

    it('refuses a key without its scope', async () => {
      const data = await folder();
      const petstore = async (...args: string[]) =>
        JSON.parse(await run(data, join(project, 'bin/petstore.js'), ...args, '--json')) as {
          id: string;
          key: string;
        };
      const { id } = await petstore('client', 'create', '--name', 'A', '--plan', 'pro');
      const { key } = await petstore('key', 'issue', '--client', id, '--scopes', 'adoptions:write');
      const service = await ServiceProcess.start(data, {}, join(project, main));
      onTestFinished(async () => void (await service.stop('SIGKILL')));
      const { status, headers } = await fetch(`${service.url}/v1/adoptions/1`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect([status, headers.get('www-authenticate')]).toEqual([
        403,
        'Bearer realm="petstore", error="insufficient_scope", scope="adoptions:read"',
      ]);
    });
  });

  it('is migrated, checked and shown by the command line and the TypeORM CLI', async () => {
    const data = await folder();
    const petstore = (...args: string[]) => run(data, join(project, 'bin/petstore.js'), ...args);
    const typeorm = (command: string) =>
      run(data, join(ROOT, 'node_modules/typeorm/cli.js'), command, '-d', join(project, 'dist/ormconfig.js'));
    expect(await petstore('db', 'status')).toMatch(/Adoptions1795600000000 +pending/);
    expect(await petstore('db', 'migrate')).toMatch(/Adoptions1795600000000, Visits1795600000001\.$/m);
    expect(await petstore('db', 'status')).toMatch(/Adoptions1795600000000 +applied/);
    expect(await typeorm('migration:show')).toMatch(/\[X\] \d+ Adoptions1795600000000/);
    expect(await typeorm('schema:log')).toMatch(/up to date/);
    expect(await petstore('doctor')).toMatch(/migrations.*all \d+ ran/);
  });

  it('is held by the suites that are derived from the document', async () => {
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const report = await run(project, vitest, 'run', 'test/api/refusals.spec.ts');
    expect(report).toMatch(/Test Files +1 passed \(1\)/);
  });

  it('stops the start when its package does not name the service as a peer, and would bring a second', async () => {
    const manifest = join(project, 'node_modules', NAME, 'package.json');
    const named = await readFile(manifest, 'utf8');
    await writeFile(manifest, JSON.stringify({ ...JSON.parse(named), peerDependencies: undefined }));
    await run(project, join(project, 'scripts/bundle.mjs'));
    await writeFile(manifest, named);
    await expect(started('dist/bundle/main.js')).rejects.toThrow(
      /petstore-service is in this process twice.*peerDependencies/,
    );
  });
});

describe('the bundle', () => {
  it('has nothing of the test kit', async () => {
    const text = (await loadedFrom(join(ROOT, 'dist/bundle/main.js'))).join('\n');
    expect(text).toContain('class PetsService');
    for (const name of ['TestService', 'TestClock', 'openapi-response-validator'])
      expect(text).not.toContain(name);
  });
});

/** The text of a file of the bundle and of all that it imports there, also lazily. */
async function loadedFrom(file: string, seen = new Set<string>()): Promise<string[]> {
  if (seen.has(file)) return [];
  seen.add(file);
  const text = await readFile(file, 'utf8');
  const imported = [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, path]) =>
    join(dirname(file), path ?? ''),
  );
  const texts = [text];
  for (const path of imported) texts.push(...(await loadedFrom(path, seen)));
  return texts;
}
