import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/service-process.js';
import { openForAll, openForTest } from '../support/opened.js';
import { ranFiles } from '../support/ran-files.js';

const STATIC = join(ROOT, 'src/admin/console/static');

const service = await openForAll();

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(service.url + path, { redirect: 'manual', headers });

describe('the console', () => {
  it('is served below any path prefix', async () => {
    const { status, headers } = await get('/console?from=mail');
    expect([status, headers.get('location')]).toEqual([307, 'console/']);
  });

  it('needs no key, and may neither be framed, indexed nor taken for another type', async () => {
    const { status, headers } = await get('/console/');
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; .*frame-ancestors 'none'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'$/,
      ),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-robots-tag': 'noindex, nofollow',
      'cache-control': 'no-cache',
    });
  });

  it('serves every file of its folder unchanged, and revalidates it', async () => {
    const names = await readdir(STATIC);
    expect(names).toContain('index.html');
    for (const name of names) {
      const path = `/console/${name === 'index.html' ? '' : name}`;
      const response = await get(path);
      expect([path, response.status]).toEqual([path, 200]);
      const file = await readFile(join(STATIC, name), 'utf8');
      const filled = file
        .replaceAll('{title}', 'Pet Store Service')
        .replace('{scopes}', 'admin,pets:read,pets:write');
      expect(await response.text()).toBe(name === 'index.html' ? filled : file);
      const again = await get(path, { 'if-none-match': response.headers.get('etag') ?? '' });
      expect([path, again.status]).toEqual([path, 304]);
    }
  });

  it.each(['/console/none.js', '/console/index.html', '/console/../package.json', '/console/%2e%2e/x'])(
    'has nothing else: %s',
    async (path) => {
      expect((await service.request('GET', path)).body).toMatchObject({ code: 'route_not_found' });
    },
  );

  it('returns 404 like any unknown path when it is disabled', async () => {
    const off = await openForTest({ environment: { CONSOLE: 'off' } });
    for (const path of ['/console', '/console/', '/console/console.js'])
      expect((await off.request('GET', path)).body).toMatchObject({ code: 'route_not_found', status: 404 });
  });
});

describe('the page of key holders', () => {
  const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

  it.each(['/account', '/account?from=mail'])('is where %s leads a browser', async (path) => {
    const { status, headers } = await get(path, BROWSER);
    expect([status, headers.get('location'), headers.get('vary')]).toEqual([307, 'account/', 'Accept']);
    expect(headers.get('x-request-id')).toMatch(/./);
  });

  it('still returns JSON to programs, and caches distinguish the two', async () => {
    const { status, headers } = await get('/account', { accept: 'application/json' });
    expect([status, headers.get('vary')]).toEqual([401, expect.stringMatching(/\bAccept\b/)]);
  });

  it('and the console run no code for requests of the API', async () => {
    const json = { name: 'Rex', categoryId: 1 };
    const files = await ranFiles(async () => {
      for (const [method, body] of [
        ['GET', {}],
        ['POST', { json }],
      ] as const)
        expect((await service.request(method, '/v1/pets', body)).status).toBeLessThan(300);
    });
    expect(files).toContain('database/json-rows.ts');
    expect(files.filter((file) => /^(?:admin|account|docs)\//.test(file))).toEqual([]);
  });
});

describe('what the administration has for the console', () => {
  const admin = async () => (await service.issueKey({ scopes: ['admin'] })).key;
  const ids = (response: { body: { name: string }[] }) => response.body.map(({ name }) => name);

  it.each([
    ['a part of the name', 'rner', ['Corner Pets']],
    ['a character that means something to SQL', '100%', ['100% cats_only!']],
    ['other letters', 'الحيوانات', ['متجر الحيوانات']],
    ['nothing that is there', 'zz', []],
  ])('finds clients by %s', async (_, name, expected) => {
    const key = await admin();
    for (const wanted of ['Corner Pets', '100% cats_only!', 'متجر الحيوانات']) {
      const there = await service.request('GET', `/admin/clients?name=${encodeURIComponent(wanted)}`, {
        key,
      });
      if (there.body.length === 0)
        await service.request('POST', '/admin/clients', { key, json: { name: wanted, plan: 'free' } });
    }
    for (const list of ['clients', 'usage']) {
      const path = `/admin/${list}?name=${encodeURIComponent(name)}`;
      expect(ids(await service.request('GET', path, { key }))).toEqual(expected);
    }
  });
});
