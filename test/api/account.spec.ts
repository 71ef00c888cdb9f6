import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiKey } from '../../src/auth/clients/api-key.entity.js';
import { declaredScopes } from '../../src/auth/scopes.js';
import { AuditEntry } from '../../src/auth/audit/audit-entry.entity.js';
import { type TestResponse, TestService } from '../kit/test-service.js';
import { openClients } from '../support/as-client.js';
import { earnBan, hammer } from '../support/earn-ban.js';
import { UNLIMITED } from '../support/opened.js';

const AT = '2026-11-20T12:00:10.250Z';
const HOUR = 3_600_000;
const NOBODY = '00000000-0000-4000-8000-000000000000';
const HOLDER = ['account', 'pets:read', 'pets:write'];

const open = await openClients({ scopes: HOLDER });

/** The quota headers that a client gets. */
const quotaOf = ({ headers }: TestResponse) =>
  Object.fromEntries(
    ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit-policy', 'ratelimit'].map(
      (name) => [name, headers.get(name)],
    ),
  );

const outcome = ({ status, body }: TestResponse) => (status < 300 ? status : `${status} ${body.code}`);

describe('who am I', () => {
  it('returns the client with its plan and limits, and the key that was sent', async () => {
    const service = await open({ plan: 'pro' });
    const { id, key } = await service.issueKey({ scopes: ['pets:read'], expires: HOUR });
    const { status, body } = await service.request('GET', '/account', { key });
    expect(status).toBe(200);
    expect(body).toEqual({
      client: {
        id: service.clientId,
        name: 'Test',
        plan: 'pro',
        perMinute: 300,
        perDay: 10_000,
        createdAt: AT,
        suspendedAt: null,
      },
      key: {
        id,
        clientId: service.clientId,
        clientName: 'Test',
        prefix: key.slice(0, 13),
        label: null,
        scopes: ['pets:read'],
        createdAt: AT,
        expiresAt: '2026-11-20T13:00:10.250Z',
        revokedAt: null,
        // Written within a second, which the response may take.
        lastUsedAt: expect.toBeOneOf([null, expect.any(String)]),
        replacedBy: null,
        bannedUntil: null,
      },
    });
  });

  it('can be revalidated, and requested with HEAD', async () => {
    const service = await open();
    const lastUse = async () => {
      const { body } = await service.request('GET', '/account');
      return (body as { key: { lastUsedAt: string | null } }).key.lastUsedAt;
    };
    // It is noted a second after the first request, and is a part of the response.
    await expect.poll(lastUse).not.toBeNull();
    const { headers } = await service.request('GET', '/account');
    expect(headers.get('cache-control')).toBe('private, no-cache');
    const again = { headers: { 'if-none-match': headers.get('etag') ?? '' } };
    expect((await service.request('GET', '/account', again)).status).toBe(304);
    expect((await service.request('HEAD', '/account')).status).toBe(200);
  });
});

describe('self-service and the quota', () => {
  const READS = ['/account', '/account/usage', '/account/keys'];

  it('any number of reads and changes uses nothing, and all headers show the current quota', async () => {
    const service = await open({ plan: 'free' });
    await hammer(service, 3);
    const expected = {
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '57',
      'x-ratelimit-reset': String(Date.parse('2026-11-20T12:01:00Z') / 1000),
      'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      ratelimit: '"minute";r=57;t=50, "day";r=997;t=43190',
    };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...READS), { maxLength: 6 }), async (paths) => {
        for (const path of paths) expect(quotaOf(await service.request('GET', path))).toEqual(expected);
      }),
      { numRuns: 4 },
    );
    expect(quotaOf(await service.request('POST', '/account/keys', { json: {} }))).toEqual(expected);
    // Refusals after the quota check have the same headers.
    expect(quotaOf(await service.request('GET', `/account/keys/${NOBODY}`))).toEqual(expected);
    expect(quotaOf(await service.request('GET', '/account/usage?days=0'))).toEqual(expected);
    expect((await hammer(service, 1)).headers.get('x-ratelimit-remaining')).toBe('56');
  });

  it('responds when the quota is used up, and returns when it is full again', async () => {
    const service = await open({ plan: 'enterprise', limits: { perMinute: 2, perDay: 2 } });
    expect(outcome(await hammer(service, 3))).toBe('429 daily_quota_exceeded');
    for (const path of READS) {
      const response = await service.request('GET', path);
      expect([path, response.status, response.headers.get('retry-after')]).toEqual([path, 200, null]);
      expect(quotaOf(response)).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '0' });
    }
    const { id } = await service.issueKey();
    expect((await service.request('POST', `/account/keys/${id}/revoke`)).status).toBe(200);
  });

  it('lets a banned key see its ban and revoke keys, but create none; the ban stays, and requests add no strike', async () => {
    const service = await open({ plan: 'free' });
    const banned = await earnBan(service);
    expect(outcome(banned)).toBe('429 api_key_banned');
    const { body, ...response } = await service.request('GET', '/account');
    const end = Date.parse(body.key.bannedUntil);
    expect(end).toBeGreaterThan(service.clock.now());
    expect(response.headers.get('retry-after')).toBeNull();
    expect(quotaOf({ body, ...response })).toMatchObject({
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Math.ceil(end / 1_000)),
    });
    expect((await service.request('GET', '/account/usage')).body.bans).toEqual([
      { keyId: body.key.id, keyPrefix: body.key.prefix, bannedUntil: body.key.bannedUntil },
    ]);
    for (const path of ['/account/keys', `/account/keys/${body.key.id}/rotate`]) {
      const refused = await service.request('POST', path, { json: {} });
      expect([path, outcome(refused)]).toEqual([path, '429 api_key_banned']);
      const seconds = Math.ceil((end - service.clock.now()) / 1_000);
      expect(refused.headers.get('retry-after')).toBe(String(seconds));
    }
    const { id } = await service.issueKey();
    expect((await service.request('POST', `/account/keys/${id}/revoke`)).status).toBe(200);
    // Nor does the other operations' ban end by it.
    expect(outcome(await hammer(service, 1))).toBe('429 api_key_banned');
  });

  it.each([
    ['/account', 60, '"account";q=60;w=60', /^Rate limit of 60 requests per minute for reading the account /],
    [
      '/account/keys',
      30,
      '"account-keys";q=30;w=60',
      /^Rate limit of 30 requests per minute for reading keys of the account /,
    ],
  ])('%s has a separate limit: %i a minute', async (path, limit, policy, message) => {
    const service = await open();
    for (let sent = 0; sent < limit; sent += 1) expect((await service.request('GET', path)).status).toBe(200);
    const refused = await service.request('GET', path);
    expect(outcome(refused)).toBe('429 rate_limit_exceeded');
    expect(refused.body.message).toMatch(message);
    expect(refused.headers.get('retry-after')).toBe('50');
    expect(quotaOf(refused)).toEqual({
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Date.parse('2026-11-20T12:01:00Z') / 1000),
      'ratelimit-policy': policy,
      ratelimit: `${policy.split(';', 1)[0]};r=0;t=50`,
    });
    // It is neither the quota's, nor a strike: forty seconds of hammering bring no ban.
    for (let second = 0; second < 40; second += 1) {
      service.clock.advance(1_000);
      expect(outcome(await service.request('GET', path))).toBe('429 rate_limit_exceeded');
    }
    expect((await hammer(service, 1)).headers.get('x-ratelimit-remaining')).toBe('999');
    service.clock.advance(10_000);
    expect((await service.request('GET', path)).status).toBe(200);
  });

  it('bounds reads for all keys of a client together, and orders for each key', async () => {
    const service = await open();
    const [leaked, other] = [await service.issueKey(), await service.issueKey({ plan: 'free' })];
    for (let sent = 0; sent < 60; sent += 1) await service.request('GET', '/account', { key: leaked.key });
    expect((await service.request('GET', '/account')).status).toBe(429);
    expect((await service.request('GET', '/account', { key: other.key })).status).toBe(200);
    // A leaked key cannot keep another from revoking it.
    for (let sent = 0; sent < 31; sent += 1)
      await service.request('GET', '/account/keys', { key: leaked.key });
    expect((await service.request('POST', `/account/keys/${leaked.id}/revoke`)).status).toBe(200);
    expect(outcome(await service.request('GET', '/account', { key: leaked.key }))).toBe(
      '401 revoked_api_key',
    );
  });

  it('is a separate value in the metrics', async () => {
    const service = await open({ plan: 'free', environment: {} });
    for (const path of ['/account', `/account/keys/${NOBODY}`]) await service.request('GET', path);
    const count = (verdict: string) =>
      service.metric('petstore_quota_verdicts_total', { plan: 'free', verdict });
    expect([await count('uncounted'), await count('admitted')]).toEqual([2, 0]);
  });
});

describe('my keys', () => {
  it('are issued, listed, shown, labelled, rotated and revoked', async () => {
    const service = await open();
    const json = { scopes: ['pets:read'], label: 'Till', expires: '90d' };
    const issued = await service.request('POST', '/account/keys', { json });
    const { id, key } = issued.body;
    expect(issued.status).toBe(201);
    expect(issued.headers.get('cache-control')).toBe('no-store');
    expect(issued.headers.get('location')).toBe(`/account/keys/${id}`);
    expect(issued.body).toMatchObject({
      clientId: service.clientId,
      scopes: ['pets:read'],
      label: 'Till',
      expiresAt: '2027-02-18T12:00:10.250Z',
    });
    expect((await service.request('GET', '/v1/pets', { key })).status).toBe(200);

    const shown = await service.request('GET', `/account/keys/${id}`);
    expect(shown.body).toMatchObject({ id, prefix: key.slice(0, 13), bannedUntil: null });
    expect(shown.text).not.toContain(key);
    expect(shown.headers.get('etag')).toMatch(/^"/);
    const listed = await service.everyPage('/account/keys?limit=1');
    expect(listed).toHaveLength(2);
    expect(listed.map((one) => one.id)).toContain(id);

    const labelled = await service.request('PATCH', `/account/keys/${id}`, { json: { label: 'Door' } });
    expect(labelled.body.label).toBe('Door');
    const rotated = await service.request('POST', `/account/keys/${id}/rotate`, { json: { grace: '1h' } });
    expect(rotated.headers.get('cache-control')).toBe('no-store');
    expect(rotated.headers.get('location')).toBe(`/account/keys/${rotated.body.id}`);
    expect(rotated.body).toMatchObject({ label: 'Door', scopes: ['pets:read'] });
    service.clock.advance(HOUR - 1);
    expect((await service.request('GET', '/v1/pets', { key })).status).toBe(200);
    service.clock.advance(1);
    expect(outcome(await service.request('GET', '/v1/pets', { key }))).toBe('401 expired_api_key');
    expect((await service.request('GET', '/v1/pets', { key: rotated.body.key })).status).toBe(200);

    const revoked = await service.request('POST', `/account/keys/${rotated.body.id}/revoke`);
    expect([revoked.status, revoked.body.revokedAt]).toEqual([200, '2026-11-20T13:00:10.250Z']);
    expect(outcome(await service.request('GET', '/v1/pets', { key: rotated.body.key }))).toBe(
      '401 revoked_api_key',
    );
  });

  it('may be revoked and rotated by themselves', async () => {
    const service = await open();
    const { id } = (await service.request('GET', '/account')).body.key;
    const rotated = await service.request('POST', `/account/keys/${id}/rotate`, { json: { grace: '0' } });
    expect(rotated.body.scopes).toEqual(HOLDER);
    expect(outcome(await service.request('GET', '/account'))).toBe('401 revoked_api_key');
    const { key } = rotated.body;
    const last = await service.request('POST', `/account/keys/${rotated.body.id}/revoke`, { key });
    expect(last.status).toBe(200);
    expect(outcome(await service.request('GET', '/account', { key }))).toBe('401 revoked_api_key');
  });

  it('are written to the audit trail with the key that ordered', async () => {
    const service = await open();
    const { key: adminKey } = await service.issueKey({ plan: 'free', scopes: ['admin'] });
    const { id: actorKeyId } = (await service.request('GET', '/account')).body.key;
    const { id } = (await service.request('POST', '/account/keys', { json: { label: 'Till' } })).body;
    await service.request('POST', `/account/keys/${id}/revoke`);
    const { body } = await service.request('GET', `/admin/audit?key=${id}`, { key: adminKey });
    expect(body).toMatchObject([
      { action: 'api_key.revoked', actor: 'key', actorKeyId, clientId: service.clientId, keyId: id },
      { action: 'api_key.issued', actor: 'key', actorKeyId, details: { label: 'Till' } },
    ]);
    expect(body[0].requestId).not.toBeNull();
  });

  it('of another client are as absent as none', async () => {
    const service = await open();
    const { id } = await service.issueKey({ plan: 'free' });
    const messages = async (target: string) => {
      const results = [];
      for (const [method, path] of [
        ['GET', ''],
        ['PATCH', ''],
        ['POST', '/rotate'],
        ['POST', '/revoke'],
      ] as const) {
        const json = method === 'PATCH' ? { label: 'mine' } : {};
        const options = method === 'GET' ? {} : { json };
        const response = await service.request(method, `/account/keys/${target}${path}`, options);
        results.push(response.text.replaceAll(target, 'ID'));
      }
      return results;
    };
    expect(await messages(id)).toEqual(await messages(NOBODY));
    expect(new Set(await messages(id)).size).toBe(1);
    expect((await messages(id))[0]).toContain('"key_not_found"');
    const listed = await service.everyPage('/account/keys');
    expect(listed.map((one) => one.clientId)).toEqual([service.clientId]);
    // An order cannot name a client at all.
    const json = { clientId: service.clientId };
    const named = await service.request('POST', '/account/keys', { json });
    expect([named.status, named.body.details[0].field]).toEqual([400, 'clientId']);
  });

  it('with the scope admin are shown, and changed only by operators', async () => {
    const service = await open({ scopes: ['account', 'admin', 'pets:read'] });
    const own = (await service.request('GET', '/account')).body.key.id;
    expect((await service.request('GET', `/account/keys/${own}`)).status).toBe(200);
    const orders = [
      ['PATCH', `/account/keys/${own}`, { label: 'x' }, '403 key_protected'],
      ['POST', `/account/keys/${own}/rotate`, {}, '403 key_protected'],
      ['POST', `/account/keys/${own}/revoke`, {}, '403 key_protected'],
      ['POST', '/account/keys', { scopes: ['admin'] }, '403 scope_protected'],
      ['POST', '/account/keys', { scopes: ['pets:read', 'admin'] }, '403 scope_protected'],
      ['POST', '/account/keys', { scopes: ['pets:write'] }, '403 scope_not_held'],
      ['POST', '/account/keys', { scopes: ['pets:fly'] }, '400 validation_failed'],
      ['POST', '/account/keys', { scopes: [] }, '400 validation_failed'],
      ['POST', '/account/keys', { label: `pst_test_${'0'.repeat(30)}2Wj70T` }, '400 validation_failed'],
    ] as const;
    for (const [method, path, json, expected] of orders)
      expect([json, outcome(await service.request(method, path, { json }))]).toEqual([json, expected]);
    expect(await service.repository(ApiKey).countBy({ clientId: service.clientId })).toBe(1);
  });

  it('never pass on scopes that they lack, for any request and any key', async () => {
    const service = await open(UNLIMITED);
    const names = declaredScopes().map(({ name }) => name);
    const some = fc.subarray(names);
    const isProtected = (name: string) => name === 'admin' || name === 'admin:read';
    await fc.assert(
      fc.asyncProperty(some, fc.option(some), some, async (holds, requested, sibling) => {
        const held = [...new Set(['account', ...holds])];
        const { key } = await service.issueKey({ scopes: held });
        const keys = service.repository(ApiKey);
        const before = await keys.countBy({ clientId: service.clientId });
        const json = requested === null ? {} : { scopes: requested };
        const issued = await service.request('POST', '/account/keys', { key, json });
        const other = sibling.length === 0 ? null : await service.issueKey({ scopes: sibling });
        const rotated =
          other && (await service.request('POST', `/account/keys/${other.id}/rotate`, { key, json: {} }));
        for (const response of [issued, rotated]) {
          if (response?.status !== 201) continue;
          expect(response.body.scopes.filter(isProtected)).toEqual([]);
          expect(held).toEqual(expect.arrayContaining(response.body.scopes));
        }
        const mayIssue =
          requested?.length !== 0 &&
          (requested ?? []).every((one) => !isProtected(one) && held.includes(one));
        if (requested !== null) expect(issued.status === 201).toBe(mayIssue);
        if (rotated) {
          const mayRotate = sibling.every((one) => !isProtected(one) && held.includes(one));
          expect(rotated.status === 201).toBe(mayRotate);
        }
        const created = [issued, rotated].filter((response) => response?.status === 201).length;
        expect(await keys.countBy({ clientId: service.clientId })).toBe(before + created + (other ? 1 : 0));
        service.clock.advance(24 * HOUR);
        await keys.delete({ clientId: service.clientId });
      }),
      { numRuns: 15 },
    );
  });
});

describe('the number of keys that a client creates for itself', () => {
  const make = async (service: TestService) =>
    outcome(await service.request('POST', '/account/keys', { json: { expires: '10d' } }));

  it('is limited by those that work; revoking makes room', async () => {
    const service = await open({ environment: { ACCOUNT_MAX_KEYS: '3' } });
    expect([await make(service), await make(service), await make(service)]).toEqual([
      201,
      201,
      '409 key_limit_reached',
    ]);
    const refused = await service.request('POST', '/account/keys', { json: {} });
    expect(refused.body.message).toBe('The client has 3 working keys; the maximum for self-service is 3.');
    // Another client is not bound by it, nor are operators.
    const other = await service.issueKey({ plan: 'free', scopes: HOLDER });
    expect((await service.request('POST', '/account/keys', { key: other.key, json: {} })).status).toBe(201);
    await service.issueKey();
    service.clock.advance(25 * HOUR);
    expect(await make(service)).toBe('409 key_limit_reached');
    // A full client can still rotate.
    const [first, second] = (await service.everyPage('/account/keys')).filter(
      ({ expiresAt }) => expiresAt !== null,
    );
    const rotate = `/account/keys/${first.id}/rotate`;
    expect((await service.request('POST', rotate, { json: { grace: '0' } })).status).toBe(201);
    await service.request('POST', `/account/keys/${second.id}/revoke`);
    expect(await make(service)).toBe('409 key_limit_reached');
    service.clock.advance(10 * 24 * HOUR);
    expect(await make(service)).toBe(201);
  });

  it('is not limited by the keys that operators created today', async () => {
    const service = await open({ environment: { ACCOUNT_MAX_KEYS: '4' } });
    const { key: operator } = await service.issueKey({ plan: 'pro', scopes: ['admin', 'pets:read'] });
    const order = { clientId: service.clientId, scopes: ['pets:read'] };
    for (let created = 0; created < 4; created += 1)
      expect((await service.request('POST', '/admin/keys', { key: operator, json: order })).status).toBe(201);
    const { id } = (await service.request('GET', '/account')).body.key;
    const rotation = await service.request('POST', `/account/keys/${id}/rotate`, { json: {} });
    expect(outcome(rotation)).toBe(201);
  });

  it('is bounded by those of 24 hours, so that issuing and revoking in turn fills nothing', async () => {
    const service = await open({ environment: { ACCOUNT_MAX_KEYS: '4' } });
    const outcomes = [];
    for (let turn = 0; turn < 5; turn += 1) {
      const { status, body } = await service.request('POST', '/account/keys', { json: {} });
      outcomes.push(status === 201 ? status : body.code);
      if (status === 201) await service.request('POST', `/account/keys/${body.id}/revoke`);
    }
    expect(outcomes).toEqual([201, 201, 201, 201, 'new_key_limit_reached']);
    const { id } = (await service.request('GET', '/account')).body.key;
    const rotation = await service.request('POST', `/account/keys/${id}/rotate`, { json: {} });
    expect(outcome(rotation)).toBe('409 new_key_limit_reached');
    service.clock.advance(24 * HOUR);
    expect(await make(service)).toBe(201);
  });

  it('is combined with a limit on changes in 24 hours, so that labels do not fill the audit trail; revoking continues', async () => {
    const service = await open();
    const { id } = await service.issueKey();
    const entries = service.repository(AuditEntry);
    const [one] = await entries.find({ where: { keyId: id } });
    const { id: _, ...values } = one ?? expect.unreachable();
    const missing = 999 - (await entries.countBy({ clientId: service.clientId }));
    await entries.save(
      Array.from({ length: missing }, () => entries.create(values)),
      { chunk: 200 },
    );
    const label = async () =>
      outcome(await service.request('PATCH', `/account/keys/${id}`, { json: { label: 'Till' } }));
    expect([await label(), await label()]).toEqual([200, '409 key_change_limit_reached']);
    expect((await service.request('POST', `/account/keys/${id}/revoke`)).status).toBe(200);
    service.clock.advance(24 * HOUR);
    expect(await label()).toBe(200);
  });

  it('holds for simultaneous requests', async () => {
    const service = await open({ environment: { ACCOUNT_MAX_KEYS: '5' } });
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => make(service)));
    expect(outcomes.filter((one) => one === 201)).toHaveLength(4);
    expect(await service.repository(ApiKey).countBy({ clientId: service.clientId })).toBe(5);
  });

  it('does not exist if only operators create keys', async () => {
    const service = await open({ environment: { ACCOUNT_MAX_KEYS: '0' } });
    expect(await make(service)).toBe('409 key_limit_reached');
  });
});
