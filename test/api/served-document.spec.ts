import { request as requestOf } from 'node:http';
import { parse as parseYaml } from 'yaml';
import { describe, expect, it } from 'vitest';
import { type TestService } from '../kit/test-service.js';
import { openForTest } from '../support/opened.js';

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

const firstServer = (text: string): string => parseYaml(text).servers[0].url as string;

describe('a served document', () => {
  it.each([
    ['/docs/openapi.json', {}, '/v1'],
    ['/docs/openapi.yaml', {}, '/v1'],
    ['/docs/admin/openapi.json', {}, '/admin'],
    ['/docs/admin/openapi.yaml', {}, '/admin'],
    ['/docs/openapi.json', { HOST: '::1' }, '/v1'],
    ['/docs/openapi.json', { PUBLIC_BASE_URL: 'https://api.shop.example/v1' }, 'https://api.shop.example/v1'],
  ])(
    'names the address of PUBLIC_BASE_URL, whatever Host a client sends: %s %j',
    async (path, environment, url) => {
      const service = await openForTest({ environment });
      const { headers, text } = await get(service, path, { host: 'evil.example' });
      expect(firstServer(text)).toBe(url);
      expect([headers['cache-control'], headers['vary']]).toEqual(['no-cache', 'Accept-Encoding']);
      const { headers: small } = await get(service, path, { 'accept-encoding': 'br' });
      expect(small['content-encoding']).toBe('br');
    },
  );
});
