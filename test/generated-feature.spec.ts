import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyProject } from './support/project-copy.js';
import { ROOT, emptyFolder, petstore } from './support/service-process.js';

const run = promisify(execFile);

/** Features that differ in what their files hold: every kind of field, operations with and without the others. */
const FEATURES = [
  ['adoptions', 'petId:int64:ref=pets adopterName:text note:text:1000?', '--state', 'requested,approved'],
  [
    'pet-toys',
    'name:text:9 size:integer:1..9 colour:enum:red,blue? boughtAt:instant token:uuid? otherPetId:int64:ref=pets?',
  ],
  ['categories', 'title:text:20', '--ops', 'list,create'],
  ['boxes', 'weight:int64', '--ops', 'get,update'],
  ['visits', 'petId:int64:ref=pets?', '--ops', 'create,delete'],
  ['geese', 'name:text?', '--ops', 'list', '--singular', 'goose'],
] as const;

describe('generated features', () => {
  let project: Awaited<ReturnType<typeof emptyFolder>>;
  beforeAll(async () => {
    project = await emptyFolder();
    await copyProject(project.path);
    for (const part of ['.oxlintrc.json', '.prettierrc', '.prettierignore'])
      await cp(join(ROOT, part), join(project.path, part));
    for (const [name, fields, ...options] of FEATURES) {
      const args = fields.split(' ').flatMap((field) => ['--field', field]);
      const { code, stderr } = await generate('feature', name, ...args, ...options);
      expect([code, stderr], name).toEqual([0, '']);
    }
  });
  afterAll(() => project.remove());

  const generate = (...args: string[]) => petstore(project.path, ['generate', ...args]);
  const tool = (script: string, ...args: string[]) =>
    run(process.execPath, [join(ROOT, 'node_modules', script), ...args], {
      cwd: project.path,
      // What this run is on is nothing to that one.
      env: { ...process.env, PETSTORE_TEST_ON: 'source' },
    });

  it('are listed once each in app.module.ts, before the administration', async () => {
    const source = await readFile(join(project.path, 'src/app.module.ts'), 'utf8');
    expect(source.match(/imports: \[([^]*?)\]/)?.[1]?.replaceAll(/\s+/g, ' ')).toContain(
      'AdoptionsModule, PetToysModule, CategoriesModule, BoxesModule, VisitsModule, GeeseModule, AdminModule',
    );
  });

  it.each([
    ['types', 'typescript/bin/tsc', ['-p', 'tsconfig.json', '--noEmit', '--incremental', 'false']],
    ['lint', 'oxlint/bin/oxlint', ['--type-aware', '--deny-warnings', 'src']],
    ['walls', 'dependency-cruiser/bin/dependency-cruise.mjs', ['src', '--config', '.dependency-cruiser.cjs']],
    ['format', 'prettier/bin/prettier.cjs', ['--check', 'src']],
  ])('pass: %s', async (_, script, args) => {
    const failure = await tool(script, ...args).then(
      () => undefined,
      ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
    );
    expect(failure).toBeUndefined();
  });

  it('pass their own suites, and those that look at every operation', async () => {
    const suites = FEATURES.map(([name]) => `src/${name}/${name}.spec.ts`);
    const { stdout } = await tool('vitest/vitest.mjs', 'run', ...suites, 'test/refusals.spec.ts');
    expect(stripVTControlCharacters(stdout)).toMatch(/Test Files +7 passed \(7\)/);
  });

  it('are what `nest g resource` makes', async () => {
    const { stdout } = await tool('@nestjs/cli/bin/nest.js', 'generate', 'resource', 'kites');
    expect(stripVTControlCharacters(stdout)).toMatch(
      /CREATE src\/kites\/kites.module.ts[^]*UPDATE src\/app.module.ts/,
    );
    const folder = join(project.path, 'src/kites');
    const [kite] = await Promise.all(
      ['kite.entity.ts', 'kites.spec.ts'].map((file) => readFile(join(folder, file), 'utf8')),
    );
    expect(kite).toContain("@Entity('kites')");
  });

  it('are not written over what is there', async () => {
    const { code, stderr } = await generate('feature', 'adoptions', '--field', 'name:text');
    expect(code).toBe(1);
    expect(stderr).toContain('src/adoptions exists already');
  });

  it('are only named by a dry run', async () => {
    const { stdout } = await generate('feature', 'birds', '--field', 'name:text', '--dry-run', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ dryRun: true, changed: ['src/app.module.ts'] });
    await expect(readFile(join(project.path, 'src/birds/birds.module.ts'))).rejects.toThrow('ENOENT');
  });

  it.each([
    [['feature', 'birds'], 2, /at least one --field/],
    [['feature', 'bird', '--field', 'name:text'], 2, /in the plural/],
    [['feature', 'birds', '--field', 'dogId:int64:ref=dogs'], 1, /dogs, which is no table .*: .*\bpets\b/],
    [['feature', 'birds', '--field', 'name:varchar'], 2, /text or text:<most characters>/],
    [['feature', 'birds', '--field', 'name:text', '--ops', 'put'], 2, /list,create,get,update,delete/],
    [['migration', 'Birds'], 1, /such as toys\/toys-colour/],
  ])('%j is refused with what to write instead', async (args, code, message) => {
    const refused = await generate(...args);
    expect(refused.code).toBe(code);
    expect(refused.stderr).toMatch(message);
  });
});

it('generates nothing outside of a project', async () => {
  const { path, remove } = await emptyFolder();
  const { code, stderr } = await petstore(path, ['generate', 'feature', 'birds', '--field', 'name:text']);
  await remove();
  expect(code).toBe(1);
  expect(stderr).toContain('Run this in the project');
});
