import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { copyProject, writeFiles } from '../support/project-copy.js';
import { emptyFolder, type Finished } from '../support/service-process.js';

/** A feature whose entity and controller are each right alone, and wrong in the application. */
const WRONG: Readonly<Record<string, string>> = {
  'src/toys/toys.declared.ts': `
import { defineScopes } from 'petstore-service';

export const TOYS_SCOPES = defineScopes('toys', { read: 'Fetch toys.' });
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
import { Controller, Get, Module } from '@nestjs/common';
import { Idempotent, Operation, RequireScopes, Text } from 'petstore-service';
import { TOYS_SCOPES } from './toys.declared.js';

class ToyDto {
  @Text({ maxLength: 3 })
  name!: string;
}

@Controller({ path: 'toys', version: '1' })
class ToysController {
  @Get()
  @RequireScopes(TOYS_SCOPES.read)
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

@Module({ controllers: [ToysController] })
export class ToysModule {}
`,
};

/** What is told of it: one line for each fault. */
const OF_APPLICATION = [
  'ToysController.list: @Idempotent() is for operations that change something. Remove it.',
  'Toy.price: SQLite reads a bigint rounded. Use @Int64Column().',
];

/** What is told besides, but in production. */
const NO_MIGRATION =
  'Entities have what no migration makes (CREATE TABLE "toys" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "price" bigint NOT NULL)). ' +
  'Run `npm run migration:generate -- <feature>/<name>`.';

/** The same with a declaration that throws, and what is told of it alone. */
const THROWING = {
  'src/toys/toys.declared.ts':
    (WRONG['src/toys/toys.declared.ts'] ?? '').replace('defineScopes }', 'defineErrors, defineScopes }') +
    `export const TOYS_ERRORS = defineErrors({
  ToyNotFound: { status: 404, message: 'No toy.', cause: 'There is none.', remedy: 'Use another id.' },
});
`,
};
const LINE = 'Error code "ToyNotFound" is not a lower_snake slug, such as pet_not_found. Rename it.';

let project = '';
/** The list of modules with the wrong one. */
let modules = '';

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

/** What doctor finds wrong. */
function wrongIn(stdout: string): string[] {
  const { findings } = JSON.parse(stdout) as { findings: { check: string; state: string; found: string }[] };
  return findings.filter(({ state }) => state === 'wrong').map(({ check, found }) => `${check} ${found}`);
}

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
  modules = withToys(await readFile(join(path, 'src/app.module.ts'), 'utf8'));
  await build({ ...WRONG, 'src/app.module.ts': modules });
  return remove;
});

describe('what is wrong in the whole application', () => {
  it('is told by the start in one line each, and nothing was made', async () => {
    const path = await folder();
    for (const [NODE_ENV, told] of [
      ['development', [...OF_APPLICATION, NO_MIGRATION]],
      ['production', OF_APPLICATION],
    ] as const) {
      const { code, stdout, stderr } = await start(path, { NODE_ENV });
      const [first, ...lines] = stderr.trimEnd().split('\n');
      expect([code, stdout]).toEqual([1, '']);
      expect(first).toBe('The service could not start: What the modules declare cannot work:');
      expect(lines.toSorted()).toEqual(told.toSorted());
      expect(existsSync(join(path, 'data'))).toBe(false);
    }
  });

  it('ends a command that needs it, and no other', async () => {
    const path = await folder();
    const { code, stdout, stderr } = await petstore(path, 'client', 'list');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.trimEnd().split('\n').slice(1).toSorted()).toEqual(
      [...OF_APPLICATION, NO_MIGRATION].toSorted(),
    );
    expect(existsSync(join(path, 'data'))).toBe(false);
    const status = await petstore(path, 'db', 'status');
    expect([status.code, status.stderr.replace(/^Made the database .*\n/, '')]).toEqual([0, '']);
  });

  it('is found by petstore doctor', async () => {
    const { code, stdout } = await petstore(await folder(), 'doctor', '--json');
    expect([code, wrongIn(stdout)]).toEqual([1, [`entities ${NO_MIGRATION}`]]);
  });

  it('is no obstacle to petstore generate', async () => {
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

describe('what decorators and define…() refuse', () => {
  beforeAll(() => build({ ...THROWING, 'src/app.module.ts': modules }));

  it('is told by the start alone, in one line, and nothing was made', async () => {
    const path = await folder();
    const { code, stdout, stderr } = await start(path);
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      `The service could not start: What the modules declare cannot work:\n${LINE}\n`,
    ]);
    expect(existsSync(join(path, 'data'))).toBe(false);
  });

  it.each([[['client', 'list']], [['openapi']], [['db', 'migrate']], [['db', 'status']]])(
    'ends petstore %s, which needs all modules, with the line and exit code 1',
    async (args) => {
      const path = await folder();
      const { code, stdout, stderr } = await petstore(path, ...args);
      expect([code, stdout, stderr]).toEqual([1, '', `What the modules declare cannot work:\n${LINE}\n`]);
      expect(existsSync(join(path, 'data'))).toBe(false);
    },
  );

  it('is found by petstore doctor', async () => {
    const { code, stdout } = await petstore(await folder(), 'doctor', '--json');
    expect([code, wrongIn(stdout)]).toEqual([1, [`declarations ${LINE}`]]);
  });

  it.each([
    [['--help']],
    [['client', 'create', '--help']],
    [['generate', 'feature', 'cages', '--field', 'name:text:100', '--help']],
  ])('is no obstacle to petstore %s', async (args) => {
    const { code, stderr } = await petstore(await folder(), ...args);
    expect([code, stderr]).toEqual([0, '']);
  });
});

describe('a file that throws while it is imported', () => {
  beforeAll(() =>
    build({
      'src/app.module.ts': "import './toys/broken.js';\nexport class AppModule {}\n",
      'src/toys/broken.ts':
        '\nconst rows: string[] = [];\nexport const LENGTH = (rows[0] as string).length;\n',
    }),
  );

  const broken =
    /^\S*src\/toys\/broken\.ts:3: TypeError: Cannot read properties of undefined \(reading 'length'\) \(thrown while it was imported; LOG_LEVEL=debug shows the stack\)$/;

  it('is told in one line with its name and line', async () => {
    const path = await folder();
    const { code, stdout, stderr } = await start(path);
    const lines = stderr.trimEnd().split('\n');
    expect([code, stdout, lines[0]]).toEqual([
      1,
      '',
      'The service could not start: What the modules declare cannot work:',
    ]);
    expect(lines.slice(1)).toEqual([expect.stringMatching(broken)]);
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
