import { beforeEach, describe, expect, it } from 'vitest';
import { AT, HOUR, after, openKeys } from '../../../test/support/key-parts.js';
import { DAY_MS, MINUTE_MS } from '../../throttling/quota.js';
import { SERVICE_ITSELF } from './audited-changes.js';
import type { NewKey } from './key-rules.js';

const FORCED = { force: true };

let parts: Awaited<ReturnType<typeof openKeys>>;
let clientId: typeof parts.clientId;
let idOf: typeof parts.idOf;
let keys: typeof parts.keys;
let issuing: typeof parts.issuing;
beforeEach(async () => {
  parts = await openKeys();
  ({ clientId, idOf, keys, issuing } = parts);
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
      (id, options) => issuing.rotate(id, { grace: 0, expires: HOUR }, SERVICE_ITSELF, options),
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
        const { apiKey } = await issuing.rotate(id, { grace: 9 * DAY_MS }, SERVICE_ITSELF);
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
    const { apiKey } = await issuing.rotate(id, { grace: MINUTE_MS, expires: DAY_MS }, SERVICE_ITSELF);
    expect(apiKey.expiresAt).toBe(after(DAY_MS));
  });

  it('may be rotated to one that lives as long', async () => {
    const id = await keeper({ expires: HOUR });
    expect((await issuing.rotate(id, { grace: 0 }, SERVICE_ITSELF)).apiKey.expiresAt).toBe(after(HOUR));
  });
});
