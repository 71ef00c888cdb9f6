import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { findingsIn } from '../support/doctor-findings.js';
import { copyProject, writeFiles } from '../support/project-copy.js';
import { emptyFolder, folderOfTest, ran } from '../support/service-process.js';

/**
 * A feature whose entity and controller are each right alone, and wrong in the application. A declaration of it is `throwing`, or a file
 * `broken`, where the variable TOYS says so: one build has all faults.
 */
const WRONG: Readonly<Record<string, string>> = {
  'src/toys/toys.declared.ts': `
import { defineErrors, defineScopes } from 'petstore-service';

export const TOYS_SCOPES = defineScopes('toys', { read: 'Fetch toys.' });
if (process.env['TOYS'] === 'throwing')
  defineErrors({
    ToyNotFound: { status: 404, message: 'No toy.', cause: 'There is none.', remedy: 'Use another id.' },
  });
`,
  'src/toys/broken.ts': `
const rows: string[] = process.env['TOYS'] === 'broken' ? [] : ['whole'];
export const LENGTH = (rows[0] as string).length;
`,
  'src/toys/toy.entity.ts': `
import { Column, Entity } from 'typeorm';
import { Int64Key } from 'petstore-service';

@Entity('toys')
export class Toy {
  @Int64Key()
  id!: bigint;

  @Column(({ unmigrated: 'integer', types: 'timestamptz' } as const)[process.env['TOYS'] ?? ''] ?? 'bigint')
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
  @(process.env['TOYS'] === 'column' ? () => undefined : Idempotent())
  @Operation({
    id: 'listToys',
    summary: 'List toys',
    description: 'Lists toys.',
    responses: { status: 200, description: 'A toy', type: ToyDto },
  })
  list(): ToyDto {
    return { name: 'x' };
  }
}

@Module({ controllers: [ToysController] })
export class ToysModule {}
`,
};

/** What the start says, and without this, of the entity. */
const WRONG_HANDLER =
  'ToysController.list: @Idempotent() is for operations that change something. Remove it.';
const WRONG_COLUMN = 'Toy.price: without a transformer a bigint is read as text. Use @Int64Column().';
const NO_MIGRATION =
  'Entities have tables or columns that no migration creates (CREATE TABLE "toys" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "price" integer NOT NULL)). ' +
  'Run `npm run migration:generate -- <feature>/<name>`. Entities of another DataSource are not compared if its forRoot() lists ' +
  'their classes, or forFeature() names that DataSource.';

/** The message for the single declaration that throws. */
const LINE = 'Error code "ToyNotFound" is not a lower_snake slug, such as pet_not_found. Rename it.';

let project = '';

/** Runs a file of the project in a folder. */
const run = (cwd: string, file: string, args: readonly string[] = [], environment: NodeJS.ProcessEnv = {}) =>
  ran(cwd, process.execPath, [join(project, file), ...args], {
    PORT: '0',
    MANAGEMENT_PORT: '0',
    ...environment,
  });

const start = (cwd: string, environment?: NodeJS.ProcessEnv) =>
  run(cwd, 'dist/bundle/main.js', [], environment);
const petstore = (cwd: string, args: readonly string[], TOYS?: string) =>
  run(cwd, 'dist/bundle/cli/main.js', args, { TOYS });

beforeAll(async () => {
  const { path, remove } = await emptyFolder();
  project = path;
  await copyProject(path);
  const modules = (await readFile(join(path, 'src/app.module.ts'), 'utf8')).replace(
    'AdminModule]',
    'ToysModule, AdminModule]',
  );
  const added = "import './toys/broken.js';\nimport { ToysModule } from './toys/toys.module.js';";
  await writeFiles(project, [...Object.entries(WRONG), ['src/app.module.ts', `${added}\n${modules}`]]);
  const { code, stderr } = await run(project, 'scripts/build-if-stale.mjs', ['--always']);
  if (code !== 0) throw new Error(stderr);
  return remove;
});

const BROKEN = expect.stringMatching(
  /^\S*src\/toys\/broken\.ts:3: TypeError: Cannot read properties of undefined \(reading 'length'\) \(thrown while it was imported; LOG_LEVEL=debug shows the stack\)$/,
) as string;
/** Commands that need what all modules declare. */
const NEED_ALL = ['client list', 'db migrate', 'generate migration toys/nothing'];

it.each([
  ['', WRONG_HANDLER, ['db seed']],
  ['column', WRONG_COLUMN, []],
  ['throwing', LINE, NEED_ALL],
  ['broken', BROKEN, NEED_ALL],
])(
  'the error "%s" ends the start and commands in one line, and nothing was created',
  async (TOYS, line, calls) => {
    const path = await folderOfTest();
    const { code, stdout, stderr } = await start(path, { TOYS });
    expect([code, stdout, stderr]).toEqual([1, '', expect.any(String)]);
    expect(stderr.replace(/^The service could not start: (.*)\n$/, '$1')).toEqual(line);
    for (const call of calls) {
      const ended = await petstore(path, call.split(' '), TOYS);
      const last = ended.stderr.trimEnd().split('\n').at(-1);
      expect([call, ended.code, ended.stdout, last]).toEqual([call, 1, '', line]);
    }
    expect(existsSync(join(path, 'data'))).toBe(false);
  },
);

it.each([
  ['', 'entities', WRONG_COLUMN],
  ['unmigrated', 'entities', NO_MIGRATION],
  ['types', 'entities', expect.stringContaining('"timestamptz" in "Toy.price" is not supported') as string],
  ['throwing', 'declarations', LINE],
  ['broken', 'declarations', BROKEN],
])(
  'the error "%s" is the last one that doctor finds, and no obstacle to --help',
  async (TOYS, check, found) => {
    const path = await folderOfTest();
    const { code, stdout } = await petstore(path, ['doctor', '--json'], TOYS);
    expect(code).toBe(1);
    const wrong = findingsIn(stdout).filter(({ state }) => state === 'wrong');
    expect(wrong.at(-1)).toMatchObject({ check, found });
    const help = await petstore(path, ['client', 'create', '--help'], TOYS);
    expect([help.code, help.stderr]).toEqual([0, '']);
  },
);

it('what is wrong in the whole application is no obstacle to db status and generate', async () => {
  const status = await petstore(await folderOfTest(), ['db', 'status']);
  expect([status.code, status.stderr.replace(/^There is no database .*\n/, '')]).toEqual([0, '']);
  const made = await petstore(project, ['generate', 'feature', 'cages', '--field', 'name:text:100']);
  expect([made.code, made.stderr]).toEqual([0, '']);
  const migration = await petstore(project, ['generate', 'migration', 'toys/table']);
  expect(migration).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Wrote src/toys/table.migration.ts. Read it'),
  });
  const listed = await petstore(project, ['generate', 'migration', 'pets/table']);
  expect(listed.stdout).toMatch(
    /^Wrote src\/pets\/table\.migration\.ts\. Add Table\d{13} to the migrations in src\/pets\/pets\.module\.ts\. Read it/,
  );
});

it('the stack of a file that throws is shown by LOG_LEVEL=debug', async () => {
  const { stderr } = await start(await folderOfTest(), { LOG_LEVEL: 'debug', TOYS: 'broken' });
  expect(stderr).toMatch(/\n {4}at /);
});
