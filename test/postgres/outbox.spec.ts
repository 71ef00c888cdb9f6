import { Injectable, Module } from '@nestjs/common';
import fc from 'fast-check';
import { DataSource } from 'typeorm';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { BackgroundLoops } from '../../src/events/jobs/background-loops.js';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { DataVersion } from '../../src/database/data-version.js';
import { Sweeper } from '../../src/database/sweeper.js';
import { DomainEvents, OnDomainEvent, defineEvent } from '../../src/events/domain-events.js';
import type { Delivery } from '../../src/events/outbox/durable-listener.js';
import { OutboxEvent } from '../../src/events/outbox/outbox-event.entity.js';
import { OutboxStore } from '../../src/events/outbox/outbox-store.js';
import { Outbox } from '../../src/events/outbox/outbox.js';
import { Pet } from '../support/pets/pet.entity.js';
import { TestService, type TestServiceOptions } from '../kit/test-service.js';
import { ON_POSTGRES, itOnSqlite, planOf, refuseWrites } from '../support/databases.js';
import { gate } from '../support/gate.js';
import { databaseOf } from '../support/opened.js';

interface Sold {
  readonly petId: bigint;
  readonly step: string;
}
const PET_SOLD = defineEvent<Sold>('pet.sold', { durable: true, key: ({ petId }) => petId });
const PET_FED = defineEvent<Sold>('pet.fed', { durable: true, key: ({ petId }) => petId });

const HOUR = 3_600_000;

/** What the listeners were given, as `listener step`, and what they do about it. */
const received: string[] = [];
const deliveries: Delivery[] = [];
const listeners = {
  mailer: (_event: Sold, _delivery: Delivery): unknown => undefined,
  ledger: (_event: Sold): unknown => undefined,
};

@Injectable()
class Listeners {
  @OnDomainEvent(PET_SOLD, { listener: 'mailer' })
  async mail(sale: Sold, delivery: Delivery): Promise<void> {
    received.push(`mailer ${sale.step}`);
    deliveries.push(delivery);
    await listeners.mailer(sale, delivery);
  }

  @OnDomainEvent(PET_SOLD, { listener: 'ledger' })
  @OnDomainEvent(PET_FED, { listener: 'ledger' })
  async note(sale: Sold): Promise<void> {
    received.push(`ledger ${sale.step}`);
    await listeners.ledger(sale);
  }
}
@Module({ providers: [Listeners] })
class ListenersModule {}

const fail = () => {
  throw new Error('no connection');
};
const of = (listener: string) =>
  received.filter((line) => line.startsWith(listener)).map((line) => line.split(' ')[1]);

async function open(options: TestServiceOptions = {}) {
  // In a database in memory, what reads alongside a transaction waits for its end.
  const service = await TestService.open({ database: 'file', modules: [ListenersModule], ...options });
  const { app, clock } = service;
  const [events, outbox, store] = [app.get(DomainEvents), app.get(Outbox), app.get(OutboxStore)];
  const sell = (petId: number, step: string) => events.publish(PET_SOLD, { petId: BigInt(petId), step });
  const dataSource = app.get(DataSource);
  return {
    service,
    clock,
    dataSource,
    store,
    sell,
    /** Sells in one transaction, so that all appear at the same time. */
    sellAll: (sold: readonly (readonly [petId: number, step: string])[]) =>
      dataSource.transaction(async () => {
        for (const one of sold) await sell(...one);
      }),
    feed: (petId: number, step: string) => events.publish(PET_FED, { petId: BigInt(petId), step }),
    deliver: () => outbox.deliver(),
    stop: () => app.get(BackgroundLoops).stop(),
    waiting: async (listener = 'mailer') => (await store.byListener('waiting')).get(listener) ?? 0,
    count: (outcome: string) =>
      service.metric('petstore_outbox_deliveries_total', { listener: 'mailer', outcome }),
  };
}

async function another(options: TestServiceOptions) {
  const opened = await open(options);
  onTestFinished(() => opened.service.close());
  return opened;
}

const opened = await open();
const { service, clock, dataSource, store, sell, sellAll, feed, deliver, waiting, count } = opened;
afterAll(() => service.close());

beforeEach(async () => {
  listeners.mailer = () => undefined;
  listeners.ledger = () => undefined;
  clock.advance(HOUR);
  await deliver();
  await service.repository(OutboxEvent).clear();
  received.length = 0;
  deliveries.length = 0;
});

describe('a durable event', () => {
  it('reaches each listener as it was published, exact int64 values too, right after the commit, and leaves no row', async () => {
    const sales: Sold[] = [];
    listeners.mailer = (one) => sales.push(one);
    const event = { petId: 2n ** 63n - 1n, step: 'a' };
    await service.app.get(DomainEvents).publish(PET_SOLD, event);
    await expect.poll(() => received.toSorted()).toEqual(['ledger a', 'mailer a']);
    await expect.poll(async () => (await waiting()) + (await waiting('ledger'))).toBe(0);
    expect(sales).toEqual([event]);
    expect(deliveries[0]).toMatchObject({
      id: expect.any(BigInt),
      failures: 0,
      publishedAt: new Date(clock.now()).toISOString(),
    });
  });

  it('is stored if and only if the transaction is committed', async () => {
    const before = await dataSource.manager.count(Pet);
    const selling = (step: string, end: () => void) =>
      dataSource.transaction(async (manager) => {
        await manager.insert(Pet, { name: 'Rex', categoryId: 1n, status: 'sold' });
        await sell(1, step);
        await deliver();
        expect(received).toEqual([]);
        end();
      });
    await expect(selling('undone', fail)).rejects.toThrow('no connection');
    await selling('done', () => undefined);
    await deliver();
    expect(of('mailer')).toEqual(['done']);
    expect(await dataSource.manager.count(Pet)).toBe(before + 1);
  });

  it('is refused if it cannot be stored, with the transaction around it', async () => {
    const events = service.app.get(DomainEvents);
    await expect(
      dataSource.transaction(() => events.publish(PET_SOLD, { petId: 1n, step: 'x'.repeat(70_000) })),
    ).rejects.toThrow(RangeError);
    await expect(events.publish(PET_SOLD, { petId: 1n, step: (() => '') as never })).rejects.toThrow(
      TypeError,
    );
    expect(await waiting()).toBe(0);
  });

  itOnSqlite('makes no row where nobody listens durably', async () => {
    const none = await another({ modules: [] });
    const collected = none.service.collect(PET_SOLD);
    await none.sell(1, 'a');
    await expect.poll(() => collected).toHaveLength(1);
    expect(await none.dataSource.manager.count(OutboxEvent)).toBe(0);
  });

  // On PostgreSQL each commit counts.
  itOnSqlite('leaves what is cached alone when it is delivered', async () => {
    listeners.mailer = fail;
    await sell(1, 'a');
    const version = service.app.get(DataVersion).versions().responses;
    await deliver();
    expect([await waiting(), await waiting('ledger')]).toEqual([1, 0]);
    expect(version).toBeTypeOf('number');
    expect(service.app.get(DataVersion).versions().responses).toBe(version);
  });
});

describe('a listener that fails', () => {
  it('receives the event again, later each time, and delays neither other keys nor other listeners', async () => {
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

  it('receives the event again immediately when the clock was set back by more than the delay', async () => {
    let broken = true;
    listeners.mailer = () => broken && fail();
    await sellAll([
      [1, 'a'],
      [1, 'b'],
    ]);
    await deliver();
    expect(of('mailer')).toEqual(['a']);
    broken = false;
    clock.step(-24 * HOUR);
    await deliver();
    expect(of('mailer')).toEqual(['a', 'a', 'b']);
  });

  it('20 times has the event parked: later events continue, until someone retries it', async () => {
    const outcomes = () => Promise.all(['failed', 'parked', 'handled'].map(count));
    const before = await outcomes();
    listeners.mailer = ({ step }) => step === 'a' && fail();
    await sell(1, 'a');
    await sell(1, 'b');
    for (let hours = 0; hours < 30; hours += 1) {
      await deliver();
      clock.advance(HOUR);
    }
    expect(of('mailer')).toEqual([...Array.from({ length: 20 }, () => 'a'), 'b']);
    expect((await outcomes()).map((one, at) => one - (before[at] ?? 0))).toEqual([20, 1, 1]);
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

  it.each([
    ['has a NUL', new Error('no\0connection')],
    ['has no text', Object.create(null)],
  ])('with an error that %s receives the event again, and the other events continue', async (_, error) => {
    listeners.mailer = ({ step }) => {
      if (step === 'a') throw error;
    };
    await sell(1, 'a');
    await sell(2, 'b');
    await deliver();
    expect(new Set(of('mailer'))).toEqual(new Set(['a', 'b']));
    expect(await waiting()).toBe(1);
    listeners.mailer = () => undefined;
    clock.advance(HOUR);
    await deliver();
    expect(await waiting()).toBe(0);
  });

  it('with everything is paused for a while, not tried with all events', async () => {
    listeners.mailer = fail;
    await sellAll(Array.from({ length: 60 }, (_, pet) => [pet, String(pet)] as const));
    await deliver();
    await deliver();
    expect(of('mailer').length).toBeLessThan(10);
    expect(of('ledger')).toHaveLength(60);
    listeners.mailer = () => undefined;
    clock.advance(60_000);
    await deliver();
    expect(await waiting()).toBe(0);
  });

  it('of one event among others keeps those of its key in order, whatever fails when', async () => {
    const published = fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 3 })), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(published, async (sold) => {
        const left = sold.map(([, failures]) => failures);
        const handled: [bigint, number][] = [];
        listeners.mailer = ({ petId, step }) => {
          const more = left[Number(step)] ?? 0;
          left[Number(step)] = more - 1;
          if (more > 0) fail();
          handled.push([petId, Number(step)]);
        };
        await sellAll(sold.map(([pet], at) => [pet, String(at)] as const));
        for (let rounds = 0; rounds < 100 && handled.length < sold.length; rounds += 1) {
          await deliver();
          clock.advance(HOUR);
        }
        for (const pet of [1, 2, 3]) {
          const steps = handled.filter(([petId]) => petId === BigInt(pet)).map(([, step]) => step);
          expect(steps).toEqual([...sold.keys()].filter((at) => sold[at]?.[0] === pet));
        }
        expect(await waiting()).toBe(0);
      }),
      { numRuns: 8 },
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
    const { held, most } = slowMailer();
    const steps = Array.from({ length: 24 }, (_, at) => [at % 12, `${at % 12}/${at}`] as const);
    await sellAll(steps);
    const delivered = deliver();
    await expect.poll(() => held.size).toBe(8);
    for (let left = steps.length; left > 0; left -= 1) {
      await expect.poll(() => held.size, { interval: 5 }).toBeGreaterThan(0);
      const [step = '', release] = [...held][0] ?? [];
      release?.();
      await expect.poll(() => held.has(step), { interval: 5 }).toBe(false);
    }
    await delivered;
    expect(most()).toBe(8);
    for (let pet = 0; pet < 12; pet += 1) {
      const ofPet = (step: string | undefined) => step?.startsWith(`${pet}/`);
      expect(of('mailer').filter(ofPet)).toEqual(steps.map(([, step]) => step).filter(ofPet));
    }
    expect(await waiting()).toBe(0);
  });

  it('do not wait for one that is slow, with any number of pending events at any time', async () => {
    const { held } = slowMailer();
    const slow = listeners.mailer;
    listeners.mailer = (sale, delivery) => sale.petId === 1n && slow(sale, delivery);
    const many = Array.from({ length: 110 }, (_, step) => step);
    await sellAll([
      ...many.map((step) => [1, `slow ${step}`] as const),
      ...many.map((step) => [2, `b${step}`] as const),
    ]);
    const ofOthers = () => of('mailer').filter((step) => step !== 'slow');
    await expect.poll(ofOthers).toHaveLength(110);
    for (const step of ['c', 'd']) {
      await sell(3, step);
      await expect.poll(() => ofOthers().at(-1)).toBe(step);
    }
    expect([...held.keys()]).toEqual(['slow 0']);
    // What was handled is noted, although a key is still in hand.
    await expect.poll(waiting).toBe(110);
    listeners.mailer = () => undefined;
    held.get('slow 0')?.();
    await deliver();
    expect(await waiting()).toBe(0);
    expect(of('mailer').filter((step) => step === 'slow')).toHaveLength(110);
  });

  it('are each delivered once, in order, whatever the database refuses in the meantime', async () => {
    let handled = 0;
    listeners.mailer = async () => {
      handled += 1;
      // Each second something is noted, and refused.
      clock.advance(500);
      if (handled === 10) await refuseWrites(dataSource, true);
    };
    await sellAll(Array.from({ length: 60 }, (_, at) => [at % 6, `${at % 6}/${at}`] as const));
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
    const second = await another({ environment: databaseOf(service) });
    for (let step = 0; step < 20; step += 1) await (step % 2 ? opened : second).sell(1, String(step));
    await expect.poll(waiting).toBe(0);
    expect(of('mailer')).toEqual(Array.from({ length: 20 }, (_, step) => String(step)));
  });

  it('waits at its stop for the listener that runs, and starts no other event', async () => {
    const own = await another({});
    await own.sell(1, 'a');
    await own.deliver();
    const end = gate();
    listeners.mailer = () => end.opened;
    await own.sell(1, 'b');
    await own.sell(1, 'c');
    await expect.poll(() => of('mailer')).toEqual(['a', 'b']);
    const stopped = own.stop();
    end.open();
    await stopped;
    expect([of('mailer'), await own.waiting()]).toEqual([['a', 'b'], 1]);
  });
});

it('many events that wait are not scanned to find the next ones', async () => {
  await dataSource.query(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
     INSERT INTO outbox_events (listener, event, key, told, published_at, failures, due_at)
     SELECT 'away', 'pet.sold', i % 5000, '{"petId":{"$int64":"1"},"step":"x"}', '2026-11-20T12:00:00.000Z', 0, 0 FROM n`,
  );
  const next = await store.next('away', 100);
  const [first = 0n] = next.map(({ id }) => id);
  expect(next.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, at) => first + BigInt(at)));
  if (ON_POSTGRES) await dataSource.query('ANALYZE outbox_events');
  const plan = await planOf(
    dataSource,
    `SELECT * FROM outbox_events waiting WHERE waiting.listener = 'away' AND waiting.due_at IS NOT NULL
     AND waiting.due_at NOT BETWEEN 2 AND 9 AND NOT EXISTS (SELECT 1 FROM outbox_events later
       WHERE later.listener = 'away' AND later.key = waiting.key AND later.due_at BETWEEN 2 AND 9) ORDER BY waiting.id LIMIT 100`,
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
    /SEARCH later USING COVERING INDEX outbox_events_key \(listener=\? AND key=\? AND due_at>\? AND due_at<\?\)/,
  );
  expect(details).not.toContain('TEMP B-TREE');
});

describe('the metrics of what waits', () => {
  const gauges = (listener: string, event: string) =>
    Promise.all(
      ['petstore_outbox_waiting_events', 'petstore_outbox_oldest_waiting_seconds'].map((name) =>
        service.metric(name, { listener, event }),
      ),
    );

  it('show how many events of each name wait for each listener, known or not, and for how long', async () => {
    expect(await gauges('mailer', 'pet.sold')).toEqual([0, 0]);
    listeners.mailer = fail;
    listeners.ledger = ({ step }) => step === 'fed' && fail();
    await sell(1, 'a');
    clock.advance(2_500);
    await sell(2, 'b');
    await feed(3, 'fed');
    await store.add(['gone'], 'pet.sold', '1', '{}');
    await deliver();
    clock.advance(500);
    expect(await gauges('mailer', 'pet.sold')).toEqual([2, 3]);
    expect(await gauges('ledger', 'pet.fed')).toEqual([1, 0.5]);
    expect(await gauges('ledger', 'pet.sold')).toEqual([0, 0]);
    expect(await gauges('gone', 'pet.sold')).toEqual([1, 0.5]);
    // What is parked does not wait.
    await dataSource.manager.update(OutboxEvent, { key: '1', listener: 'mailer' }, { dueAt: null });
    expect(await gauges('mailer', 'pet.sold')).toEqual([1, 0.5]);
    await service.repository(OutboxEvent).clear();
    expect(await gauges('mailer', 'pet.sold')).toEqual([0, 0]);
    expect((await service.app.get(Metrics).exposition()).text).not.toContain('listener="gone"');
  });

  it('are read only from an index', async () => {
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
  });
});

it('an event that was not handled for 90 days is deleted', async () => {
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
