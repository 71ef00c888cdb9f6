import { Global, Injectable, Module } from '@nestjs/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { digestOf, generateApiKey } from '../../src/auth/api-key.format.js';
import { CredentialVerifier, type VerifiedCredential } from '../../src/auth/credential-verifier.js';
import { ApiError } from '../../src/core/errors/api-error.js';
import { HTTP_ERRORS } from '../../src/core/errors/http.errors.js';
import { JsonReader } from '../../src/database/database.js';
import type { TestResponse, TestService } from '../kit/test-service.js';
import { openForTest } from '../support/opened.js';

/** How many credentials of an address may wait once it has used up its minute. */
const MAX_WAITING = 8;
const LIMIT = 60;

/** Look-ups that wait until the test lets them go. */
class Held {
  private readonly waiting: (() => void)[] = [];
  isHolding = true;
  /** How many run, and the most that ran at the same time. */
  running = 0;
  most = 0;
  started = 0;

  async pass<T>(work: () => T | Promise<T>): Promise<T> {
    this.started += 1;
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    if (this.isHolding) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.running -= 1;
    return work();
  }

  /** Lets those go that wait now, and all that come. */
  release(): void {
    this.isHolding = false;
    for (const go of this.waiting.splice(0)) go();
  }
}

let held = new Held();
afterEach(() => {
  held.release();
  held = new Held();
});

/** The results of the verifier by token, once it continues. */
const OUTCOMES: Readonly<Record<string, () => VerifiedCredential | undefined>> = {
  good: () => ({ user: 'ann', scopes: ['pets:read'], plan: 'free' }),
  failing: () => {
    throw new Error('A bug of the verifier');
  },
  away: () => {
    throw new ApiError(HTTP_ERRORS.service_unavailable, { params: { reason: 'the provider is away' } });
  },
};

@Injectable()
class SlowVerifier extends CredentialVerifier {
  override readonly scheme = { name: 'slow', description: 'For a test.' };

  verify(token: string): Promise<VerifiedCredential | undefined> {
    return held.pass(() => OUTCOMES[token]?.());
  }
}

@Global()
@Module({
  providers: [{ provide: CredentialVerifier, useClass: SlowVerifier }],
  exports: [CredentialVerifier],
})
class SlowModule {}

/** Two requests in flight are overload: the one of a test may be, and none that waits. */
async function open(environment: Record<string, string> = {}): Promise<TestService> {
  const service = await openForTest({
    modules: [SlowModule],
    environment: { TRUST_PROXY: '1', MAX_REQUESTS_IN_FLIGHT: '2', ...environment },
  });
  const reader = service.app.get(JsonReader);
  const first = reader.first.bind(reader);
  const own = digestOf(service.key);
  vi.spyOn(reader, 'first').mockImplementation((sql, parameters) =>
    sql.includes('api_keys') && !parameters?.includes(own)
      ? held.pass(() => first(sql, parameters))
      : first(sql, parameters),
  );
  return service;
}

type Credential = () => string;
const unknownKey: Credential = () => generateApiKey('test');
const unknownToken: Credential = () => `token.${Math.random()}`;

function send(
  service: TestService,
  key: string | null,
  address: string,
  signal?: AbortSignal,
): Promise<Response> {
  const sent = fetch(`${service.url}/v1/pets?limit=1`, {
    headers: { 'x-forwarded-for': address, ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
    ...(signal ? { signal } : {}),
  });
  // A test that fails leaves them.
  sent.catch(() => undefined);
  return sent;
}

const flood = (service: TestService, count: number, credential: Credential, address = '192.0.2.1') =>
  Array.from({ length: count }, () => send(service, credential(), address));

const inFlight = (service: TestService) => service.metric('http_requests_in_flight');
const shed = (service: TestService) => service.metric('http_requests_shed_total');
const statusOf = ({ status }: Response) => status;
const countOf = (statuses: readonly number[], status: number) =>
  statuses.filter((one) => one === status).length;

/** A key that is cached: its look-up went through. */
async function knownKey(service: TestService): Promise<string> {
  held.isHolding = false;
  expect((await send(service, service.key, '198.51.100.7')).status).toBe(200);
  held.isHolding = true;
  return service.key;
}

/** Uses up the minute of an address. */
async function useUp(service: TestService, address = '192.0.2.1'): Promise<void> {
  for (let sent = 0; sent < LIMIT; sent += 1) await send(service, 'pst_test_malformed', address);
  held.most = held.started = 0;
}

describe.each<[string, Credential]>([
  ['keys', unknownKey],
  ['tokens of a slow verifier', unknownToken],
])('unknown %s', (_, credential) => {
  it('of an address without quota left are looked up one at a time; few wait, and are no load', async () => {
    const service = await open();
    const key = await knownKey(service);
    await useUp(service);
    const sent = flood(service, 50, credential);
    let refused = 0;
    for (const one of sent) void one.then(() => (refused += 1));
    await expect.poll(() => refused).toBe(50 - 1 - MAX_WAITING);
    expect([held.running, held.started]).toEqual([1, 1]);
    expect(await inFlight(service)).toBe(0);
    // A known key of the same address, and of another.
    for (const address of ['192.0.2.1', '203.0.113.9'])
      expect((await send(service, key, address)).status).toBe(200);
    held.release();
    const responses = await Promise.all(sent);
    expect(responses.map(statusOf)).toEqual(Array.from({ length: 50 }, () => 429));
    for (const { headers } of responses)
      expect([headers.get('x-ratelimit-remaining'), headers.get('retry-after')]).toEqual(['0', '50']);
    expect([held.started, held.most]).toEqual([1 + MAX_WAITING, 1]);
    expect(await shed(service)).toBe(0);
    expect((await send(service, key, '192.0.2.1')).status).toBe(200);
  });

  it('that arrive together are looked up no more at a time than the address may still send', async () => {
    const service = await open();
    const key = await knownKey(service);
    held.started = held.most = 0;
    const sent = flood(service, 100, credential);
    await expect.poll(() => held.running).toBe(LIMIT);
    expect((await send(service, key, '203.0.113.9')).status).toBe(200);
    held.release();
    const statuses = (await Promise.all(sent)).map(statusOf);
    expect([countOf(statuses, 401), countOf(statuses, 429)]).toEqual([LIMIT, 40]);
    expect(held.most).toBe(LIMIT);
    expect(await shed(service)).toBe(0);
  });

  it('of several addresses do not affect other callers', async () => {
    const service = await open();
    const key = await knownKey(service);
    const addresses = Array.from({ length: 10 }, (__, at) => `192.0.2.${at}`);
    const sent = addresses.flatMap((address) => flood(service, 20, credential, address));
    await expect.poll(() => held.running).toBe(200);
    expect(await inFlight(service)).toBe(0);
    expect((await send(service, key, '203.0.113.9')).status).toBe(200);
    held.release();
    expect(countOf((await Promise.all(sent)).map(statusOf), 401)).toBe(200);
  });

  it('give up their place when their client has disconnected', async () => {
    const service = await open();
    await useUp(service);
    const [running] = flood(service, 1, credential);
    await expect.poll(() => held.running).toBe(1);
    const client = new AbortController();
    const aborted = Array.from({ length: MAX_WAITING }, () =>
      send(service, credential(), '192.0.2.1', client.signal).catch(() => undefined),
    );
    // The queue is full.
    await expect
      .poll(async () => {
        const probe = new AbortController();
        const response = send(service, credential(), '192.0.2.1', probe.signal).then(statusOf, () => 0);
        const status = await Promise.race([
          response,
          new Promise<number>((done) => setTimeout(done, 100, 0)),
        ]);
        probe.abort();
        return status;
      })
      .toBe(429);
    client.abort();
    await Promise.all(aborted);
    await expect
      .poll(() => service.metric('http_requests_total', { status: '499' }))
      .toBeGreaterThanOrEqual(MAX_WAITING);
    const next = send(service, service.key, '192.0.2.1');
    held.release();
    expect((await next).status).toBe(200);
    expect((await running)?.status).toBe(429);
    await expect.poll(() => inFlight(service)).toBe(0);
  });

  it('leave a valid one of the same address its turn', async () => {
    const service = await open();
    await useUp(service);
    const sent = flood(service, 3, credential);
    await expect.poll(() => held.running).toBe(1);
    const valid = send(service, credential === unknownKey ? service.key : 'good', '192.0.2.1');
    held.release();
    expect((await valid).status).toBe(200);
    await Promise.all(sent);
  });

  it('of one IPv6 site share its queue', async () => {
    const service = await open();
    await useUp(service, '2001:db8:0:7::1');
    const sent = Array.from({ length: 30 }, (__, at) =>
      send(service, credential(), `2001:db8:0:${(at % 200).toString(16)}::${at}`),
    );
    let refused = 0;
    for (const one of sent) void one.then(() => (refused += 1));
    await expect.poll(() => refused).toBe(30 - 1 - MAX_WAITING);
    expect(held.running).toBe(1);
    held.release();
    await Promise.all(sent);
  });
});

describe('a flood of tokens', () => {
  it('delays no key of the same address, whose lookup needs no verifier', async () => {
    const service = await open();
    await useUp(service);
    const sent = flood(service, 30, unknownToken);
    await expect.poll(() => held.running).toBe(1);
    const response = send(service, service.key, '192.0.2.1');
    await expect.poll(() => held.running).toBe(2);
    held.release();
    expect((await response).status).toBe(200);
    await Promise.all(sent);
  });

  it.each([
    ['failing', 500],
    ['away', 503],
  ])('whose verifier is %s releases every place', async (token, status) => {
    const service = await open();
    await useUp(service);
    held.release();
    for (let round = 0; round < 3; round += 1) {
      const responses: TestResponse[] = await Promise.all(
        Array.from({ length: 9 }, () =>
          service.request('GET', '/v1/pets', { key: token, headers: { 'x-forwarded-for': '192.0.2.1' } }),
        ),
      );
      expect(new Set(responses.map((response) => response.status))).toEqual(new Set([status]));
    }
    expect((await send(service, 'good', '192.0.2.1')).status).toBe(200);
  });

  it('whose verifier never settles ends with 503, and releases its places', async () => {
    const service = await open();
    await useUp(service);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const sent = flood(service, 2, unknownToken);
      await vi.waitFor(() => expect(held.running).toBe(1));
      for (const count of [1, 2]) {
        await vi.waitFor(() => expect(held.started).toBe(count));
        vi.advanceTimersByTime(10_000);
        expect((await sent[count - 1])?.status).toBe(503);
      }
    } finally {
      vi.useRealTimers();
    }
    held.release();
    expect((await send(service, 'good', '192.0.2.1')).status).toBe(200);
  });
});
