import { Injectable, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it } from 'vitest';
import { CLIENTS_EVENTS, type ClientChanged } from '../../src/auth/clients/clients.events.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { KeyIssuingService } from '../../src/auth/clients/key-issuing.service.js';
import { DomainEvents, OnDomainEvent } from '../../src/events/domain-events.js';
import { Pet } from '../support/pets/pet.entity.js';
import { PET_CREATED, type PetCreated } from '../support/pets/pets.events.js';
import { type TestServiceOptions } from '../kit/test-service.js';
import { gate } from '../support/gate.js';
import { openForAll, openForTest } from '../support/opened.js';

const received: [string, object][] = [];
const throwing = { now: false };

/** A listener as a team adds it: it greets new animals. */
@Injectable()
class Greeter {
  constructor(private readonly dataSource: DataSource) {}

  @OnDomainEvent(PET_CREATED)
  async greet(event: PetCreated): Promise<void> {
    if (throwing.now) throw new Error('no voice');
    const committed = await this.dataSource.manager.existsBy(Pet, { id: event.id });
    received.push(['pet.created', { ...event, committed }]);
  }

  @OnDomainEvent(CLIENTS_EVENTS['client.suspended'])
  @OnDomainEvent(CLIENTS_EVENTS['api_key.rotated'])
  note(event: ClientChanged): void {
    received.push(['changed', event]);
  }
}
@Module({ providers: [Greeter] })
class GreeterModule {}

beforeEach(() => {
  received.length = 0;
  throwing.now = false;
});

async function open(options: TestServiceOptions = {}) {
  const own = await openForTest({ ...options, modules: [GreeterModule] });
  const create = (json: unknown, headers = {}) => own.request('POST', '/v1/pets', { json, headers });
  return { own, create };
}

/** The service of all tests that leave it as it was. */
const service = await openForAll({ modules: [GreeterModule], database: 'file' });

async function untilReceived(count: number): Promise<void> {
  await expect.poll(() => received).toHaveLength(count);
}

describe('pet.created', () => {
  it('reaches an added module once the animal is committed', async () => {
    const create = (json: unknown) => service.request('POST', '/v1/pets', { json });
    await create({ name: 'Rex', categoryId: 1 });
    await create('{"name":"Max","categoryId":9007199254740993,"status":"sold"}');
    await untilReceived(2);
    expect(received[1]).toMatchObject([
      'pet.created',
      { id: 2n, name: 'Max', categoryId: 9_007_199_254_740_993n, committed: true },
    ]);
  });

  it('is delivered once for a request repeated with its Idempotency-Key, and not for one that was refused or rolled back', async () => {
    const { own, create } = await open();
    for (let sent = 0; sent < 3; sent += 1)
      await create({ name: 'Rex', categoryId: 1 }, { 'idempotency-key': 'k' });
    await create({ name: '', categoryId: 1 });
    // A listener that throws neither fails nor loses a request.
    throwing.now = true;
    await untilReceived(1);
    expect((await create({ name: 'Unheard', categoryId: 1 })).status).toBe(201);
    await own.settled();
    throwing.now = false;
    await own.app.get(DataSource).query('ALTER TABLE idempotency_entries RENAME COLUMN body TO gone');
    const undone = await create({ name: 'Rolled back', categoryId: 1 }, { 'idempotency-key': 'l' });
    expect(undone.status).toBe(500);
    await create({ name: 'Last', categoryId: 1 });
    await untilReceived(2);
    expect(received.map(([, event]) => (event as { name: string }).name)).toEqual(['Rex', 'Last']);
  });
});

it('changes of clients and keys are published under the names of the audit trail', async () => {
  const { own } = await open();
  const { id } = await own.issueKey();
  await own.app.get(KeyIssuingService).rotate(id, { grace: 0 }, SERVICE_ITSELF);
  await own.app.get(ClientsService).suspend(own.clientId, {}, SERVICE_ITSELF);
  await expect(own.app.get(ClientsService).suspend(own.clientId, {}, SERVICE_ITSELF)).rejects.toThrow(
    /has been suspended since/,
  );
  await untilReceived(2);
  expect(received.map(([, event]) => event)).toEqual([
    { clientId: own.clientId, keyId: id },
    { clientId: own.clientId },
  ]);
});

describe('an event that is published in a transaction', () => {
  const publish = (name: string) =>
    service.app.get(DomainEvents).publish(PET_CREATED, { id: 1n, name, categoryId: 1n, status: 'sold' });
  const names = () => received.map(([, event]) => (event as { name: string }).name);
  const undo = () => {
    throw new Error('undo');
  };

  it('is delivered once the outermost is committed, and not if an outer one is rolled back', async () => {
    const dataSource = service.app.get(DataSource);
    await dataSource.transaction(async (manager) => {
      await dataSource.transaction(async () => publish('inner'));
      await manager
        .transaction(async () => {
          publish('undone');
          undo();
        })
        .catch(() => undefined);
      publish('outer');
      await new Promise(setImmediate);
      expect(names()).toEqual([]);
    });
    await expect(
      dataSource.transaction(async () => {
        await dataSource.transaction(async () => publish('undone with it'));
        undo();
      }),
    ).rejects.toThrow('undo');
    publish('in none');
    await untilReceived(3);
    // The listener asks the database before it notes an event, on PostgreSQL on another connection each time.
    expect(names().toSorted()).toEqual(['in none', 'inner', 'outer']);
  });

  it('is delivered from work in parallel with a failure only for what is committed', async () => {
    const dataSource = service.app.get(DataSource);
    const pets = dataSource.getRepository(Pet);
    const before = new Set((await pets.find()).map(({ name }) => name));
    for (let round = 0; round < 12; round += 1) {
      let concurrent: Promise<void> | undefined;
      const failing = dataSource.transaction(async () => {
        const add = async (name: string) => {
          await pets.insert({ name, categoryId: 1n, status: 'sold' });
          publish(name);
        };
        // A statement that was sent too late is refused.
        concurrent = add(`${round} a`)
          .catch(() => undefined)
          .then(() => add(`${round} b`))
          .catch(() => undefined);
        for (let turns = 0; turns < round; turns += 1) await new Promise(setImmediate);
        undo();
      });
      await expect(failing).rejects.toThrow('undo');
      await concurrent;
    }
    await service.settled();
    const stored = (await pets.find()).map(({ name }) => name);
    expect(names().toSorted()).toEqual(stored.filter((name) => !before.has(name)).toSorted());
  });

  it('is delivered immediately from work that continues after a commit', async () => {
    const dataSource = service.app.get(DataSource);
    const end = gate();
    let lateWork: Promise<void> | undefined;
    await dataSource.transaction(async (manager) => {
      await manager.insert(Pet, { name: 'Rex', categoryId: 1n, status: 'sold' });
      lateWork = end.opened.then(() => publish('later'));
    });
    end.open();
    await lateWork;
    await expect.poll(names).toEqual(['later']);
  });
});

describe('a change of a client', () => {
  it('within a transaction is published once that is committed, and never when it is rolled back', async () => {
    const { own } = await open();
    const clients = own.app.get(ClientsService);
    const suspending = (outcome: () => void) =>
      own.app.get(DataSource).transaction(async () => {
        await clients.suspend(own.clientId, { force: true }, SERVICE_ITSELF);
        // An event is published a turn later.
        await new Promise(setImmediate);
        expect(received).toEqual([]);
        outcome();
      });
    await expect(
      suspending(() => {
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    await suspending(() => undefined);
    await expect.poll(() => received).toEqual([['changed', { clientId: own.clientId }]]);
  });
});
