import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { ApiKey } from '../../src/auth/clients/api-key.entity.js';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { TestService } from '../kit/test-service.js';

const HOUR_MS = 3_600_000;

/** Sends a head and the beginning of a body, and answers what sends the rest and reads the answer. */
async function begun(service: TestService, key: string, method: string, path: string, json: object) {
  const body = JSON.stringify(json);
  const sent = httpRequest(service.url + path, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      'If-Match': '*',
    },
  });
  sent.write(body.slice(0, 1));
  // The guards have let it in; its handler waits for the rest.
  await pause(100);
  return async (): Promise<string> => {
    sent.end(body.slice(1));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return `${response.statusCode} ${(JSON.parse(text) as { code?: string }).code ?? ''}`;
  };
}

/** How a key ends. */
const ENDS: readonly (readonly [string, string, (service: TestService, id: string) => unknown])[] = [
  [
    'revoked',
    '401 revoked_api_key',
    ({ app }, id) => app.get(ApiKeysService).revoke(id, { force: true }, SERVICE_ITSELF),
  ],
  ['expired', '401 expired_api_key', ({ clock }) => clock.advance(HOUR_MS)],
  [
    'of a client that is suspended',
    '403 client_suspended',
    ({ app, clientId }) => app.get(ClientsService).suspend(clientId, { force: true }, SERVICE_ITSELF),
  ],
];

/** What a key may order. */
const ORDERS: readonly (readonly [
  string,
  string,
  (ids: { client: string; key: string }) => string,
  object,
])[] = [
  ['a key of its own client', 'POST', () => '/account/keys', { scopes: ['account'] }],
  ['a rotation', 'POST', ({ key }) => `/account/keys/${key}/rotate`, { grace: '1h' }],
  ['a label', 'PATCH', ({ key }) => `/account/keys/${key}`, { label: 'mine' }],
  [
    'a webhook endpoint',
    'POST',
    () => '/account/webhooks',
    { url: 'https://shop.example.com/', events: ['quota.threshold'] },
  ],
  ['a client', 'POST', () => '/admin/clients', { name: 'Mine', plan: 'business' }],
];

it.each(
  ENDS.flatMap(([end, refusal, ends]) =>
    ORDERS.map(([order, method, path, json]) => ({ end, refusal, ends, order, method, path, json })),
  ),
)(
  'a key that is $end while the body of its order of $order is on its way orders nothing',
  async ({ refusal, ends, method, path, json }) => {
    const service = await TestService.open({ scopes: ['admin', 'account'] });
    onTestFinished(() => service.close());
    const scopes = path({ client: '', key: '' }).startsWith('/admin') ? ['admin'] : ['account'];
    const { id, key } = await service.issueKey({ scopes, expires: HOUR_MS });
    const finish = await begun(service, key, method, path({ client: service.clientId, key: id }), json);
    const keys = service.repository(ApiKey);
    const before = await keys.count();
    await ends(service, id);
    expect(await finish()).toBe(refusal);
    expect(await keys.count()).toBe(before);
    expect((await keys.findOneByOrFail({ id })).label).toBeNull();
  },
);
