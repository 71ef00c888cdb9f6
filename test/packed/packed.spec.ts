import { readFile, readdir } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run } from '../support/packed-client.js';
import { packedService } from '../support/packed-service.js';
import { ran, ServiceProcess } from '../support/service-process.js';

/** Packages that the service loads although it does not depend on them: it says so, or goes on without, where they are absent. */
const OPTIONAL = {
  '@nestjs/testing': 'the test kit, in packages that depend on the service',
  '@nestjs/platform-socket.io': 'gateways of modules, unless they name another adapter',
  'openapi-response-validator': 'the test kit',
  prettier: 'formats what is generated in a checkout',
};
/** Addresses to begin at. What their pages load and link to is found. */
const ADDRESSES = ['/', '/console', '/favicon.ico', '/health/live', '/health/ready', '/robots.txt'];
const DOCUMENTS = ['/docs/openapi', '/docs/account/openapi', '/docs/admin/openapi'];
/** The package of an import, static or not, or of a require. */
const IMPORTED =
  /(?:\b(?:from|import) ["']|\b(?:import|require|requireWhenCalled|createRequire\(import\.meta\.url\)(?:\.resolve)?)\(\s*["'`])((?:@[\w-]+\/)?[\w-][\w.-]*)(?=["'`/])/g;

interface Manifest {
  readonly bin: object;
  readonly dependencies: object;
  readonly exports: object;
  readonly imports: object;
  readonly name: string;
  readonly peerDependencies?: object;
  readonly schematics: string;
  readonly scripts: { readonly start: string };
}
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

/** Asks a command for help; answers the names of the commands below it. */
async function commandsBelow(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await petstore(...words, '--help');
  expect([words, code, stderr]).toEqual([words, 0, '']);
  const [, list = ''] = /\nCommands:\n([^]*)$/.exec(stdout) ?? [];
  const below = [...list.matchAll(/^ {2}([a-z]\S*)/gm)].map(([, word = '']) => word);
  return below.filter((word) => word !== 'help').map((word) => [...words, word].join(' '));
}

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

describe('what is packed, installed by npm with production dependencies alone', () => {
  it('has what its package.json names, and nothing of use in a checkout alone', async () => {
    const named = (part: unknown): string[] =>
      typeof part === 'string' ? [part] : Object.values(part as object).flatMap(named);
    const { bin, exports, imports, schematics } = manifest;
    const files = await filesBelow(installed);
    const paths = named({ bin, exports, imports, schematics }).map((path) => path.replace('./', ''));
    expect(paths.filter((path) => !path.includes('*') && !files.includes(path))).toEqual([]);
    expect(files.filter((file) => /\.(?:map|spec\.\w+|tsbuildinfo)$/.test(file))).toEqual([]);
    const modules = await readdir(join(folder, 'node_modules'));
    expect(modules.filter((name) => ['prettier', 'rolldown', 'vitest'].includes(name))).toEqual([]);
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
    for (const file of (await filesBelow(installed)).filter((name) => name.endsWith('.js')))
      for (const [, name = ''] of (await readFile(join(installed, file), 'utf8')).matchAll(IMPORTED))
        if (
          !builtinModules.includes(name) &&
          !(/^dist\/(?:src|test)\//.test(file) ? own : joined).includes(name)
        )
          undeclared.push(`${file}: ${name}`);
    expect(undeclared).toEqual([]);
  });

  it('is a library', async () => {
    const code = `await import('petstore-service'); await import('petstore-service/pets');`;
    const loaded = await here(process.execPath, '--input-type=module', '-e', code);
    expect(loaded).toMatchObject({ code: 0, stderr: '' });
  });

  it('tells of each of its commands', async () => {
    const groups = await commandsBelow();
    const names = [...groups];
    for (const group of groups) names.push(...(await commandsBelow(group)));
    expect(names).toContain('client create');
    expect(names.length).toBeGreaterThan(30);
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
    const service = await ServiceProcess.start(folder, { NODE_ENV: 'production' }, main);
    const asked = new Set([...ADDRESSES, ...DOCUMENTS.flatMap((path) => [`${path}.json`, `${path}.yaml`])]);
    const texts = new Map<string, string>();
    const refused = [];
    for (const path of asked) {
      const response = await fetch(service.url + path, { headers: { accept: 'text/html,*/*' } });
      const text = await response.text();
      texts.set(path, text);
      if (response.status !== 200) refused.push(`${response.status} ${path}: ${text}`);
      const isOwn = !path.includes('swagger-ui');
      if (isOwn && /^text\/(?:html|css|javascript)/.test(response.headers.get('content-type') ?? ''))
        for (const found of pathsIn(text, response.url)) asked.add(found);
    }
    expect(refused).toEqual([]);
    expect([...asked]).toEqual(expect.arrayContaining(['/docs/errors', '/docs/guides/using-the-api']));
    for (const path of DOCUMENTS)
      expect(parse(texts.get(`${path}.yaml`) ?? '')).toEqual(JSON.parse(texts.get(`${path}.json`) ?? ''));
    expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
  });
});
