import type { OpenAPIObject } from '@nestjs/swagger';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { declaredScopes, isHeld } from '../../src/auth/scopes.js';
import type { OperationObject } from '../../src/docs/openapi/document-outlines.js';
import { TestService, type TestServiceOptions } from '../kit/test-service.js';
import { asClient } from './as-client.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** An operation of a document, and a path that matches its parameters. */
interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
}

/**
 * Tests every operation in the service's OpenAPI documents against the errors that the platform guarantees: 401, 403, 404, 405, 415 and
 * 429. This covers modules that are added later without further tests: `describeRefusals({ modules: [ToysModule] })`. With `below`, only
 * the operations at these paths are tested, such as those of the module.
 */
export function describeRefusals(
  options: Pick<TestServiceOptions, 'modules'>,
  below: readonly string[] = [''],
): void {
  let service: TestService;
  let routes: Route[];
  beforeAll(async () => {
    service = await TestService.open({ ...options, scopes: ALL_SCOPES() });
    routes = routesOf(service).filter(({ path }) => below.some((prefix) => path.startsWith(prefix)));
  });
  afterAll(() => service.close());
  // An address may send 60 requests per minute without a key, and each key also has a limit per minute.
  beforeEach(() => service.clock.advance(60_000));
  const send = async ({ method, path }: Route, request = {}) => {
    if ((sent += 1) % 50 === 0) service.clock.advance(60_000);
    return service.request(method, path, { ...(method === 'GET' ? {} : { json: '{}' }), ...request });
  };
  let sent = 0;

  describe('every operation of the documents', () => {
    it('answers 401 without a key', async () => {
      expect(routes).not.toEqual([]);
      for (const route of routes.filter(needsKey)) {
        const { status, body, headers } = await send(route, { key: null });
        expect([status, body.code], nameOf(route)).toEqual([401, 'missing_api_key']);
        expect(headers.get('www-authenticate'), nameOf(route)).toMatch(/^Bearer /);
      }
    });

    it('answers 403 to a key without its scope', async () => {
      const guarded = routes.filter(({ operation }) => 'x-required-scopes' in operation);
      expect(guarded.length).toBeGreaterThan(0);
      const keys = new Map<string, string>();
      for (const route of guarded) {
        const required = (route.operation as { 'x-required-scopes'?: string[] })['x-required-scopes'] ?? [];
        const others = ALL_SCOPES().filter((name) => !required.some((one) => isHeld(one, [name])));
        const key = keys.get(required.join()) ?? (await service.issueKey({ scopes: others })).key;
        keys.set(required.join(), key);
        const { status, body } = await send(route, { key });
        expect([status, body.code], nameOf(route)).toEqual([403, 'insufficient_scope']);
      }
    });

    it('answers 404 one segment below its path', async () => {
      for (const route of routes) {
        const { status, body } = await send({ ...route, path: `${route.path}/1/nothing-here` });
        expect([status, body.code], nameOf(route)).toEqual([404, 'route_not_found']);
      }
    });

    it('answers 405 with Allow to the methods that its path does not have', async () => {
      for (const path of new Set(routes.map((route) => route.path))) {
        const [route] = routes.filter((one) => one.path === path) as [Route];
        const has = routes.filter((one) => one.path === path).map(({ method }) => method);
        for (const method of METHODS.map((verb) => verb.toUpperCase()).filter(
          (verb) => !has.includes(verb),
        )) {
          const { status, body, headers } = await send({ ...route, method });
          expect([status, body.code], `${method} ${path}`).toEqual([405, 'method_not_allowed']);
          expect(headers.get('allow')?.split(', '), `${method} ${path}`).toEqual(expect.arrayContaining(has));
        }
      }
    });

    it('answers 415 to a body of a type that it does not take, if it takes one', async () => {
      for (const route of routes.filter(({ operation }) => operation.requestBody && !takesAll(operation))) {
        const headers = { 'content-type': 'x-nobody/takes-it' };
        const { status, body } = await send(route, { headers });
        expect([status, body.code], nameOf(route)).toEqual([415, 'unsupported_media_type']);
      }
    });

    it('answers 429 with Retry-After once the quota is used, unless no quota counts it', async () => {
      const limits = { perMinute: 1, perDay: 1 };
      const { key } = await asClient(service, { plan: 'enterprise', limits, scopes: ALL_SCOPES() });
      await service.request('GET', '/v1/nothing', { key });
      for (const route of routes.filter(isCounted)) {
        const { status, body, headers } = await service.request(route.method, route.path, {
          key,
          ...(route.method === 'GET' ? {} : { json: '{}' }),
        });
        expect([status, body.code], nameOf(route)).toEqual([429, 'daily_quota_exceeded']);
        expect(Number(headers.get('retry-after')), nameOf(route)).toBeGreaterThan(0);
      }
    });
  });
}

const ALL_SCOPES = (): string[] => declaredScopes().map(({ name }) => name);

function routesOf({ documents }: TestService): Route[] {
  return documents.flatMap(({ base, document }) => routesBelow(base, document));
}

function routesBelow(base: string, document: OpenAPIObject): Route[] {
  return Object.entries(document.paths).flatMap(([template, item]) =>
    METHODS.flatMap((verb) => {
      const operation = item[verb];
      const path = `${base}${template.replace(/\{\w+\}/g, '1')}`;
      return operation ? [{ method: verb.toUpperCase(), path, operation }] : [];
    }),
  );
}

/** Whether an operation accepts bodies of any type. */
function takesAll({ requestBody }: OperationObject): boolean {
  return requestBody !== undefined && 'content' in requestBody && '*/*' in requestBody.content;
}

function needsKey({ operation }: Route): boolean {
  return operation.security?.length !== 0;
}

/** Whether an operation counts toward the quota of its key. */
function isCounted(route: Route): boolean {
  return needsKey(route) && !('x-uncounted' in route.operation);
}

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}
