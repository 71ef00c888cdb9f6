import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { assert, describe, expect, it } from 'vitest';
import { writeFiles } from '../support/project-copy.js';
import { sendRaw } from '../support/raw-http.js';
import {
  folderOfTest,
  ran,
  ROOT,
  serviceOfTest,
  type ServiceProcess,
  WITH_CATALOGUE,
} from '../support/service-process.js';

/** All that came back, but for ids, times, and what is left of a minute that may have ended for one of the two. */
async function responseTo(service: ServiceProcess, line: string, body: string): Promise<string> {
  const head = `${line} HTTP/1.1\r\nHost: store.example\r\nAuthorization: Bearer ${service.demoKey}\r\nConnection: close\r\n`;
  const length = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return (await sendRaw(service.url, `${head}${length}\r\n${body}`)).replace(
    /^(Date|X-Request-Id|X-RateLimit-Reset|X-RateLimit-Remaining|RateLimit): .*$/gim,
    '$1: …',
  );
}

it('the bundle responds like the compiled files', async () => {
  const start = async (main: string) => serviceOfTest(await folderOfTest(), {}, join(WITH_CATALOGUE, main));
  const [bundle, source] = await Promise.all([start('dist/bundle/main.js'), start('dist/src/main.js')]);
  for (const [line, body] of [
    ['GET /v1/pets?limit=2', ''],
    ['GET /v1/pets/1', ''],
    ['GET /v1/pets/9223372036854775808', ''],
    ['GET /v1/%70ets', ''],
    ['GET /docs', ''],
    ['GET /docs/openapi.json', ''],
    ['GET *', ''],
    ['GET http://other.example/v1/pets?limit=1', ''],
    ['POST /v1/pets', '{"name":"Rex","categoryId":9007199254740993}'],
    ['POST /v1/pets', '{"name":5,"age":2}'],
    ['POST /v1/pets', '{"name":'],
  ] as const) {
    const text = await responseTo(bundle, line, body);
    expect(text, line).toMatch(/^HTTP\/1\.1 [2-4]\d\d /);
    expect(text, line).toBe(await responseTo(source, line, body));
  }
});

it('the code of the bundle has each package once, nothing of the test kit, ASCII alone, and licences', () => {
  const folder = join(WITH_CATALOGUE, 'dist/bundle');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const code = files
    .filter((file) => file.endsWith('.js') && !/[\\/]static[\\/]/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  for (const once of [/\bDataSource = class\b/g, /class PetsService\b/g])
    expect(code.match(once)).toHaveLength(1);
  for (const name of [/TestService/, /TestClock/, /\(["']openapi-response-validator["']\)/])
    expect(code).not.toMatch(name);
  // V8 holds that with one byte a character.
  // oxlint-disable-next-line no-control-regex
  expect(code.match(/.*[^\0-\x7f].*/g)).toBeNull();
  expect(code).toMatch(/\/\*!/);
});

/** Runs the built command line in an empty folder; returns what it wrote, and the files that it has loaded. */
async function run(args: readonly string[], environment: NodeJS.ProcessEnv = {}, software = WITH_CATALOGUE) {
  const path = await folderOfTest();
  const list = join(path, 'loaded-modules');
  const preload = pathToFileURL(join(ROOT, 'test/support/loaded-modules.mjs')).href;
  const command = ['--import', preload, join(software, 'dist/bundle/cli/main.js'), ...args];
  const env = { PATH: process.env.PATH, LOADED_MODULES: list, ...environment };
  const stdout = await new Promise<string>((resolve) => {
    execFile(process.execPath, command, { cwd: path, env }, (_, text) => resolve(text));
  });
  const names = readFileSync(list, 'utf8').trim().split('\n');
  const files = new Set(
    names
      .filter((name) => /^(?:file:|\/)/.test(name))
      .map((name) => (name.startsWith('file:') ? fileURLToPath(name) : name)),
  );
  const packages = [...files].flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  const bytes = [...files].reduce((sum, file) => sum + statSync(file).size, 0);
  return { stdout, packages: new Set(packages), count: files.size, bytes };
}

describe('the command line', () => {
  it.each([
    '--help',
    'client create --no-such-option',
    'key verify pst_live_nothing',
    'completion words petstore',
  ])('loads what prints %s, and nothing of the service', async (call) => {
    const { packages, count, bytes } = await run(call.split(' '));
    expect(packages).toEqual(new Set());
    expect(count).toBeLessThan(27);
    // A whole service has 7.5 million.
    expect(bytes).toBeLessThan(250_000);
  });

  it('loads the service where it is needed, joined but for what is native or may start workers', async () => {
    const { packages, count, bytes } = await run(['client', 'list']);
    expect(packages).toContain('sqlite3');
    expect(packages).not.toContain('typeorm');
    expect(count).toBeLessThan(210);
    expect(bytes).toBeLessThan(8_000_000);
  });
});

/** A project in which a file imports packages of each kind, itself and later. */
const PACKAGES: readonly (readonly [string, string])[] = [
  ['package.json', '{ "type": "module" }'],
  ['node_modules/only-esm/package.json', '{ "type": "module", "exports": { "import": "./index.js" } }'],
  ['node_modules/only-esm/index.js', 'export default (name) => `esm ${name}`; export const named = 1;'],
  ['node_modules/awaits/package.json', '{ "type": "module", "exports": "./index.js" }'],
  ['node_modules/awaits/index.js', 'export default await Promise.resolve("awaited");'],
  ['node_modules/dual/package.json', '{ "exports": { "import": "./index.mjs", "require": "./index.cjs" } }'],
  ['node_modules/dual/index.mjs', 'export class Dual {}'],
  ['node_modules/dual/index.cjs', 'exports.Dual = class Required {};'],
  ['node_modules/old/package.json', '{}'],
  ['node_modules/old/index.js', 'exports.__esModule = true; exports.default = "old"; exports.other = 2;'],
  ['dist/src/cli/main.js', ''],
  [
    'dist/src/later.js',
    "import only, { named } from 'only-esm';\nexport { shared } from './shared.js';\nexport const later = only(named);",
  ],
  // Shared by two files that are imported later.
  ['dist/src/shared.js', "import only from 'only-esm';\nexport const shared = only('shared');"],
  ['dist/src/both.js', "import { shared } from './shared.js';\nexport const both = shared;"],
  ['dist/src/toy.entity.js', "import { Dual } from 'dual';\nexport class Toy extends Dual {}"],
  [
    'dist/src/main.js',
    `import only, * as all from 'only-esm';
     import awaited from 'awaits';
     import { Dual } from 'dual';
     import old, { other } from 'old';
     import { Toy } from './toy.entity.js';
     export const done = run();
     async function run() {
       const file = new URL('./toy.entity.js', import.meta.url.replace(/chunks.*/, ''));
       const toys = await import(file);
       const shown = [only('a'), Object.keys(all), awaited, Dual.name, old, other, (await import('./shared.js')).shared,
         (await import('./later.js')).later, (await import('./both.js')).both,
         (await import('dual')).Dual === Dual, toys.Toy === Toy, import.meta.resolve('old').endsWith('old/index.js')];
       console.log(JSON.stringify(shown));
     }`,
  ],
];

it('the bundle imports packages and its own files as the compiled files do', async () => {
  const path = await folderOfTest();
  await writeFiles(path, PACKAGES);
  const loader = 'dist/src/start/bundle-loader.js';
  cpSync(join(WITH_CATALOGUE, loader), join(path, loader));
  await ran(path, process.execPath, [join(ROOT, 'scripts/bundle.mjs'), join(path, 'dist')]);
  const source = await ran(path, process.execPath, ['dist/src/main.js']);
  expect(source.stdout).toBe(
    '["esm a",["default","named"],"awaited","Dual",{"__esModule":true,"default":"old","other":2},2,"esm shared","esm 1","esm shared",true,true,true]\n',
  );
  for (const start of ['first', 'second'])
    expect(await ran(path, process.execPath, ['dist/bundle/main.js']), start).toEqual(source);
  // Otherwise, the package would be undefined where it is used.
  writeFileSync(join(path, 'dist/bundle/packages.json'), '{}');
  expect((await ran(path, process.execPath, ['dist/bundle/main.js'])).stderr).toMatch(
    /packages\.json omits (?:only-esm|awaits|dual|old), which .*\.js imports/,
  );
});

describe('code that V8 has compiled', () => {
  it('is stored next to the build, used by the next run, and ignored if it is damaged or of other code', async () => {
    const path = await folderOfTest();
    for (const part of ['bin', 'dist/bundle', 'dist/docs', 'package.json'])
      cpSync(join(WITH_CATALOGUE, part), join(path, part), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'));
    const compiled = () =>
      readdirSync(join(path, 'dist/.compiled'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
    /** The files of compiled code that were stored by a run, because it could not use what was there. */
    const storedBy = async (stdout: string) => {
      for (const file of existsSync(join(path, 'dist/.compiled')) ? compiled() : []) utimesSync(file, 1, 1);
      expect((await run(['client', 'list', '--json'], {}, path)).stdout).toBe(stdout);
      return compiled().filter((file) => statSync(file).mtimeMs > 1_000);
    };
    expect((await storedBy('[]\n')).length).toBeGreaterThan(60);
    expect(await storedBy('[]\n')).toEqual([]);

    const [first = '', second = '', third = '', fourth = '', fifth = ''] = compiled().filter((file) =>
      file.includes('/chunks/'),
    );
    const content = readFileSync(second);
    const middle = content.length >> 1;
    content.writeUInt8(content.readUInt8(middle) ^ 1, middle);
    writeFileSync(second, content);
    truncateSync(third, 100);
    writeFileSync(first, '');
    copyFileSync(fifth, fourth);
    // Nothing can be stored in place of a folder.
    rmSync(fifth);
    mkdirSync(fifth);
    expect((await storedBy('[]\n')).toSorted()).toEqual([first, second, third, fourth].toSorted());
    expect(compiled().filter((file) => (statSync(file).mode & 0o022) !== 0)).toEqual([]);

    const help = readdirSync(join(path, 'dist/bundle'), { recursive: true, encoding: 'utf8' })
      .map((file) => join(path, 'dist/bundle', file))
      .find((file) => file.endsWith('.js') && readFileSync(file, 'utf8').includes('print one JSON'));
    assert(help);
    writeFileSync(help, readFileSync(help, 'utf8').replace('print one JSON', 'print ONE JSON'));
    expect((await run(['client', 'list', '--help'], {}, path)).stdout).toContain('print ONE JSON');
  });
});
