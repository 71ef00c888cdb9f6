import { Body, Controller, Injectable, Module, Post, type Type } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Sweeper } from '../src/database/sweeper.js';
import { IdempotencyEntry } from '../src/idempotency/idempotency-entry.entity.js';
import { Idempotent } from '../src/idempotency/idempotent.decorator.js';
import { Pet } from '../src/pets/pet.entity.js';
import { type Answer, TestService } from '../src/testing/test-service.js';

const NEW = { name: 'Rex', categoryId: 1 };

async function open(modules: readonly Type[] = []) {
  const service = await TestService.open({
    modules,
    plan: 'enterprise',
    limits: { perMinute: 10_000, perDay: 10_000 },
  });
  onTestFinished(() => service.close());
  const post = (
    key: string | undefined,
    json: unknown = NEW,
    path = '/v1/pets',
    apiKey = service.key,
  ): Promise<Answer> =>
    service.request('POST', path, {
      key: apiKey,
      json,
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  const pets = () => service.app.get(DataSource).manager.countBy(Pet, {});
  return { service, post, pets };
}

describe('a POST with an Idempotency-Key', () => {
  it('is done once and answered the same, status, Location and body', async () => {
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
    expect(await pets()).toBe(1);
  });

  it('is done each time without one', async () => {
    const { post, pets } = await open();
    expect((await post(undefined)).body.id).not.toBe((await post(undefined)).body.id);
    expect(await pets()).toBe(2);
  });

  it('is carried out once under 50 parallel duplicates, and each of them gets the answer when it retries', async () => {
    const { post, pets } = await open();
    const patiently = async (): Promise<Answer> => {
      const answer = await post('k-1');
      if (answer.status !== 409) return answer;
      expect([answer.body.code, answer.headers.get('retry-after')]).toEqual(['idempotency_in_progress', '1']);
      return patiently();
    };
    const answers = await Promise.all(Array.from({ length: 50 }, patiently));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);
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

  it('of another client is another one', async () => {
    const { service, post, pets } = await open();
    const { key } = await service.issueKey({ plan: 'free' });
    await post('k-1');
    expect((await post('k-1', NEW, '/v1/pets', key)).headers.has('idempotent-replayed')).toBe(false);
    expect(await pets()).toBe(2);
  });

  it('of another key of the same client is the same', async () => {
    const { service, post, pets } = await open();
    const { key } = await service.issueKey();
    await post('k-1');
    expect((await post('k-1', NEW, '/v1/pets', key)).headers.has('idempotent-replayed')).toBe(true);
    expect(await pets()).toBe(1);
  });

  it('counts for the quota each time, and needs the scope each time', async () => {
    const { service, post } = await open();
    await post('k-1');
    const again = await post('k-1');
    expect(again.headers.get('ratelimit')).toContain('"day";r=9998;');
    const { key } = await service.issueKey({ scopes: ['pets:read'] });
    expect((await post('k-1', NEW, '/v1/pets', key)).status).toBe(403);
  });

  it('that was refused is kept for nothing: it can be corrected under the same key', async () => {
    const { post, pets } = await open();
    expect((await post('k-1', { name: '', categoryId: 1 })).status).toBe(400);
    expect((await post('k-1', NEW)).status).toBe(201);
    expect(await pets()).toBe(1);
  });

  it('leaves after 24 hours', async () => {
    const { service, post, pets } = await open();
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

  it.each(['', 'x'.repeat(256), 'ü', 'a b', 'tab\tbed'])('that is malformed is a 400: %j', async (key) => {
    const { post, pets } = await open();
    const { status, body } = await post(key);
    expect([status, body.details?.[0]?.field]).toEqual([400, 'Idempotency-Key']);
    expect(await pets()).toBe(0);
  });
});

describe('an operation that fails behind its writes', () => {
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
  @Module({ controllers: [LittersController] })
  class LittersModule {}

  it('leaves nothing behind with a key, and is carried out when it is retried', async () => {
    const { post, pets } = await open([LittersModule]);
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
