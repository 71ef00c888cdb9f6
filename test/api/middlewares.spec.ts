import {
  Body,
  Controller,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  Post,
  Req,
} from '@nestjs/common';
import express, { type NextFunction, type Request, type Response, json, raw } from 'express';
import helmet from 'helmet';
import { describe, expect, it } from 'vitest';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { Text } from '../../src/http/validation/fields.js';
import { TestService } from '../kit/test-service.js';
import { openForAll, openForTest } from '../support/opened.js';

/** As Nest's documentation has it: a functional middleware, applied by a module. */
function marked(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader('X-Marked', 'yes');
  next();
}

@Module({})
class HelmetModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(helmet(), marked).forRoutes('{*path}');
  }
}

const OF_HELMET = ['strict-transport-security', 'x-dns-prefetch-control', 'cross-origin-opener-policy'];

describe.each([
  ['by consumer.apply() of a module', { modules: [HelmetModule] }, true],
  ['by app.use()', { prepare: (app: TestService['app']) => app.use(helmet()) }, false],
])('helmet, added %s', async (_, options, isMarked) => {
  const service = await openForAll(options);

  it.each([
    ['an answer', 'GET', '/v1/pets', {}, 200],
    ['a refusal of a guard', 'GET', '/v1/pets', { key: null }, 401],
    ['a path that is nowhere', 'GET', '/v1/nothing', {}, 404],
    ['an open route', 'GET', '/health/live', { key: null }, 200],
  ])('sets its headers on %s', async (_name, method, path, request, status) => {
    const { headers, ...rest } = await service.request(method, path, request);
    expect(rest.status).toBe(status);
    for (const name of OF_HELMET) expect([name, headers.has(name)]).toEqual([name, true]);
    expect(headers.has('x-marked')).toBe(isMarked);
  });

  it('leaves the page of the docs its own policy, by which it works', async () => {
    for (const path of ['/docs', '/docs/admin', '/docs/swagger-ui-bundle.js']) {
      const { headers } = await service.request('GET', path, { key: null });
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("script-src 'self'");
      // Over plain HTTP the page could load none of its files with this directive, which is one of helmet's.
      expect(policy).not.toContain('upgrade-insecure-requests');
      expect(headers.get('strict-transport-security')).toMatch(/max-age/);
    }
  });
});

class Note {
  @Text({ maxLength: 10 })
  text!: string;
}

@Controller({ path: 'notes', version: '1' })
@RequireScopes()
class NotesController {
  @Post('json')
  @Idempotent()
  json(@Body() { text }: Note): object {
    return { text };
  }

  @Post('raw')
  raw(@Req() { body }: Request): object {
    return { bytes: (body as Buffer).length };
  }
}

@Module({ controllers: [NotesController] })
class NotesModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(json()).forRoutes('v1/notes/json');
    consumer.apply(raw({ type: '*/*' })).forRoutes('v1/notes/raw');
  }
}

it('a parser of Express hands the body on that it has read', async () => {
  const service = await openForTest({ modules: [NotesModule] });
  const post = (path: string, body: object, headers = {}) =>
    service.request('POST', `/v1/notes/${path}`, { json: body, headers });
  const once = { 'idempotency-key': 'k' };
  expect((await post('json', { text: 'a' }, once)).body).toEqual({ text: 'a' });
  expect((await post('json', { text: 'b' }, once)).body.code).toBe('idempotency_key_reused');
  expect((await post('json', { text: '' })).body.code).toBe('validation_failed');
  expect((await post('raw', { text: 'a' })).body).toEqual({ bytes: 12 });
});

type WriteHead = (status: number, ...rest: unknown[]) => Response;

/** Responses of an Express application of a team, by the target. */
const PAGES: Readonly<Record<string, (response: Response, writeHead: WriteHead) => void>> = {
  '/page/json': (response) => void response.json({ of: 'page' }),
  '/page/head': (_, writeHead) => void writeHead(202, { 'X-Page': 'head' }).end('{}'),
  '/page/without-reason': (_, writeHead) => void writeHead(203, undefined, { 'X-Page': 'head' }).end('{}'),
  // As with `hasPage && { 'X-Page': 'head' }`.
  '/page/without-head': (_, writeHead) => void writeHead(203, false).end('{}'),
};
const page = express();
page.use(({ originalUrl }, response, next) => {
  const respond = PAGES[originalUrl];
  if (respond) respond(response, response.writeHead.bind(response) as WriteHead);
  else next();
});

@Module({})
class PageModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(page).forRoutes('{*path}');
  }
}

describe('an Express application as a middleware, which changes the prototypes of requests and responses', async () => {
  const service = await openForAll({ modules: [PageModule] });

  it.each([
    ['/page/json', 200, null],
    ['/page/head', 202, 'head'],
    ['/page/without-reason', 203, 'head'],
    ['/page/without-head', 203, null],
    ['/v1/pets', 200, null],
    ['/v1/nothing', 404, null],
  ])('sends %s with the headers that were set before it', async (path, status, header) => {
    const response = await service.request('GET', path);
    expect([response.status, response.headers.get('x-page')]).toEqual([status, header]);
    expect(response.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });
});
