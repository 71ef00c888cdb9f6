import { EventEmitter } from 'node:events';
import { Controller, Get, Global, type MessageEvent, Module, Res, Sse } from '@nestjs/common';
import type { Response } from 'express';
import { Observable } from 'rxjs';
import { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Public, RequireScopes } from '../../src/auth/auth.decorators.js';
import { CredentialVerifier, type VerifiedCredential } from '../../src/auth/credential-verifier.js';
import { defineScopes } from '../../src/auth/scopes.js';
import { ApiError } from '../../src/core/errors/api-error.js';
import { HTTP_ERRORS } from '../../src/core/errors/http.errors.js';
import type { TestService } from '../kit/test-service.js';
import { described } from '../support/described.js';
import { UNLIMITED, databaseOf, openForAll, openForTest } from '../support/opened.js';
import { petstoreHere } from '../support/petstore-here.js';
import { listening } from '../support/raw-http.js';

const SCOPES = defineScopes('streamed', { read: 'Read streams.', more: 'Read more of them.' });
const EVENTS = new EventEmitter().setMaxListeners(0);

function events(): Observable<MessageEvent> {
  return new Observable((subscriber) => {
    const send = (data: string) => subscriber.next({ data });
    EVENTS.on('event', send);
    return () => void EVENTS.off('event', send);
  });
}

@Controller({ path: 'streams', version: '1' })
@RequireScopes(SCOPES.read)
class StreamsController {
  @Sse()
  @RequireScopes(SCOPES.more)
  @described('streams', { contentType: 'text/event-stream' })
  stream(): Observable<MessageEvent> {
    return events();
  }

  @Get('written')
  written(@Res() response: Response): void {
    response.setHeader('Content-Type', 'text/event-stream').write('data: begun\n\n');
  }
}

@Controller({ path: 'open-streams', version: '1' })
@Public()
class OpenController {
  @Sse()
  stream(): Observable<MessageEvent> {
    return events();
  }
}

const ANN: VerifiedCredential = { user: 'ann', scopes: ['streamed:read', 'streamed:more'], plan: 'pro' };

/** How the verifier decides, and how often it was asked. */
const verifier = { verify: (): VerifiedCredential | undefined => ANN, calls: 0 };

class TestVerifier extends CredentialVerifier {
  readonly scheme = { name: 'test', description: 'For a test.' };

  verify(): VerifiedCredential | undefined {
    verifier.calls += 1;
    return verifier.verify();
  }
}

@Global()
@Module({
  controllers: [StreamsController, OpenController],
  providers: [{ provide: CredentialVerifier, useClass: TestVerifier }],
  exports: [CredentialVerifier],
})
class StreamsModule {}

const modules = [StreamsModule];
const changing = await openForAll({ database: 'file', modules, scopes: ['admin'] });
const other = await openForAll({ modules, environment: databaseOf(changing) });

beforeEach(() => Object.assign(verifier, { verify: () => ANN, calls: 0 }));

/** An event stream that is open. */
async function follow(service: TestService, credential: string | null, path = '/v1/streams') {
  const stream = listening(service.url);
  const authorization = credential === null ? '' : `Authorization: Bearer ${credential}\r\n`;
  stream.socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${authorization}\r\n`);
  await expect.poll(stream.received).toContain('text/event-stream');
  return stream;
}

type Stream = Awaited<ReturnType<typeof follow>>;

/** Whether a stream is open: it gets an event. */
async function expectOpen({ received }: Stream): Promise<void> {
  const data = crypto.randomUUID();
  EVENTS.emit('event', data);
  await expect.poll(received).toContain(`data: ${data}\n\n`);
}

/** The Error body in the last event of a stream that has ended, complete and with its connection. */
async function lastEventOf({ received, closed }: Stream): Promise<{ code: string; status: number }> {
  await closed;
  const [, data = ''] = /\r\nevent: error\ndata: (.*)\n\n\r\n0\r\n\r\n$/.exec(received()) ?? [];
  return JSON.parse(data) as { code: string; status: number };
}

interface Changed {
  readonly id: string;
  readonly clientId: string;
}

const over =
  (method: string, pathOf: (changed: Changed) => string) =>
  async (changed: Changed): Promise<void> =>
    expect((await changing.request(method, pathOf(changed))).status).toBeLessThan(300);
const command =
  (argsOf: (changed: Changed) => readonly string[]) =>
  async (changed: Changed): Promise<void> => {
    const { code, stderr } = await petstoreHere('.', argsOf(changed), databaseOf(changing));
    expect([code, stderr]).toEqual([0, stderr]);
  };
const sql =
  (statementOf: (changed: Changed) => string) =>
  async (changed: Changed): Promise<void> =>
    void (await changing.app.get(DataSource).query(statementOf(changed)));

const WAYS: [string, (changed: Changed) => Promise<void>, number, string][] = [
  ['revocation by HTTP', over('POST', ({ id }) => `/admin/keys/${id}/revoke`), 401, 'revoked_api_key'],
  ['revocation by a command', command(({ id }) => ['key', 'revoke', id, '--yes']), 401, 'revoked_api_key'],
  [
    'suspension by HTTP',
    over('POST', ({ clientId }) => `/admin/clients/${clientId}/suspend`),
    403,
    'client_suspended',
  ],
  [
    'suspension by a command',
    command(({ clientId }) => ['client', 'suspend', clientId]),
    403,
    'client_suspended',
  ],
  [
    'loss of a scope',
    sql(({ id }) => `UPDATE api_keys SET scopes = '["streamed:read"]' WHERE id = '${id}'`),
    403,
    'insufficient_scope',
  ],
  ['deletion of the key', sql(({ id }) => `DELETE FROM api_keys WHERE id = '${id}'`), 401, 'invalid_api_key'],
];

const issue = () => changing.issueKey({ plan: 'pro', scopes: ['streamed:read', 'streamed:more'] });

describe('a stream of server-sent events ends within a minute', () => {
  it.each(WAYS)('after %s, on each instance, and others continue', async (_, change, status, code) => {
    const [issued, unchanged] = [await issue(), await issue()];
    const ending = [await follow(changing, issued.key), await follow(other, issued.key)];
    const open = [await follow(changing, unchanged.key), await follow(other, unchanged.key)];
    await change(issued);
    for (const service of [changing, other]) service.clock.advance(60_000);
    for (const stream of ending) expect(await lastEventOf(stream)).toMatchObject({ code, status });
    for (const stream of open) await expectOpen(stream);
  });

  it('after the expiry of the key, and ends its source', async () => {
    const { key } = await changing.issueKey({
      plan: 'pro',
      scopes: ['streamed:read', 'streamed:more'],
      expires: 30_000,
    });
    const before = EVENTS.listenerCount('event');
    const stream = await follow(changing, key);
    expect(EVENTS.listenerCount('event')).toBe(before + 1);
    changing.clock.advance(29_999);
    await expectOpen(stream);
    changing.clock.advance(30_001);
    expect(await lastEventOf(stream)).toMatchObject({ code: 'expired_api_key', status: 401 });
    await expect.poll(() => EVENTS.listenerCount('event')).toBe(before);
  });

  it.each<[string, () => VerifiedCredential | undefined, number, string]>([
    ['accepts no more', () => undefined, 401, 'invalid_api_key'],
    ['accepts with fewer scopes', () => ({ ...ANN, scopes: ['streamed:read'] }), 403, 'insufficient_scope'],
    [
      'fails on, which is no outage',
      () => {
        throw new Error('The token has expired');
      },
      500,
      'internal_error',
    ],
  ])('of a token that its verifier %s', async (_, verify, status, code) => {
    const stream = await follow(changing, 'token');
    verifier.verify = verify;
    changing.clock.advance(60_000);
    expect(await lastEventOf(stream)).toMatchObject({ code, status });
  });

  it('that a handler writes itself', async () => {
    const issued = await issue();
    const stream = await follow(changing, issued.key, '/v1/streams/written');
    await over('POST', ({ id }) => `/admin/keys/${id}/revoke`)(issued);
    changing.clock.advance(60_000);
    expect(await lastEventOf(stream)).toMatchObject({ code: 'revoked_api_key' });
  });

  it('also while its address has no wrong credentials left', async () => {
    const issued = await issue();
    const stream = await follow(changing, issued.key);
    await over('POST', ({ id }) => `/admin/keys/${id}/revoke`)(issued);
    changing.clock.advance(60_000);
    for (let sent = 0; sent < 70; sent += 1) await changing.request('GET', '/v1/pets', { key: null });
    expect(await lastEventOf(stream)).toMatchObject({ code: 'revoked_api_key' });
  });

  it('with its code in the metrics', async () => {
    const count = () => changing.metric('petstore_refusals_total', { code: 'revoked_api_key' });
    const [issued, before] = [await issue(), await count()];
    const stream = await follow(changing, issued.key);
    await over('POST', ({ id }) => `/admin/keys/${id}/revoke`)(issued);
    changing.clock.advance(60_000);
    await stream.closed;
    await expect.poll(count).toBe(before + 1);
  });
});

describe('a stream continues', () => {
  it.each([
    [503, HTTP_ERRORS.service_unavailable],
    [429, { ...HTTP_ERRORS.service_unavailable, status: 429 }],
  ])('through a %i, and ends after a refusal', async (_, row) => {
    const stream = await follow(changing, 'token');
    verifier.verify = () => {
      throw new ApiError(row, { params: { reason: 'the provider is away' } });
    };
    for (const calls of [2, 3]) {
      changing.clock.advance(60_000);
      await expect.poll(() => verifier.calls).toBe(calls);
      await expectOpen(stream);
    }
    verifier.verify = () => undefined;
    changing.clock.advance(60_000);
    expect(await lastEventOf(stream)).toMatchObject({ code: 'invalid_api_key' });
  });

  it('on a public route, which requires no key', async () => {
    const issued = await issue();
    const streams = [
      await follow(changing, null, '/v1/open-streams'),
      await follow(changing, issued.key, '/v1/open-streams'),
    ];
    await over('POST', ({ id }) => `/admin/keys/${id}/revoke`)(issued);
    const marked = await follow(changing, 'token');
    verifier.verify = () => undefined;
    changing.clock.advance(60_000);
    expect(await lastEventOf(marked)).toMatchObject({ code: 'invalid_api_key' });
    // They were checked in the same second.
    for (const stream of streams) await expectOpen(stream);
  });

  it('with any remaining quota, and uses none', async () => {
    const counted = () => changing.metric('petstore_quota_verdicts_total');
    const stream = await follow(changing, 'token');
    const before = await counted();
    changing.clock.advance(60_000);
    await expect.poll(() => verifier.calls).toBe(2);
    await expectOpen(stream);
    expect(await counted()).toBe(before);
  });
});

it('many streams that are opened at the same time are not checked at the same time, nor after a pause', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const service = await openForTest({ modules });
  verifier.verify = () => ({ ...ANN, ...UNLIMITED });
  const streams = 200;
  await Promise.all(Array.from({ length: streams }, () => follow(service, 'token')));
  const checkedAfter = (seconds: number): number => {
    const before = verifier.calls;
    service.clock.advance(seconds * 1_000);
    vi.advanceTimersByTime(1_000);
    return verifier.calls - before;
  };
  const times = Array.from({ length: 60 }, () => checkedAfter(1));
  expect(times.reduce((sum, one) => sum + one)).toBeGreaterThanOrEqual(streams);
  expect(Math.max(...times)).toBeLessThan(streams / 5);
  expect([checkedAfter(600), checkedAfter(0)]).toEqual([100, 100]);
});
