import { describe, expect, it } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.format.js';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { openForAll } from '../support/opened.js';

const BARE = 'Bearer realm="petstore"';
const WITH_ERROR = 'Bearer realm="petstore", error="invalid_token"';

const service = await openForAll();

/** Each case in its own minute, since refusals count for the address. */
async function send(authorization: string | undefined) {
  service.clock.advance(60_000);
  return service.request('GET', '/v1/pets', {
    key: null,
    headers: authorization === undefined ? {} : { authorization },
  });
}

describe('the API key', () => {
  it.each([
    ['as the specification writes it', (key: string) => `Bearer ${key}`],
    ['with the scheme in lower case', (key: string) => `bearer ${key}`],
    ['with the scheme in capitals', (key: string) => `BEARER ${key}`],
    ['with more spaces', (key: string) => `Bearer   ${key}  `],
  ])('is accepted %s', async (_, header) => {
    expect((await send(header(service.key))).status).toBe(200);
  });

  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['the scheme alone', 'Bearer'],
  ])('is missing with %s', async (_, authorization) => {
    const { status, body, headers } = await send(authorization);
    expect([status, body.code]).toEqual([401, 'missing_api_key']);
    expect(headers.get('www-authenticate')).toBe(BARE);
  });

  it.each([
    ['another scheme', () => 'Basic dXNlcjpwYXNz'],
    ['no scheme', (key: string) => key],
    ['two tokens', (key: string) => `Bearer ${key} ${key}`],
    ['a wrong checksum', (key: string) => `Bearer ${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`],
    ['a key cut short', (key: string) => `Bearer ${key.slice(0, -1)}`],
    ['a key never issued', () => `Bearer ${generateApiKey('test')}`],
    ['a key of another kind', () => 'Bearer eyJhbGciOiJIUzI1NiJ9.e30.x'],
    ['the text of a query', () => `Bearer ' OR 1=1 --`],
    ['eight thousand characters', () => `Bearer ${'a'.repeat(8_000)}`],
  ])('is invalid with %s', async (_, header) => {
    const { status, body, headers } = await send(header(service.key));
    expect([status, body.code]).toEqual([401, 'invalid_api_key']);
    expect(headers.get('www-authenticate')).toBe(WITH_ERROR);
  });

  it.each([
    ['the key alone', (key: string) => key],
    ['the scheme Token', (key: string) => `Token ${key}`],
    ['the scheme Basic', () => 'Basic dXNlcjpwYXNz'],
    ['a colon after the scheme', (key: string) => `Bearer: ${key}`],
    ['no space after the scheme', (key: string) => `Bearer${key}`],
  ])('without the scheme Bearer says so: %s', async (_, header) => {
    const { status, body, text } = await send(header(service.key));
    expect([status, body.code]).toEqual([401, 'invalid_api_key']);
    expect(body.message).toBe(
      'The credential does not have the scheme Bearer: send `Authorization: Bearer <API_KEY>`.',
    );
    expect(text).not.toContain('pst_');
  });

  it('is refused once revoked, and says so', async () => {
    const { id, key } = await service.issueKey();
    expect((await send(`Bearer ${key}`)).status).toBe(200);
    await service.app.get(ApiKeysService).revoke(id, {}, SERVICE_ITSELF);
    const { status, body, headers } = await send(`Bearer ${key}`);
    expect([status, body.code]).toEqual([401, 'revoked_api_key']);
    expect(headers.get('www-authenticate')).toBe(WITH_ERROR);
  });

  it('is needed where no operation is', async () => {
    service.clock.advance(60_000);
    for (const [method, path] of [
      ['GET', '/v1/nothing'],
      ['DELETE', '/v1/pets'],
      ['GET', '/v1/pets/%zz'],
      ['GET', '/v1'],
      ['OPTIONS', '/v1/pets'],
    ] as const) {
      expect((await service.request(method, path, { key: null })).status, `${method} ${path}`).toBe(401);
    }
  });

  it.each(['/health/live', '/docs/openapi.json'])('is not needed for %s', async (path) => {
    expect((await service.request('GET', path, { key: null })).status).toBe(200);
  });
});
