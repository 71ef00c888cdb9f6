import { describe, expect, it } from 'vitest';
import { declaredScopes } from '../../src/auth/scopes.js';
import { UNLIMITED, openForAll } from '../support/opened.js';

// The document is plain JSON here; its library's types would only be in the way.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

interface Parameter {
  readonly operation: string;
  readonly path: string;
  readonly name: string;
  readonly schema: Json;
}

const service = await openForAll({
  ...UNLIMITED,
  scopes: declaredScopes().map(({ name }) => name),
});
await service.seed(150);
const order = { clientId: service.clientId, url: 'https://shop.example.com/', events: ['pets.created'] };
const endpointId: string = (await service.request('POST', '/admin/webhooks', { json: order })).body.id;

/** The query parameters of every GET that the documents have, with an address that its path parameters fit. */
function queryParameters(): Parameter[] {
  const paths = [
    ...Object.entries(service.document.paths).map(([path, item]) => [`/v1${path}`, item] as const),
    ...Object.entries(service.accountDocument.paths),
    ...Object.entries(service.adminDocument.paths).map(([path, item]) => [`/admin${path}`, item] as const),
  ];
  return paths.flatMap(([template, item]) => {
    const operation = item.get as Json;
    const path = template
      .replace('{clientId}', service.clientId)
      .replace('{endpointId}', endpointId)
      .replace('{petId}', '1');
    const parameters = (operation?.parameters ?? []).filter((parameter: Json) => parameter.in === 'query');
    return parameters.map(({ name, schema }: Json) => ({
      operation: operation.operationId,
      path,
      name,
      schema,
    }));
  });
}

describe('every query parameter of the documents', () => {
  it('with a default returns the same without it as with the default', async () => {
    const found = queryParameters().filter(({ schema }) => schema.default !== undefined);
    expect(found.length).toBeGreaterThan(10);
    for (const { path, name, schema } of found) {
      const without = await service.request('GET', path);
      const sent = await service.request('GET', `${path}?${name}=${schema.default}`);
      expect([path, without.status]).toEqual([path, 200]);
      if (name === 'days') expect(sent.body.usage?.length ?? 0).toBe(without.body.usage?.length ?? 0);
      else expect([path, sent.body.length]).toEqual([path, without.body.length]);
    }
  });

  it('with bounds accepts both and nothing beyond', async () => {
    const found = queryParameters().filter(({ schema }) => schema.minimum !== undefined);
    expect(found.length).toBeGreaterThanOrEqual(7);
    for (const { path, name, schema } of found) {
      const { minimum, maximum } = schema as { minimum: number; maximum: number };
      const statuses = [];
      for (const value of [minimum - 1, minimum, maximum, maximum + 1])
        statuses.push((await service.request('GET', `${path}?${name}=${value}`)).status);
      expect([path, name, ...statuses]).toEqual([path, name, 400, 200, 200, 400]);
    }
  });
});

describe('a body property with a documented default', () => {
  it('accepts it: the grace of a rotation', async () => {
    const issue = async () =>
      (await service.request('POST', '/admin/keys', { json: { clientId: service.clientId } })).body
        .id as string;
    const ends = [];
    for (const json of [undefined, {}, { grace: '24h' }]) {
      const id = await issue();
      await service.request('POST', `/admin/keys/${id}/rotate`, { json });
      ends.push((await service.request('GET', `/admin/keys/${id}`)).body.expiresAt);
    }
    expect(new Set(ends).size).toBe(1);
    expect(Date.parse(ends[0] as string)).toBe(service.clock.now() + 24 * 3_600_000);
  });
});
