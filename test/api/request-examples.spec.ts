import { describe, expect, it } from 'vitest';
import { declaredScopes } from '../../src/auth/scopes.js';
import type { TestService } from '../kit/test-service.js';
import { UNLIMITED, openForAll, openForTest } from '../support/opened.js';

// The documents are plain JSON here; their library's types would only be in the way.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

const OPTIONS = { ...UNLIMITED, scopes: declaredScopes().map(({ name }) => name) };
const documented = await openForAll(OPTIONS);

interface Documented {
  readonly method: string;
  readonly path: string;
  readonly body: Json;
  readonly schema: Json;
  readonly schemas: Json;
}

/** The operations of all documents that take JSON. */
function operations(): Documented[] {
  const all = [
    ['/v1', documented.document],
    ['', documented.accountDocument],
    ['/admin', documented.adminDocument],
  ] as const;
  return all.flatMap(([prefix, document]) =>
    Object.entries<Json>(document.paths).flatMap(([path, item]) =>
      Object.entries<Json>(item).flatMap(([method, { requestBody }]) => {
        const body = Object.values<Json>(requestBody?.content ?? {})[0];
        const schemas = document.components?.schemas as Json;
        if (body === undefined) return [];
        return {
          method: method.toUpperCase(),
          path: prefix + path,
          body,
          schema: resolved(body.schema, schemas),
          schemas,
        };
      }),
    ),
  );
}

function resolved(schema: Json, schemas: Json): Json {
  const reference: string | undefined = schema.$ref ?? schema.allOf?.[0].$ref;
  return reference === undefined ? schema : schemas[reference.split('/').at(-1) ?? ''];
}

/** What Swagger UI puts into the form of an operation: an example of the body, or a value of each property. */
function prefilled({ body, schema, schemas }: Documented): Json[] {
  if (body.examples) return Object.values<Json>(body.examples).map(({ value }) => value);
  return [sample(schema, schemas)];
}

function sample(schema: Json, schemas: Json): Json {
  const { example, default: fallback, enum: values, type, properties, items } = resolved(schema, schemas);
  const chosen = schema.example ?? example ?? schema.default ?? fallback ?? values?.[0];
  if (chosen !== undefined) return chosen;
  if (type === 'array') return [sample(items, schemas)];
  if (type === 'boolean') return true;
  if (type !== 'object') return type === 'string' ? 'string' : 0;
  return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, sample(one, schemas)]));
}

/** An address of the operation, and a client, where both exist. */
async function filled(service: TestService, path: string): Promise<{ path: string; clientId: string }> {
  const made = async (at: string, json: object): Promise<string> =>
    (await service.request('POST', at, { json })).body.id;
  const isOwn = path.startsWith('/account');
  const clientId = isOwn ? service.clientId : await made('/admin/clients', { name: 'Other', plan: 'pro' });
  const owner = isOwn ? {} : { clientId };
  const parent = isOwn ? '/account' : '/admin';
  const url = 'https://other.example.com/';
  const ids: Record<string, () => Promise<string>> = {
    '{clientId}': () => Promise.resolve(clientId),
    '{keyId}': () => made(`${parent}/keys`, owner),
    '{endpointId}': () => made(`${parent}/webhooks`, { ...owner, url, events: ['pets.created'] }),
  };
  const place = /\{\w+\}/.exec(path)?.[0];
  return {
    path: place === undefined ? path : path.replace(place, await (ids[place] as () => Promise<string>)()),
    clientId,
  };
}

const found = operations();

describe('a request body as Swagger UI prefills it', () => {
  it('exists for all operations', () => expect(found.length).toBeGreaterThan(10));

  it.each(found.map((one) => [one.method, one.path, one] as const))(
    'is taken by %s %s',
    async (method, template, one) => {
      for (const body of prefilled(one)) {
        const service = await openForTest(OPTIONS);
        const { path, clientId } = await filled(service, template);
        // What has no example is the caller's: the id of a client.
        const json = 'clientId' in body ? { ...body, clientId } : body;
        const response = await service.request(method, path, { json });
        expect([response.status, response.body], JSON.stringify(json)).toEqual([
          method === 'POST' && response.status !== 200 ? 201 : 200,
          response.body,
        ]);
      }
    },
  );
});

describe('an optional parameter', () => {
  const declared = [documented.document, documented.accountDocument, documented.adminDocument].flatMap(
    ({ paths }) =>
      Object.entries<Json>(paths).flatMap(([path, item]) =>
        Object.values<Json>(item).flatMap(({ parameters = [] }) =>
          parameters.map((one: Json) => [path, one] as const),
        ),
      ),
  );

  it('has no example, which Swagger UI would send: of a filter, it would empty the list', () => {
    const optional = declared.filter(([, { required }]) => !required);
    expect(optional.length).toBeGreaterThan(20);
    const withExample = optional.filter(([, one]) => (one.example ?? one.schema?.example) !== undefined);
    expect(withExample.map(([path, { name }]) => `${path} ${name}`)).toEqual([]);
  });
});

describe('the schema of a request body', () => {
  const changes = found.filter(({ method }) => method === 'PATCH');

  it.each(changes.map((one) => [one.path, one] as const))(
    'says whether a change of nothing is taken: %s',
    async (template, { schema }) => {
      const service = await openForTest(OPTIONS);
      const { path } = await filled(service, template);
      const { status } = await service.request('PATCH', path, { json: {} });
      expect([status, schema.minProperties]).toEqual([400, 1]);
    },
  );

  it('has a pattern for every duration, and a name for every enumeration that may be null', () => {
    const properties = found.flatMap(({ schema }) => Object.entries<Json>(schema.properties ?? {}));
    const durations = properties.filter(([name]) => ['expires', 'grace'].includes(name));
    expect(durations.length).toBeGreaterThan(5);
    for (const [name, { pattern, example }] of durations) {
      const accepted = ['90d', '3650d', '0', '3651d', '1.5h', '90', example].filter((text) =>
        new RegExp(pattern).test(text),
      );
      expect(accepted).toEqual(['90d', '3650d', ...(name === 'grace' ? ['0'] : []), example]);
    }
    const schemas = Object.values<Json>(documented.adminDocument.components?.schemas ?? {});
    for (const schema of schemas)
      for (const one of Object.values<Json>(schema.properties ?? {}))
        expect(one.enum ?? []).not.toContain(null);
  });
});

describe('every list', () => {
  it('documents that its cursor is not empty, which is refused', async () => {
    const paths = Object.entries<Json>(documented.adminDocument.paths).filter(([, { get }]) =>
      get?.parameters?.some(({ name }: Json) => name === 'cursor'),
    );
    expect(paths.length).toBeGreaterThan(4);
    for (const [path, { get }] of paths) {
      expect(get.parameters.find(({ name }: Json) => name === 'cursor').schema.minLength, path).toBe(1);
      if (!path.includes('{'))
        expect((await documented.request('GET', `/admin${path}?cursor=`)).status).toBe(400);
    }
  });
});
