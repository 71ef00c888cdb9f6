import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { sendRaw } from '../support/raw-http.js';
import {
  folderOfTest,
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
async function run(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const path = await folderOfTest();
  const list = join(path, 'loaded-modules');
  const preload = pathToFileURL(join(ROOT, 'test/support/loaded-modules.mjs')).href;
  const command = ['--import', preload, join(WITH_CATALOGUE, 'dist/bundle/cli/main.js'), ...args];
  const env = { PATH: process.env.PATH, LOADED_MODULES: list, ...environment };
  const stdout = await new Promise<string>((resolve) => {
    execFile(process.execPath, command, { cwd: path, env }, (_, text) => resolve(text));
  });
  const names = readFileSync(list, 'utf8').trim().split('\n');
  const files = new Set(
    names
      .filter((name) => !name.startsWith('node:') && !name.endsWith('.node'))
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

const COMPILED = join(WITH_CATALOGUE, 'dist/.compiled');
const compiledFiles = (): string[] =>
  readdirSync(COMPILED, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('code that V8 has compiled', () => {
  const list = ['client', 'list', '--json'];

  it.skipIf(!('enableCompileCache' in module))(
    'is stored next to the build, and ignored if it is damaged',
    async () => {
      expect((await run(list)).stdout).toBe('[]\n');
      expect(compiledFiles().length).toBeGreaterThan(100);
      for (const file of compiledFiles()) writeFileSync(file, 'nothing that was compiled');
      expect((await run(list)).stdout).toBe('[]\n');
    },
  );
});
