import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Get, Module } from '@nestjs/common';
import { type Caller, CurrentCaller } from 'petstore-service';
import { type TestResponse, TestService } from 'petstore-service/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { SsoModule } from './sso.module.js';

const AT = '2026-11-20T12:00:10.250Z';
const NOW = Math.floor(Date.parse(AT) / 1_000);
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const OTHER = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

const partOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Claims of a token that is valid for 5 minutes; a claim that is undefined is omitted. */
const claimsOf = (claims: object = {}) => ({
  iss: 'https://sso.example',
  aud: 'petstore',
  sub: 'ann',
  iat: NOW,
  exp: NOW + 300,
  scope: 'orders:read',
  ...claims,
});

function token(claims: object = {}, header: object = {}, key: KeyObject = privateKey): string {
  const signed = `${partOf({ alg: 'ES256', kid: 'k1', typ: 'JWT', ...header })}.${partOf(claimsOf(claims))}`;
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

@Controller({ path: 'sso-callers', version: '1' })
class CallersController {
  @Get()
  get(@CurrentCaller() caller: Caller): Caller {
    return caller;
  }
}

@Module({ controllers: [CallersController] })
class CallersModule {}

const folder = mkdtempSync(join(tmpdir(), 'sso-'));
afterAll(() => rmSync(folder, { recursive: true }));
const fileOf = (name: string, ...keys: object[]) => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify({ keys }));
  return path;
};
const RSA = generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({ format: 'jwk' });
const KEY_SET = fileOf(
  'keys.json',
  { ...publicKey.export({ format: 'jwk' }), kid: 'k1' },
  { ...RSA, kid: 'rsa' },
);

const open = (keySet = '') =>
  TestService.open({
    at: AT,
    modules: [SsoModule, CallersModule],
    environment: { SSO_KEY_SET: keySet, API_REALM: 'petstore' },
  });
const outcome = ({ status, body, headers }: TestResponse) => [
  status,
  body.code,
  headers.get('www-authenticate'),
];
const UNAUTHORIZED = 'Bearer realm="petstore", error="invalid_token"';

describe('a token of the single sign-on', async () => {
  const service = await open(KEY_SET);
  afterAll(() => service.close());
  const send = (key: string) => service.request('GET', '/v1/sso-callers', { key });

  it.each<[string, { sub?: string; aud?: string[]; name?: string }]>([
    ['for one audience', {}],
    ['for several audiences', { aud: ['other', 'petstore'] }],
    ['whose claims have another alphabet', { sub: 'Анна', name: '安娜' }],
  ])('is accepted alongside API keys: %s', async (_, claims) => {
    const { status, body } = await send(token(claims));
    const user = `https://sso.example ${claims.sub ?? 'ann'}`;
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ keyId: null, user, scopes: ['orders:read'] }),
    ]);
    expect((await send(service.key)).body.user).toBeNull();
  });

  const [head = '', claimed = '', signature = ''] = token().split('.');
  it.each<[string, () => string, string]>([
    ['signed by another key', () => token({}, {}, OTHER), 'invalid_token'],
    [
      'changed after it was signed',
      () => `${head}.${partOf(claimsOf({ sub: 'eve' }))}.${signature}`,
      'invalid_token',
    ],
    ['with alg none', () => `${partOf({ alg: 'none', kid: 'k1' })}.${claimed}.`, 'invalid_token'],
    [
      'with alg HS256 and the public key for a secret',
      () => {
        const signed = `${partOf({ alg: 'HS256', kid: 'k1' })}.${claimed}`;
        const secret = publicKey.export({ type: 'spki', format: 'pem' });
        return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
      },
      'invalid_token',
    ],
    ['with an unknown key', () => token({}, { kid: 'k2' }), 'invalid_token'],
    ['with a key of another algorithm', () => token({}, { kid: 'rsa' }), 'invalid_token'],
    ['with a critical extension', () => token({}, { crit: ['b64'], b64: false }), 'invalid_token'],
    ['of another issuer', () => token({ iss: 'https://evil.example' }), 'invalid_token'],
    ['for another audience', () => token({ aud: 'bank' }), 'invalid_token'],
    ['that never expires', () => token({ exp: undefined }), 'invalid_token'],
    ['not valid yet', () => token({ nbf: NOW + 60 }), 'invalid_token'],
    ['expired', () => token({ exp: NOW - 30 }), 'expired_token'],
    ['whose parts are not JSON', () => 'a.b.c', 'invalid_token'],
    // The verifier ignores text that does not have the form of a JWT.
    ['that is not a JWT', () => 'opaque-token', 'invalid_api_key'],
    ['with a part too many', () => `${token()}.x`, 'invalid_api_key'],
  ])('is refused %s', async (_, make, code) => {
    expect(outcome(await send(make()))).toEqual([401, code, UNAUTHORIZED]);
  });

  it('is documented with its errors, as an alternative to the key', () => {
    for (const document of [service.document, service.adminDocument]) {
      expect(document.security).toEqual([{ bearer: [] }, { sso: [] }]);
      expect(document.components?.securitySchemes).toMatchObject({
        bearer: { type: 'http', scheme: 'bearer' },
        sso: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      });
    }
    expect(JSON.stringify(service.document.components?.responses?.['Unauthorized'])).toMatch(
      /"invalid_token".*"expired_token"/,
    );
  });
});

describe('the file of keys', () => {
  it('may be absent: then no token is accepted, and keys are', async () => {
    const service = await open();
    const send = (key: string) => service.request('GET', '/v1/sso-callers', { key });
    expect(outcome(await send(token()))).toEqual([401, 'invalid_token', UNAUTHORIZED]);
    expect((await send(service.key)).status).toBe(200);
    await service.close();
  });

  it.each([
    ['does not exist', () => join(folder, 'none.json')],
    ['has no suitable key', () => fileOf('rsa.json', { ...RSA, kid: 'rsa' })],
  ])('stops the start when it %s', async (_, file) => {
    await expect(open(file())).rejects.toThrow(/^SSO_KEY_SET: .* it must be a file with a JWK Set/);
  });
});
