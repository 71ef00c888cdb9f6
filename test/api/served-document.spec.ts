import { request as requestOf } from 'node:http';
import { parse as parseYaml } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestService } from '../kit/test-service.js';

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A GET with headers that fetch does not let a client choose, such as Host. */
function get(service: TestService, path: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = requestOf(service.url + path, { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    request.on('error', reject).end();
  });
}

const JSON_PATH = '/docs/openapi.json';
const firstServer = (text: string): string => parseYaml(text).servers[0].url as string;

describe('a served document', () => {
  let service: TestService;
  let behindProxy: TestService;
  beforeAll(async () => {
    service = await TestService.open();
    behindProxy = await TestService.open({ environment: { TRUST_PROXY: '1' } });
  });
  afterAll(async () => {
    await service.close();
    await behindProxy.close();
  });

  it.each([
    ['JSON', '/docs/openapi.json', '/v1'],
    ['YAML', '/docs/openapi.yaml', '/v1'],
    ['JSON of the administration', '/docs/admin/openapi.json', '/admin'],
    ['YAML of the administration', '/docs/admin/openapi.yaml', '/admin'],
  ])('names in full the address that it is served from: %s', async (_, path, below) => {
    expect(firstServer((await get(service, path, {})).text)).toBe(service.url + below);
    expect(firstServer((await get(service, path, { host: 'Pets.Shop.example:8080' })).text)).toBe(
      `http://pets.shop.example:8080${below}`,
    );
  });

  it.each([
    ['an IPv6 address', '[::1]:3000', 'http://[::1]:3000/v1'],
    ['the port of the protocol', 'shop.example:80', 'http://shop.example/v1'],
    ['a name of a container', 'pet_store:3000', 'http://pet_store:3000/v1'],
    ['a sign for a host', '-', '/v1'],
    ['a host with characters of a path', "a;b='c'", '/v1'],
    ['an encoded host', 'a%2fb', '/v1'],
    ['a port beyond all', 'a:99999', '/v1'],
    ['a very long host', 'a'.repeat(300), '/v1'],
    ['a number that is no address', '999.1.1.1', '/v1'],
  ])('takes of a Host only what is one: %s', async (_, host, url) => {
    const { status, text } = await get(service, JSON_PATH, { host });
    expect([status, firstServer(text)]).toEqual([200, url]);
  });

  it('believes a proxy that is trusted, and no other', async () => {
    const forwarded = { 'x-forwarded-host': 'api.shop.example', 'x-forwarded-proto': 'https' };
    expect(firstServer((await get(behindProxy, JSON_PATH, forwarded)).text)).toBe(
      'https://api.shop.example/v1',
    );
    expect(firstServer((await get(service, JSON_PATH, forwarded)).text)).toBe(`${service.url}/v1`);
    const odd = { 'x-forwarded-host': 'a"b', 'x-forwarded-proto': 'javascript' };
    expect(firstServer((await get(behindProxy, JSON_PATH, odd)).text)).toBe('/v1');
  });

  it('is revalidated for the host that asks, and is stored for nobody else', async () => {
    const [one, other] = [{ host: 'one.example' }, { host: 'other.example' }];
    const first = await get(service, JSON_PATH, one);
    const tag = String(first.headers['etag']);
    expect(first.headers['cache-control']).toBe('private, no-cache');
    expect(first.headers['vary']).toMatch(/Host.*X-Forwarded-Host/);
    expect((await get(service, JSON_PATH, { ...one, 'if-none-match': tag })).status).toBe(304);
    const second = await get(service, JSON_PATH, { ...other, 'if-none-match': tag });
    expect([second.status, firstServer(second.text)]).toEqual([200, 'http://other.example/v1']);
    expect(firstServer((await get(service, JSON_PATH, {})).text)).toBe(`${service.url}/v1`);
  });

  it.each([
    ['in production', { NODE_ENV: 'production' }, '/v1'],
    [
      'where PUBLIC_BASE_URL names one',
      { PUBLIC_BASE_URL: 'https://api.shop.example/v1' },
      'https://api.shop.example/v1',
    ],
  ])('names no address of a request %s', async (_, environment, url) => {
    const other = await TestService.open({ environment });
    const { headers, text } = await get(other, JSON_PATH, { host: 'evil.example' });
    expect(firstServer(text)).toBe(url);
    expect([headers['cache-control'], headers['vary']]).toEqual(['no-cache', 'Accept-Encoding']);
    const { headers: small } = await get(other, JSON_PATH, { 'accept-encoding': 'br' });
    expect(small['content-encoding']).toBe('br');
    await other.close();
  });
});
