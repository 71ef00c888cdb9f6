import { describe, expect, it } from 'vitest';
import { defineErrors, errorCatalogue } from '../../src/core/errors/define-errors.js';
import { openForAll, openForTest } from '../support/opened.js';

defineErrors({
  shelf_collapsed: {
    status: 409,
    message: 'The shelf has collapsed.',
    cause: 'It carried <script>alert(1)</script> & "more".',
    remedy: 'Build it again: `POST /shelves`.',
  },
});

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const service = await openForAll({
  environment: {
    API_TITLE: 'Acme',
    PUBLIC_BASE_URL: 'https://shop.example/petstore/v1',
    CORS_ORIGINS: 'https://app.example',
  },
});

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(service.url + path, { method, headers });

/** Every address that a page names, as a browser at this address would ask for it. */
function addressesOf(html: string, at: string): string[] {
  return [...html.matchAll(/ (?:href|src|data-document)="([^"#][^"]*)"/g)].map(([, address = '']) =>
    new URL(address, at).href.replace(/#.*$/, ''),
  );
}

describe.each([
  ['/', 'Acme'],
  ['/docs', 'Acme'],
  ['/docs/', 'Acme'],
  ['/docs/index.html', 'Acme'],
  ['/docs/admin', 'Acme administration'],
  ['/docs/guides/using-the-api', 'Using the API well'],
  ['/docs/errors', 'Errors'],
])('the page at %s', (path, title) => {
  it('is HTML under a strict policy, which can be revalidated, and has a head', async () => {
    const response = await get(path, { accept: BROWSER });
    const { headers } = response;
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(`<title>${title}</title>`);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;/,
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const tag = headers.get('etag') ?? '';
    expect((await get(path, { accept: BROWSER, 'if-none-match': tag })).status).toBe(304);
    const head = await get(path, { accept: BROWSER }, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('links only to what exists, with URLs that work below any prefix', async () => {
    const html = await (await get(path, { accept: BROWSER })).text();
    expect(html).not.toMatch(/ (?:href|src)="(?:\/|https?:)/);
    const prefixed = addressesOf(html, `http://shop.example/petstore${path}`);
    for (const address of new Set(prefixed)) {
      expect(address).toMatch(/^http:\/\/shop\.example\/petstore(?:\/|$)/);
      const { pathname } = new URL(address);
      const { status } = await get(pathname.replace(/^\/petstore/, ''), { accept: BROWSER });
      expect([address, status]).toEqual([address, 200]);
    }
  });
});

it.each(['/', '/docs/guides/using-the-api'])('%s shows the port that it listens on', async (path) => {
  const other = await openForTest();
  const html = await (await fetch(other.url + path, { headers: { accept: BROWSER } })).text();
  expect(html).toContain(`>${other.url}/v1<`);
  expect(html).not.toMatch(/:3000\b|:0\b/);
});

describe('the page of the errors', () => {
  it('has a place for every code, those of modules too', async () => {
    const html = await (await get('/docs/errors')).text();
    for (const { code } of errorCatalogue()) expect(html).toContain(`id="${code}"`);
    expect(html).toContain('id="shelf_collapsed"');
  });
});

describe('/', () => {
  it.each([
    ['a browser', BROWSER, 200],
    ['curl', '*/*', 404],
    ['who prefers JSON', 'text/html;q=0.5, application/json', 404],
  ])('returns %s', async (_, accept, status) => {
    const response = await get('/', { accept });
    expect(response.status).toBe(status);
    expect(response.headers.get('vary')).toMatch(/^Origin, Accept(?:,|$)/);
  });

  it.each([
    ['here, outside of production', {}, true, 'pst_test_…'],
    ['in production', { NODE_ENV: 'production', ADMIN_ON: 'management' }, false, 'pst_live_…'],
    ['without a console', { CONSOLE: 'off' }, false, 'pst_test_…'],
  ])(
    'leads to the console where that is, and shows a key as here: %s',
    async (_, environment, isLinked, key) => {
      const { url } = await openForTest({ environment });
      const [start, guide] = await Promise.all(
        ['/', '/docs/guides/using-the-api'].map(async (path) =>
          (await fetch(url + path, { headers: { accept: BROWSER } })).text(),
        ),
      );
      expect(start?.includes('href="./console"')).toBe(isLinked);
      for (const page of [start, guide]) expect(page).toContain(`export KEY=${key}`);
    },
  );

  it('tells a program where the documents are, in the Error body', async () => {
    const response = await get('/', { accept: 'application/json' });
    expect(await response.json()).toEqual({
      code: 'route_not_found',
      message: expect.any(String),
      status: 404,
    });
    expect(response.headers.get('link')).toBe(
      '</petstore/docs>; rel="service-doc"; type="text/html", ' +
        '</petstore/docs/openapi.json>; rel="service-desc"; type="application/json", ' +
        '</petstore/health/ready>; rel="status", </petstore/docs/errors#route_not_found>; rel="help"',
    );
  });
});

describe('a path at which there is nothing', () => {
  it('is a page for a browser, counted and refused as for everyone', async () => {
    const response = await get('/nothing/here', { accept: BROWSER });
    const html = await response.text();
    expect(response.status).toBe(404);
    expect(html).toContain('<title>Not found</title>');
    expect(addressesOf(html, 'http://shop.example/petstore/nothing/here')).toContain(
      'http://shop.example/petstore/docs/errors',
    );
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; script-src 'self';/),
      vary: expect.stringContaining('Accept'),
    });
    expect((await get('/v1/nothing', { accept: BROWSER })).status).toBe(401);
    expect((await get('/nothing', { accept: BROWSER }, 'POST')).headers.get('content-type')).toMatch(/json/);
  });

  it.each([
    ['a program', '/nothing', 'application/json'],
    ['curl', '/nothing', '*/*'],
    ['a path too deep for short addresses', '/a'.repeat(20), BROWSER],
    ['types without end, which would take long to compare', '/nothing', `${BROWSER}${',a/b'.repeat(3_000)}`],
  ])('is the Error body for %s', async (_, path, accept) => {
    const response = await get(path, { accept });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'route_not_found' });
  });
});

it('says that a page depends on the origin too, where pages of others may read it', async () => {
  expect((await get('/docs/errors')).headers.get('vary')).toBe('Origin, Accept-Encoding');
});

describe('what browsers and crawlers request by themselves', () => {
  it.each([
    ['/favicon.ico', 'image/x-icon'],
    ['/favicon.svg', 'image/svg+xml'],
    ['/robots.txt', 'text/plain; charset=utf-8'],
  ])('%s', async (path, type) => {
    const response = await get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect((await get(path, {}, 'POST')).status).toBe(405);
  });
});
