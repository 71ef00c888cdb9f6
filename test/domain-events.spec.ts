import { Injectable, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ClientsService } from '../src/accounts/clients.service.js';
import { KeyIssuingService } from '../src/accounts/key-issuing.service.js';
import { SERVICE_ITSELF } from '../src/accounts/operator.js';
import { type DomainEventMap, OnDomainEvent } from '../src/events/domain-events.js';
import { Pet } from '../src/pets/pet.entity.js';
import { earnBan, hammer } from './support/earn-ban.js';
import { TestService, type TestServiceOptions } from './support/test-service.js';

const heard: [string, object][] = [];
const throwing = { now: false };

/** A listener as a team adds it: it greets new animals and warns of bans. */
@Injectable()
class Greeter {
  constructor(private readonly dataSource: DataSource) {}

  @OnDomainEvent('pet.created')
  async greet(event: DomainEventMap['pet.created']): Promise<void> {
    if (throwing.now) throw new Error('no voice');
    const committed = await this.dataSource.manager.existsBy(Pet, { id: event.id });
    heard.push(['pet.created', { ...event, committed }]);
  }

  @OnDomainEvent('api_key.banned')
  warn(event: DomainEventMap['api_key.banned']): void {
    heard.push(['api_key.banned', event]);
  }

  @OnDomainEvent('client.suspended')
  @OnDomainEvent('api_key.rotated')
  note(event: DomainEventMap['client.suspended']): void {
    heard.push(['changed', event]);
  }
}
@Module({ providers: [Greeter] })
class GreeterModule {}

beforeEach(() => {
  heard.length = 0;
  throwing.now = false;
});

async function open(options: TestServiceOptions = {}) {
  const service = await TestService.open({ ...options, modules: [GreeterModule] });
  onTestFinished(() => service.close());
  const create = (json: unknown, headers = {}) => service.request('POST', '/v1/pets', { json, headers });
  return { service, create };
}

async function told(count: number): Promise<void> {
  await expect.poll(() => heard).toHaveLength(count);
}

describe('pet.created', () => {
  it('reaches an added module once the animal is committed', async () => {
    const { create } = await open();
    await create({ name: 'Rex', categoryId: 1 });
    await create('{"name":"Max","categoryId":9007199254740993,"status":"sold"}');
    await told(2);
    expect(heard[1]).toEqual([
      'pet.created',
      { id: 2n, name: 'Max', categoryId: 9_007_199_254_740_993n, status: 'sold', committed: true },
    ]);
  });

  it('is told once for a request that is repeated with its Idempotency-Key', async () => {
    const { create } = await open();
    for (let sent = 0; sent < 3; sent += 1)
      await create({ name: 'Rex', categoryId: 1 }, { 'idempotency-key': 'k' });
    await create({ name: 'Last', categoryId: 1 });
    await told(2);
    expect(heard.map(([, event]) => (event as { name: string }).name)).toEqual(['Rex', 'Last']);
  });

  it('is not told of what was refused or rolled back', async () => {
    const { service, create } = await open();
    await create({ name: '', categoryId: 1 });
    await service.app.get(DataSource).query('ALTER TABLE idempotency_entries RENAME COLUMN body TO gone');
    expect((await create({ name: 'Rolled back', categoryId: 1 }, { 'idempotency-key': 'k' })).status).toBe(
      500,
    );
    await create({ name: 'Last', categoryId: 1 });
    await told(1);
    expect(heard[0]?.[1]).toMatchObject({ name: 'Last' });
  });

  it('does not fail or lose the request when a listener throws', async () => {
    const { create } = await open();
    throwing.now = true;
    expect((await create({ name: 'Rex', categoryId: 1 })).status).toBe(201);
    throwing.now = false;
    expect((await create({ name: 'Max', categoryId: 1 })).status).toBe(201);
    await told(1);
  });
});

it('api_key.banned is told once, when the ban begins', async () => {
  const { service } = await open({ plan: 'free', at: '2026-11-20T12:00:00.000Z' });
  await earnBan(service);
  await hammer(service, 20);
  await told(1);
  expect(heard[0]).toEqual([
    'api_key.banned',
    { clientId: service.clientId, keyId: expect.any(String), bannedUntil: '2026-11-20T12:05:21.000Z' },
  ]);
});

it('changes of clients and keys are told by the names of the audit trail', async () => {
  const { service } = await open();
  const { id } = await service.issueKey();
  await service.app.get(KeyIssuingService).rotate(id, { grace: 0 }, SERVICE_ITSELF);
  await service.app.get(ClientsService).suspend(service.clientId, {}, SERVICE_ITSELF);
  await expect(service.app.get(ClientsService).suspend(service.clientId, {}, SERVICE_ITSELF)).rejects.toThrow(
    /already/,
  );
  await told(2);
  expect(heard.map(([, event]) => event)).toEqual([
    { clientId: service.clientId, keyId: id },
    { clientId: service.clientId },
  ]);
});

describe('a change of a client', () => {
  it('within a transaction is told of once that is committed, and never when it is rolled back', async () => {
    const { service } = await open();
    const clients = service.app.get(ClientsService);
    const suspending = (outcome: () => void) =>
      service.app.get(DataSource).transaction(async () => {
        await clients.suspend(service.clientId, { force: true }, SERVICE_ITSELF);
        // An event is published a turn later.
        await new Promise(setImmediate);
        expect(heard).toEqual([]);
        outcome();
      });
    await expect(
      suspending(() => {
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    await suspending(() => undefined);
    await expect.poll(() => heard).toEqual([['changed', { clientId: service.clientId }]]);
  });
});
