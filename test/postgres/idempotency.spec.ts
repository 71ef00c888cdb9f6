import { Body, Controller, HttpCode, Injectable, Module, Post } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { ApiKey } from '../../src/auth/clients/api-key.entity.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { Client } from '../../src/auth/clients/client.entity.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { KeyIssuingService } from '../../src/auth/clients/key-issuing.service.js';
import { Public } from '../../src/auth/auth.decorators.js';
import { Sweeper } from '../../src/database/sweeper.js';
import { IdempotencyEntry } from '../../src/http/idempotency/idempotency-entry.entity.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { Pet } from '../support/pets/pet.entity.js';
import { type TestResponse } from '../kit/test-service.js';
import { openForAll } from '../support/opened.js';

const NEW = { name: 'Rex', categoryId: 1 };

const LIMITS = { plan: 'enterprise', perMinute: 10_000, perDay: 10_000 } as const;

@Public()
@Controller('plain')
class PlainController {
  @Post()
  @HttpCode(200)
  handle(): object {
    return {};
  }
}

let fail = true;

@Injectable()
@Controller({ path: 'litters', version: '1' })
class LittersController {
  constructor(private readonly dataSource: DataSource) {}

  @Post()
  @Idempotent()
  async create(@Body() _body: object): Promise<object> {
    await this.dataSource.manager.insert(Pet, { name: 'Half', categoryId: 1n, status: 'sold' });
    if (fail) throw new Error('the second half is missing');
    return { done: true };
  }
}

@Module({ controllers: [PlainController, LittersController] })
class AddedModule {}

const service = await openForAll({ modules: [AddedModule] });

/** A client of the test's own, whose keys no other test has used; `pets` are those that were added since. */
async function open() {
  const { app } = service;
  const { id: clientId } = await app.get(ClientsService).create({ name: 'Own', ...LIMITS }, SERVICE_ITSELF);
  const issue = async (scopes?: string[]) =>
    (await app.get(KeyIssuingService).issue({ clientId, ...(scopes ? { scopes } : {}) }, SERVICE_ITSELF))
      .secret;
  const own = await issue();
  const post = (
    key: string | undefined,
    json: unknown = NEW,
    path = '/v1/pets',
    apiKey = own,
  ): Promise<TestResponse> =>
    service.request('POST', path, {
      key: apiKey,
      json,
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  const rows = () => app.get(DataSource).manager.countBy(Pet, {});
  const before = await rows();
  return { post, issue, pets: async () => (await rows()) - before };
}

describe('a POST with an Idempotency-Key', () => {
  it('is done once and returns the same status, Location and body, and each time without a key', async () => {
    const { post, pets } = await open();
    const first = await post('k-1');
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null]);
    for (let repeated = 0; repeated < 3; repeated += 1) {
      const again = await post('k-1');
      expect([again.status, again.text, again.headers.get('location')]).toEqual([
        201,
        first.text,
        first.headers.get('location'),
      ]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(again.headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
    expect((await post(undefined)).body.id).not.toBe((await post(undefined)).body.id);
    expect(await pets()).toBe(3);
  });

  it('is carried out once under 20 parallel duplicates, which get 409 in the meantime and the response when they retry', async () => {
    const { post, pets } = await open();
    let inProgress = 0;
    const patiently = async (): Promise<TestResponse> => {
      const response = await post('k-1');
      if (response.status !== 409) return response;
      inProgress += 1;
      expect([response.body.code, response.headers.get('retry-after')]).toEqual([
        'idempotency_in_progress',
        '1',
      ]);
      return patiently();
    };
    const responses = await Promise.all(Array.from({ length: 20 }, patiently));
    expect(inProgress).toBeGreaterThan(0);
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);
    expect(await pets()).toBe(1);
  });

  it('with another body, even by a space, is refused with 422 and changes nothing', async () => {
    const { post, pets } = await open();
    await post('k-1');
    for (const body of [
      { ...NEW, name: 'Max' },
      '{"name":"Rex", "categoryId":1}',
      { ...NEW, status: 'available' },
    ]) {
      const { status, body: error } = await post('k-1', body);
      expect([status, error.code]).toEqual([422, 'idempotency_key_reused']);
    }
    expect(await pets()).toBe(1);
  });

  it('is another one of another client, and the same of another key of the client, which needs scope and quota', async () => {
    const { post, pets, issue } = await open();
    const isReplayed = async (key?: string) =>
      (await post('k-1', NEW, '/v1/pets', key)).headers.has('idempotent-replayed');
    expect(await isReplayed()).toBe(false);
    expect(await isReplayed((await service.issueKey({ plan: 'free' })).key)).toBe(false);
    expect(await isReplayed(await issue())).toBe(true);
    expect(await pets()).toBe(2);
    expect((await post('k-1')).headers.get('ratelimit')).toContain('"day";r=9997;');
    expect((await post('k-1', NEW, '/v1/pets', await issue(['pets:read']))).status).toBe(403);
  });

  it('that was refused is not stored: it can be corrected under the same key', async () => {
    const { post, pets } = await open();
    expect((await post('k-1', { name: '', categoryId: 1 })).status).toBe(400);
    expect((await post('k-1', NEW)).status).toBe(201);
    expect(await pets()).toBe(1);
  });

  it('leaves after 24 hours', async () => {
    const { post, pets } = await open();
    await post('k-1');
    service.clock.advance(24 * 3_600_000 - 1);
    expect((await post('k-1')).headers.has('idempotent-replayed')).toBe(true);
    service.clock.advance(1);
    expect((await post('k-1')).headers.has('idempotent-replayed')).toBe(false);
    expect(await pets()).toBe(2);
    expect((await post('k-1', { ...NEW, name: 'Max' })).status).toBe(422);
    service.clock.advance(24 * 3_600_000);
    await service.app.get(Sweeper).sweep();
    expect(await service.repository(IdempotencyEntry).count()).toBe(0);
  });

  it.each([
    ['q1', '"q1"'],
    ['"q1"', 'q1'],
    ['"a b"', '"a b"'],
    ['"say \\"hi\\" \\\\o/"', '"say \\"hi\\" \\\\o/"'],
    ['say-"hi"', '"say-\\"hi\\""'],
    ['x'.repeat(255), `"${'x'.repeat(255)}"`],
  ])('is the same bare and as a Structured Field String: %s, %s', async (sent, again) => {
    const { post, pets } = await open();
    const first = await post(sent);
    const repeated = await post(again);
    expect([first.status, repeated.status, repeated.text]).toEqual([201, 201, first.text]);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect((await post(again, { ...NEW, name: 'Max' })).body.code).toBe('idempotency_key_reused');
    expect(await pets()).toBe(1);
  });

  it.each([
    '',
    'x'.repeat(256),
    `"${'x'.repeat(256)}"`,
    'ü',
    'a b',
    'tab\tbed',
    '"open',
    '"',
    '""',
    '"a"b"',
    '"a\\b"',
    '"a\\"',
    '"tab\tbed"',
    '"a" "b"',
  ])('that is malformed is a 400: %j', async (key) => {
    const { post, pets } = await open();
    const { status, body } = await post(key);
    expect([status, body.details?.[0]?.field]).toEqual([400, 'Idempotency-Key']);
    expect(await pets()).toBe(0);
  });
});

describe('an Idempotency-Key that would be ignored', () => {
  it.each([
    ['/admin/clients', { name: 'A', plan: 'free' }],
    ['/admin/keys', {}],
    ['/account/keys', {}],
    ['/account/webhooks', {}],
    ['/plain', {}],
  ])('is a 400 that names it, and nothing is done: POST %s', async (path, json) => {
    const { key } = await service.issueKey({ scopes: ['admin', 'account'] });
    const counts = () =>
      Promise.all([service.repository(Client).count(), service.repository(ApiKey).count()]);
    const before = await counts();
    const headers = { 'idempotency-key': 'k-1' };
    const { status, body } = await service.request('POST', path, { key, json, headers });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(body.details).toEqual([
      {
        field: 'Idempotency-Key',
        code: 'not_supported',
        message: expect.stringContaining('Omit the header'),
      },
    ]);
    expect(await counts()).toEqual(before);
  });
});

describe('an operation that fails after its writes', () => {
  it('leaves nothing with a key, and is carried out when it is retried', async () => {
    const { post, pets } = await open();
    fail = true;
    expect((await post('k-1', {}, '/v1/litters')).status).toBe(500);
    expect(await pets()).toBe(0);
    fail = false;
    expect((await post('k-1', {}, '/v1/litters')).body).toEqual({ done: true });
    expect((await post('k-1', {}, '/v1/litters')).headers.get('idempotent-replayed')).toBe('true');
    expect((await post('k-1', NEW)).status).toBe(422);
    expect(await pets()).toBe(1);
  });
});
