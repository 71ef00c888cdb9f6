import type { OpenAPIObject } from '@nestjs/swagger';
import { describe, expect, it, onTestFinished } from 'vitest';
import { declaredScopes } from '../../src/auth/clients/scopes.js';
import type { OperationObject } from '../../src/docs/openapi/document-outlines.js';
import { TestService, type TestServiceOptions } from '../kit/test-service.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** One operation of the document, with an address that its path parameters fit. */
interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
}

/**
 * Tests every operation of the service's OpenAPI documents against the refusals that the platform promises for
 * it: 401, 403, 404, 405, 415 and 429. A module that is added tomorrow is covered without a test of its own:
 *
 *     describeRefusals({ modules: [ToysModule] });
 */
export function describeRefusals(options: Pick<TestServiceOptions, 'modules'>): void {
  const open = async (more: TestServiceOptions = {}): Promise<TestService> => {
    const service = await TestService.open({ ...options, ...more });
    onTestFinished(() => service.close());
    return service;
  };
  const send = (service: TestService, { method, path }: Route, request = {}) =>
    service.request(method, path, { ...(method === 'GET' ? {} : { json: '{}' }), ...request });

  describe('every operation of the documents', () => {
    it('exists', async () => {
      const service = await open();
      expect(service.document.paths).not.toEqual({});
      expect(service.adminDocument.paths).not.toEqual({});
    });

    it('answers 401 without a key', async () => {
      const service = await open();
      for (const route of routesOf(service).filter(needsKey)) {
        const { status, body, headers } = await send(service, route, { key: null });
        expect([status, body.code], nameOf(route)).toEqual([401, 'missing_api_key']);
        expect(headers.get('www-authenticate'), nameOf(route)).toMatch(/^Bearer /);
        // An address may send 60 requests a minute without a key, and there are more operations.
        service.clock.advance(60_000);
      }
    });

    it('answers 403 to a key without its scope', async () => {
      const service = await open();
      const guarded = routesOf(service).filter(({ operation }) => 'x-required-scopes' in operation);
      expect(guarded.length).toBeGreaterThan(0);
      for (const route of guarded) {
        const required = (route.operation as { 'x-required-scopes'?: string[] })['x-required-scopes'] ?? [];
        const others = declaredScopes().filter(({ name }) => !required.includes(name));
        const { key } = await service.issueKey({ scopes: others.map(({ name }) => name) });
        const { status, body } = await send(service, route, { key });
        expect([status, body.code], nameOf(route)).toEqual([403, 'insufficient_scope']);
      }
    });

    it('answers 404 one segment below its path', async () => {
      const service = await open();
      for (const route of routesOf(service)) {
        const { status, body } = await send(service, { ...route, path: `${route.path}/1/nothing-here` });
        expect([status, body.code], nameOf(route)).toEqual([404, 'route_not_found']);
      }
    });

    it('answers 405 with Allow to the methods that its path does not have', async () => {
      const service = await open();
      for (const route of routesOf(service)) {
        const has = routesOf(service)
          .filter(({ path }) => path === route.path)
          .map(({ method }) => method);
        for (const method of METHODS.map((verb) => verb.toUpperCase()).filter(
          (verb) => !has.includes(verb),
        )) {
          const { status, body, headers } = await send(service, { ...route, method });
          expect([status, body.code], `${method} ${route.path}`).toEqual([405, 'method_not_allowed']);
          expect(headers.get('allow')?.split(', '), `${method} ${route.path}`).toEqual(
            expect.arrayContaining(has),
          );
        }
      }
    });

    it('answers 415 to a body of a type that it does not take, if it takes one', async () => {
      const service = await open({ scopes: declaredScopes().map(({ name }) => name) });
      for (const route of routesOf(service).filter(
        ({ operation }) => operation.requestBody && !takesAll(operation),
      )) {
        const headers = { 'content-type': 'x-nobody/takes-it' };
        const { status, body } = await send(service, route, { headers });
        expect([status, body.code], nameOf(route)).toEqual([415, 'unsupported_media_type']);
      }
    });

    it('answers 429 with Retry-After once the quota is used, unless no quota counts it', async () => {
      const scopes = declaredScopes().map(({ name }) => name);
      const service = await open({ plan: 'enterprise', limits: { perMinute: 1, perDay: 1 }, scopes });
      await service.request('GET', '/v1/nothing');
      for (const route of routesOf(service).filter(isCounted)) {
        const { status, body, headers } = await send(service, route);
        expect([status, body.code], nameOf(route)).toEqual([429, 'daily_quota_exceeded']);
        expect(Number(headers.get('retry-after')), nameOf(route)).toBeGreaterThan(0);
      }
    });
  });
}

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

/** Whether an operation takes bodies of all types. */
function takesAll({ requestBody }: OperationObject): boolean {
  return requestBody !== undefined && 'content' in requestBody && '*/*' in requestBody.content;
}

function needsKey({ operation }: Route): boolean {
  return operation.security?.length !== 0;
}

/** Whether an operation counts for the quota of the key that it needs. */
function isCounted(route: Route): boolean {
  return needsKey(route) && !('x-uncounted' in route.operation);
}

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}
