import { beforeEach, describe, expect, it } from 'vitest';
import { type ServiceParts, openParts } from '../../test/support/service-parts.js';
import { DAY_MS, MINUTE_MS, type QuotaRequest } from '../throttling/quota.js';
import { windowsOf } from '../throttling/quota.service.js';
import type { NewKey } from './key.inputs.js';
import { type Operator, SERVICE_ITSELF } from './operator.js';
import { defineScope, defineScopes } from './scopes.js';
import { subjectOfClient } from './usage.service.js';

defineScopes('shelves', { read: 'Read shelves.', write: 'Change shelves.' });
defineScope('keeper', 'Do anything.', { grantedByDefault: false, lastKeyProtected: true });

const NOBODY = '00000000-0000-0000-0000-000000000000';
const AT = '2026-11-20T12:00:10.250Z';
const HOUR = 3_600_000;
const FORCED = { force: true };

let parts: ServiceParts;
let keys: ServiceParts['keys'];
let clientId: string;

async function open(environment: Readonly<Record<string, string>> = {}): Promise<void> {
  parts = await openParts(environment);
  ({ keys } = parts);
  clientId = (await parts.clients.create({ name: 'Shop', plan: 'free' }, SERVICE_ITSELF)).id;
}
beforeEach(() => open());

const issue = (of: Partial<NewKey> = {}, by: Operator = SERVICE_ITSELF) =>
  keys.issue({ clientId, ...of }, by);
const idOf = async (of: Partial<NewKey> = {}) => (await issue(of)).apiKey.id;
const after = (milliseconds: number) => new Date(Date.parse(AT) + milliseconds).toISOString();
/** The latest line of the audit trail. */
const told = async () => {
  const [entry] = (await parts.audit.list({ limit: 1 })).items;
  return { action: entry?.action, clientId: entry?.clientId, keyId: entry?.keyId, details: entry?.details };
};

describe('issuing a key', () => {
  it('makes one for a client, with its line of the audit trail', async () => {
    const { apiKey, secret } = await issue({ scopes: ['shelves:write'], label: 'Till', expires: HOUR });
    expect(apiKey).toMatchObject({
      clientId,
      scopes: ['shelves:write'],
      label: 'Till',
      createdAt: AT,
      expiresAt: after(HOUR),
      issuedUntil: after(HOUR),
      revokedAt: null,
      lastUsedAt: null,
      replacedBy: null,
    });
    expect(await keys.get(apiKey.id)).toEqual(apiKey);
    expect(await keys.identify(secret)).toEqual(apiKey);
    expect(secret).toMatch(/^pst_test_/);
    expect(secret.startsWith(apiKey.prefix)).toBe(true);
    expect(JSON.stringify(apiKey)).not.toContain(secret);
    expect(await told()).toEqual({
      action: 'api_key.issued',
      clientId,
      keyId: apiKey.id,
      details: { prefix: apiKey.prefix, scopes: ['shelves:write'], label: 'Till', expiresAt: after(HOUR) },
    });
  });

  it('grants what is granted by default, without label and end, unless told otherwise', async () => {
    expect((await issue()).apiKey).toMatchObject({
      scopes: ['shelves:read', 'shelves:write'],
      label: null,
      expiresAt: null,
      issuedUntil: null,
    });
  });

  it('makes live keys in production', async () => {
    await open({ NODE_ENV: 'production' });
    expect((await issue()).secret).toMatch(/^pst_live_/);
  });

  it('is refused for nobody, for an unknown scope, and for one that who orders it lacks', async () => {
    await expect(issue({ clientId: NOBODY })).rejects.toMatchObject({ code: 'client_not_found' });
    await expect(issue({ scopes: ['nothing'] })).rejects.toMatchObject({ code: 'validation_failed' });
    const by: Operator = { ...SERVICE_ITSELF, kind: 'key', scopes: ['shelves:read'] };
    await expect(issue({ scopes: ['shelves:write'] }, by)).rejects.toMatchObject({ code: 'scope_not_held' });
    expect((await keys.list({ limit: 9 })).items).toEqual([]);
    expect((await issue({ scopes: ['shelves:read'] }, by)).apiKey.scopes).toEqual(['shelves:read']);
  });
});

describe('keys', () => {
  it('are listed oldest first, of one client or of all', async () => {
    const first = await idOf();
    const other = (await parts.clients.create({ name: 'Other', plan: 'free' }, SERVICE_ITSELF)).id;
    parts.clock.advance(1);
    const second = await idOf({ clientId: other });
    const idsOf = async (of?: { clientId: string }) =>
      (await keys.list({ limit: 9 }, of)).items.map(({ id }) => id);
    expect([await idsOf(), await idsOf({ clientId }), await idsOf({ clientId: other })]).toEqual([
      [first, second],
      [first],
      [second],
    ]);
    await expect(idsOf({ clientId: NOBODY })).rejects.toMatchObject({ code: 'client_not_found' });
  });

  it('are not found by a wrong id or secret, which is not repeated', async () => {
    await expect(keys.get(NOBODY)).rejects.toThrow(`There is no key ${NOBODY}.`);
    await expect(keys.identify('pst_test_secret')).rejects.toThrow(/^There is no key with this secret\.$/);
  });
});

describe('a change of a key', () => {
  it('labels it, or takes the label away', async () => {
    const id = await idOf({ expires: HOUR, label: 'Till' });
    expect(await keys.update(id, { label: 'Door' }, {}, SERVICE_ITSELF)).toMatchObject({
      label: 'Door',
      expiresAt: after(HOUR),
    });
    expect(await told()).toEqual({
      action: 'api_key.updated',
      clientId,
      keyId: id,
      details: { label: { from: 'Till', to: 'Door' } },
    });
    await keys.update(id, { label: null }, {}, SERVICE_ITSELF);
    expect(await keys.get(id)).toMatchObject({ label: null, expiresAt: after(HOUR) });
  });

  it('brings its end forward, and never puts it off', async () => {
    const id = await idOf({ expires: 2 * HOUR, label: 'Till' });
    await keys.update(id, { expires: HOUR }, {}, SERVICE_ITSELF);
    expect(await keys.get(id)).toMatchObject({
      label: 'Till',
      expiresAt: after(HOUR),
      issuedUntil: after(2 * HOUR),
    });
    expect((await told()).details).toEqual({ expiresAt: { from: after(2 * HOUR), to: after(HOUR) } });
    await keys.update(id, { expires: HOUR }, {}, SERVICE_ITSELF);
    await expect(keys.update(id, { expires: HOUR + 1 }, {}, SERVICE_ITSELF)).rejects.toMatchObject({
      code: 'validation_failed',
      body: {
        details: [
          {
            field: 'expires',
            code: 'later_than_before',
            message: `The key ends at ${after(HOUR)}, and its end can only be brought forward; rotate it to go on.`,
          },
        ],
      },
    });
  });

  it('gives an end to one that had none', async () => {
    const id = await idOf();
    expect((await keys.update(id, { expires: 30 * DAY_MS }, {}, SERVICE_ITSELF)).expiresAt).toBe(
      after(30 * DAY_MS),
    );
  });

  it('must name something', async () => {
    await expect(keys.update(await idOf(), {}, {}, SERVICE_ITSELF)).rejects.toMatchObject({
      code: 'validation_failed',
      body: {
        details: [{ field: '', code: 'required', message: 'Name at least one change: label, expires.' }],
      },
    });
  });

  it('may be a label, but no other end, once it has ended', async () => {
    const revoked = await idOf();
    await keys.revoke(revoked, {}, SERVICE_ITSELF);
    const expired = await idOf({ expires: HOUR });
    parts.clock.advance(HOUR);
    await expect(keys.update(revoked, { expires: 1 }, {}, SERVICE_ITSELF)).rejects.toThrow(
      `The key ${revoked} was revoked at ${AT}.`,
    );
    await expect(keys.update(expired, { expires: 1 }, {}, SERVICE_ITSELF)).rejects.toThrow(
      `The key ${expired} expired at ${after(HOUR)}.`,
    );
    for (const id of [revoked, expired])
      expect((await keys.update(id, { label: 'Old' }, {}, SERVICE_ITSELF)).label).toBe('Old');
  });
});

describe('revoking a key', () => {
  it('ends it at once and for good', async () => {
    const id = await idOf({ label: 'Till', expires: HOUR });
    const revoked = await keys.revoke(id, {}, SERVICE_ITSELF);
    expect(revoked).toMatchObject({ id, revokedAt: AT, expiresAt: after(HOUR), label: 'Till' });
    expect(await keys.get(id)).toEqual(revoked);
    expect(await told()).toEqual({
      action: 'api_key.revoked',
      clientId,
      keyId: id,
      details: { prefix: revoked.prefix },
    });
    parts.clock.advance(1);
    await expect(keys.revoke(id, {}, SERVICE_ITSELF)).rejects.toThrow(`The key ${id} was revoked at ${AT}.`);
    await expect(keys.revoke(NOBODY, {}, SERVICE_ITSELF)).rejects.toMatchObject({ code: 'key_not_found' });
  });
});

describe('rotating a key', () => {
  it('makes one that follows it, with the same client, scopes, label and lifetime', async () => {
    const old = await issue({ scopes: ['shelves:read'], label: 'Till', expires: 10 * HOUR });
    const { id } = old.apiKey;
    parts.clock.advance(HOUR);
    const { apiKey, secret } = await keys.rotate(id, { grace: 2 * HOUR }, SERVICE_ITSELF);
    expect(apiKey).toMatchObject({
      clientId,
      scopes: ['shelves:read'],
      label: 'Till',
      createdAt: after(HOUR),
      expiresAt: after(11 * HOUR),
      issuedUntil: after(11 * HOUR),
      replacedBy: null,
    });
    expect(secret).not.toBe(old.secret);
    expect(await keys.identify(secret)).toEqual(apiKey);
    expect(await keys.get(id)).toMatchObject({
      expiresAt: after(3 * HOUR),
      revokedAt: null,
      replacedBy: apiKey.id,
    });
    expect(await told()).toEqual({
      action: 'api_key.rotated',
      clientId,
      keyId: id,
      details: {
        replacedBy: apiKey.id,
        prefix: apiKey.prefix,
        expiresAt: after(11 * HOUR),
        oldExpiresAt: after(3 * HOUR),
      },
    });
  });

  it.each([
    ['of its own length', 10 * HOUR, 5 * HOUR, after(5 * HOUR)],
    ['without an end', undefined, undefined, null],
    ['with an end where the old one had none', undefined, HOUR, after(HOUR)],
  ])('may give it a lifetime %s', async (_, oldExpires, expires, expected) => {
    const id = await idOf(oldExpires === undefined ? {} : { expires: oldExpires });
    const rotation = { grace: HOUR, ...(expires === undefined ? {} : { expires }) };
    expect((await keys.rotate(id, rotation, SERVICE_ITSELF)).apiKey.expiresAt).toBe(expected);
  });

  it.each([
    ['after the grace', 10 * HOUR, HOUR, after(HOUR)],
    ['at its own end, where that comes first', HOUR, 10 * HOUR, after(HOUR)],
    ['after the grace, where it had no end', undefined, HOUR, after(HOUR)],
  ])('ends the old one %s', async (_, expires, grace, expected) => {
    const id = await idOf(expires === undefined ? {} : { expires });
    await keys.rotate(id, { grace }, SERVICE_ITSELF);
    expect(await keys.get(id)).toMatchObject({ expiresAt: expected, revokedAt: null });
  });

  it('without grace revokes it', async () => {
    const id = await idOf();
    await keys.rotate(id, { grace: 0 }, SERVICE_ITSELF);
    expect(await keys.get(id)).toMatchObject({ expiresAt: AT, revokedAt: AT });
  });

  it('gives the lifetime that it was made for, though its end was brought forward', async () => {
    const id = await idOf({ expires: 10 * HOUR });
    await keys.update(id, { expires: HOUR }, {}, SERVICE_ITSELF);
    const { apiKey } = await keys.rotate(id, { grace: 0 }, SERVICE_ITSELF);
    expect(apiKey.expiresAt).toBe(after(10 * HOUR));
  });

  it('is refused to one that is not there, has ended, or was rotated, and to who lacks its scopes', async () => {
    const rotate = (id: string, by = SERVICE_ITSELF) => keys.rotate(id, { grace: HOUR }, by);
    const [revoked, expired, rotated, plain] = [
      await idOf(),
      await idOf({ expires: HOUR }),
      await idOf(),
      await idOf({ scopes: ['shelves:write'] }),
    ];
    await keys.revoke(revoked, {}, SERVICE_ITSELF);
    const { apiKey: successor } = await keys.rotate(rotated, { grace: 9 * HOUR }, SERVICE_ITSELF);
    parts.clock.advance(HOUR - 1);
    await rotate(expired);
    const ending = await idOf({ expires: HOUR });
    parts.clock.advance(HOUR);
    await expect(rotate(NOBODY)).rejects.toMatchObject({ code: 'key_not_found' });
    await expect(rotate(revoked)).rejects.toMatchObject({ code: 'key_already_revoked' });
    await expect(rotate(ending)).rejects.toMatchObject({ code: 'key_already_expired' });
    await expect(rotate(rotated)).rejects.toThrow(
      `The key ${rotated} was rotated already; the key ${successor.id} follows it.`,
    );
    const by: Operator = { ...SERVICE_ITSELF, kind: 'key', scopes: ['shelves:read'] };
    await expect(rotate(plain, by)).rejects.toMatchObject({ code: 'scope_not_held' });
    expect((await keys.get(plain)).replacedBy).toBeNull();
  });
});

describe('unbanning a key', () => {
  it('lifts its ban, and tells so in the audit trail', async () => {
    const id = await idOf();
    const { clock, store } = parts;
    const subject = { ...subjectOfClient(await parts.clients.get(clientId)), perMinute: 1, keyId: id };
    const request: QuotaRequest = {
      subject: subject.id,
      isClient: true,
      keyId: id,
      windows: windowsOf(subject),
    };
    await store.take(request, clock.now());
    await store.take(request, clock.now());
    for (let second = 0; second < 22; second += 1) {
      clock.advance(1_000);
      await store.take(request, clock.now());
    }
    expect(await store.peek(request, clock.now())).toHaveProperty('bannedUntil');
    expect(await keys.unban(id, SERVICE_ITSELF)).toMatchObject({ id });
    expect(await store.peek(request, clock.now())).not.toHaveProperty('bannedUntil');
    expect(await told()).toEqual({ action: 'api_key.unbanned', clientId, keyId: id, details: {} });
    await expect(keys.unban(NOBODY, SERVICE_ITSELF)).rejects.toMatchObject({ code: 'key_not_found' });
  });

  it('is told to who listens, with the client and the key', async () => {
    const events: unknown[] = [];
    parts.emitter.on('api_key.unbanned', (event) => events.push(event));
    const id = await idOf();
    await keys.unban(id, SERVICE_ITSELF);
    await expect.poll(() => events).toEqual([{ clientId, keyId: id }]);
  });
});

describe('the last key with a protected scope', () => {
  const LAST = expect.objectContaining({
    code: 'last_key_with_scope',
    message:
      'Nothing would be left that works with the scope keeper; issue another key with it first, or force this.',
  });
  const keeper = (of: Partial<NewKey> = {}) => idOf({ scopes: ['keeper', 'shelves:read'], ...of });
  const elsewhere = async () =>
    (await parts.clients.create({ name: 'Other', plan: 'free' }, SERVICE_ITSELF)).id;

  const ORDERS: readonly (readonly [
    string,
    (id: string, options: { force?: boolean }) => Promise<unknown>,
  ])[] = [
    ['revoking it', (id, options) => keys.revoke(id, options, SERVICE_ITSELF)],
    [
      'bringing its end forward',
      (id, options) => keys.update(id, { expires: HOUR }, options, SERVICE_ITSELF),
    ],
    [
      'rotating it to one of an hour',
      (id, options) => keys.rotate(id, { grace: 0, expires: HOUR }, SERVICE_ITSELF, options),
    ],
    ['suspending its client', (_, options) => parts.clients.suspend(clientId, options, SERVICE_ITSELF)],
    ['deleting its client', (_, options) => parts.clients.delete(clientId, options, SERVICE_ITSELF)],
  ];

  it.each(ORDERS)('is not lost by %s, unless that is forced', async (_, order) => {
    const id = await keeper();
    await idOf();
    await expect(order(id, {})).rejects.toEqual(LAST);
    expect(await keys.get(id)).toMatchObject({ revokedAt: null, expiresAt: null, replacedBy: null });
    expect((await parts.clients.get(clientId)).suspendedAt).toBeNull();
    await order(id, FORCED);
  });

  it.each(ORDERS)('is none beside another one, for %s', async (_, order) => {
    const id = await keeper();
    await keeper({ clientId: await elsewhere() });
    await expect(order(id, {})).resolves.toBeDefined();
  });

  it.each(ORDERS)('is none where the key holds no protected scope, for %s', async (_, order) => {
    await keeper({ clientId: await elsewhere() });
    await expect(order(await idOf(), {})).resolves.toBeDefined();
  });

  it('is none where another key ends, though the scope will soon be lost by itself', async () => {
    await keeper({ clientId: await elsewhere(), expires: HOUR });
    expect((await keys.revoke(await idOf(), {}, SERVICE_ITSELF)).revokedAt).toBe(AT);
  });

  it.each(ORDERS)('is none where nobody holds the scope, for %s', async (_, order) => {
    await expect(order(await idOf(), {})).resolves.toBeDefined();
  });

  it.each([
    ['was revoked', async (id: string) => void (await keys.revoke(id, {}, SERVICE_ITSELF))],
    [
      'was rotated',
      async (id: string) => {
        const { apiKey } = await keys.rotate(id, { grace: 9 * DAY_MS }, SERVICE_ITSELF);
        await keys.revoke(apiKey.id, {}, SERVICE_ITSELF);
      },
    ],
    [
      'ends in a day',
      async (id: string) => void (await keys.update(id, { expires: DAY_MS }, {}, SERVICE_ITSELF)),
    ],
    [
      'is suspended with its client',
      async (id: string) => {
        const { clientId: other } = await keys.get(id);
        await parts.clients.suspend(other, {}, SERVICE_ITSELF);
      },
    ],
  ])('is not kept by another one that %s', async (_, end) => {
    const id = await keeper();
    await end(await keeper({ clientId: await elsewhere() }));
    await expect(keys.revoke(id, {}, SERVICE_ITSELF)).rejects.toEqual(LAST);
  });

  it('is kept by another one that ends after more than a day', async () => {
    const id = await keeper();
    await keeper({ clientId: await elsewhere(), expires: DAY_MS + 1 });
    expect((await keys.revoke(id, {}, SERVICE_ITSELF)).revokedAt).toBe(AT);
  });

  it('is none once it has expired: there is nothing to lose', async () => {
    const id = await keeper({ expires: HOUR });
    parts.clock.advance(HOUR);
    expect((await keys.revoke(id, {}, SERVICE_ITSELF)).revokedAt).toBe(after(HOUR));
  });

  it('is one to the last millisecond', async () => {
    const id = await keeper({ expires: HOUR });
    parts.clock.advance(HOUR - 1);
    await expect(keys.revoke(id, {}, SERVICE_ITSELF)).rejects.toEqual(LAST);
  });

  it('may have its end brought forward, or follow itself, by a day or more', async () => {
    const id = await keeper();
    await keys.update(id, { expires: DAY_MS }, {}, SERVICE_ITSELF);
    const { apiKey } = await keys.rotate(id, { grace: MINUTE_MS, expires: DAY_MS }, SERVICE_ITSELF);
    expect(apiKey.expiresAt).toBe(after(DAY_MS));
  });

  it('may be rotated to one that lives as long', async () => {
    const id = await keeper({ expires: HOUR });
    expect((await keys.rotate(id, { grace: 0 }, SERVICE_ITSELF)).apiKey.expiresAt).toBe(after(HOUR));
  });
});
