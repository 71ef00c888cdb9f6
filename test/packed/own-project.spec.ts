import { cp, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../support/packed-client.js';
import { linkFolder, packedService } from '../support/packed-service.js';
import { ROOT, serviceOfTest } from '../support/service-process.js';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}
const PAGES = ['/', '/docs', '/docs/errors', '/docs/guides/using-the-api', '/account', '/console'];
const manifestOf = async (path: string) =>
  JSON.parse(await readFile(join(path, 'package.json'), 'utf8')) as Manifest;

/** The project, in which npm has installed the packed service and all that package.json names. */
let project: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  const packed = await packedService();
  remove = packed.remove;
  project = join(packed.folder, 'my-api');
  await run(packed.folder, join(packed.folder, 'node_modules/.bin/petstore'), [
    'new',
    'my-api',
    '--title',
    'My API',
  ]);
  // npm asks no registry for what it finds, and removes what nothing depends on.
  await linkFolder(join(ROOT, 'node_modules'), join(project, 'node_modules'), 'petstore-service');
  await npm('install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts');
});
afterAll(() => remove());

const npm = (...args: string[]) =>
  run(project, 'npm', args, { HOME: project, npm_config_update_notifier: 'false' }).then(
    stripVTControlCharacters,
  );
const petstore = (...args: string[]) =>
  run(project, join(project, 'node_modules/.bin/petstore'), args).then(stripVTControlCharacters);

// One after the other, in one project.
describe('a project without the catalogue of animals', () => {
  it('has what it depends on installed once, at the versions of the service', async () => {
    const own = await manifestOf(project);
    const installed = join(project, 'node_modules/petstore-service');
    expect(own.dependencies).toMatchObject({ 'petstore-service': 'file:petstore-service-1.0.0.tgz' });
    await expect(readdir(join(installed, 'node_modules'))).rejects.toThrow(/ENOENT/);
    const { dependencies } = await manifestOf(installed);
    for (const [name, range] of Object.entries(own.dependencies))
      expect([name, range]).toEqual([name, dependencies[name] ?? range]);
  });

  it('lists the settings that it does not have in package.json, with their defaults', async () => {
    const text = await readFile(join(project, '.env.example'), 'utf8');
    expect(text).toMatch(/^# PORT=3000$/m);
    expect(text).not.toMatch(/^# API_(?:TITLE|DESCRIPTION|REALM)=/m);
    expect(parseEnv(text)).toEqual({});
  });

  it('has every package that a guide or an example imports', async () => {
    const texts = await Promise.all(
      ['docs/guides', 'examples'].map(async (folder) =>
        (await readdir(join(ROOT, folder), { recursive: true }))
          .filter((name) => /\.(?:md|ts)$/.test(name) && !name.includes('node_modules'))
          .map((name) => readFile(join(ROOT, folder, name), 'utf8')),
      ),
    );
    const guides = (
      await Promise.all([readFile(join(ROOT, 'docs/extending.md'), 'utf8'), ...texts.flat()])
    ).join('\n');
    const excerpted = [...guides.matchAll(/^\/\/ of (test\/support\/\S+)$/gm)].map(([, file = '']) =>
      readFile(join(ROOT, file), 'utf8'),
    );
    const text = [guides, ...(await Promise.all(excerpted))].join('\n');
    const installedThere = [...text.matchAll(/npm install ((?:@?[\w/-]+ ?)+)/g)].flatMap(([, names = '']) =>
      names.split(' '),
    );
    const imported = [...text.matchAll(/from '((?:@[\w-]+\/)?[\w-]+)/g)].map(([, name = '']) => name);
    const named = [...text.matchAll(/@nestjs\/[\w-]+|class-validator/g)].map(([name]) => name);
    const { dependencies, devDependencies } = await manifestOf(project);
    const service = await manifestOf(ROOT);
    const known = [...Object.keys({ ...dependencies, ...devDependencies }), ...installedThere];
    const missing = new Set(
      [...imported, ...named].filter(
        (name) => name in service.dependencies || name in service.devDependencies,
      ),
    );
    for (const name of known) missing.delete(name.replace('@types/', ''));
    expect([...missing]).toEqual([]);
  });

  it('passes its own checks and tests, and writes its OpenAPI document', async () => {
    await npm('run', '-s', 'check');
    expect(await npm('test')).toMatch(/Test Files +1 passed/);
    await npm('run', 'docs:generate');
    const document = JSON.parse(await readFile(join(project, 'openapi.json'), 'utf8')) as object;
    expect(document).toMatchObject({ info: { title: 'My API' }, paths: {} });
  });

  it('has all commands, those of the administration among them', async () => {
    expect(await petstore('--help')).toMatch(/Administers My API[^]*\n {2}client /);
    expect(await petstore('--help')).not.toMatch(/\bpets?\b/i);
    expect(await petstore('db', 'migrate')).not.toMatch(/Pets/);
    await petstore('client', 'create', '--name', 'Ada', '--plan', 'pro');
    expect(await petstore('client', 'list')).toMatch(/ Ada +pro /);
    expect(await petstore('doctor')).toMatch(/entities +ok/);
  });

  it('starts with a request to paste, and pages that name no animal', async () => {
    const service = await serviceOfTest(
      project,
      { DATABASE_URL: 'sqlite:data/first.sqlite' },
      join(project, 'dist/main.js'),
    );
    const [pasted = ''] = /curl .*/.exec(service.output) ?? [];
    const shown = JSON.parse(await run(project, 'bash', ['-c', `${pasted} --silent --fail`])) as object;
    expect(shown).toMatchObject({ client: { name: 'Demo' } });
    for (const path of [
      ...PAGES,
      '/docs/openapi.json',
      '/docs/admin/openapi.json',
      '/docs/account/openapi.json',
    ]) {
      const response = await fetch(service.url + path, { headers: { accept: 'text/html' } });
      const text = await response.text();
      expect([path, response.status, /(?:\bpets?\b|animal|pet store).*/i.exec(text)]).toEqual([
        path,
        200,
        null,
      ]);
      expect(text).toContain('My API');
    }
    const { headers } = await service.request('GET', '/v1/nothing', { key: null });
    expect(headers.get('www-authenticate')).toBe('Bearer realm="my-api"');
    expect(await service.stop()).toMatchObject({ code: 0 });
  });

  it('stays in order with a feature, a migration, and the example of a guide', async () => {
    const modules = join(project, 'src/app.module.ts');
    await petstore('generate', 'feature', 'toys', '--field', 'name:text:100', '--field', 'price:int64?');
    const entity = join(project, 'src/toys/toy.entity.ts');
    const text = await readFile(entity, 'utf8');
    await writeFile(
      entity,
      text
        .replace(
          /\n\}\n$/,
          `\n\n  @Column('varchar', { length: 20, nullable: true })\n  color!: string | null;\n}\n`,
        )
        .replace('import { Entity', 'import { Column, Entity'),
    );
    const migration = await npm('run', '-s', 'migration:generate', '--', 'toys/toys-color');
    const [, name = ''] =
      /Add (ToysColor\d+) to the migrations in src\/toys\/toys\.module\.ts\./.exec(migration) ?? [];
    await cp(join(ROOT, 'examples/sso'), join(project, 'src/sso'), { recursive: true });
    const added = (await readFile(modules, 'utf8')).replace('imports: [', 'imports: [SsoModule, ');
    await writeFile(modules, `import { SsoModule } from './sso/sso.module.js';\n${added}`);
    await npm('run', '-s', 'check');
    await expect(npm('run', '-s', 'build')).rejects.toThrow(
      `src/toys/toys-color.migration.ts is not registered: add ${name} to the migrations in src/toys/toys.module.ts.`,
    );
    const file = join(project, 'src/toys/toys.module.ts');
    const module = await readFile(file, 'utf8');
    await writeFile(
      file,
      `import { ${name} } from './toys-color.migration.js';\n${module.replace('migrations: [', `migrations: [${name}, `)}`,
    );
    expect(await npm('test')).toMatch(/Test Files +3 passed/);
    await npm('run', '-s', 'build');
    expect(await petstore('db', 'migrate')).toMatch(/ToysColor/);
  });
});
