import { parse as parseYaml } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { responseOf } from '../kit/contract.js';
import { TestService } from '../kit/test-service.js';

let service: TestService;
beforeAll(async () => {
  service = await TestService.open();
});
afterAll(() => service.close());

// The document is plain JSON here; its library's types would only be in the way.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

describe('the OpenAPI document of the administration', () => {
  it('has these operations, each for the scope admin, and is served beside its page', async () => {
    const served = await service.request('GET', '/docs/admin/openapi.json', { key: null });
    const yaml = await service.request('GET', '/docs/admin/openapi.yaml', { key: null });
    expect(parseYaml(yaml.text)).toEqual(served.body);
    const operations = Object.entries(served.body.paths).flatMap(([path, item]) =>
      Object.entries(item as Json).map(([method, operation]) => ({
        path,
        method,
        operation: operation as Json,
      })),
    );
    expect(
      operations.map(({ path, method, operation }) => `${operation.operationId} ${method} ${path}`),
    ).toEqual([
      'listClients get /clients',
      'createClient post /clients',
      'getClient get /clients/{clientId}',
      'updateClient patch /clients/{clientId}',
      'deleteClient delete /clients/{clientId}',
      'suspendClient post /clients/{clientId}/suspend',
      'resumeClient post /clients/{clientId}/resume',
      'listKeys get /keys',
      'issueKey post /keys',
      'getKey get /keys/{keyId}',
      'updateKey patch /keys/{keyId}',
      'rotateKey post /keys/{keyId}/rotate',
      'revokeKey post /keys/{keyId}/revoke',
      'unbanKey post /keys/{keyId}/unban',
      'listScopes get /scopes',
      'listUsage get /usage',
      'listAudit get /audit',
      'listWebhooks get /webhooks',
      'createWebhook post /webhooks',
      'getWebhook get /webhooks/{endpointId}',
      'updateWebhook patch /webhooks/{endpointId}',
      'deleteWebhook delete /webhooks/{endpointId}',
      'rotateWebhookSecret post /webhooks/{endpointId}/rotate-secret',
      'listWebhookDeliveries get /webhooks/{endpointId}/deliveries',
      'getWebhookDelivery get /webhooks/{endpointId}/deliveries/{deliveryId}',
      'redeliverWebhook post /webhooks/{endpointId}/deliveries/{deliveryId}/redeliver',
      'testWebhook post /webhooks/{endpointId}/test',
      'listWebhookEvents get /webhook-events',
    ]);
    for (const { operation } of operations) expect(operation['x-required-scopes']).toEqual(['admin']);
    expect(served.body.servers.map(({ url }: Json) => url)).toEqual([
      `${service.url}/admin`,
      'https://staging.petstore.example/admin',
    ]);
    expect(served.body.components.schemas).not.toHaveProperty('Pet');
  });
});

describe('the OpenAPI document of self-service', () => {
  it('has these operations, each with its bound, and is served beside its page', async () => {
    const served = await service.request('GET', '/docs/account/openapi.json', { key: null });
    const yaml = await service.request('GET', '/docs/account/openapi.yaml', { key: null });
    expect(parseYaml(yaml.text)).toEqual(served.body);
    const operations = Object.entries(served.body.paths).flatMap(([path, item]) =>
      Object.entries(item as Json).map(([method, operation]: [string, Json]) => {
        const { perMinute, per } = operation['x-uncounted'];
        const scopes = operation['x-required-scopes'] ?? [];
        return `${operation.operationId} ${method} ${path}: ${scopes.join()} ${perMinute} per ${per}`;
      }),
    );
    expect(operations).toEqual([
      'getAccount get /account:  60 per client',
      'getAccountUsage get /account/usage:  60 per client',
      'listOwnKeys get /account/keys: account 30 per key',
      'issueOwnKey post /account/keys: account 30 per key',
      'getOwnKey get /account/keys/{keyId}: account 30 per key',
      'updateOwnKey patch /account/keys/{keyId}: account 30 per key',
      'rotateOwnKey post /account/keys/{keyId}/rotate: account 30 per key',
      'revokeOwnKey post /account/keys/{keyId}/revoke: account 30 per key',
      'listOwnWebhooks get /account/webhooks: account 30 per key',
      'createOwnWebhook post /account/webhooks: account 30 per key',
      'getOwnWebhook get /account/webhooks/{endpointId}: account 30 per key',
      'updateOwnWebhook patch /account/webhooks/{endpointId}: account 30 per key',
      'deleteOwnWebhook delete /account/webhooks/{endpointId}: account 30 per key',
      'rotateOwnWebhookSecret post /account/webhooks/{endpointId}/rotate-secret: account 30 per key',
      'listOwnWebhookDeliveries get /account/webhooks/{endpointId}/deliveries: account 30 per key',
      'getOwnWebhookDelivery get /account/webhooks/{endpointId}/deliveries/{deliveryId}: account 30 per key',
      'redeliverOwnWebhook post /account/webhooks/{endpointId}/deliveries/{deliveryId}/redeliver: account 30 per key',
      'testOwnWebhook post /account/webhooks/{endpointId}/test: account 30 per key',
      'listOwnWebhookEvents get /account/webhook-events: account 30 per key',
    ]);
    expect(served.body.servers.map(({ url }: Json) => url)).toEqual([
      service.url,
      'https://staging.petstore.example',
    ]);
    expect(served.body.paths['/account'].get.description).toMatch(/Counts for no quota; at most 60 /);
    expect(served.body.components.schemas).not.toHaveProperty('Pet');
  });
});

describe('the OpenAPI document', () => {
  it('is version 1.0.0, has both servers and the bearer scheme', () => {
    const { info, servers, security, components } = service.document as Json;
    expect(info.version).toBe('1.0.0');
    expect(servers.map(({ url }: Json) => url)).toEqual(['/v1', 'https://staging.petstore.example/v1']);
    expect(security).toEqual([{ bearer: [] }]);
    expect(components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' });
  });

  it('requires the headers of a quota where a request has been counted, and nowhere else', () => {
    const { components, paths } = service.document as Json;
    const isRequired = (reference: { $ref: string }) =>
      components.headers[reference.$ref.split('/').at(-1) ?? ''].required;
    for (const operation of Object.values(paths).flatMap((item) => Object.values(item as Json)) as Json[]) {
      for (const status of Object.keys(operation.responses)) {
        const { headers } = responseOf(operation, status, service.document) as Json;
        const isCertain = status !== 'default' && Number(status) < 500;
        for (const name of ['Limit', 'Remaining', 'Reset'])
          expect([status, isRequired(headers[`X-RateLimit-${name}`])]).toEqual([status, isCertain]);
      }
      const { headers } = responseOf(operation, 'default', service.document) as Json;
      expect(isRequired(headers['Retry-After'])).toBe(false);
    }
  });

  it('tells what an Idempotency-Key may be, fills none in, and when to come again after a 409', () => {
    const { paths, components } = service.document as Json;
    const { parameters, responses } = paths['/pets'].post;
    const key = parameters.find(({ name }: Json) => name === 'Idempotency-Key');
    const { pattern, ...schema } = key.schema;
    expect(schema).toEqual({ type: 'string', minLength: 1, maxLength: 512 });
    for (const [field, isAllowed] of [
      ['q1', true],
      ['"a b"', true],
      ['"open', false],
      ['a b', false],
    ] as const)
      expect(new RegExp(pattern).test(field), field).toBe(isAllowed);
    expect(JSON.stringify(key)).not.toMatch(/"(example|examples|default)"/);
    expect(responses['409'].headers['Retry-After'].$ref).toBe('#/components/headers/Retry-After-Conflict');
    expect(components.headers['Retry-After-Conflict']).toMatchObject({
      required: false,
      schema: { type: 'integer' },
    });
  });

  it('has prose with the plans as they are configured', () => {
    const { description = '' } = service.document.info;
    expect([...description.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual([
      'Get a key',
      'Plans',
      'Quotas, and how to wait',
      'Errors',
      'Page through a list',
      'Ask whether something has changed',
      'Retry safely',
      'Deprecation and versions',
      'Numbers of 64 bits',
    ]);
    for (const row of [
      '| Free | 60 | 1,000 |',
      '| Pro | 300 | 10,000 |',
      '| Business | 1,000 | 100,000 |',
      '| Enterprise | custom | custom |',
    ])
      expect(description).toContain(row);
    expect(description).toContain('](/docs/errors#validation_failed)');
  });

  it('tells that unknown parameters of a query are ignored', () => {
    expect(service.document.info.description).toMatch(
      /query parameter that an operation does not name is ignored/,
    );
  });

  it('names the servers of the settings', async () => {
    const other = await TestService.open({
      environment: {
        PUBLIC_BASE_URL: 'https://api.shop.example/v1',
        STAGING_BASE_URL: 'https://staging.shop.example/v1',
      },
    });
    expect(other.document.servers?.map(({ url }) => url)).toEqual([
      'https://api.shop.example/v1',
      'https://staging.shop.example/v1',
    ]);
    await other.close();
  });

  it('is served as JSON and as YAML', async () => {
    const json = await service.request('GET', '/docs/openapi.json', { key: null });
    const yaml = await service.request('GET', '/docs/openapi.yaml', { key: null });
    const { servers, ...document } = JSON.parse(JSON.stringify(service.document));
    expect(json.body).toEqual({
      ...document,
      servers: [{ ...servers[0], url: `${service.url}/v1` }, servers[1]],
    });
    expect(parseYaml(yaml.text)).toEqual(json.body);
  });

  it('tells of a server that is still the placeholder, and does not begin with it', () => {
    const [first, second] = (service.document as Json).servers;
    expect(second.url).toBe('https://staging.petstore.example/v1');
    expect(second.description).toMatch(/placeholder.*STAGING_BASE_URL/);
    expect(first.description).not.toMatch(/placeholder/);
  });

  it('can be tried out again and again: no header that a request may have is filled in', () => {
    for (const { document } of service.documents) {
      const operations = Object.values(document.paths as Json).flatMap((item) =>
        Object.values(item as Json),
      ) as Json[];
      const headers = operations.flatMap(({ parameters = [] }) =>
        parameters.filter((one: Json) => one.in === 'header'),
      );
      expect(JSON.stringify(headers)).not.toMatch(/"(example|examples|default)"/);
    }
    const { NewPet } = (service.document as Json).components.schemas;
    const sample = Object.entries<Json>(NewPet.properties).map(([name, field]) => [
      name,
      field.example ?? field.default,
    ]);
    expect(sample).toEqual([
      ['name', 'Biscuit'],
      ['categoryId', 1],
      ['status', 'available'],
    ]);
  });

  it('has no number that JavaScript cannot read exactly', () => {
    for (const { document } of service.documents)
      for (const [digits] of JSON.stringify(document).matchAll(/(?<=[:,[])-?\d{10,}(?=[,}\]])/g))
        expect(digits).toBe(String(Number(digits)));
  });

  it('marks the headers that every response has, so that a page need tell of them only once', () => {
    const { headers } = (service.document as Json).components;
    const marked = Object.keys(headers).filter((name) => headers[name]['x-on-every-response']);
    expect([...new Set(marked.map((name) => name.replace('-Optional', '')))]).toEqual([
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'RateLimit-Policy',
      'RateLimit',
      'X-Request-Id',
    ]);
  });

  it('has what operations answer alike once, by a name that tells what it is', () => {
    const { components, paths } = service.adminDocument as Json;
    const { 401: unauthorized, 404: notFound } = paths['/clients/{clientId}'].get.responses;
    expect(unauthorized).toEqual({ $ref: '#/components/responses/Unauthorized' });
    expect(notFound).toEqual({ $ref: '#/components/responses/ClientNotFound' });
    const texts = Object.values(components.responses).map((response) => JSON.stringify(response));
    for (const operation of Object.values(paths).flatMap((item) => Object.values(item as Json)) as Json[])
      for (const response of Object.values(operation.responses))
        expect(texts).not.toContain(JSON.stringify(response));
  });

  it('tells of the page about each refusal', () => {
    const operations = Object.values((service.document as Json).paths).flatMap((item) =>
      Object.values(item as Json),
    ) as Json[];
    const links = operations.flatMap((operation) =>
      Object.keys(operation.responses)
        .filter((status) => status === 'default' || Number(status) >= 400)
        .map((status) => (responseOf(operation, status, service.document).headers?.['Link'] as Json)?.$ref),
    );
    expect(new Set(links)).toEqual(new Set(['#/components/headers/Link-Help', '#/components/headers/Link']));
  });
});
