import { describe, expect, it } from 'vitest';
import { type TestServiceOptions } from '../kit/test-service.js';
import { asClient } from '../support/as-client.js';
import { sendRaw } from '../support/raw-http.js';
import { openForAll } from '../support/opened.js';

const JSON_ACCEPTED = { accept: 'application/json' };
const LONG = `/v1/pets?${'x'.repeat(8_200)}`;
/** An operation that heeds neither a condition nor an Idempotency-Key refuses both. */
const UNHEEDED = { path: '/admin/clients', once: 'k', headers: { 'if-match': '"stale"' } };
const OVER = { plan: 'enterprise', limits: { perMinute: 1, perDay: 1 } } as const;

const shared = await openForAll();

/** A POST that is wrong in every way, so that each case shows which refusal comes first of those that are left. */
async function refusalOf(
  options: TestServiceOptions,
  request: {
    key?: null;
    json?: string;
    type?: string;
    path?: string;
    accept?: string;
    once?: string;
    headers?: object;
  },
) {
  const service = await asClient(shared, options);
  if (options.limits) await service.request('GET', '/v1/nothing');
  const { status, body } = await service.request('POST', request.path ?? '/v1/pets', {
    ...(request.key === null ? { key: null } : {}),
    json: request.json ?? '{',
    headers: {
      'content-type': request.type ?? 'text/plain',
      accept: request.accept ?? 'text/html',
      'idempotency-key': request.once ?? 'white space',
      ...request.headers,
    },
  });
  const [fault] = (body.details ?? []) as { field: string }[];
  return `${status} ${body.code}${fault ? ` ${fault.field}` : ''}`;
}

describe('when several refusals apply, the first of these wins', () => {
  it.each([
    [
      'credential, before quota and scope',
      { ...OVER, scopes: ['pets:read'] },
      { key: null },
      '401 missing_api_key',
    ],
    ['quota, before scope', { ...OVER, scopes: ['pets:read'] }, {}, '429 daily_quota_exceeded'],
    [
      'scope, before the length of the target',
      { scopes: ['pets:read'] },
      { path: LONG },
      '403 insufficient_scope',
    ],
    ['credential, before what is not heeded', {}, { ...UNHEEDED, key: null }, '401 missing_api_key'],
    ['scope, before what is not heeded', {}, UNHEEDED, '403 insufficient_scope'],
    [
      'an unknown route, before what is not heeded',
      {},
      { ...UNHEEDED, path: '/admin/nothing' },
      '404 route_not_found',
    ],
    ['length of the target, before the body is read', {}, { path: LONG }, '414 uri_too_long'],
    ['what is accepted, before the body is read', {}, {}, '406 not_acceptable'],
    [
      'media type, before size',
      {},
      { ...JSON_ACCEPTED, json: 'x'.repeat(200_000) },
      '415 unsupported_media_type',
    ],
    [
      'size, before syntax',
      {},
      { ...JSON_ACCEPTED, json: 'x'.repeat(200_000), type: 'application/json' },
      '413 payload_too_large',
    ],
    [
      'syntax, before values',
      {},
      { ...JSON_ACCEPTED, json: '{"name":5', type: 'application/json' },
      '400 malformed_json',
    ],
    [
      'Idempotency-Key, before values',
      {},
      { ...JSON_ACCEPTED, json: '{"name":5}', type: 'application/json' },
      '400 validation_failed Idempotency-Key',
    ],
    [
      'values',
      {},
      { ...JSON_ACCEPTED, json: '{"name":5}', type: 'application/json', once: 'k' },
      '400 validation_failed name',
    ],
  ] as const)('%s', async (_, options, request, expected) => {
    expect(await refusalOf(options as TestServiceOptions, request)).toBe(expected);
  });

  it('an unknown route comes behind credential and quota', async () => {
    const service = await asClient(shared, OVER);
    expect((await service.request('GET', '/v1/nothing', { key: null })).status).toBe(401);
    expect((await service.request('GET', '/v1/nothing')).status).toBe(404);
    expect((await service.request('GET', '/v1/nothing')).status).toBe(429);
  });

  it.each([
    ['of another media type', { 'content-type': 'application/merge-patch+json' }, '{}'],
    ['without a media type', {}, 'x'],
    ['with an If-Match', { 'content-type': 'application/json', 'if-match': '"stale"' }, '{}'],
    ['that is no JSON', { 'content-type': 'application/json' }, '{'],
    ['that is too large', { 'content-type': 'application/json' }, JSON.stringify('x'.repeat(200_000))],
    ['in an unknown coding', { 'content-type': 'application/json', 'content-encoding': 'zip' }, '{}'],
  ])('an unknown route, or method, before a body %s', async (_, headers, json) => {
    const service = shared;
    const codeOf = async (method: string, path: string) => {
      const { status, body } = await service.request(method, path, { json, headers });
      return `${status} ${body.code}`;
    };
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect(await codeOf(method, '/v1/nothing'), method).toBe('404 route_not_found');
    expect(await codeOf('PATCH', '/v1/pets')).toBe('405 method_not_allowed');
    expect(await codeOf('PATCH', '/admin/nothing')).toBe('404 route_not_found');
  });

  it('a caller without a key gets a response before its body has arrived', async () => {
    const head =
      'POST /v1/pets HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n';
    const text = await sendRaw(shared.url, `${head}Content-Length: 1000000\r\n\r\n{`);
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
  });
});
