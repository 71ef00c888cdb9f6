import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import sqlite3 from 'sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { copyProject, filesOfGuide, writeFiles } from '../support/project-copy.js';
import { emptyFolder, petstore, ROOT, ServiceProcess } from '../support/service-process.js';

const run = promisify(execFile);
const FEATURE = 'src/adoptions/';

/** A copy of the project with the files of docs/extending.md and of the second database written over it. */
async function extendedProject(): Promise<string> {
  const { path: project, remove } = await emptyFolder();
  onTestFinished(remove);
  await copyProject(project);
  await writeFiles(project, await filesOfGuide('docs/extending.md'));
  await writeFiles(project, await filesOfGuide('docs/guides/rows-and-transactions.md'));
  const modules = join(project, 'src/app.module.ts');
  const source = await readFile(modules, 'utf8');
  const added = "import { ReportsModule } from './reports/reports.module.js';";
  await writeFile(modules, `${added}\n${source.replace(' PetsModule,', ' PetsModule, ReportsModule,')}`);
  return project;
}

/** The tables of a file of SQLite. */
async function tablesOf(file: string): Promise<string[]> {
  const database = new sqlite3.Database(file);
  const rows = await new Promise<{ name: string }[]>((resolve, reject) => {
    const sql = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`;
    database.all<{ name: string }>(sql, (error, found) => (error ? reject(error) : resolve(found)));
  });
  await new Promise((resolve) => database.close(resolve));
  return rows.map(({ name }) => name);
}

describe('the module of docs/extending.md, as it stands there', () => {
  it('is a folder of its own, and one existing file', async () => {
    const files = [...(await filesOfGuide('docs/extending.md')).keys()];
    expect(files.filter((file) => !file.startsWith(FEATURE))).toEqual(['src/app.module.ts']);
  });

  it('passes types, lint, walls, format and its own suite, builds, migrates, and serves', async () => {
    const project = await extendedProject();
    const node = (script: string, ...args: string[]) =>
      run(process.execPath, [join(ROOT, 'node_modules', script), ...args], {
        cwd: project,
      });
    await node('typescript-7/bin/tsc', '-p', 'tsconfig.json', '--noEmit', '--incremental', 'false');
    await node('oxlint/bin/oxlint', '--type-aware', '--deny-warnings', FEATURE);
    await node(
      'dependency-cruiser/bin/dependency-cruise.mjs',
      'src',
      '--config',
      '.dependency-cruiser.cjs',
      '--output-type',
      'err',
    );
    await node('prettier/bin/prettier.cjs', '--check', FEATURE);
    const tests = await node(
      'vitest/vitest.mjs',
      'run',
      `${FEATURE}adoptions.spec.ts`,
      'test/api/refusals.spec.ts',
    );
    expect(stripVTControlCharacters(tests.stdout)).toMatch(/Test Files +2 passed \(2\)/);

    let service = await ServiceProcess.start(project, {}, join(project, 'dist/bundle/main.js'));
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    const key = /pst_test_\w{36}/.exec(service.output)?.[0] ?? '';
    const call = async (method: string, target: string, body?: string) => {
      const response = await fetch(`${service.url}/v1/${target}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'if-match': '*' },
        ...(body === undefined ? {} : { body }),
      });
      return [response.status, await response.json()] as const;
    };
    const wish = '{"petId":1,"adopterName":"Ada"}';
    expect(await call('POST', 'adoptions', wish)).toMatchObject([201, { id: 1, state: 'requested' }]);
    expect(await call('POST', 'adoptions', wish)).toMatchObject([409, { code: 'pet_not_available' }]);
    expect(await call('PATCH', 'adoptions/1', '{"state":"approved"}')).toMatchObject([200, { petId: 1 }]);
    expect(await call('GET', 'pets/1')).toMatchObject([200, { status: 'sold' }]);
    await expect.poll(() => service.output).toContain('dear Ada, the animal 1 is yours');
    const document = (await (await fetch(`${service.url}/docs/openapi.json`)).json()) as {
      paths: Record<string, object>;
    };
    // Each table is in the database that it is registered for.
    expect(await tablesOf(join(project, 'data/reports.sqlite'))).toEqual(['migrations', 'reports']);
    const own = await tablesOf(join(project, 'data/petstore.sqlite'));
    expect([own.includes('adoptions'), own.includes('reports')]).toEqual([true, false]);
    expect(Object.keys(document.paths)).toEqual([
      '/pets',
      '/pets/{petId}',
      '/adoptions',
      '/adoptions/{adoptionId}',
    ]);

    // Back to the build before it, on the same database, and forth again.
    await service.stop();
    service = await ServiceProcess.start(project);
    expect((await call('GET', 'adoptions/1'))[0]).toBe(404);
    expect(await call('POST', 'pets', '{"name":"Rex","categoryId":1}')).toMatchObject([201, {}]);
    const expansions = ['Adoptions1795500000000'];
    const status = await petstore(project, ['db', 'status', '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ pending: [], unknown: expansions, expansions });
    const { code, stdout } = await petstore(project, ['doctor']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/migrations .*1 of a newer version, which only expand/),
    ]);
    await service.stop();
    service = await ServiceProcess.start(project, {}, join(project, 'dist/bundle/main.js'));
    expect(await call('GET', 'adoptions/1')).toMatchObject([200, { state: 'approved' }]);
  });
});
