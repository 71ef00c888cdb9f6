import { describe, expect, it } from 'vitest';
import { declaredScopes } from '../../src/auth/scopes.js';
import { openForAll } from '../support/opened.js';

type Call = readonly [method: string, path: string, status: number, json: object | undefined];

/** Below an address of webhooks: `{endpoint}` and `{delivery}` are those that the calls before have made. */
const webhookCalls = (audience: string, owner: object): readonly Call[] => [
  ['GET', `${audience}/webhook-events`, 200, undefined],
  [
    'POST',
    `${audience}/webhooks`,
    201,
    { url: 'https://shop.example.com/a', events: ['pets.created'], ...owner },
  ],
  ['GET', `${audience}/webhooks`, 200, undefined],
  ['GET', `${audience}/webhooks/{endpointId}`, 200, undefined],
  ['PATCH', `${audience}/webhooks/{endpointId}`, 200, { label: 'Shop', enabled: true }],
  ['POST', `${audience}/webhooks/{endpointId}/rotate-secret`, 200, { grace: '1h' }],
  ['POST', `${audience}/webhooks/{endpointId}/test`, 201, undefined],
  ['POST', `${audience}/webhooks/{endpointId}/retry`, 200, undefined],
  ['GET', `${audience}/webhooks/{endpointId}/deliveries`, 200, undefined],
  ['GET', `${audience}/webhooks/{endpointId}/deliveries/{deliveryId}`, 200, undefined],
  ['POST', `${audience}/webhooks/{endpointId}/deliveries/{deliveryId}/retry`, 200, undefined],
  ['POST', `${audience}/webhooks/{endpointId}/deliveries/{deliveryId}/redeliver`, 201, undefined],
  ['DELETE', `${audience}/webhooks/{endpointId}`, 200, undefined],
];
const keyCalls = (audience: string, owner: object): readonly Call[] => [
  ['POST', `${audience}/keys`, 201, { scopes: ['pets:read'], ...owner }],
  ['GET', `${audience}/keys`, 200, undefined],
  ['GET', `${audience}/keys/{keyId}`, 200, undefined],
  ['PATCH', `${audience}/keys/{keyId}`, 200, { label: 'Till', expires: '48h' }],
  ['POST', `${audience}/keys/{keyId}/rotate`, 201, { grace: '1h' }],
  ['POST', `${audience}/keys/{keyId}/revoke`, 200, undefined],
];
const CLIENT = { clientId: '{clientId}' };
const ADMIN: readonly Call[] = [
  ['POST', '/admin/clients', 201, { name: 'Zoo', plan: 'pro' }],
  ['GET', '/admin/clients', 200, undefined],
  ['GET', '/admin/clients/{clientId}', 200, undefined],
  ['PATCH', '/admin/clients/{clientId}', 200, { plan: 'business' }],
  ...keyCalls('/admin', CLIENT),
  ['POST', '/admin/keys/{keyId}/unban', 200, undefined],
  ...webhookCalls('/admin', CLIENT),
  ['GET', '/admin/plans', 200, undefined],
  ['GET', '/admin/scopes', 200, undefined],
  ['GET', '/admin/usage', 200, undefined],
  ['GET', '/admin/overview', 200, undefined],
  ['GET', '/admin/search', 400, undefined],
  ['GET', '/admin/requests', 200, undefined],
  ['POST', '/admin/clients/{clientId}/suspend', 200, undefined],
  ['POST', '/admin/clients/{clientId}/resume', 200, undefined],
  ['GET', '/admin/clients/{clientId}/export', 200, undefined],
  ['DELETE', '/admin/clients/{clientId}', 200, undefined],
  ['POST', '/admin/clients/{clientId}/erase', 200, undefined],
  ['GET', '/admin/audit', 200, undefined],
  ['GET', '/admin/audit/export', 200, undefined],
];
const ACCOUNT: readonly Call[] = [
  ['GET', '/account', 200, undefined],
  ['GET', '/account/usage', 200, undefined],
  ['GET', '/account/requests', 200, undefined],
  ...keyCalls('/account', {}),
  ...webhookCalls('/account', {}),
];

const service = await openForAll({ scopes: declaredScopes().map(({ name }) => name) });

/** What a created resource is called in the paths below it. */
const NAMES = { clients: 'clientId', keys: 'keyId', webhooks: 'endpointId', test: 'deliveryId' };

// What each does with every input has its suite in test/api, on SQLite; here each is carried out by the database of this run.
describe.each([
  ['the administration', ADMIN, () => service.adminDocument, '/admin'],
  ['self-service', ACCOUNT, () => service.accountDocument, ''],
])('on this database, every operation of %s', (_, calls, document, prefix) => {
  const ids: Record<string, string> = {};
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? '');

  it.each(calls)('%s %s returns %i', async (method, path, expected, json) => {
    const body = json && { json: JSON.parse(filled(JSON.stringify(json))) as object };
    const { status, body: made, text } = await service.request(method, filled(path), body);
    expect([status, text]).toEqual([expected, text]);
    const name = NAMES[path.split('/').at(-1) as keyof typeof NAMES];
    if (method === 'POST' && name) ids[name] = (made as { id: string }).id;
  });

  it('is called above', () => {
    const documented = Object.entries(document().paths).flatMap(([path, item]) =>
      Object.keys(item as object)
        .filter((method) => /^(get|post|put|patch|delete)$/.test(method))
        .map((method) => `${method.toUpperCase()} ${prefix}${path}`),
    );
    expect(calls.map(([method, path]) => `${method} ${path}`).toSorted()).toEqual(documented.toSorted());
  });
});
