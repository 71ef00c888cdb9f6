import { parse as parseYaml } from 'yaml';
import { describe, expect, it } from 'vitest';
import { responseOf } from '../kit/contract.js';
import { declaredWebhookEvents } from '../../src/webhooks/webhook-events.js';
import { openForAll } from '../support/opened.js';

const service = await openForAll();

// The document is plain JSON here; its library's types would only be in the way.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

describe('the OpenAPI document of the administration', () => {
  it('has operations only for the scope admin, and is served next to its page', async () => {
    const served = await service.request('GET', '/docs/admin/openapi.json', { key: null });
    const yaml = await service.request('GET', '/docs/admin/openapi.yaml', { key: null });
    expect(parseYaml(yaml.text)).toEqual(served.body);
    const operations = Object.values(served.body.paths).flatMap((item) => Object.values(item as Json));
    for (const operation of operations as Json[])
      expect([['admin:read'], ['admin']]).toContainEqual(operation['x-required-scopes']);
    expect(served.body.servers.map(({ url }: Json) => url)).toEqual(['/admin']);
  });
});

describe('the OpenAPI document of self-service', () => {
  it('is served next to its page, and states the limit of its operations', async () => {
    const served = await service.request('GET', '/docs/account/openapi.json', { key: null });
    const yaml = await service.request('GET', '/docs/account/openapi.yaml', { key: null });
    expect(parseYaml(yaml.text)).toEqual(served.body);
    expect(served.body.servers.map(({ url }: Json) => url)).toEqual(['/']);
    expect(served.body.paths['/account'].get.description).toMatch(
      /Does not count toward the quota; at most 60 /,
    );
    expect(served.body.components.schemas).not.toHaveProperty('NewPet');
  });

  it('describes what an endpoint receives, as callbacks of the operation that creates it', () => {
    for (const [prefix, path] of [
      ['/account', '/account/webhooks'],
      ['/admin', '/webhooks'],
    ] as const) {
      const { paths, components } = service.documentOf(prefix) as Json;
      const { callbacks } = paths[path].post;
      expect(Object.keys(callbacks)).toEqual(declaredWebhookEvents().map(({ name }) => name));
      for (const [name, callback] of Object.entries(callbacks as Record<string, Json>)) {
        const { post } = callback['{$request.body#/url}'];
        expect(post.parameters.map((one: Json) => one.name)).toEqual([
          'webhook-id',
          'webhook-timestamp',
          'webhook-signature',
        ]);
        const { properties } = post.requestBody.content['application/json'].schema;
        expect(properties.type.enum).toEqual([name]);
        expect(components.schemas[properties.data.$ref.split('/').at(-1)].properties).toBeDefined();
      }
    }
  });
});

describe('the OpenAPI document', () => {
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
    const operation = paths['/pets'].post;
    const { parameters } = operation;
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
    const { headers } = responseOf(operation, '409', service.document) as Json;
    expect(headers['Retry-After'].$ref).toBe('#/components/headers/Retry-After-Conflict');
    expect(components.headers['Retry-After-Conflict']).toMatchObject({
      required: false,
      schema: { type: 'integer' },
    });
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
  });
});
