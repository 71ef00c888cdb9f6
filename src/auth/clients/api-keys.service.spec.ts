import { beforeEach, describe, expect, it } from 'vitest';
import { AT, HOUR, NOBODY, after, openKeys } from '../../../test/support/key-parts.js';
import { DAY_MS, type QuotaRequest } from '../../throttling/quota.js';
import { windowsOf } from '../../throttling/quota.js';
import { SERVICE_ITSELF } from './audited-changes.js';

let parts: Awaited<ReturnType<typeof openKeys>>;
let clientId: typeof parts.clientId;
let idOf: typeof parts.idOf;
let told: typeof parts.told;
let keys: typeof parts.keys;
beforeEach(async () => {
  parts = await openKeys();
  ({ clientId, idOf, told, keys } = parts);
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
            message: `The key ends at ${after(HOUR)}, and its end can only be brought forward; a new key can end later.`,
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

describe('unbanning a key', () => {
  /** Has a key banned; answers the request that finds it so. */
  async function banned(id: string): Promise<QuotaRequest> {
    const { clock, store } = parts;
    const subject = { ...parts.quotas.subjectOf(await parts.clients.get(clientId)), perMinute: 1, keyId: id };
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
    return request;
  }

  it('lifts its ban, and tells so in the audit trail', async () => {
    const id = await idOf();
    const { clock, store } = parts;
    const request = await banned(id);
    const { bannedUntil = 0 } = await store.peek(request, clock.now());
    expect(bannedUntil).toBeGreaterThan(clock.now());
    expect(await keys.unban(id, SERVICE_ITSELF)).toMatchObject({ id });
    expect(await store.peek(request, clock.now())).not.toHaveProperty('bannedUntil');
    const details = { bannedUntil: new Date(bannedUntil).toISOString() };
    expect(await told()).toEqual({ action: 'api_key.unbanned', clientId, keyId: id, details });
    await expect(keys.unban(NOBODY, SERVICE_ITSELF)).rejects.toMatchObject({ code: 'key_not_found' });
  });

  it('is told to who listens, with the client and the key', async () => {
    const events: unknown[] = [];
    parts.emitter.on('api_key.unbanned', (event) => events.push(event));
    const id = await idOf();
    await banned(id);
    await keys.unban(id, SERVICE_ITSELF);
    await expect.poll(() => events).toEqual([{ clientId, keyId: id }]);
  });
});
