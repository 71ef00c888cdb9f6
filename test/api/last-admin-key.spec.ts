import { describe, expect, it } from 'vitest';
import { declaredScopes } from '../../src/auth/scopes.js';
import { TestService } from '../kit/test-service.js';
import { UNLIMITED, openForTest } from '../support/opened.js';

const ALL = declaredScopes().map(({ name }) => name);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const REFUSAL = 'No working key with the scope admin would remain.';

/** A key, with the client that has it. */
interface Key {
  readonly id: string;
  readonly key: string;
  readonly clientId: string;
}

/** A service in which one key administers; `order` sends one of its orders. */
async function open(expires?: number) {
  const service = await openForTest(UNLIMITED);
  const issue = (options: Parameters<TestService['issueKey']>[0]): Promise<Key> => service.issueKey(options);
  const admin = await issue({ scopes: ALL, ...(expires === undefined ? {} : { expires }) });
  const order = async ([method, path, json]: Order, force = false) => {
    const { status, body } = await service.request(method, `/admin/${path}${force ? '?force=true' : ''}`, {
      key: admin.key,
      json,
    });
    return status < 300 ? 'done' : (body as { message: string }).message;
  };
  return { service, admin, issue, order };
}

type Order = readonly [method: string, path: string, json?: object];
const revoke = ({ id }: Key): Order => ['POST', `keys/${id}/revoke`];
const ORDERS: Readonly<Record<string, (key: Key) => Order>> = {
  'revoking it': revoke,
  'bringing its end forward': ({ id }) => ['PATCH', `keys/${id}`, { expires: '1h' }],
  'rotating it to one of an hour': ({ id }) => ['POST', `keys/${id}/rotate`, { grace: '0', expires: '1h' }],
  'suspending its client': ({ clientId }) => ['POST', `clients/${clientId}/suspend`],
  'deleting its client': ({ clientId }) => ['DELETE', `clients/${clientId}`],
};

describe('the last key with the scope admin', () => {
  it.each(Object.entries(ORDERS))('is not lost by %s, unless that is forced', async (_, orderOf) => {
    const { admin, order } = await open();
    expect(await order(orderOf(admin))).toBe(REFUSAL);
    expect(await order(['GET', `keys/${admin.id}`])).toBe('done');
    expect(await order(orderOf(admin), true)).toBe('done');
  });

  it.each(Object.entries(ORDERS))(
    'does not apply to %s in addition to another, or to another key',
    async (_, orderOf) => {
      const { admin, issue, order } = await open();
      const other = await issue({ plan: 'free', scopes: ['pets:read'] });
      expect(await order(orderOf(other))).toBe('done');
      await issue({ plan: 'free', scopes: ['admin'] });
      expect(await order(orderOf(admin))).toBe('done');
    },
  );

  it.each<[string, readonly ((other: Key) => Order)[]]>([
    ['was revoked', [revoke]],
    ['ends in a day', [({ id }) => ['PATCH', `keys/${id}`, { expires: '1d' }]]],
    ['is suspended with its client', [({ clientId }) => ['POST', `clients/${clientId}/suspend`]]],
    ['was rotated', [({ id }) => ['POST', `keys/${id}/rotate`, { grace: '9d', expires: '1d' }]]],
  ])('is still the last one if another one %s', async (_, ends) => {
    const { admin, issue, order } = await open();
    const other = await issue({ plan: 'free', scopes: ALL });
    for (const end of ends) expect(await order(end(other))).toBe('done');
    expect(await order(revoke(admin))).toBe(REFUSAL);
  });

  it.each([
    ['revoked if another one lasts more than a day', { other: DAY + 1 }, 'done'],
    ['not revoked if another one lasts a day', { other: DAY }, REFUSAL],
    ['the last one to its last millisecond', { own: HOUR, after: HOUR - 1 }, REFUSAL],
  ] as const)('is %s', async (_, lifetimes, expected) => {
    const { own, other, after = 0 } = lifetimes as { own?: number; other?: number; after?: number };
    const { service, admin, issue, order } = await open(own);
    if (other !== undefined) await issue({ plan: 'free', scopes: ['admin'], expires: other });
    service.clock.advance(after);
    expect(await order(revoke(admin))).toBe(expected);
  });

  it('is left when two are revoked at the same instant', async () => {
    const { service, admin, issue } = await open();
    const other = await issue({ plan: 'free', scopes: ALL });
    const responses = await Promise.all(
      [admin, other].map(({ id, key }) => service.request('POST', `/admin/keys/${id}/revoke`, { key })),
    );
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });
});
