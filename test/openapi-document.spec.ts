import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parse as parseYaml } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestService } from './support/test-service.js';

let service: TestService;
beforeAll(async () => {
  service = await TestService.open();
});
afterAll(() => service.close());

/** What the specification's tables say, written down once more by hand. */
const SPECIFICATION = [
  {
    operation: 'listPets',
    method: 'get',
    path: '/pets',
    statuses: ['200', '401', '429'],
    parameters: [
      {
        name: 'limit',
        in: 'query',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      },
      { name: 'status', in: 'query', required: false, schema: { $ref: '#/components/schemas/PetStatus' } },
    ],
    added: ['query cursor', 'header If-None-Match'],
    body: undefined,
    success: ['200', '#/components/schemas/Pets'],
  },
  {
    operation: 'createPet',
    method: 'post',
    path: '/pets',
    statuses: ['201', '400', '401', '429'],
    parameters: [],
    added: ['header Idempotency-Key'],
    body: '#/components/schemas/NewPet',
    success: ['201', '#/components/schemas/Pet'],
  },
  {
    operation: 'getPet',
    method: 'get',
    path: '/pets/{petId}',
    statuses: ['200', '401', '404', '429'],
    parameters: [{ name: 'petId', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } }],
    added: ['header If-None-Match'],
    body: undefined,
    success: ['200', '#/components/schemas/Pet'],
  },
] as const;

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
      'listUsage get /usage',
      'listAudit get /audit',
    ]);
    for (const { operation } of operations) expect(operation['x-required-scopes']).toEqual(['admin']);
    expect(served.body.servers.map(({ url }: Json) => url)).toEqual([
      '/admin',
      'https://staging.petstore.example/admin',
    ]);
    expect(served.body.components.schemas).not.toHaveProperty('Pet');
  });
});

describe('the OpenAPI document', () => {
  it('has the specification’s operations and no other', () => {
    const found = Object.entries(service.document.paths).flatMap(([path, item]) =>
      Object.entries(item as Json).map(
        ([method, operation]: [string, Json]) => `${operation.operationId} ${method} ${path}`,
      ),
    );
    expect(found.toSorted()).toEqual(
      SPECIFICATION.map(({ operation, method, path }) => `${operation} ${method} ${path}`).toSorted(),
    );
  });

  it.each(SPECIFICATION)(
    'has $operation as specified',
    ({ method, path, statuses, parameters, added, body, success }) => {
      const operation = (service.document.paths[path] as Json)[method];
      // What the specification does not have is optional: a client that knows nothing of it goes on working.
      const additions = operation.parameters.slice(parameters.length);
      expect(additions.map(({ name, in: place }: Json) => `${place} ${name}`)).toEqual(added);
      expect(additions.every(({ required }: Json) => required === false)).toBe(true);
      for (const parameter of parameters) {
        expect(operation.parameters).toContainEqual(
          expect.objectContaining({ ...parameter, schema: expect.objectContaining(parameter.schema) }),
        );
      }
      expect(operation.requestBody?.content['application/json'].schema.$ref).toBe(body);
      if (body) expect(operation.requestBody.required).toBe(true);
      expect(operation.responses[success[0]].content['application/json'].schema.$ref).toBe(success[1]);
      for (const status of statuses) {
        expect(operation.responses[status], status).toBeDefined();
        expect(operation.responses[status].headers).toMatchObject({
          'X-RateLimit-Limit': { $ref: '#/components/headers/X-RateLimit-Limit' },
          'X-RateLimit-Remaining': { $ref: '#/components/headers/X-RateLimit-Remaining' },
          'X-RateLimit-Reset': { $ref: '#/components/headers/X-RateLimit-Reset' },
        });
        if (Number(status) < 400) continue;
        expect(operation.responses[status].content['application/json'].schema.$ref).toBe(
          '#/components/schemas/Error',
        );
      }
      expect(operation.responses['429'].headers['Retry-After']).toBeDefined();
      for (const text of [operation.summary, operation.description]) expect(text).toMatch(/\w/);
    },
  );

  it('has the specification’s schemas and no other', () => {
    const schemas = service.document.components?.schemas as Json;
    expect(Object.keys(schemas)).toEqual(['Error', 'NewPet', 'Pet', 'PetStatus', 'Pets']);
    expect(schemas.PetStatus).toMatchObject({ type: 'string', enum: ['available', 'pending', 'sold'] });
    expect(schemas.NewPet.required).toEqual(['name', 'categoryId']);
    expect(Object.keys(schemas.NewPet.properties)).toEqual(['name', 'categoryId', 'status']);
    expect(schemas.NewPet.properties.categoryId).toMatchObject({ type: 'integer', format: 'int64' });
    expect(schemas.Pet.required).toEqual(['id', 'name', 'categoryId']);
    expect(Object.keys(schemas.Pet.properties)).toEqual(['id', 'name', 'categoryId', 'status']);
    expect(schemas.Pet.properties.id).toMatchObject({ type: 'integer', format: 'int64' });
    expect(schemas.Pets).toEqual({ type: 'array', items: { $ref: '#/components/schemas/Pet' } });
    expect(schemas.Error.required).toEqual(['code', 'message', 'status']);
    expect(schemas.Error.properties.status.type).toBe('integer');
  });

  it('is version 1.0.0, has both servers and the bearer scheme, and deprecates getPet alone', () => {
    const { info, servers, security, components, paths } = service.document as Json;
    expect(info.version).toBe('1.0.0');
    expect(servers.map(({ url }: Json) => url)).toEqual(['/v1', 'https://staging.petstore.example/v1']);
    expect(security).toEqual([{ bearer: [] }]);
    expect(components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' });
    expect([paths['/pets/{petId}'].get.deprecated, paths['/pets'].get.deprecated]).toEqual([true, undefined]);
  });

  it('tells when getPet is removed, and what to call instead', () => {
    const { description, 'x-sunset': sunset } = (service.document as Json).paths['/pets/{petId}'].get;
    expect(description).toContain(
      'Deprecated: it will be removed on 5 December 2030. Use `GET /v1/pets?status=…` instead.',
    );
    expect(sunset).toBe('2030-12-05T00:00:00.000Z');
  });

  it('requires the headers of a quota where a request has been counted, and nowhere else', () => {
    const { components, paths } = service.document as Json;
    const isRequired = (reference: { $ref: string }) =>
      components.headers[reference.$ref.split('/').at(-1) ?? ''].required;
    for (const operation of Object.values(paths).flatMap((item) => Object.values(item as Json)) as Json[]) {
      for (const [status, { headers }] of Object.entries<Json>(operation.responses)) {
        const isCertain = status !== 'default';
        for (const name of ['Limit', 'Remaining', 'Reset'])
          expect([status, isRequired(headers[`X-RateLimit-${name}`])]).toEqual([status, isCertain]);
      }
      expect(isRequired(operation.responses.default.headers['Retry-After'])).toBe(false);
    }
  });

  it('tells what an Idempotency-Key may be, fills none in, and when to come again after a 409', () => {
    const { parameters, responses } = (service.document as Json).paths['/pets'].post;
    const key = parameters.find(({ name }: Json) => name === 'Idempotency-Key');
    expect(key.schema).toEqual({ type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' });
    expect(JSON.stringify(key)).not.toMatch(/"(example|examples|default)"/);
    expect(responses['409'].headers['Retry-After'].schema.type).toBe('integer');
  });

  it('tells which names are taken', () => {
    const { NewPet } = (service.document as Json).components.schemas;
    const { pattern, minLength, maxLength, description } = NewPet.properties.name;
    expect([minLength, maxLength]).toEqual([1, 255]);
    expect(description).toMatch(/visible character.*NUL.*surrogate/);
    for (const name of ['a', ' a ', 'a\nb', '🐕', 'لولو', '.']) expect(name).toMatch(new RegExp(pattern));
    for (const name of ['', ' ', '\t\u00a0', 'a\0', '\0']) expect(name).not.toMatch(new RegExp(pattern));
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
    expect(json.body).toEqual(JSON.parse(JSON.stringify(service.document)));
    expect(parseYaml(yaml.text)).toEqual(json.body);
  });

  it.each(['docs/openapi.json', 'docs/openapi-admin.json'])(
    '%s passes the recommended rules of Redocly without a warning',
    async (file) => {
      const cli = new URL('../node_modules/@redocly/cli/bin/cli.js', import.meta.url).pathname;
      const { stdout, stderr } = await promisify(execFile)(
        process.execPath,
        [cli, 'lint', file, '--format=json'],
        {
          env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
        },
      );
      const report = JSON.parse(stdout.slice(stdout.indexOf('{')));
      expect(report.totals, stderr).toMatchObject({ errors: 0, warnings: 0, ignored: 0 });
    },
  );
});
