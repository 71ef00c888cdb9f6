import { type Server, request as openRequest } from 'node:http';
import {
  Controller,
  Get,
  Global,
  InternalServerErrorException,
  type MiddlewareConsumer,
  Module,
} from '@nestjs/common';
import { SkipThrottle } from '@nestjs/throttler';
import type { NextFunction, Request, Response } from 'express';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Public } from '../../src/auth/auth.decorators.js';
import { CredentialVerifier } from '../../src/auth/credential-verifier.js';
import { ApiError } from '../../src/core/errors/api-error.js';
import { HTTP_ERRORS } from '../../src/core/errors/http.errors.js';
import { AppLogger } from '../../src/core/logging/app-logger.js';
import { Readiness } from '../../src/docs/health/health.controller.js';
import { UNLIMITED, openForAll, openForTest } from '../support/opened.js';

class FailingVerifier extends CredentialVerifier {
  override readonly scheme = { name: 'failing', description: 'For a test.' };

  verify(token: string): never {
    if (token === 'bug') throw new Error('A bug of the verifier');
    throw new ApiError(HTTP_ERRORS.service_unavailable, { params: { reason: 'the provider is away' } });
  }
}

@Public()
@SkipThrottle()
@Controller({ path: 'open', version: '1' })
class OpenController {
  @Get()
  open(): string {
    return 'open';
  }

  @Get('fails')
  fails(): never {
    throw new InternalServerErrorException();
  }
}

@Global()
@Module({
  controllers: [OpenController],
  providers: [{ provide: CredentialVerifier, useClass: FailingVerifier }],
  exports: [CredentialVerifier],
})
class LinesModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((request: Request, response: Response, next: NextFunction) => {
        if (request.originalUrl.endsWith('/waits')) return;
        if (request.originalUrl.endsWith('/sends')) response.send('sent');
        else next(new Error('A bug of the middleware'));
      })
      .forRoutes('middleware/*end');
  }
}

const service = await openForAll({
  ...UNLIMITED,
  modules: [LinesModule],
  environment: { LOG_LEVEL: 'info', TRUST_PROXY: '1', CORS_ORIGINS: 'https://app.example' },
});

let lines: { level: string; status?: number; context?: string }[] = [];
beforeEach(async () => {
  // Its one line about all credentials is written before, and the end of that only a minute later.
  await get('/v1/pets', withToken('away'))('192.0.2.9');
  const { pino } = service.app.get(AppLogger);
  for (const level of ['info', 'warn', 'error'] as const)
    vi.spyOn(pino, level).mockImplementation((fields: unknown) => {
      const line: (typeof lines)[number] = { level, ...(fields as object) };
      // Services of other suites may still report the end of an outage, through Nest's logger of the whole process.
      if (level !== 'info' || line.status !== undefined || line.context === 'Requests') lines.push(line);
    });
  service.clock.advance(60_000);
  lines = [];
});

type Send = (address: string) => Promise<unknown>;

const get =
  (path: string, headers: Record<string, string> = {}, method = 'GET'): Send =>
  async (address) =>
    (
      await fetch(service.url + path, { method, headers: { ...headers, 'x-forwarded-for': address } })
    ).arrayBuffer();

const withToken = (token: string) => ({ authorization: `Bearer ${token}` });

/** Requests a path and leaves once the service has the request. */
const leave =
  (path: string): Send =>
  (address) =>
    new Promise((left) => {
      const pending = openRequest(service.url + path, { headers: { 'x-forwarded-for': address } });
      pending.on('error', left);
      (service.app.getHttpServer() as Server).once('request', () => pending.destroy());
      pending.end();
    });

async function times(count: number, send: Send, address = '192.0.2.1'): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) await send(address);
}

const counted = () => service.metric('http_requests_total');
const requestLines = () => lines.filter(({ status }) => status !== undefined);

describe('what a client without a valid key can write to the log', () => {
  it.each<[string, Send, number, number]>([
    ['a page', get('/docs/errors'), 200, 0],
    ['a HEAD', get('/docs', {}, 'HEAD'), 200, 0],
    ['a file', get('/favicon.ico'), 200, 0],
    ['a tag that is current', get('/favicon.ico', { 'if-none-match': '*' }), 304, 0],
    [
      'a preflight',
      get('/v1/pets', { origin: 'https://app.example', 'access-control-request-method': 'POST' }, 'OPTIONS'),
      204,
      0,
    ],
    ['an open route without a quota', get('/v1/open'), 200, 0],
    ['an open route without a quota that fails', get('/v1/open/fails'), 500, 1],
    ['a response of a middleware', get('/middleware/sends'), 200, 0],
    ['an error of a middleware', get('/middleware/fails'), 500, 1],
    ['a client that leaves', leave('/middleware/waits'), 499, 0],
    ['a verifier that is away', get('/v1/pets', withToken('away')), 503, 0],
    ['a verifier that fails', get('/v1/pets', withToken('bug')), 500, 1],
  ])('is bounded by address and minute: %s', async (_, send, status, errors) => {
    const before = await counted();
    await times(60, send);
    await expect.poll(requestLines).toHaveLength(60);
    expect(lines).toHaveLength(60 * (1 + errors));
    expect(requestLines()).toEqual(Array.from({ length: 60 }, () => expect.objectContaining({ status })));
    await times(20, send);
    await expect.poll(counted).toBe(before + 80);
    // One line says that there are more.
    expect(lines).toHaveLength(60 * (1 + errors) + 1);

    await times(1, send, '192.0.2.2');
    await expect.poll(requestLines).toHaveLength(61);
    service.clock.advance(60_000);
    await times(1, send);
    await expect.poll(requestLines).toHaveLength(62);
  });

  it('is nothing for a probe while the service stops', async () => {
    const readiness = service.app.get(Readiness);
    readiness.isStopping = true;
    await times(10, get('/health/ready'));
    readiness.isStopping = false;
    expect(lines).toEqual([]);
  });

  it('is bounded by the /56 of an IPv6 address', async () => {
    for (let sent = 0; sent < 80; sent += 1) await times(1, get('/favicon.ico'), `2001:db8:0:${sent}::1`);
    expect(requestLines()).toHaveLength(60);
  });

  it('does not keep its wrong keys out of the log', async () => {
    await times(80, get('/favicon.ico'));
    lines = [];
    await times(80, get('/v1/pets', withToken('pst_test_wrong')));
    expect(lines.map(({ status }) => status)).toEqual([...Array.from({ length: 60 }, () => 401), 429]);
  });
});

it('logs the address of a refused request without a valid key, and of no other', async () => {
  await times(1, get('/v1/pets', withToken('pst_test_wrong')));
  await times(61, get('/v1/pets'), '2001:db8::7');
  await times(1, get('/docs'));
  await times(1, get('/v1/none', withToken(service.key)));
  await expect.poll(requestLines).toHaveLength(64);
  expect(requestLines()).toMatchObject([
    { status: 401, address: '192.0.2.1' },
    ...Array.from({ length: 60 }, () => ({ status: 401, address: '2001:db8::7' })),
    { status: 429, address: '2001:db8::7' },
    { status: 200, address: undefined },
    { status: 404, address: undefined },
  ]);
});

it('logs no address with LOG_ADDRESSES=off', async () => {
  const silent = await openForTest({ environment: { LOG_LEVEL: 'info', LOG_ADDRESSES: 'off' } });
  const logged = vi.spyOn(silent.app.get(AppLogger).pino, 'info').mockImplementation(() => undefined);
  await silent.request('GET', '/v1/pets', { key: null });
  await expect.poll(() => logged.mock.calls[0]?.[0]).toMatchObject({ status: 401, address: undefined });
});

it('logs every request with a valid key', async () => {
  await times(80, get('/favicon.ico'));
  lines = [];
  await times(80, get('/v1/pets', withToken(service.key)));
  await times(5, get('/v1/none', withToken(service.key)));
  expect(requestLines()).toHaveLength(85);
});

it.each([
  ['off', 0, 0],
  ['0.25', 10, 3],
])('ACCESS_LOG=%s logs %i of 40 responses, and %i of 3 failures', async (share, responses, failures) => {
  const environment = { LOG_LEVEL: 'info', ACCESS_LOG: share };
  const sampled = await openForTest({ ...UNLIMITED, modules: [LinesModule], environment });
  const statuses: unknown[] = [];
  const { pino } = sampled.app.get(AppLogger);
  for (const level of ['info', 'error'] as const)
    vi.spyOn(pino, level).mockImplementation((fields: unknown) => {
      statuses.push((fields as { status?: number }).status);
    });
  for (let sent = 0; sent < 40; sent += 1) await sampled.request('GET', '/v1/pets');
  for (let sent = 0; sent < 3; sent += 1) await sampled.request('GET', '/v1/pets', { key: 'away' });
  await expect.poll(() => sampled.metric('http_requests_total')).toBe(43);
  const count = (status: number) => statuses.filter((one) => one === status).length;
  expect([count(200), count(503)]).toEqual([responses, failures]);
});
