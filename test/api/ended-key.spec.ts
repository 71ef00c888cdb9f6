import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ApiKey } from '../../src/auth/clients/api-key.entity.js';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { Client } from '../../src/auth/clients/client.entity.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { WebhookEndpoint } from '../../src/webhooks/webhook-endpoint.entity.js';
import { TestService } from '../kit/test-service.js';
import { openForTest } from '../support/opened.js';

const HOUR_MS = 3_600_000;

/** Sends a head and the beginning of a body, and returns what sends the rest and reads the response. */
async function startRequest(service: TestService, key: string, method: string, path: string, json: object) {
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

/** How keys end. */
const ENDS: readonly (readonly [string, string, (service: TestService, ids: string[]) => unknown])[] = [
  [
    'revoked',
    '401 revoked_api_key',
    async ({ app }, ids) => {
      for (const id of ids) await app.get(ApiKeysService).revoke(id, { force: true }, SERVICE_ITSELF);
    },
  ],
  ['expired', '401 expired_api_key', ({ clock }) => clock.advance(HOUR_MS)],
  [
    'of a client that is suspended',
    '403 client_suspended',
    ({ app, clientId }) => app.get(ClientsService).suspend(clientId, { force: true }, SERVICE_ITSELF),
  ],
];

/** What a key may order, by the scope that it needs. */
const ORDERS: readonly (readonly [string, string, (keyId: string) => string, object])[] = [
  ['account', 'POST', () => '/account/keys', { scopes: ['account'] }],
  ['account', 'POST', (id) => `/account/keys/${id}/rotate`, { grace: '1h' }],
  ['account', 'PATCH', (id) => `/account/keys/${id}`, { label: 'mine' }],
  [
    'account',
    'POST',
    () => '/account/webhooks',
    { url: 'https://shop.example.com/', events: ['quota.threshold'] },
  ],
  ['admin', 'POST', () => '/admin/clients', { name: 'Mine', plan: 'business' }],
];

it.each(ENDS)(
  'a key that is %s while the body of its order is on its way orders nothing',
  async (_, refusal, end) => {
    const service = await openForTest({ scopes: ['admin', 'account'] });
    const ordering = await Promise.all(
      ORDERS.map(async ([scope, method, path, json]) => {
        const { id, key } = await service.issueKey({ scopes: [scope], expires: HOUR_MS });
        return {
          id,
          method,
          path: path(id),
          finish: await startRequest(service, key, method, path(id), json),
        };
      }),
    );
    const rows = () =>
      Promise.all([ApiKey, Client, WebhookEndpoint].map((of) => service.repository<object>(of).count()));
    const before = await rows();
    await end(
      service,
      ordering.map(({ id }) => id),
    );
    for (const { finish, method, path } of ordering)
      expect([method, path, await finish()]).toEqual([method, path, refusal]);
    expect(await rows()).toEqual(before);
    for (const { id } of ordering)
      expect((await service.repository(ApiKey).findOneByOrFail({ id })).label).toBeNull();
  },
);
