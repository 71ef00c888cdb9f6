import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type MockInstance, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ADMIN_DOCUMENT } from '../support/petstore-here.js';
import { ROOT, emptyFolder } from '../support/service-process.js';
import { runPetstore } from '../../src/cli/program.js';

const MODULES = 'src/app.module.ts';
const LISTED = `import { Module } from '@nestjs/common';
import { PetsModule } from './pets/pets.module.js';

@Module({ imports: [PetsModule] })
export class AppModule {}
`;
const NAME = ['--field', 'name:text'];

let cwd: MockInstance<() => string>;
let project: Awaited<ReturnType<typeof emptyFolder>>;
beforeEach(async () => {
  project = await emptyFolder();
  await write('.prettierrc', await readFile(join(ROOT, '.prettierrc'), 'utf8'));
  await write(MODULES, LISTED);
  cwd = vi.spyOn(process, 'cwd').mockReturnValue(join(project.path, 'src'));
});
afterEach(() => project.remove());

async function write(file: string, text: string): Promise<void> {
  await mkdir(join(project.path, file, '..'), { recursive: true });
  await writeFile(join(project.path, file), text);
}
const text = (file: string) => readFile(join(project.path, file), 'utf8');
const files = async () =>
  (await readdir(project.path, { recursive: true })).filter((file) => file.endsWith('.ts')).toSorted();

const generate = (...args: string[]) => run('feature', ...args);

async function run(...args: string[]) {
  let [out, complaints] = ['', ''];
  const code = await runPetstore(['generate', ...args], {
    operations: ADMIN_DOCUMENT,
    openApp: () => Promise.reject(new Error('The application is not needed.')),
    loadModules: () => Promise.resolve(),
    write: async (written) => void (out += written),
    writeError: (written) => (complaints += written),
  });
  return { code, out, complaints };
}

describe('petstore generate feature', () => {
  it.each([
    ['visitors', [], 'visitors/visitor.entity.ts', /^export class Visitor \{/m],
    [
      'pet-gizmos',
      [],
      'pet-gizmos/pet-gizmo.entity.ts',
      /^@Entity\('pet_gizmos'\)\nexport class PetGizmo \{/m,
    ],
    ['categories', [], 'categories/category.entity.ts', /class Category /],
    ['boxes', [], 'boxes/box.entity.ts', /class Box /],
    ['geese', ['--singular', 'goose'], 'geese/goose.entity.ts', /class Goose /],
  ])('%s %j writes a feature by that name', async (name, options, file, entity) => {
    const { code, complaints } = await generate(name, ...NAME, ...options);
    expect([code, complaints]).toEqual([0, '']);
    expect(await text(`src/${file}`)).toMatch(entity);
  });

  it.each([
    ['PetsModule', 'PetsModule, GizmosModule'],
    ['PetsModule, AdminModule', 'PetsModule, GizmosModule, AdminModule'],
    ['PetsModule, AccountModule, AdminModule', 'PetsModule, GizmosModule, AccountModule, AdminModule'],
    ['X.forRoot({ a: [] }), AdminModule', 'X.forRoot({ a: [] }), GizmosModule, AdminModule'],
    ['\n  PetsModule,\n  AdminModule,\n', 'PetsModule, GizmosModule, AdminModule'],
  ])('lists its module among %s', async (before, after) => {
    const module = (modules: string) => `@Module({ imports: [${modules}] })\nexport class AppModule {}\n`;
    await write(MODULES, `import { Module } from '@nestjs/common';\n\n${module(before)}`);
    expect((await generate('gizmos', ...NAME)).code).toBe(0);
    expect(await text(MODULES)).toBe(
      `import { Module } from '@nestjs/common';\nimport { GizmosModule } from './gizmos/gizmos.module.js';\n\n${module(after)}`,
    );
  });

  it('describes its fields with texts that fit every kind', async () => {
    const fields = ['isOpen:boolean', 'open:boolean', 'inspectedAt:date-time?', 'petId:reference:pets'];
    expect((await generate('gizmos', ...fields.flatMap((field) => ['--field', field]))).code).toBe(0);
    const described = (await text('src/gizmos/gizmos.dto.ts')).matchAll(/description: '([^']+)'/g);
    expect([...described].map(([, description]) => description)).toEqual(
      expect.arrayContaining(['Is open', 'Open', 'Inspected at', 'The id of the pet']),
    );
  });

  it('whose only field is a reference changes it to another row in its suite', async () => {
    expect((await generate('gizmos', '--field', 'petId:reference:pets')).code).toBe(0);
    expect(await text('src/gizmos/gizmos.spec.ts')).toContain('const json = { petId: 2 };');
  });

  it('only names the files with --dry-run', async () => {
    const { code, out } = await generate('gizmos', ...NAME, '--dry-run', '--json');
    expect(code).toBe(0);
    const named = JSON.parse(out) as { files: string[] };
    expect(named).toMatchObject({ dryRun: true, changed: [MODULES] });
    expect(named.files).toContain('src/gizmos/gizmos.module.ts');
    expect(await files()).toEqual([MODULES]);
  });
});

describe('petstore generate feature refuses, and writes nothing', () => {
  const ONE = /kind: text or text:<maximum length>; integer; int64; number; boolean; date-time; date; enum:/;
  it.each<[args: string[], code: number, message: RegExp]>([
    [['gizmos'], 2, /at least one --field/],
    [['gizmo', ...NAME], 2, /in the plural/],
    [['Gizmos', ...NAME], 2, /--singular/],
    [['pet_gizmos', ...NAME], 2, /--singular/],
    [['geese', ...NAME], 2, /--singular/],
    [['../gizmos', ...NAME], 2, /--singular/],
    [[`${'a'.repeat(40)}s`, ...NAME], 2, /at most 40/],
    [['gizmos', '--field', `${'a'.repeat(50)}:reference:pets`], 2, /longer than the 63 bytes of PostgreSQL/],
    [['services', ...NAME, '--singular', 'injectable'], 1, /Injectable already has a meaning/],
    [['repositories', ...NAME], 1, /Repository already has a meaning/],
    [['objects', ...NAME], 1, /Object already has a meaning/],
    [['merges', ...NAME], 1, /MergePatch already has a meaning/],
    [['gizmos', '--field', 'patch:enum:a,b'], 1, /GizmoPatch already has a meaning/],
    [['gizmos', '--field', 'created:enum:a,b'], 1, /GizmoCreated already has a meaning/],
    [['app', ...NAME, '--singular', 'application'], 1, /AppModule already has a meaning/],
    [['animals', ...NAME, '--singular', 'pet'], 1, /The entity Pet already exists/],
    [['clients', ...NAME], 1, /The table clients already exists/],
    [['routes', ...NAME], 1, /The error code route_not_found already exists/],
    [['gizmos', '--field', 'name'], 2, ONE],
    [['gizmos', '--field', 'Name:text'], 2, ONE],
    [['gizmos', '--field', 'name:varchar'], 2, ONE],
    [['gizmos', '--field', 'name:constructor'], 2, ONE],
    [['gizmos', '--field', 'name:text:0'], 2, /from 1 to 10000, not 0\. Write name as name:text or text:/],
    [['gizmos', '--field', 'name:text:99999999'], 2, /from 1 to 10000, not 99999999\./],
    [['gizmos', '--field', 'name:text:ten'], 2, /from 1 to 10000, not ten\./],
    [['gizmos', '--field', 'size:integer:3'], 2, /integer takes no argument\. Write size as size:integer\./],
    [
      ['gizmos', '--field', 'colour:enum'],
      2,
      /at least two values\. Write colour as colour:enum:<value>,<value>…\./,
    ],
    [['gizmos', '--field', 'colour:enum:red'], 2, /at least two values/],
    [['gizmos', '--field', 'colour:enum:red,red'], 2, /value red is given twice/],
    [['gizmos', '--field', 'colour:enum:A,b,b-c,1x?'], 2, /lower-case .*, unlike "A", "b-c", "1x"\./],
    [['gizmos', '--field', 'petId:reference'], 2, /Name a table, .*reference:<table>/],
    [['gizmos', '--field', 'dogId:reference:dogs'], 1, /dogs, which is not a table .*: .*\bpets\b/],
    [['gizmos', '--field', 'ownerId:reference:clients'], 1, /clients, which is not a table .*: .*\bpets\b/],
    [['gizmos', '--field', 'gizmoId:reference:gizmos'], 2, /its own table/],
    [['gizmos', '--field', 'then:text'], 2, /cannot be named then/],
    [['gizmos', '--field', 'toString:text'], 2, /cannot be named toString/],
    [['gizmos', '--field', 'sort:enum:a,b'], 2, /cannot be named sort/],
    [['gizmos', '--field', 'limit:reference:pets'], 2, /cannot be named limit/],
    [['gizmos', '--field', 'id:int64'], 2, /Omit id/],
    [['gizmos', ...NAME, ...NAME], 2, /name is given twice/],
    [['gizmos', '--field', 'a:b', '--field', 'c:d'], 2, /^--field a:b: Give [^]*\n--field c:d: Give /],
  ])('%j', async (args, code, message) => {
    const refused = await generate(...args);
    expect(refused).toEqual({ code, out: '', complaints: expect.stringMatching(message) });
    expect(await files()).toEqual([MODULES]);
  });

  it('an existing folder', async () => {
    await write('src/gizmos/left.ts', '');
    const { code, complaints } = await generate('gizmos', ...NAME);
    expect([code, complaints]).toEqual([1, expect.stringContaining('gizmos already exists')]);
    expect(await files()).toEqual([MODULES, 'src/gizmos/left.ts']);
  });

  it('a schema that the OpenAPI document has', async () => {
    await write('docs/openapi.json', JSON.stringify({ components: { schemas: { PetStatus: {} } } }));
    const { code, complaints } = await generate('pet-statuses', ...NAME);
    expect([code, complaints]).toEqual([1, expect.stringContaining('The schema PetStatus already exists')]);
  });

  it('where app.module.ts lists its modules in another way', async () => {
    await write(MODULES, 'export const modules = [];\n');
    const { code, complaints } = await generate('gizmos', ...NAME);
    expect([code, complaints]).toEqual([1, expect.stringContaining('Nothing was written')]);
    expect(await files()).toEqual([MODULES]);
  });

  it.each(['gizmos-colour', 'Gizmos/colour', 'gizmos/Colour', 'gizmos/gizmos--colour', 'gizmos/colour-'])(
    'the migration %s',
    async (path) => {
      const { code, complaints } = await run('migration', path);
      expect([code, complaints]).toEqual([1, expect.stringContaining('such as toys/toys-colour')]);
    },
  );

  it('outside of a project', async () => {
    cwd.mockReturnValue(join(project.path, '..'));
    const { code, complaints } = await generate('gizmos', ...NAME);
    expect([code, complaints]).toEqual([1, expect.stringContaining('Run this in the project')]);
  });
});
