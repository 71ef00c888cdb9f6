import { Injectable, Module } from '@nestjs/common';
import fc from 'fast-check';
import { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AuditEntry } from '../../src/auth/audit/audit-entry.entity.js';
import { AuditService } from '../../src/auth/audit/audit.service.js';
import { runPetstore } from '../../src/cli/program.js';
import { Settings } from '../../src/core/config/settings.js';
import { DataVersion } from '../../src/database/data-version.js';
import { Sweeper } from '../../src/database/sweeper.js';
import { DomainEvents, OnDomainEvent, defineEvent } from '../../src/events/domain-events.js';
import type { Delivery } from '../../src/events/outbox/listener-queue.js';
import { OutboxEvent } from '../../src/events/outbox/outbox-event.entity.js';
import { OutboxStore } from '../../src/events/outbox/outbox-store.js';
import { Outbox } from '../../src/events/outbox/outbox.js';
import { Lease } from '../../src/events/jobs/lease.entity.js';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { Pet } from '../../src/pets/pet.entity.js';
import { TestService, type TestServiceOptions } from '../kit/test-service.js';
import { ON_POSTGRES, itOnSqlite, planOf, refuseWrites } from '../support/databases.js';

interface Sold {
  readonly petId: bigint;
  readonly step: string;
}
const PET_SOLD = defineEvent<Sold>('pet.sold', { durable: true, key: ({ petId }) => petId });
const PET_FED = defineEvent<Sold>('pet.fed', { durable: true, key: ({ petId }) => petId });

const HOUR = 3_600_000;

/** What the listeners were given, as `listener step`, and what they do about it. */
const heard: string[] = [];
const deliveries: Delivery[] = [];
const listeners = {
  mailer: (_told: Sold, _delivery: Delivery): unknown => undefined,
  ledger: (_told: Sold): unknown => undefined,
};

@Injectable()
class Listeners {
  @OnDomainEvent(PET_SOLD, { listener: 'mailer' })
  async mail(told: Sold, delivery: Delivery): Promise<void> {
    heard.push(`mailer ${told.step}`);
    deliveries.push(delivery);
    await listeners.mailer(told, delivery);
  }

  @OnDomainEvent(PET_SOLD, { listener: 'ledger' })
  @OnDomainEvent(PET_FED, { listener: 'ledger' })
  async note(told: Sold): Promise<void> {
    heard.push(`ledger ${told.step}`);
    await listeners.ledger(told);
  }
}
@Module({ providers: [Listeners] })
class ListenersModule {}

beforeEach(() => {
  heard.length = 0;
  deliveries.length = 0;
  listeners.mailer = () => undefined;
  listeners.ledger = () => undefined;
});

const fail = () => {
  throw new Error('no connection');
};
const of = (listener: string) =>
  heard.filter((line) => line.startsWith(listener)).map((line) => line.split(' ')[1]);

async function open(options: TestServiceOptions = {}) {
  const service = await TestService.open({
    at: '2026-11-20T12:00:00.000Z',
    modules: [ListenersModule],
    ...options,
  });
  onTestFinished(() => service.close());
  const { app, clock } = service;
  const events = app.get(DomainEvents);
  const outbox = app.get(Outbox);
  return {
    service,
    clock,
    dataSource: app.get(DataSource),
    sell: (petId: number, step: string) => events.publish(PET_SOLD, { petId: BigInt(petId), step }),
    feed: (petId: number, step: string) => events.publish(PET_FED, { petId: BigInt(petId), step }),
    deliver: () => outbox.deliver(),
    waiting: async (listener = 'mailer') => (await app.get(OutboxStore).waiting()).get(listener) ?? 0,
    store: app.get(OutboxStore),
    count: (outcome: string) =>
      service.metric('petstore_outbox_deliveries_total', { listener: 'mailer', outcome }),
  };
}

describe('a durable event', () => {
  it('reaches each listener as it was published, right after the commit, and leaves no row', async () => {
    const { sell, waiting } = await open();
    await sell(1, 'a');
    await expect.poll(() => heard.toSorted()).toEqual(['ledger a', 'mailer a']);
    await expect.poll(async () => (await waiting()) + (await waiting('ledger'))).toBe(0);
    expect(deliveries[0]).toMatchObject({
      id: expect.any(BigInt),
      failures: 0,
      publishedAt: '2026-11-20T12:00:00.000Z',
    });
  });

  it('has exact int64 values', async () => {
    const { service, deliver } = await open();
    const told: Sold[] = [];
    listeners.mailer = (one) => told.push(one);
    await service.app.get(DomainEvents).publish(PET_SOLD, { petId: 2n ** 63n - 1n, step: 'a' });
    await service.app.get(DomainEvents).publish(PET_SOLD, { petId: 1n, step: 'b' });
    await deliver();
    expect(told).toEqual([
      { petId: 2n ** 63n - 1n, step: 'a' },
      { petId: 1n, step: 'b' },
    ]);
  });

  it('is kept if and only if the transaction is committed', async () => {
    const { dataSource, sell, deliver } = await open();
    const pet = { name: 'Rex', categoryId: 1n, status: 'sold' as const };
    const selling = (step: string, end: () => void) =>
      dataSource.transaction(async (manager) => {
        await manager.insert(Pet, pet);
        await sell(1, step);
        await deliver();
        expect(heard).toEqual([]);
        end();
      });
    await expect(selling('undone', fail)).rejects.toThrow('no connection');
    await selling('done', () => undefined);
    await deliver();
    expect(of('mailer')).toEqual(['done']);
    expect(await dataSource.manager.count(Pet)).toBe(1);
  });

  it('is refused when it cannot be kept, with the transaction around it', async () => {
    const { service, dataSource, waiting } = await open();
    const events = service.app.get(DomainEvents);
    await expect(
      dataSource.transaction(() => events.publish(PET_SOLD, { petId: 1n, step: 'x'.repeat(70_000) })),
    ).rejects.toThrow(RangeError);
    await expect(events.publish(PET_SOLD, { petId: 1n, step: (() => '') as never })).rejects.toThrow(
      TypeError,
    );
    expect(await waiting()).toBe(0);
  });

  it('makes no row where nobody listens durably', async () => {
    const { service, dataSource } = await open({ modules: [] });
    const told = service.on(PET_SOLD);
    await service.app.get(DomainEvents).publish(PET_SOLD, { petId: 1n, step: 'a' });
    await expect.poll(() => told).toHaveLength(1);
    expect(await dataSource.manager.count(OutboxEvent)).toBe(0);
  });

  // On PostgreSQL nothing is cached without Redis.
  itOnSqlite('leaves what is cached alone when it is delivered', async () => {
    const { service, sell, deliver, waiting } = await open({ database: 'file' });
    listeners.mailer = fail;
    await sell(1, 'a');
    const version = service.app.get(DataVersion).current('responses');
    await deliver();
    expect(await waiting()).toBe(1);
    expect(await waiting('ledger')).toBe(0);
    expect(version).toBeTypeOf('number');
    expect(service.app.get(DataVersion).current('responses')).toBe(version);
  });
});

describe('a listener that fails', () => {
  it('is given the event again, later each time, and keeps neither other keys nor other listeners waiting', async () => {
    const { sell, deliver, clock, waiting } = await open();
    let broken = true;
    listeners.mailer = ({ petId }) => petId === 1n && broken && fail();
    for (const [pet, step] of [
      [1, 'a'],
      [1, 'b'],
      [2, 'c'],
      [1, 'd'],
    ] as const)
      await sell(pet, step);
    await deliver();
    expect(of('mailer')).toEqual(['a', 'c']);
    expect(of('ledger').filter((step) => step !== 'c')).toEqual(['a', 'b', 'd']);
    expect(of('ledger')).toContain('c');
    clock.advance(1_000);
    await deliver();
    clock.advance(1_999);
    await deliver();
    expect(of('mailer')).toEqual(['a', 'c', 'a']);
    broken = false;
    clock.advance(1);
    await deliver();
    expect(of('mailer')).toEqual(['a', 'c', 'a', 'a', 'b', 'd']);
    expect([...new Set(deliveries.filter((_, at) => at !== 1).map(({ id }) => id))]).toHaveLength(3);
    expect(deliveries.map(({ failures }) => failures)).toEqual([0, 0, 1, 2, 0, 0]);
    expect(await waiting()).toBe(0);
  });

  it('20 times has the event parked: what follows goes on, until someone retries it', async () => {
    const { sell, deliver, clock, waiting, store, count } = await open();
    listeners.mailer = ({ step }) => step === 'a' && fail();
    await sell(1, 'a');
    await sell(1, 'b');
    for (let hours = 0; hours < 30; hours += 1) {
      await deliver();
      clock.advance(HOUR);
    }
    expect(of('mailer')).toEqual([...Array.from({ length: 20 }, () => 'a'), 'b']);
    expect([await count('failed'), await count('parked'), await count('handled')]).toEqual([20, 1, 1]);
    const [parked] = await store.parked(10);
    expect(parked).toMatchObject({
      listener: 'mailer',
      event: 'pet.sold',
      key: '1',
      error: 'Error: no connection',
    });
    expect(await waiting()).toBe(0);
    listeners.mailer = () => undefined;
    expect(await store.retry(parked?.id)).toBe(1);
    await deliver();
    expect(of('mailer').at(-1)).toBe('a');
    expect(await store.parked(10)).toEqual([]);
  });

  it('with everything is left alone for a while, not tried with all of a thousand events', async () => {
    const { sell, deliver, clock, waiting } = await open();
    listeners.mailer = fail;
    for (let pet = 0; pet < 300; pet += 1) await sell(pet, String(pet));
    await deliver();
    await deliver();
    expect(of('mailer').length).toBeLessThan(10);
    expect(of('ledger')).toHaveLength(300);
    listeners.mailer = () => undefined;
    clock.advance(60_000);
    await deliver();
    expect(await waiting()).toBe(0);
  });

  it('of one event among others keeps those of its key in order, whatever fails when', async () => {
    const { sell, deliver, clock, waiting } = await open();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 3 })), { maxLength: 12 }),
        async (published) => {
          const left = published.map(([, failures]) => failures);
          const handled: [bigint, number][] = [];
          listeners.mailer = ({ petId, step }) => {
            const more = left[Number(step)] ?? 0;
            left[Number(step)] = more - 1;
            if (more > 0) fail();
            handled.push([petId, Number(step)]);
          };
          for (const [at, [pet]] of published.entries()) await sell(pet, String(at));
          for (let rounds = 0; rounds < 100 && handled.length < published.length; rounds += 1) {
            await deliver();
            clock.advance(HOUR);
          }
          for (const pet of [1, 2, 3]) {
            const steps = handled.filter(([petId]) => petId === BigInt(pet)).map(([, step]) => step);
            expect(steps).toEqual([...published.keys()].filter((at) => published[at]?.[0] === pet));
          }
          expect(await waiting()).toBe(0);
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('different keys', () => {
  /** A mailer that works on each event until it is let go. */
  function slowMailer() {
    const held = new Map<string, () => void>();
    const atOnce: string[] = [];
    let most = 0;
    listeners.mailer = async ({ petId, step }) => {
      expect(atOnce).not.toContain(String(petId));
      atOnce.push(String(petId));
      most = Math.max(most, atOnce.length);
      await new Promise<void>((resolve) => held.set(step, resolve));
      held.delete(step);
      atOnce.splice(atOnce.indexOf(String(petId)), 1);
    };
    return { held, most: () => most };
  }

  it('go side by side, eight at once, each in its order', async () => {
    const { sell, waiting, deliver } = await open();
    const { held, most } = slowMailer();
    const steps = Array.from({ length: 36 }, (_, at) => ({ pet: at % 12, step: `${at % 12}/${at}` }));
    for (const { pet, step } of steps) await sell(pet, step);
    const delivered = deliver();
    await expect.poll(() => held.size).toBe(8);
    for (let left = steps.length; left > 0; left -= 1) {
      await expect.poll(() => held.size).toBeGreaterThan(0);
      const [step = '', release] = [...held][0] ?? [];
      release?.();
      await expect.poll(() => held.has(step)).toBe(false);
    }
    await delivered;
    expect(most()).toBe(8);
    for (let pet = 0; pet < 12; pet += 1) {
      const ofPet = (step: string | undefined) => step?.startsWith(`${pet}/`);
      expect(of('mailer').filter(ofPet)).toEqual(steps.map(({ step }) => step).filter(ofPet));
    }
    expect(await waiting()).toBe(0);
  });

  it('do not wait for one that is slow, however much waits behind it and whenever they come', async () => {
    const { sell, waiting, deliver } = await open();
    const { held } = slowMailer();
    const slow = listeners.mailer;
    listeners.mailer = (told, delivery) => told.petId === 1n && slow(told, delivery);
    for (let step = 0; step < 150; step += 1) await sell(1, `slow ${step}`);
    for (let step = 0; step < 150; step += 1) await sell(2, `b${step}`);
    const ofOthers = () => of('mailer').filter((step) => step !== 'slow');
    await expect.poll(ofOthers).toHaveLength(150);
    await sell(3, 'c');
    await expect.poll(() => ofOthers().at(-1)).toBe('c');
    await sell(3, 'd');
    await expect.poll(() => ofOthers().at(-1)).toBe('d');
    expect([...held.keys()]).toEqual(['slow 0']);
    // What was handled is noted, although a key is still in hand.
    await expect.poll(waiting).toBe(150);
    listeners.mailer = () => undefined;
    held.get('slow 0')?.();
    await deliver();
    expect(await waiting()).toBe(0);
    expect(of('mailer').filter((step) => step === 'slow')).toHaveLength(150);
  });

  it('are each delivered once, in order, whatever the database refuses meanwhile', async () => {
    const { sell, deliver, dataSource, waiting, clock } = await open();
    for (let at = 0; at < 60; at += 1) await sell(at % 6, `${at % 6}/${at}`);
    await expect.poll(waiting).toBe(0);
    heard.length = 0;
    let handled = 0;
    listeners.mailer = async () => {
      handled += 1;
      // Each second something is noted, and refused.
      clock.advance(500);
      if (handled === 10) await refuseWrites(dataSource, true);
    };
    await dataSource.transaction(async () => {
      for (let at = 0; at < 60; at += 1) await sell(at % 6, `${at % 6}/${at}`);
    });
    await expect.poll(() => handled).toBeGreaterThan(9);
    await deliver();
    expect(await waiting()).toBeGreaterThan(0);
    await refuseWrites(dataSource, false);
    // The lease that could not be released is given up after its time.
    for (let rounds = 0; rounds < 3; rounds += 1) {
      clock.advance(15_000);
      await deliver();
    }
    expect(await waiting()).toBe(0);
    expect(of('mailer').length).toBe(60);
    for (let pet = 0; pet < 6; pet += 1) {
      const steps = of('mailer').filter((step) => step?.startsWith(`${pet}/`));
      expect(steps).toEqual(Array.from({ length: 10 }, (_, at) => `${pet}/${at * 6 + pet}`));
    }
  });
});

describe('one process at a time', () => {
  it('delivers, and the events that the other has published too', async () => {
    const first = await open({ database: 'file' });
    const { databaseUrl } = first.service.app.get(Settings);
    const second = await open({ environment: { DATABASE_URL: databaseUrl } });
    for (let step = 0; step < 40; step += 1) await (step % 2 ? first : second).sell(1, String(step));
    await expect.poll(first.waiting).toBe(0);
    expect(of('mailer')).toEqual(Array.from({ length: 40 }, (_, step) => String(step)));
  });

  it('takes over from one that died, after 15 s', async () => {
    const { service, clock, sell, deliver } = await open();
    await service.repository(Lease).insert({ name: 'listener/mailer', holder: 'dead', beat: 7 });
    await sell(1, 'a');
    await deliver();
    clock.advance(14_999);
    await deliver();
    expect(heard).toEqual(['ledger a']);
    clock.advance(1);
    await deliver();
    expect(heard).toEqual(['ledger a', 'mailer a']);
  });
});

it('a stop waits for the listener that runs, and starts no other event', async () => {
  const { service, sell, waiting } = await open();
  let release!: () => void;
  listeners.mailer = () => new Promise<void>((resolve) => (release = resolve));
  await sell(1, 'a');
  await sell(1, 'b');
  await expect.poll(() => of('mailer')).toEqual(['a']);
  const stopped = service.app.get(Outbox).stop();
  release();
  await stopped;
  expect(of('mailer')).toEqual(['a']);
  expect(await waiting()).toBe(1);
});

it('100,000 events that wait cost no memory, and no scan of them all', async () => {
  const { dataSource, service, store } = await open({ database: 'file' });
  await service.repository(Lease).insert({ name: 'listener/mailer', holder: 'dead', beat: 7 });
  await dataSource.query(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
     INSERT INTO outbox_events (listener, event, key, told, published_at, failures, due_at)
     SELECT 'mailer', 'pet.sold', i % 50000, '{"petId":{"$int64":"1"},"step":"x"}', '2026-11-20T12:00:00.000Z', 0, 0 FROM n`,
  );
  const next = await store.next('mailer', 100);
  expect(next.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, at) => BigInt(at + 1)));
  if (ON_POSTGRES) await dataSource.query('ANALYZE outbox_events');
  const plan = await planOf(
    dataSource,
    `SELECT * FROM outbox_events waiting WHERE waiting.listener = 'mailer' AND waiting.due_at <= 1
     AND NOT EXISTS (SELECT 1 FROM outbox_events later
       WHERE later.listener = 'mailer' AND later.key = waiting.key AND later.due_at > 1) ORDER BY waiting.id LIMIT 100`,
  );
  const details = plan.join('\n');
  if (ON_POSTGRES) {
    expect(details).toMatch(/Index Scan using "PK_\w+" on outbox_events waiting/);
    expect(details).toContain('Index Scan using outbox_events_backlog on outbox_events later');
    expect(details).not.toMatch(/Sort|Seq Scan/);
    return;
  }
  expect(details).toContain('SEARCH waiting USING INDEX outbox_events_waiting (listener=?)');
  expect(details).toMatch(
    /SEARCH later USING COVERING INDEX outbox_events_key \(listener=\? AND key=\? AND due_at>\?\)/,
  );
  expect(details).not.toContain('TEMP B-TREE');
});

describe('the metrics of what waits', () => {
  const gauges = (service: TestService, listener: string, event: string) =>
    Promise.all(
      ['petstore_outbox_waiting_events', 'petstore_outbox_oldest_waiting_seconds'].map((name) =>
        service.metric(name, { listener, event }),
      ),
    );

  it('tell how many events of each name wait for each listener, and for how long', async () => {
    const { service, sell, feed, deliver, clock, waiting, dataSource } = await open();
    expect(await gauges(service, 'mailer', 'pet.sold')).toEqual([0, 0]);
    listeners.mailer = fail;
    listeners.ledger = ({ step }) => step === 'fed' && fail();
    await sell(1, 'a');
    clock.advance(2_500);
    await sell(2, 'b');
    await feed(3, 'fed');
    await deliver();
    clock.advance(500);
    expect(await gauges(service, 'mailer', 'pet.sold')).toEqual([2, 3]);
    expect(await gauges(service, 'ledger', 'pet.fed')).toEqual([1, 0.5]);
    expect(await gauges(service, 'ledger', 'pet.sold')).toEqual([0, 0]);
    // What is parked does not wait.
    await dataSource.manager.update(OutboxEvent, { key: '1' }, { dueAt: null });
    expect(await gauges(service, 'mailer', 'pet.sold')).toEqual([1, 0.5]);
    listeners.mailer = () => undefined;
    clock.advance(HOUR);
    await deliver();
    expect(await waiting()).toBe(0);
    expect(await gauges(service, 'mailer', 'pet.sold')).toEqual([0, 0]);
  });

  it('tell of a listener that this version does not have', async () => {
    const { service, store } = await open();
    await store.add(['gone'], 'pet.sold', '1', '{}');
    service.clock.advance(1_000);
    expect(await gauges(service, 'gone', 'pet.sold')).toEqual([1, 1]);
    await service.repository(OutboxEvent).clear();
    expect((await service.app.get(Metrics).exposition()).text).not.toContain('listener="gone"');
  });

  it('are read from an index alone, once for both', async () => {
    const { service, dataSource, store } = await open({ database: 'file' });
    const plan = await planOf(
      dataSource,
      `SELECT listener, event, COUNT(*), MIN(published_at) FROM outbox_events
       WHERE due_at IS NOT NULL GROUP BY listener, event`,
    );
    expect(plan.join('\n')).toContain(
      ON_POSTGRES
        ? 'Index Only Scan using outbox_events_backlog'
        : 'SCAN outbox_events USING COVERING INDEX outbox_events_backlog',
    );
    const read = vi.spyOn(store, 'backlog');
    await service.app.get(Metrics).exposition();
    expect(read).toHaveBeenCalledTimes(1);
  });
});

it('what nobody has handled for 90 days is deleted', async () => {
  const { service, dataSource, sell, clock } = await open();
  listeners.mailer = fail;
  await sell(1, 'a');
  await expect.poll(() => dataSource.manager.count(OutboxEvent)).toBe(1);
  clock.advance(90 * 24 * HOUR);
  await service.app.get(Sweeper).sweep();
  expect(await dataSource.manager.count(OutboxEvent)).toBe(1);
  clock.advance(1);
  await service.app.get(Sweeper).sweep();
  await expect.poll(() => dataSource.manager.count(OutboxEvent)).toBe(0);
});

describe('a durable listener', () => {
  it.each(['', 'Mailer', 'my mailer', '1mailer'])('is not called %o', (listener) => {
    const declare = () => {
      class Wrong {
        @OnDomainEvent(PET_SOLD, { listener })
        mail(): void {}
      }
      return Wrong;
    };
    expect(declare).toThrow(`Wrong.mail: the listener "${listener}" of pet.sold is malformed.`);
  });

  it('that is there twice stops the start', async () => {
    @Injectable()
    class Second {
      @OnDomainEvent(PET_SOLD, { listener: 'mailer' })
      mail(): void {}
    }
    @Module({ providers: [Second] })
    class SecondModule {}
    await expect(TestService.open({ modules: [ListenersModule, SecondModule] })).rejects.toThrow(
      /Listener "mailer" of pet\.sold is declared twice: by \w+\.\w+ and Second\.mail\./,
    );
  });
});

/** What stands in the audit trail, oldest first. */
async function changesOf({ manager }: DataSource) {
  const entries = await manager.find(AuditEntry, { order: { id: 'ASC' } });
  return entries.map(({ action, actor, clientId, keyId, details }) => {
    return { action, actor, clientId, keyId, details };
  });
}

describe('petstore outbox', () => {
  /** What the audit trail tells of the event that is parked. */
  const PARKED = { listener: 'mailer', event: 'pet.sold', key: '1' };

  async function withOneParked() {
    const parts = await open();
    const { service, dataSource, sell, deliver } = parts;
    listeners.mailer = fail;
    await sell(1, 'a');
    await deliver();
    await dataSource.manager.update(OutboxEvent, { listener: 'mailer' }, { dueAt: null });
    const petstore = async (...args: string[]) => {
      let [out, error] = ['', ''];
      const code = await runPetstore(args, {
        withApp: (command) => command(service.app),
        loadModules: () => Promise.resolve(),
        write: (text) => (out += text),
        writeError: (text) => (error += text),
      });
      return { code, out, error };
    };
    const [parked] = await parts.store.parked(1);
    const before = await changesOf(dataSource);
    const changes = async () => (await changesOf(dataSource)).slice(before.length);
    return { ...parts, petstore, changes, id: String(parked?.id) };
  }

  it('list shows what is parked and what waits', async () => {
    const { petstore, sell, id } = await withOneParked();
    await sell(2, 'b');
    const { out } = await petstore('outbox', 'list', '--json');
    expect(JSON.parse(out)).toMatchObject({
      parked: [{ id: Number(id), listener: 'mailer', event: 'pet.sold', key: '1', failures: 1 }],
      waiting: expect.arrayContaining([{ listener: 'mailer', events: 1, isKnown: true }]),
    });
    expect((await petstore('outbox', 'list')).out).toContain('Error: no connection');
  });

  it.each([['one'], ['all']])('retry has %s delivered again', async (which) => {
    const { petstore, deliver, id, changes } = await withOneParked();
    listeners.mailer = () => undefined;
    const { code, out } = await petstore('outbox', 'retry', ...(which === 'one' ? [id] : []));
    expect([code, out]).toEqual([0, '1 event is delivered again.\n']);
    await deliver();
    expect(of('mailer')).toEqual(['a', 'a']);
    expect(await changes()).toEqual([
      {
        action: 'outbox_event.retried',
        actor: 'command_line',
        clientId: null,
        keyId: null,
        details: which === 'one' ? { ...PARKED, id } : { events: 1, listeners: { mailer: 1 } },
      },
    ]);
  });

  it('retry of all has no entry in the audit trail when none is parked', async () => {
    const { petstore, changes } = await withOneParked();
    expect((await petstore('outbox', 'retry')).code).toBe(0);
    expect((await petstore('outbox', 'retry')).out).toBe('0 events are delivered again.\n');
    expect(await changes()).toHaveLength(1);
  });

  it.each([['retry'], ['discard']])(
    '%s changes nothing when its audit entry cannot be written',
    async (name) => {
      const { petstore, service, store, id } = await withOneParked();
      vi.spyOn(service.app.get(AuditService), 'record').mockRejectedValue(new Error('no room'));
      const yes = name === 'discard' ? ['--yes'] : [];
      await petstore('outbox', name, id, ...yes).catch(() => undefined);
      expect(await store.parked(2)).toMatchObject([{ id: BigInt(id) }]);
    },
  );

  it('discard deletes one that is parked', async () => {
    const { petstore, dataSource, id, changes } = await withOneParked();
    expect((await petstore('outbox', 'discard', id, '--yes')).code).toBe(0);
    expect(await dataSource.manager.count(OutboxEvent)).toBe(0);
    expect(await changes()).toMatchObject([
      { action: 'outbox_event.discarded', clientId: null, details: { ...PARKED, id } },
    ]);
    expect((await petstore('audit', 'list')).out).toMatch(/outbox_event\.discarded .*"listener":"mailer"/);
  });

  it('discard and retry refuse what is not parked', async () => {
    const { petstore, sell, store, changes } = await withOneParked();
    await sell(2, 'b');
    const [waits] = await store.next('mailer', 1);
    for (const command of [['retry'], ['discard', '--yes']])
      expect(await petstore('outbox', ...command, String(waits?.id ?? 99))).toMatchObject({
        code: 1,
        error: expect.stringContaining('`petstore outbox list`'),
      });
    expect((await petstore('outbox', 'retry', 'x')).code).toBe(1);
    expect(await changes()).toEqual([]);
  });
});
