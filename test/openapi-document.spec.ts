import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parse as parseYaml } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestService } from '../src/testing/test-service.js';

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
