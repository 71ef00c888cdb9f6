import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRaw } from '../support/raw-http.js';
import { emptyFolder, ROOT, ServiceProcess } from '../support/service-process.js';

/** One service of two that should not differ: what it runs, where, and the key that its first start made. */
interface Started {
  readonly service: ServiceProcess;
  readonly key: string;
  readonly remove: () => Promise<void>;
}

async function start(main: string): Promise<Started> {
  const { path, remove } = await emptyFolder();
  const service = await ServiceProcess.start(path, {}, join(ROOT, main));
  return { service, key: /pst_test_\w{36}/.exec(service.output)?.[0] ?? '', remove };
}

let bundle: Started;
let source: Started;
beforeAll(async () => {
  [bundle, source] = await Promise.all([start('dist/bundle/main.js'), start('dist/src/main.js')]);
});
afterAll(async () => {
  for (const { service, remove } of [bundle, source]) {
    await service.stop();
    await remove();
  }
});

/** All that came back, but for ids, times, and what is left of a minute that may have ended for one of the two. */
async function answered(
  { service, key }: Started,
  method: string,
  target: string,
  body = '',
): Promise<string> {
  const head = `${method} ${target} HTTP/1.1\r\nHost: store.example\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n`;
  const length = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return (await sendRaw(service.url, `${head}${length}\r\n${body}`)).replace(
    /^(Date|X-Request-Id|X-RateLimit-Reset|X-RateLimit-Remaining|RateLimit): .*$/gim,
    '$1: …',
  );
}

describe('the bundle', () => {
  it('tells a path that cannot be decoded by its code', async () => {
    const text = await answered(bundle, 'GET', '/v1/pets/%ff');
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('"code":"malformed_request"');
  });

  it.each([
    '/v1/pets',
    '/v1/pets?limit=2',
    '/v1/pets?limit=%ff',
    '/v1/pets?limit=2&limit=3',
    '/v1/pets?status=sold&cursor=%00',
    '/v1/pets?status[]=sold',
    '/v1/pets?%',
    '/v1/pets/1',
    '/v1/pets/%31',
    '/v1/pets/%',
    '/v1/pets/%f',
    '/v1/pets/%ff',
    '/v1/pets/%c3%28',
    '/v1/pets/%ed%a0%80',
    '/v1/pets/%00',
    '/v1/pets/1%2f2',
    '/v1/pets/1/',
    '/v1/pets/1/2',
    '/v1/pets/-0',
    '/v1/pets/9223372036854775808',
    '/v1/Pets',
    '/v1//pets',
    '/v1/pets;a=b',
    '/v1/./pets',
    '/v1/../v1/pets',
    '/v1/%70ets',
    '/v1/%',
    '/v1',
    '/v1/',
    '/%76%31/pets',
    '/admin/%ff',
    '/docs',
    '/docs/openapi.json',
    '/docs/%ff',
    '/docs/openapi.json%00',
    '/health/%ff',
    '/%ff',
    '//',
    '*',
    'http://other.example/v1/pets?limit=1',
    'http://[/v1/pets',
    'pets',
  ])('answers GET %s as the source does', async (target) => {
    expect(await answered(bundle, 'GET', target)).toBe(await answered(source, 'GET', target));
  });

  it.each([
    ['POST', '/v1/pets', '{"name":"Rex","categoryId":9007199254740993}'],
    ['POST', '/v1/pets', '{"name":5,"age":2}'],
    ['POST', '/v1/pets', '{"name":'],
    ['POST', '/v1/pets/%ff', ''],
    ['PATCH', '/v1/pets', ''],
    ['OPTIONS', '/v1/pets', ''],
    ['HEAD', '/v1/pets', ''],
  ])('answers %s %s %s as the source does', async (method, target, body) => {
    expect(await answered(bundle, method, target, body)).toBe(await answered(source, method, target, body));
  });
});

/** The code that is the bundle. */
function codeOfBundle(): string[] {
  const folder = join(ROOT, 'dist/bundle');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.js') && !/[\\/]static[\\/]/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
}

describe('the code of the bundle', () => {
  it('is ASCII, which V8 holds with one byte a character', () => {
    // oxlint-disable-next-line no-control-regex
    expect(codeOfBundle().flatMap((code) => code.match(/.*[^\0-\x7f].*/g) ?? [])).toEqual([]);
  });

  it('has no comments for readers, but licences', () => {
    const comments = codeOfBundle().flatMap(
      (code) => code.match(/^\s*\* @(?:param|returns?|publicApi)\b.*$/gm) ?? [],
    );
    expect(comments).toEqual([]);
    expect(codeOfBundle().join('')).toMatch(/\/\*!/);
  });

  it('has TypeORM once', () => {
    expect(
      codeOfBundle()
        .join('')
        .match(/\bDataSource = class\b/g),
    ).toHaveLength(1);
  });

  it('wraps modules in functions that V8 compiles where it reads them', () => {
    const wrappers = codeOfBundle().flatMap((code) => code.match(/\b__(?:commonJS|esm)Min\(.*$/gm) ?? []);
    expect(wrappers.length).toBeGreaterThan(1_000);
    // Empty ones may be anything.
    const slow = wrappers.filter((line) => !/Min\(\(function\(.*\) \{$|\{\}\)\);$/.test(line));
    expect(slow).toEqual([]);
  });
});
