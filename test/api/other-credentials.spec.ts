import {
  Body,
  Controller,
  Get,
  Global,
  Injectable,
  Logger,
  Module,
  Post,
  ServiceUnavailableException,
  type Type,
  UnauthorizedException,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AuditEntry } from '../../src/auth/audit/audit-entry.entity.js';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Caller, CurrentCaller } from '../../src/auth/caller.js';
import { ClientRequests } from '../../src/auth/usage/client-requests.service.js';
import { CredentialVerifier, clientIdOfUser } from '../../src/auth/credential-verifier.js';
import { Public } from '../../src/auth/auth.decorators.js';
import { ApiError } from '../../src/core/errors/api-error.js';
import { type ErrorRow, defineErrors } from '../../src/core/errors/define-errors.js';
import { HTTP_ERRORS } from '../../src/core/errors/http.errors.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { type TestResponse, type RequestOptions, TestService } from '../kit/test-service.js';

const AT = '2026-11-20T12:00:10.250Z';
const WITH_ERROR = 'Bearer realm="petstore", error="invalid_token"';

@Controller({ path: 'callers', version: '1' })
class CallersController {
  private made = 0;

  @Get()
  get(@CurrentCaller() caller: Caller): Caller {
    return caller;
  }

  @Post()
  @Idempotent()
  make(@Body() _: object): object {
    return { made: (this.made += 1) };
  }

  @Get('open')
  @Public()
  open(@CurrentCaller() caller: Caller | undefined): object {
    return { known: caller !== undefined };
  }
}

@Module({ controllers: [CallersController] })
class CallersModule {}

/** A verifier of a test: what it answers, or throws, for a token. */
function verifierModule(verify: CredentialVerifier['verify'], errors: readonly ErrorRow[] = []): Type {
  @Injectable()
  class TestVerifier extends CredentialVerifier {
    override readonly scheme = { name: 'test', description: 'For a test.' };
    override readonly errors = errors;
    override verify = verify;
  }

  @Global()
  @Module({
    providers: [{ provide: CredentialVerifier, useClass: TestVerifier }],
    exports: [CredentialVerifier],
  })
  class TestModule {}
  return TestModule;
}

/** A token that the verifier of TokensModule accepts, unless its user is `expired`. */
const token = (claims: object = {}) =>
  Buffer.from(JSON.stringify({ user: 'ann', scope: 'pets:read pets:write', ...claims })).toString(
    'base64url',
  );
const EXPIRED = defineErrors({
  platform_test_token_expired: {
    status: 401,
    message: 'The token of the test has expired.',
    cause: 'Its user is expired.',
    remedy: 'Take another.',
  },
}).platform_test_token_expired;
const TokensModule = verifierModule(
  (encoded) => {
    const claims = JSON.parse(Buffer.from(encoded, 'base64url').toString()) as Record<string, string>;
    const { user = '', scope = '', plan } = claims;
    if (user === 'expired') throw new ApiError(EXPIRED);
    return { user, scopes: scope.split(' '), plan: plan === 'pro' ? 'pro' : 'free' };
  },
  [EXPIRED],
);

let opened = 0;
const started = (modules: readonly Type[]) =>
  TestService.open({
    at: AT,
    modules: [...modules, CallersModule],
    environment: { TRUST_PROXY: '1' },
  });

/** A service of its own, unless one is given: of that the requests come from their own address. */
async function open(modules: readonly Type[] = [TokensModule], running?: TestService) {
  const service = running ?? (await started(modules));
  if (!running) onTestFinished(() => service.close());
  const address = `192.0.2.${(opened += 1)}`;
  const send = (
    key: string | null,
    path = '/v1/callers',
    method = 'GET',
    { headers = {}, ...more }: RequestOptions = {},
  ): Promise<TestResponse> =>
    service.request(method, path, { key, ...more, headers: { 'x-forwarded-for': address, ...headers } });
  return { service, send };
}

const refusalOf = ({ status, body, headers }: TestResponse) => [
  status,
  body.code,
  headers.get('www-authenticate'),
];
const limitOf = ({ headers }: TestResponse) => Number(headers.get('x-ratelimit-limit'));
const leftOf = ({ headers }: TestResponse) => Number(headers.get('x-ratelimit-remaining'));

describe('a token of another issuer, alongside API keys', async () => {
  const shared = await started([TokensModule]);
  afterAll(() => shared.close());

  it('is a caller as a key is, in one service with it', async () => {
    const { service, send } = await open();
    const [byToken, byKey] = [await send(token()), await send(service.key)];
    expect(byToken.body).toEqual({
      clientId: clientIdOfUser('ann'),
      keyId: null,
      user: 'ann',
      scopes: ['pets:read', 'pets:write'],
    });
    expect(byKey.body).toMatchObject({ clientId: service.clientId, user: null, keyId: expect.any(String) });
    expect([limitOf(byToken), limitOf(byKey)]).toEqual([60, 1_000]);
    expect((await send(token(), '/v1/pets?limit=1')).status).toBe(200);
  });

  it('may call a deprecated operation, which is counted only for keys', async () => {
    const { service, send } = await open();
    await send(service.key, '/v1/pets/1');
    await send(token(), '/v1/pets/1');
    await service.app.get(ClientRequests).flush();
    const counted = `SELECT key_id FROM request_counts WHERE client_id <> '' AND outcome = 'deprecated' AND length_ms = 60000`;
    expect(await service.app.get(DataSource).query(counted)).toEqual([{ key_id: expect.any(String) }]);
  });

  it('has no account: its user belongs to no client, and the refusal is not counted', async () => {
    const { send } = await open([], shared);
    const user = token({ scope: 'account pets:read' });
    for (const [method, path] of [
      ['GET', '/account'],
      ['GET', '/account/usage'],
      ['GET', '/account/keys'],
      ['POST', '/account/keys'],
    ] as const) {
      const result = await send(user, path, method, method === 'POST' ? { json: {} } : {});
      expect([path, ...refusalOf(result), leftOf(result)]).toEqual([
        path,
        403,
        'no_account',
        'Bearer realm="petstore"',
        60,
      ]);
    }
  });

  it('that is refused counts for the address, as a wrong key does and a valid one does not', async () => {
    const { service, send } = await open([], shared);
    const first = await send(token({ user: 'expired' }));
    expect(refusalOf(first)).toEqual([401, 'platform_test_token_expired', WITH_ERROR]);
    expect([limitOf(first), leftOf(first)]).toEqual([60, 59]);
    expect(leftOf(await send('pst_test_wrong'))).toBe(58);
    await send(service.key);
    expect(leftOf(await send(token({ user: 'expired' })))).toBe(57);
  });

  it('of two users has a quota for each, by the plan of each; of one user only one, for any number of tokens', async () => {
    const { service, send } = await open();
    const [ann, bob] = [token(), token({ user: 'bob', plan: 'pro' })];
    for (let sent = 0; sent < 60; sent += 1) expect((await send(ann)).status).toBe(200);
    const refused = await send(token({ turn: 1 }));
    expect([refused.status, refused.body.code, limitOf(refused)]).toEqual([429, 'rate_limit_exceeded', 60]);
    const other = await send(bob);
    expect([other.status, limitOf(other), leftOf(other)]).toEqual([200, 300, 299]);
    expect(leftOf(await send(service.key))).toBe(999);
    service.clock.advance(60_000);
    expect((await send(ann)).status).toBe(200);
  });

  it('of one user does not get the response stored for the Idempotency-Key of another', async () => {
    const { service, send } = await open();
    const post = async (key: string, json: object = {}) => {
      const result = await send(key, '/v1/callers', 'POST', {
        json,
        headers: { 'idempotency-key': 'k-1' },
      });
      return [result.body.made ?? result.body.code, result.headers.get('idempotent-replayed')];
    };
    const [ann, bob] = [token(), token({ user: 'bob' })];
    expect(await post(ann)).toEqual([1, null]);
    expect(await post(bob)).toEqual([2, null]);
    expect(await post(service.key)).toEqual([3, null]);
    // Another token of the same user.
    expect(await post(token({ turn: 9 }))).toEqual([1, 'true']);
    expect(await post(bob, { other: 1 })).toEqual(['idempotency_key_reused', null]);
  });

  it('may administer, and appears in the audit trail with the id of its user', async () => {
    const { service, send } = await open([], shared);
    const admin = token({ scope: 'admin pets:read' });
    const json = { clientId: service.clientId };
    const issued = await send(admin, '/admin/keys', 'POST', { json });
    expect([issued.status, issued.body.scopes]).toEqual([201, ['pets:read']]);
    const [entry] = await service.repository(AuditEntry).find({ order: { id: 'DESC' }, take: 1 });
    expect(entry).toMatchObject({
      action: 'api_key.issued',
      actor: 'user',
      actorKeyId: clientIdOfUser('ann'),
    });
    const shown = await send(admin, '/admin/audit?limit=1');
    expect(shown.body).toMatchObject([{ actor: 'user' }]);
  });
});

describe('a verifier', async () => {
  /** What the verifier answers, by token. */
  const responses = new Map<string, () => ReturnType<CredentialVerifier['verify']>>();
  const shared = await started([verifierModule((credential) => responses.get(credential)?.())]);
  afterAll(() => shared.close());

  const thrower = (error: Error) => () => {
    throw error;
  };
  const unavailable = new ApiError(HTTP_ERRORS.service_unavailable, {
    params: { reason: 'the keys of the issuer cannot be fetched' },
    headers: { 'Retry-After': '5' },
  });
  it.each([
    ['that does not know the token', () => undefined, [401, 'invalid_api_key', WITH_ERROR], 58],
    ['that throws Nest’s 401', thrower(new UnauthorizedException()), [401, 'unauthorized', WITH_ERROR], 58],
    ['that cannot tell', thrower(unavailable), [503, 'service_unavailable', null], 59],
    ['that fails', thrower(new Error('secret')), [500, 'internal_error', null], 59],
    [
      'that gives enterprise no limits',
      () => ({ user: 'a', scopes: [], plan: 'enterprise' }) as const,
      [500, 'internal_error', null],
      59,
    ],
  ])('%s admits nobody', async (_, result, expected, left) => {
    responses.set('some.token', result);
    const { send } = await open([], shared);
    const response = await send('some.token');
    expect(refusalOf(response)).toEqual(expected);
    expect(response.text).not.toContain('secret');
    expect(leftOf(await send('pst_wrong'))).toBe(left);
  });

  it('may respond later, and give a user individual limits', async () => {
    const limits = { perMinute: 7, perDay: 9 };
    const { send } = await open([
      verifierModule((user) => Promise.resolve({ user, scopes: [], plan: 'enterprise', limits })),
    ]);
    const all = await Promise.all(Array.from({ length: 10 }, () => send('one')));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(7);
    expect((await send('two')).headers.get('ratelimit-policy')).toBe('"minute";q=7;w=60, "day";q=9;w=86400');
  });

  it('that cannot verify writes one line for all requests, and none of the level error', async () => {
    const [warned, failed] = (['warn', 'error'] as const).map((level) =>
      vi.spyOn(Logger.prototype, level).mockReturnValue(),
    );
    responses.set(
      'some.token',
      thrower(new ServiceUnavailableException(undefined, { cause: new Error('ECONNREFUSED') })),
    );
    const { send } = await open([verifierModule((credential) => responses.get(credential)?.())]);
    for (let sent = 0; sent < 5; sent += 1) expect((await send('some.token')).status).toBe(503);
    expect(failed?.mock.calls).toEqual([]);
    expect(warned?.mock.calls.filter(([text]) => String(text).startsWith('Credentials'))).toEqual([
      ['Credentials cannot be verified: ECONNREFUSED. Requests with these credentials are refused with 503.'],
    ]);
  });
});
