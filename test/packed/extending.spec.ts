import { execFile } from 'node:child_process';
import { cp, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { catalogueAppModule, copyBuild, copyProject } from '../support/project-copy.js';
import { ROOT, emptyFolder, folderOfTest, petstore, ran, serviceOfTest } from '../support/service-process.js';

const run = promisify(execFile);

/** Every kind of field, once required and once optional. */
const FIELDS = [
  // The generated suite omits the first required field.
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

/** A copy of this project with two more features, one with every kind of field and one with a single field, and the tokens of a guide. */
let project: Awaited<ReturnType<typeof emptyFolder>>;
beforeAll(async () => {
  project = await emptyFolder();
  await copyProject(project.path);
  await copyBuild(project.path);
  await cp(join(ROOT, 'examples/sso'), join(project.path, 'examples/sso'), { recursive: true });
  await asBranch(project.path);
  const fields = FIELDS.flatMap((field) => ['--field', field]);
  const { code, stderr } = await petstore(project.path, [
    'generate',
    'feature',
    'pet-toys',
    '--webhook',
    ...fields,
  ]);
  expect([code, stderr]).toEqual([0, '']);
  // As if it had been built with the first one.
  await utimes(join(project.path, 'dist/.built'), new Date(), new Date());
  const second = await petstore(project.path, ['generate', 'feature', 'kites', '--field', 'name:text:100']);
  expect([second.code, second.stderr]).toEqual([0, '']);
  await followGuide(project.path);
});
afterAll(() => project.remove());

/** Does what the guide to other credentials says: its list of modules is that of this checkout, and its commands are run. */
async function followGuide(path: string): Promise<void> {
  const guide = await readFile(join(ROOT, 'docs/guides/other-credentials.md'), 'utf8');
  const [, imported = '', listed = ''] =
    /\n\/\/ in src\/app\.module\.ts\n(import [^\n]+\n)\n(@Module[^\n]+)\n```/.exec(guide) ?? [];
  const before = await catalogueAppModule();
  expect(listed.replace(' SsoModule,', '')).toBe(/^@Module.*$/m.exec(before)?.[0]);
  const modules = await readFile(join(path, APP_MODULE), 'utf8');
  const added = modules.replace(/(imports: \[[^]*?)(\s+)(?=AccountModule)/, '$1$2SsoModule,$2');
  await writeFile(join(path, APP_MODULE), imported + added);
  for (const [, commands = ''] of guide.matchAll(/```sh\n([^]*?)```/g)) {
    const { code, stdout, stderr } = await ran(path, 'bash', ['-euc', commands], {
      HOME: path,
      npm_config_update_notifier: 'false',
    });
    expect([code, code === 0 ? '' : stdout + stderr]).toEqual([0, '']);
  }
}

/** Makes a folder a checkout whose changes start here. */
async function asBranch(path: string): Promise<void> {
  const git = (...args: string[]) => run('git', args, { cwd: path });
  await git('init', '--quiet', '--initial-branch=main');
  await writeFile(join(path, '.git/info/exclude'), 'node_modules\ndist\n');
  await git('add', '.');
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  await git(...author, '-c', 'commit.gpgsign=false', 'commit', '--quiet', '--message=Begin');
}

const text = (file: string) => readFile(join(project.path, file), 'utf8');

/** Runs a tool of this checkout on the copy; returns what it wrote, and rejects with that when it fails. */
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

it('added features are written as this project is: types, lint, import rules and format', async () => {
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
  for (const folder of [...FEATURES, 'src/sso']) expect(concerned).toContain(`  ${folder}/`);
  // Beside them, those of the generated client, whose files the documents have changed.
  expect(concerned.match(/^ {2}(?!.*client).*\.spec\.ts$/gm)?.length).toBeLessThan(8);
});

it('the guide to other credentials, followed to the letter, leaves commands and the start as they should be', async () => {
  const folder = await folderOfTest();
  const command = join(project.path, 'bin/petstore.js');
  const listed = await ran(folder, process.execPath, [command, 'client', 'list']);
  expect(listed).toMatchObject({ code: 0 });
  const service = await serviceOfTest(folder, {}, join(project.path, 'dist/bundle/main.js'));
  const { status, body } = await service.request('GET', '/v1/pets', { key: 'a.b.c' });
  expect([status, body.code]).toEqual([401, 'invalid_token']);
});

it('added features pass their own suites, and those of the service, of which none names what features there are', async () => {
  const ofDocuments = ['/openapi-document.spec.ts', '/declared-writes.spec.ts', '/required-fields.spec.ts'];
  const ofCredentials = ['/authentication.spec.ts', '/other-credentials.spec.ts'];
  const suites = [
    ...FEATURES,
    'src/sso',
    'test/api/checkout/',
    '/refusals.spec.ts',
    ...ofDocuments,
    ...ofCredentials,
  ];
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
