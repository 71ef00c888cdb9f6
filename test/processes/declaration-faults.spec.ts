import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { copyProject, writeFiles } from '../support/project-copy.js';
import { emptyFolder, type Finished } from '../support/service-process.js';

/** A feature in which every file is wrong. */
const WRONG: Readonly<Record<string, string>> = {
  'src/toys/toys.declared.ts': `
import { defineErrors, defineEvent, defineScopes, defineSettings, wholeNumber } from 'petstore-service';

export const TOYS_SCOPES = defineScopes('pets', { read: 'Fetch toys.' });
export const TOYS_ERRORS = defineErrors({
  ToyNotFound: { status: 404, message: 'No toy.', cause: 'There is none.', remedy: 'Use another id.' },
});
export const TOY_MADE = defineEvent<{ id: string }>('toyMade');
export const TOYS_SETTINGS = defineSettings('toys', {
  most: { type: wholeNumber(1, 9), default: 10, description: 'Most toys.' },
});
`,
  'src/toys/toy.entity.ts': `
import { Column, Entity } from 'typeorm';
import { Int64Key } from 'petstore-service';

@Entity('toys')
export class Toy {
  @Int64Key()
  id!: bigint;

  @Column('bigint')
  price!: bigint;
}
`,
  'src/toys/toys.module.ts': `
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { Idempotent, Job, Operation, RequireScopes, Text } from 'petstore-service';
import { TOYS_SCOPES } from './toys.declared.js';

class ToyDto {
  @Text({ maxLength: 3, default: 'four' })
  name!: string;
}

@Controller({ path: 'toys', version: '1' })
class ToysController {
  @Get()
  @RequireScopes(TOYS_SCOPES.read, 'typo' as never)
  @Idempotent()
  @Operation({
    id: 'listToys',
    summary: 'List toys',
    description: 'Lists toys.',
    answers: { status: 200, description: 'A toy', type: ToyDto },
  })
  list(): ToyDto {
    return { name: 'x' };
  }
}

@Injectable()
class ToyJobs {
  @Job({ name: 'toys.count', every: 10 })
  count(): Promise<void> {
    return Promise.resolve();
  }
}

@Module({ controllers: [ToysController], providers: [ToyJobs] })
export class ToysModule {}
`,
};

/** What is told of it: one line for each fault. */
const LINES = [
  'Scope "pets:read" is declared twice. Give the feature, or the right, another name.',
  'Error code "ToyNotFound" is not a lower_snake slug, such as pet_not_found. Rename it.',
  'Event "toyMade" is not of the form subject.happened, such as pet.created. Rename it.',
  'Setting TOYS_MOST has a default that is not allowed: it must be a whole number from 1 to 9.',
  'ToyDto.name: it has the default "four", which it refuses: This must have at most 3 characters.',
  'ToysController.list: @RequireScopes() is given "typo", which is no declared scope. Give it what defineScopes() has made.',
  'ToyJobs.count: the job "toys.count" has every: 10, which is not a whole number of milliseconds from 1 s (1_000) to 366 days.',
];

/** What is told besides where the whole application is made. */
const OF_APPLICATION = [
  'ToysController.list: @Idempotent() is for operations that change something. Remove it.',
  'Toy.price: SQLite reads a bigint rounded. Use @Int64Column().',
];

/** What is told besides, but in production. */
const NO_MIGRATION =
  'Entities have what no migration makes (CREATE TABLE "toys" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "price" bigint NOT NULL)). ' +
  'Run `npm run migration:generate -- <feature>/<name>`.';

let project = '';

/** Runs a file of the project in a folder. */
function run(
  cwd: string,
  file: string,
  args: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  const { PATH } = process.env;
  const env = { PATH, PORT: '0', MANAGEMENT_PORT: '0', ...environment };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(project, file), ...args],
      { cwd, env },
      (_, stdout, stderr) => resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
    );
  });
}

const start = (cwd: string, environment?: NodeJS.ProcessEnv) =>
  run(cwd, 'dist/bundle/main.js', [], environment);
const petstore = (cwd: string, ...args: string[]) => run(cwd, 'dist/bundle/cli/main.js', args);

async function folder(): Promise<string> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  return path;
}

/** Writes files into the project and builds it. */
async function build(files: Readonly<Record<string, string>>): Promise<void> {
  await writeFiles(project, Object.entries(files));
  const { code, stderr } = await run(project, 'scripts/build-if-stale.mjs', ['--always']);
  if (code !== 0) throw new Error(stderr);
}

const withToys = (text: string) =>
  `import { ToysModule } from './toys/toys.module.js';\n${text.replace('AdminModule]', 'ToysModule, AdminModule]')}`;

beforeAll(async () => {
  const { path, remove } = await emptyFolder();
  project = path;
  await copyProject(path);
  await build({
    ...WRONG,
    'src/app.module.ts': withToys(await readFile(join(path, 'src/app.module.ts'), 'utf8')),
  });
  return remove;
});

describe('what decorators and define…() refuse', () => {
  it('is told by the start in one line each, beside all other faults, and nothing was made', async () => {
    const path = await folder();
    const expected = [...LINES, ...OF_APPLICATION];
    for (const [NODE_ENV, told] of [
      ['development', [...expected, NO_MIGRATION]],
      ['production', expected],
    ] as const) {
      const { code, stdout, stderr } = await start(path, { NODE_ENV });
      const [first, ...lines] = stderr.trimEnd().split('\n');
      expect([code, stdout]).toEqual([1, '']);
      expect(first).toBe('The service could not start: What the modules declare cannot work:');
      expect(lines.toSorted()).toEqual(told.toSorted());
      expect(existsSync(join(path, 'data'))).toBe(false);
    }
  });

  it.each([
    ['client list', ['client', 'list'], [...LINES, ...OF_APPLICATION, NO_MIGRATION]],
    ['openapi', ['openapi'], [...LINES, ...OF_APPLICATION, NO_MIGRATION]],
    ['db migrate', ['db', 'migrate'], LINES],
  ])('ends petstore %s, which needs it, with the lines and exit code 1', async (_, args, expected) => {
    const path = await folder();
    const { code, stdout, stderr } = await petstore(path, ...args);
    const [first, ...lines] = stderr.trimEnd().split('\n');
    expect([code, stdout, first]).toEqual([1, '', 'What the modules declare cannot work:']);
    expect(lines.toSorted()).toEqual(expected.toSorted());
    expect(existsSync(join(path, 'data'))).toBe(false);
  });

  it('is found by petstore doctor, each on a line', async () => {
    const { code, stdout } = await petstore(await folder(), 'doctor', '--json');
    const { findings } = JSON.parse(stdout) as {
      findings: { check: string; state: string; found: string }[];
    };
    const wrong = findings.filter(({ state }) => state === 'wrong');
    expect(code).toBe(1);
    expect(wrong.map(({ check, found }) => `${check} ${found}`).toSorted()).toEqual(
      [...LINES.map((line) => `declarations ${line}`), `entities ${NO_MIGRATION}`].toSorted(),
    );
  });
});

describe('commands that need no application', () => {
  it.each([
    [['--help']],
    [['client', 'create', '--help']],
    [['generate', 'feature', 'cages', '--field', 'name:text:100', '--help']],
    [['db', 'status']],
  ])('petstore %s works although declarations are wrong', async (args) => {
    const { code, stderr } = await petstore(await folder(), ...args);
    expect([code, stderr.replace(/^Made the database .*\n/, '')]).toEqual([0, '']);
  });

  it('petstore generate writes features and migrations into such a project', async () => {
    const feature = await petstore(project, 'generate', 'feature', 'cages', '--field', 'name:text:100');
    expect([feature.code, feature.stderr]).toEqual([0, '']);
    expect(feature.stdout).toContain('The docs could not be generated: ');
    await rm(join(project, 'src/cages'), { recursive: true });
    const migration = await petstore(project, 'generate', 'migration', 'toys/table');
    expect([migration.code, migration.stdout]).toEqual([
      0,
      expect.stringContaining('Wrote src/toys/table.migration.ts'),
    ]);
    await rm(join(project, 'src/toys/table.migration.ts'));
  });
});

describe('a file that throws while it is imported', () => {
  beforeAll(() =>
    build({
      'src/app.module.ts':
        "import './toys/toys.module.js';\nimport './toys/broken.js';\nexport class AppModule {}\n",
      'src/toys/broken.ts':
        '\nconst rows: string[] = [];\nexport const LENGTH = (rows[0] as string).length;\n',
    }),
  );

  const broken =
    /^\S*src\/toys\/broken\.ts:3: TypeError: Cannot read properties of undefined \(reading 'length'\) \(thrown while it was imported; LOG_LEVEL=debug shows the stack\)$/;

  it('is told in one line with its name and line, behind what was declared wrongly before', async () => {
    const path = await folder();
    const { code, stdout, stderr } = await start(path);
    const lines = stderr.trimEnd().split('\n');
    expect([code, stdout, lines[0]]).toEqual([
      1,
      '',
      'The service could not start: What the modules declare cannot work:',
    ]);
    // Pets, whose scope it has, are not imported.
    expect(lines.slice(1, -1).toSorted()).toEqual(LINES.slice(1).toSorted());
    expect(lines.at(-1)).toMatch(broken);
    expect(existsSync(join(path, 'data'))).toBe(false);
    expect((await start(path, { LOG_LEVEL: 'debug' })).stderr).toMatch(/\n {4}at /);
  });

  it.each([[['client', 'list']], [['db', 'migrate']], [['generate', 'migration', 'toys/nothing']]])(
    'ends petstore %s with the same line',
    async (args) => {
      const { code, stdout, stderr } = await petstore(await folder(), ...args);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr.trimEnd().split('\n').at(-1)).toMatch(broken);
    },
  );

  it('leaves the other commands as they are, and doctor names it', async () => {
    const path = await folder();
    for (const args of [['--help'], ['key', 'verify', '--help']])
      expect((await petstore(path, ...args)).code).toBe(0);
    const { code, stdout } = await petstore(path, 'doctor', '--json');
    const { findings } = JSON.parse(stdout) as { findings: { check: string; found: string }[] };
    expect(code).toBe(1);
    expect(findings.findLast(({ check }) => check === 'declarations')?.found).toMatch(broken);
    expect(findings.map(({ check }) => check)).not.toContain('entities');
  });
});
