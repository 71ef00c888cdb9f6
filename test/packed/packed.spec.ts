import { existsSync } from 'node:fs';
import { cp, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run } from '../support/packed-client.js';
import { packedService } from '../support/packed-service.js';
import { ran, ROOT, serviceOfTest } from '../support/service-process.js';

/** Packages that the service loads although it does not depend on them: it says so, or goes on without, where they are absent. */
const OPTIONAL = {
  '@nestjs/testing': 'the test kit, in packages that depend on the service',
  '@nestjs/platform-socket.io': 'gateways of modules, unless they name another adapter',
  'openapi-response-validator': 'the test kit',
  prettier: 'formats what is generated in a checkout',
};
/** Addresses to start at. What their pages load and link to is found. */
const ADDRESSES = ['/', '/console', '/favicon.ico', '/health/live', '/health/ready', '/robots.txt'];
const DOCUMENTS = ['/docs/openapi', '/docs/account/openapi', '/docs/admin/openapi'];
/** The package of an import, static or not, or of a require. */
const IMPORTED =
  /(?:\b(?:from|import) ["']|\b(?:import|require|requireWhenCalled|createRequire\(import\.meta\.url\)(?:\.resolve)?)\(\s*["'`])((?:@[\w-]+\/)?[\w-][\w.-]*)(?=["'`/])/g;
/** In the bundle, the package that an ES module imported. Bundled packages require others only if they are installed. */
const IMPORTED_IN_BUNDLE =
  /\b(?:require\("imported:|importModule\(\s*["'`])((?:@[\w-]+\/)?[\w-][\w.-]*)(?=["'`/])/g;

/** What a project installs for its tests, alongside the service. What imports Nest is copied: it must find that of the project. */
const LINKED = ['@types/node', 'openapi-response-validator', 'vitest'];
const COPIED = ['@nestjs/testing'];

/** As guides/testing.md has Nest's own way. */
const AS_NEST_TEACHES = `
  import { Test } from '@nestjs/testing';
  import { AppModule as PetStore, setupApp } from 'petstore-service/app';
  import { issueKey } from 'petstore-service/testing';
  import { AppModule } from '../app.module.js';
  import { ToysService } from './toys.service.js';
  import { expect, it } from 'vitest';

  it('is set up on the application that the testing module makes', async () => {
    const testing = await Test.createTestingModule({ imports: [PetStore, AppModule] })
      .overrideProvider(ToysService)
      .useValue({ list: () => ({ entries: [], next: null }), get: () => ({ id: 7n, name: 'Ball', petId: 1n }) })
      .compile();
    const app = setupApp(testing.createNestApplication());
    await app.listen(0, '127.0.0.1');
    const { key } = await issueKey(app);
    const answer = await fetch(await app.getUrl() + '/v1/toys/7', { headers: { authorization: 'Bearer ' + key } });
    expect([answer.status, await answer.json()]).toEqual([200, { id: 7, name: 'Ball', petId: 1 }]);
    await app.close();
  });`;

/** A configuration of the compiler. */
interface Built {
  readonly compilerOptions: object;
}

interface Manifest {
  readonly bin: object;
  readonly dependencies: object;
  readonly exports: object;
  readonly imports: object;
  readonly name: string;
  readonly overrides: Readonly<Record<string, unknown>>;
  readonly peerDependencies?: object;
  readonly scripts: { readonly start: string };
}
/** A team may have removed the catalogue of animals, which the package then lacks. */
const HAS_PETS = existsSync(join(ROOT, 'src/pets'));
const manifestOf = async (path: string) =>
  JSON.parse(await readFile(join(path, 'package.json'), 'utf8')) as Manifest;

/** Where npm has installed what is packed, and where the package lies in it. */
let folder: string;
let remove: () => Promise<void>;
let installed: string;
let manifest: Manifest;

beforeAll(async () => {
  ({ folder, remove } = await packedService());
  installed = join(folder, 'node_modules/petstore-service');
  manifest = await manifestOf(installed);
});
afterAll(() => remove());

/** The files below a folder, by their paths with slashes. */
async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((file) => relative(path, join(file.parentPath, file.name)).replaceAll('\\', '/'));
}

/** The paths of the files that a page in Markdown links to. */
function linksOf(page: string): string[] {
  const targets = page.replaceAll(/```[^]*?```/g, '').matchAll(/\]\(([^)\s#]+)/g);
  return [...targets].map(([, target = '']) => target).filter((target) => !/^[a-z]+:/.test(target));
}

/** Runs a program where the package is installed, in production. */
const here = (program: string, ...args: string[]) =>
  ran(folder, program, args, {
    HOME: folder,
    NODE_ENV: 'production',
    PORT: '0',
    MANAGEMENT_PORT: '0',
  });

/** Runs the command that npm has linked. */
const petstore = (...args: string[]) => here(join(folder, 'node_modules/.bin/petstore'), ...args);

/** The paths that a page, a script or a style sheet of the service loads or links to. */
function pathsIn(text: string, at: string): string[] {
  const found = text.matchAll(
    /\b(?:href|src|data-document)="([^"#]+)|\bfrom '(\.[^']+)'|\burl\(["']?([^"')]+)/g,
  );
  return [...found]
    .map(([, attribute, imported, styled]) => new URL(attribute ?? imported ?? styled ?? '', at))
    .filter(({ origin, protocol }) => origin === new URL(at).origin && protocol === 'http:')
    .map(({ pathname }) => pathname);
}

describe('the package, installed by npm with only production dependencies', () => {
  it('has what its package.json names, and nothing that is only for a checkout', async () => {
    const named = (part: unknown): string[] =>
      typeof part === 'string' ? [part] : Object.values(part as object).flatMap(named);
    const { bin, exports, imports } = manifest;
    const files = await filesBelow(installed);
    const paths = named({ bin, exports, imports }).map((path) => path.replace('./', ''));
    expect(paths.filter((path) => !path.includes('*') && !files.includes(path))).toEqual([]);
    const read = /^(?:docs|examples\/[^/]+\/(?!dist\/))/;
    const others = files.filter((file) => !read.test(file));
    expect(others.filter((file) => /\.(?:map|spec\.\w+|tsbuildinfo)$/.test(file))).toEqual([]);
    const modules = await readdir(join(folder, 'node_modules'));
    expect(modules.filter((name) => ['prettier', 'rolldown', 'vitest'].includes(name))).toEqual([]);
  });

  it('has what its README and its docs link to', async () => {
    const pages = (await filesBelow(installed)).filter(
      (file) => file.endsWith('.md') && !file.startsWith('dist/'),
    );
    expect(pages).toEqual(
      expect.arrayContaining(['README.md', 'docs/guides/migrations.md', 'examples/adoptions/README.md']),
    );
    const missing: string[] = [];
    for (const page of pages)
      for (const target of linksOf(await readFile(join(installed, page), 'utf8')))
        if (!existsSync(join(installed, dirname(page), target))) missing.push(`${page}: ${target}`);
    expect(missing).toEqual([]);
  });

  it('imports only what it depends on; packages that are joined with it, only what is installed with them', async () => {
    const manifests = (await filesBelow(join(folder, 'node_modules'))).filter((file) =>
      /^(?:@[^/]+\/)?[^/]+\/package\.json$/.test(file),
    );
    const peers = await Promise.all(
      manifests.map(
        async (file) => (await manifestOf(join(folder, 'node_modules', dirname(file)))).peerDependencies,
      ),
    );
    const own = [
      manifest.name,
      ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies, ...OPTIONAL }),
    ];
    const joined = [...own, ...manifests.map(dirname), ...peers.flatMap((names) => Object.keys(names ?? {}))];
    const undeclared = [];
    for (const file of (await filesBelow(installed)).filter((name) => name.endsWith('.js'))) {
      const imported = file.startsWith('dist/bundle/') ? IMPORTED_IN_BUNDLE : IMPORTED;
      for (const [, name = ''] of (await readFile(join(installed, file), 'utf8')).matchAll(imported))
        if (
          !builtinModules.includes(name) &&
          !(/^dist\/(?:src|test)\//.test(file) ? own : joined).includes(name)
        )
          undeclared.push(`${file}: ${name}`);
    }
    expect(undeclared).toEqual([]);
  });

  it('names one version of each package whose internals it imports', async () => {
    const ranges = new Map(Object.entries(manifest.dependencies));
    const internal = new Set<string>();
    for (const file of (await filesBelow(installed)).filter((name) =>
      /^dist\/(?:src|ormconfig).*\.js$/.test(name),
    ))
      for (const [, name = ''] of (await readFile(join(installed, file), 'utf8')).matchAll(
        /(?:from|import\() ?'((?:@[\w-]+\/)?[\w-]+)\/[^']+\.js'/g,
      ))
        internal.add(name);
    expect(internal.size).toBeGreaterThan(3);
    const open = [...internal].filter((name) => !/^\d/.test(ranges.get(name) ?? ''));
    expect(open).toEqual([]);
  });

  it('is a library', async () => {
    const names = ['petstore-service', ...(HAS_PETS ? ['petstore-service/pets'] : [])];
    const code = names.map((name) => `await import('${name}');`).join(' ');
    const loaded = await here(process.execPath, '--input-type=module', '-e', code);
    expect(loaded).toMatchObject({ code: 0, stderr: '' });
  });

  it('is administered by `npx petstore`', async () => {
    const npx = await here(
      'npx',
      '--offline',
      'petstore',
      'client',
      'create',
      '--name',
      'A',
      '--plan',
      'pro',
    );
    expect(npx).toMatchObject({ code: 0, stdout: expect.stringContaining('A') });
    for (const [expected, ...args] of [
      [0, 'client', 'list', '--json'],
      [0, 'db', 'status'],
      [0, 'db', 'seed', '--yes'],
      [0, 'db', 'backup', 'backup.sqlite'],
      [0, 'db', 'restore', 'backup.sqlite', '--yes'],
      [0, 'doctor'],
      [0, 'openapi'],
      [0, 'completion', 'bash'],
      [0, 'generate', 'migration', 'toys/toys-colour'],
      [1, 'generate', 'feature', 'toys', '--field', 'name:text'],
      [1, 'db', 'copy', '--from', 'sqlite:data/petstore.sqlite', '--to', 'postgres://a@127.0.0.1:1/a'],
    ] as const) {
      const { code, stderr } = await petstore(...args);
      expect([args, code, stderr]).toEqual([
        args,
        expected,
        code === 0 ? expect.not.stringContaining('Error') : expect.stringMatching(/^[^\n]+\n$/),
      ]);
    }
  });

  it('serves every address of its pages and documents', async () => {
    await run(installed, 'npm', ['run', '-s', 'prestart'], { HOME: folder });
    const main = join(installed, manifest.scripts.start.replace('node ', ''));
    const service = await serviceOfTest(folder, { NODE_ENV: 'production' }, main);
    const served = new Set([...ADDRESSES, ...DOCUMENTS.flatMap((path) => [`${path}.json`, `${path}.yaml`])]);
    const texts = new Map<string, string>();
    const refused = [];
    for (const path of served) {
      const response = await fetch(service.url + path, { headers: { accept: 'text/html,*/*' } });
      const text = await response.text();
      texts.set(path, text);
      if (response.status !== 200) refused.push(`${response.status} ${path}: ${text}`);
      const isOwn = !path.includes('swagger-ui');
      if (isOwn && /^text\/(?:html|css|javascript)/.test(response.headers.get('content-type') ?? ''))
        for (const found of pathsIn(text, response.url)) served.add(found);
    }
    expect(refused).toEqual([]);
    expect([...served]).toEqual(expect.arrayContaining(['/docs/errors', '/docs/guides/using-the-api']));
    for (const path of DOCUMENTS)
      expect(parse(texts.get(`${path}.yaml`) ?? '')).toEqual(JSON.parse(texts.get(`${path}.json`) ?? ''));
    expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
  });
});

it.skipIf(HAS_PETS)('creates no project with a catalogue of animals that it lacks', async () => {
  const { code, stderr } = await petstore('new', 'with-pets', '--with-pets');
  expect([code, stderr]).toEqual([
    1,
    '--with-pets: This service does not include the catalogue of animals. Omit the option.\n',
  ]);
});

const why = HAS_PETS ? '' : ' (skipped: this checkout has no src/pets)';
describe.skipIf(!HAS_PETS)(`a project that has it as a dependency${why}`, () => {
  let project: string;
  /** What `petstore new` printed. */
  let made: string;
  /** The command as npm has linked it, in the project. */
  const petstoreThere = (...args: string[]) =>
    run(project, join(folder, 'node_modules/.bin/petstore'), args).then(stripVTControlCharacters);
  const tsc = join(ROOT, 'node_modules/typescript-7/bin/tsc');
  const build = () => run(project, process.execPath, [tsc, '-p', 'tsconfig.build.json']);

  beforeAll(async () => {
    project = join(folder, 'my-api');
    const modules = join(folder, 'node_modules');
    made = await run(folder, join(modules, '.bin/petstore'), [
      'new',
      'my-api',
      '--title',
      'My API',
      '--with-pets',
    ]);
    for (const name of LINKED) {
      await rm(join(modules, name), { recursive: true, force: true });
      await symlink(join(ROOT, 'node_modules', name), join(modules, name));
    }
    for (const name of COPIED)
      await cp(join(ROOT, 'node_modules', name), join(modules, name), { recursive: true });
  });

  it('is created once, in a folder whose name is that of a package', async () => {
    expect(await manifestOf(project)).toMatchObject({
      name: 'my-api',
      dependencies: { 'petstore-service': 'file:petstore-service-1.0.0.tgz' },
      overrides: { 'file-type': manifest.overrides['file-type'] },
      petstore: { settings: { API_TITLE: 'My API', API_REALM: 'my-api', API_KEY_PREFIX: 'myapi' } },
    });
    expect(made).toContain('Keys begin with myapi_live_ in production, and with myapi_test_ elsewhere.');
    expect(await readFile(join(project, 'README.md'), 'utf8')).toContain('`myapi_live_`');
    expect(await petstoreThere('--help')).toContain('Administers My API in the database');
    await expect(petstoreThere('new', '.')).rejects.toThrow(/my-api already exists/);
    await expect(petstoreThere('new', 'My API')).rejects.toThrow(/in lower case with hyphens/);
  });

  it('has to be built before a command', async () => {
    await expect(petstoreThere('db', 'status')).rejects.toThrow(
      /app\.module\.js.* does not exist\. Build the project first/,
    );
    await build();
    expect(await petstoreThere('db', 'migrate')).toMatch(/Pets\d+/);
  });

  it('generates a feature, whose suite passes', async () => {
    const fields = ['--field', 'name:text:100', '--field', 'petId:reference:pets'];
    expect(await petstoreThere('generate', 'feature', 'toys', ...fields)).toMatch(
      /Next: npm test, npm start\./,
    );
    await writeFile(join(project, 'src/toys/as-nest-teaches.spec.ts'), AS_NEST_TEACHES);
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const shown = stripVTControlCharacters(await run(project, process.execPath, [vitest, 'run']));
    expect(shown).toMatch(/Test Files {2}3 passed/);
    await build();
    await expect(petstoreThere('generate', 'feature', 'toys', ...fields)).rejects.toThrow(
      /src.toys already exists/,
    );
  });

  it('migrates, checks and serves the feature', async () => {
    // The suite has left the database of the project as it was.
    expect(await petstoreThere('db', 'migrate')).toMatch(/Toys\d+/);
    expect(await petstoreThere('doctor')).toMatch(/entities.*the entities match the migrations/);
    const service = await serviceOfTest(project, {}, join(project, 'dist/main.js'));
    const headers = { authorization: `Bearer ${service.demoKey}` };
    const toys = await fetch(`${service.url}/v1/toys?limit=1`, { headers });
    expect([toys.status, await toys.json()]).toMatchObject([200, [{ id: 1, petId: 1 }]]);
    expect(await service.stop()).toMatchObject({ code: 0, stdout: expect.stringContaining('Stopped') });
  });

  it('uses the module of a package: its routes, errors, tables and demo data', async () => {
    const source = join(folder, 'petstore-adoptions');
    await cp(join(ROOT, 'examples/adoptions'), source, {
      recursive: true,
      filter: (path) => !path.endsWith('/dist') && !path.endsWith('.spec.ts'),
    });
    // What the build of the example extends is two folders above it.
    const { compilerOptions } = JSON.parse(
      await readFile(join(source, 'tsconfig.build.json'), 'utf8'),
    ) as Built;
    const config = {
      extends: './my-api/tsconfig.build.json',
      compilerOptions,
      include: ['petstore-adoptions/src'],
    };
    const dirs = { rootDir: 'petstore-adoptions/src', outDir: 'node_modules/petstore-adoptions/dist' };
    Object.assign(config.compilerOptions, dirs);
    await writeFile(join(folder, 'tsconfig.package.json'), JSON.stringify(config));
    await run(folder, process.execPath, [tsc, '-p', 'tsconfig.package.json']);
    await cp(join(source, 'package.json'), join(folder, 'node_modules/petstore-adoptions/package.json'));
    const file = join(project, 'src/app.module.ts');
    const modules = await readFile(file, 'utf8');
    const added = modules.replace('imports: [', 'imports: [AdoptionsModule, ');
    await writeFile(file, `import { AdoptionsModule } from 'petstore-adoptions';\n${added}`);
    await build();
    expect(await petstoreThere('db', 'migrate')).toMatch(/Adoptions1795400000000/);
    const service = await serviceOfTest(project, {}, join(project, 'dist/main.js'));
    const { key: issued } = JSON.parse(
      await petstoreThere('client', 'create', '--name', 'Ada', '--plan', 'free', '--issue-key', '--json'),
    ) as { key: { key: string } };
    const adoptionOf = (petId: number) =>
      service.request('POST', '/v1/adoptions', { key: issued.key, json: { petId, adopterName: 'Ada' } });
    expect((await adoptionOf(1)).status).toBe(201);
    expect(await adoptionOf(1)).toMatchObject({ status: 409, body: { code: 'pet_not_available' } });
    expect(await service.stop()).toMatchObject({ code: 0 });
  });

  it('names what is wrong with its modules at the start', async () => {
    const built = join(project, 'dist/app.module.js');
    await rename(built, `${built}.kept`);
    await writeFile(built, 'export const nothing = 1;');
    const start = () => run(project, process.execPath, [join(project, 'dist/main.js')]);
    await expect(start()).rejects.toThrow(/app\.module\.js.*exports no module/);
    await writeFile(built, 'throw new Error("not now");');
    await expect(start()).rejects.toThrow(/app\.module\.js:1: Error: not now/);
    const other = `import { AppModule } from './app.module.js';\nexport const imports = [AppModule];`;
    await writeFile(join(project, 'dist/other.js'), other);
    await writeFile(built, `import './other.js';\nexport class AppModule {}`);
    await expect(start()).rejects.toThrow(/other\.js:2 uses AppModule, whose file imports this one/);
  });
});
