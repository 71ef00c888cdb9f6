import { beforeEach, describe, expect, it } from 'vitest';
import { AT, HOUR, NOBODY, after, openKeys } from '../../../test/support/key-parts.js';
import { type Operator, SERVICE_ITSELF } from './audited-changes.js';
import { declaredScopes } from './scopes.js';

let parts: Awaited<ReturnType<typeof openKeys>>;
let clientId: typeof parts.clientId;
let issue: typeof parts.issue;
let idOf: typeof parts.idOf;
let told: typeof parts.told;
let keys: typeof parts.keys;
let issuing: typeof parts.issuing;
beforeEach(async () => {
  parts = await openKeys();
  ({ clientId, issue, idOf, told, keys, issuing } = parts);
});

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
      scopes: declaredScopes()
        .filter(({ grantedByDefault }) => grantedByDefault)
        .map(({ name }) => name),
      label: null,
      expiresAt: null,
      issuedUntil: null,
    });
  });

  it('makes live keys in production', async () => {
    const live = await openKeys({ NODE_ENV: 'production' });
    expect((await live.issue()).secret).toMatch(/^pst_live_/);
  });

  it('is refused for nobody, for an unknown scope, and for one that who orders it lacks', async () => {
    await expect(issue({ clientId: NOBODY })).rejects.toMatchObject({ code: 'client_not_found' });
    await expect(issue({ scopes: ['nothing'] })).rejects.toMatchObject({ code: 'validation_failed' });
    const by: Operator = { ...SERVICE_ITSELF, kind: 'user', scopes: ['shelves:read'] };
    await expect(issue({ scopes: ['shelves:write'] }, by)).rejects.toMatchObject({ code: 'scope_not_held' });
    expect((await keys.list({ limit: 9 })).items).toEqual([]);
    expect((await issue({ scopes: ['shelves:read'] }, by)).apiKey.scopes).toEqual(['shelves:read']);
  });
});

describe('rotating a key', () => {
  it('makes one that follows it, with the same client, scopes, label and lifetime', async () => {
    const old = await issue({ scopes: ['shelves:read'], label: 'Till', expires: 10 * HOUR });
    const { id } = old.apiKey;
    parts.clock.advance(HOUR);
    const { apiKey, secret } = await issuing.rotate(id, { grace: 2 * HOUR }, SERVICE_ITSELF);
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
    expect((await issuing.rotate(id, rotation, SERVICE_ITSELF)).apiKey.expiresAt).toBe(expected);
  });

  it.each([
    ['after the grace', 10 * HOUR, HOUR, after(HOUR)],
    ['at its own end, where that comes first', HOUR, 10 * HOUR, after(HOUR)],
    ['after the grace, where it had no end', undefined, HOUR, after(HOUR)],
  ])('ends the old one %s', async (_, expires, grace, expected) => {
    const id = await idOf(expires === undefined ? {} : { expires });
    await issuing.rotate(id, { grace }, SERVICE_ITSELF);
    expect(await keys.get(id)).toMatchObject({ expiresAt: expected, revokedAt: null });
  });

  it('without grace revokes it', async () => {
    const id = await idOf();
    await issuing.rotate(id, { grace: 0 }, SERVICE_ITSELF);
    expect(await keys.get(id)).toMatchObject({ expiresAt: AT, revokedAt: AT });
  });

  it('gives the lifetime that it was made for, though its end was brought forward', async () => {
    const id = await idOf({ expires: 10 * HOUR });
    await keys.update(id, { expires: HOUR }, {}, SERVICE_ITSELF);
    const { apiKey } = await issuing.rotate(id, { grace: 0 }, SERVICE_ITSELF);
    expect(apiKey.expiresAt).toBe(after(10 * HOUR));
  });

  it('is refused to one that is not there, has ended, or was rotated, and to who lacks its scopes', async () => {
    const rotate = (id: string, by = SERVICE_ITSELF) => issuing.rotate(id, { grace: HOUR }, by);
    const [revoked, expired, rotated, plain] = [
      await idOf(),
      await idOf({ expires: HOUR }),
      await idOf(),
      await idOf({ scopes: ['shelves:write'] }),
    ];
    await keys.revoke(revoked, {}, SERVICE_ITSELF);
    const { apiKey: successor } = await issuing.rotate(rotated, { grace: 9 * HOUR }, SERVICE_ITSELF);
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
    const by: Operator = { ...SERVICE_ITSELF, kind: 'user', scopes: ['shelves:read'] };
    await expect(rotate(plain, by)).rejects.toMatchObject({ code: 'scope_not_held' });
    expect((await keys.get(plain)).replacedBy).toBeNull();
  });
});
