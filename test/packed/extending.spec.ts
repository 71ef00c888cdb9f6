import { execFile } from 'node:child_process';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copyBuild, copyProject } from '../support/project-copy.js';
import { ROOT, emptyFolder, petstore } from '../support/service-process.js';

const run = promisify(execFile);

/** Every kind of field, once as it must be sent and once as it may be absent. */
const FIELDS = [
  // The first required one is that which the generated suite leaves out.
  'madeOn:date',
  'name:text:100',
  'note:text?',
  'size:integer',
  'rank:integer?',
  'price:int64',
  'oldPrice:int64?',
  'weight:number',
  'height:number?',
  'isSoft:boolean',
  'isNew:boolean?',
  'boughtAt:date-time',
  'soldAt:date-time?',
  'endsOn:date?',
  'colour:enum:red,dark_blue',
  'shape:enum:round,flat?',
  'petId:reference:pets',
  'otherPetId:reference:pets?',
];
const APP_MODULE = 'src/app.module.ts';
const FEATURES = ['src/pet-toys', 'src/kites'];

/** What a team may write in its own folder: a suite in Nest's own way, and English that the platform words differently. */
const OF_THE_TEAM = `import { Test } from '@nestjs/testing';
import { AppModule } from 'petstore-service/app';
import { expect, it } from 'vitest';

// Meanwhile, the answers of whoever asks are put right: nobody has told the customer that there is none.
it('compiles', async () => {
  expect(await Test.createTestingModule({ imports: [AppModule] }).compile()).toBeDefined();
});
`;

/** A copy of this project with two more features: one with every kind of field, and one with a single field. */
let project: Awaited<ReturnType<typeof emptyFolder>>;
beforeAll(async () => {
  project = await emptyFolder();
  await copyProject(project.path);
  await copyBuild(project.path);
  await asBranch(project.path);
  const fields = FIELDS.flatMap((field) => ['--field', field]);
  const { code, stderr } = await petstore(project.path, ['generate', 'feature', 'pet-toys', ...fields]);
  expect([code, stderr]).toEqual([0, '']);
  // As if it had been built with the first one.
  await utimes(join(project.path, 'dist/.built'), new Date(), new Date());
  const second = await petstore(project.path, ['generate', 'feature', 'kites', '--field', 'name:text:100']);
  expect([second.code, second.stderr]).toEqual([0, '']);
});
afterAll(() => project.remove());

/** Makes a folder a checkout whose changes begin here. */
async function asBranch(path: string): Promise<void> {
  const git = (...args: string[]) => run('git', args, { cwd: path });
  await git('init', '--quiet', '--initial-branch=main');
  await writeFile(join(path, '.git/info/exclude'), 'node_modules\ndist\n');
  await git('add', '.');
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  await git(...author, '-c', 'commit.gpgsign=false', 'commit', '--quiet', '--message=Begin');
}

const text = (file: string) => readFile(join(project.path, file), 'utf8');

/** Runs a tool of this checkout on the copy; answers what it wrote, and rejects with that when it fails. */
async function tool(script: string, ...args: string[]): Promise<string> {
  const path = join(script.startsWith('scripts/') ? project.path : join(ROOT, 'node_modules'), script);
  const { stdout } = await run(process.execPath, [path, ...args], {
    cwd: project.path,
    // The suites that run there start no process.
    env: { ...process.env, PETSTORE_TEST_BUILD: 'off' },
  }).catch((failure: Error & { stdout: string; stderr: string }) => {
    throw new Error(`${script}: ${failure.stdout}${failure.stderr}`);
  });
  return stripVTControlCharacters(stdout);
}

it('added features are written as this project is: types, lint, walls and format', async () => {
  await writeFile(join(project.path, 'src/kites/as-a-team-writes.spec.ts'), OF_THE_TEAM);
  const config = { extends: './tsconfig.json', include: ['src'] };
  await writeFile(join(project.path, 'tsconfig.added.json'), JSON.stringify(config));
  for (const [script, ...args] of [
    ['typescript-7/bin/tsc', '-p', 'tsconfig.added.json', '--noEmit', '--incremental', 'false'],
    ['oxlint/bin/oxlint', '--type-aware', '--deny-warnings', ...FEATURES],
    ['dependency-cruiser/bin/dependency-cruise.mjs', ...FEATURES, '--config', '.dependency-cruiser.cjs'],
    ['prettier/bin/prettier.cjs', '--check', APP_MODULE, ...FEATURES],
    ['scripts/check-prose.mjs'],
  ] as const)
    await expect(tool(script, ...args)).resolves.toBeDefined();
});

it('a change that adds features concerns their suites, and not all that open the list of modules', async () => {
  const concerned = await tool('scripts/concerned-suites.mjs');
  expect(concerned.match(/^ {2}.*$/gm)?.map((line) => line.trim().split('/').slice(0, 2).join('/'))).toEqual([
    'src/kites',
    'src/kites',
    'src/pet-toys',
  ]);
});

it('added features pass their own suites, and those of the service, of which none names what features there are', async () => {
  const ofDocuments = ['/openapi-document.spec.ts', '/declared-writes.spec.ts', '/required-fields.spec.ts'];
  const suites = [...FEATURES, '/refusals.spec.ts', ...ofDocuments];
  const report = await tool(
    'vitest/vitest.mjs',
    'run',
    // What they import takes longer than they do: once, in one worker.
    '--no-file-parallelism',
    '--project=quick',
    ...suites,
  );
  const count = suites.length + 1;
  expect(report).toMatch(new RegExp(`Test Files +${count} passed \\(${count}\\)`));
});

it('a generated feature with every kind of field has filters and an event', async () => {
  expect((await text('src/pet-toys/pet-toys.dto.ts')).match(/@Filter\(\)/g)).toHaveLength(4);
  expect(await text('src/pet-toys/pet-toys.service.ts')).toContain('this.events.publish(PET_TOY_CREATED');
});
