import { Injectable, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { describe, expect, it, vi } from 'vitest';
import { AuditEntry } from '../../src/auth/audit/audit-entry.entity.js';
import { AuditService } from '../../src/auth/audit/audit.service.js';
import { DomainEvents, OnDomainEvent, defineEvent } from '../../src/events/domain-events.js';
import { OutboxEvent } from '../../src/events/outbox/outbox-event.entity.js';
import { OutboxStore } from '../../src/events/outbox/outbox-store.js';
import { Outbox } from '../../src/events/outbox/outbox.js';
import { TestService } from '../kit/test-service.js';
import { printedBy } from '../support/orders.js';
import { openForAll } from '../support/opened.js';

interface Sold {
  readonly petId: bigint;
  readonly step: string;
}
const PET_SOLD = defineEvent<Sold>('pet.sold', { durable: true, key: ({ petId }) => petId });

const received: string[] = [];
let isBroken = false;

@Injectable()
class Mailer {
  @OnDomainEvent(PET_SOLD, { listener: 'mailer' })
  mail({ step }: Sold): void {
    received.push(step);
    if (isBroken) throw new Error('no connection');
  }
}
@Module({ providers: [Mailer] })
class MailerModule {}

describe('a durable listener', () => {
  it.each(['', 'Mailer', 'my mailer', '1mailer'])('is not called %o', (listener) => {
    const declare = () => {
      class Wrong {
        @OnDomainEvent(PET_SOLD, { listener })
        mail(): void {}
      }
      return Wrong;
    };
    expect(declare).toThrow(`Wrong.mail: the listener "${listener}" is not of the form name`);
  });

  it('that exists twice stops the start', async () => {
    @Injectable()
    class Second {
      @OnDomainEvent(PET_SOLD, { listener: 'mailer' })
      mail(): void {}
    }
    @Module({ providers: [Second] })
    class SecondModule {}
    await expect(TestService.open({ modules: [MailerModule, SecondModule] })).rejects.toThrow(
      /Listener "mailer" of pet\.sold is declared twice: by \w+\.\w+ and Second\.mail\./,
    );
  });
});

describe('the name of an event', () => {
  it('stops the start when two features claim it', () => {
    expect(() => defineEvent('pet.sold')).toThrow('Event "pet.sold" is declared twice.');
  });

  it.each(['', 'pet', 'Pet.created', 'pet.created.twice', 'pet created', ' pet.created', 'pet.'])(
    'is not %o',
    (name) => {
      expect(() => defineEvent(name)).toThrow(`Event "${name}" is not of the form subject.verb`);
    },
  );
});

describe('petstore outbox', async () => {
  /** The audit entries about the parked event. */
  const PARKED = { listener: 'mailer', event: 'pet.sold', key: '1' };

  const service = await openForAll({ modules: [MailerModule] });

  const petstore = (...args: string[]) => printedBy(service, args);

  /** What stands in the audit trail, oldest first. */
  async function trail() {
    const entries = await service.repository(AuditEntry).find({ order: { id: 'ASC' } });
    return entries.map(({ action, actor, clientId, keyId, details }) => {
      return { action, actor, clientId, keyId, details };
    });
  }

  async function withOneParked() {
    const { app } = service;
    const [store, { manager }] = [app.get(OutboxStore), app.get(DataSource)];
    const sell = (petId: bigint, step: string) => app.get(DomainEvents).publish(PET_SOLD, { petId, step });
    const deliver = () => app.get(Outbox).deliver();
    // What the test before has left is given to a listener that succeeds, or was parked.
    isBroken = false;
    service.clock.advance(3_600_000);
    await deliver();
    await manager.clear(OutboxEvent);
    received.length = 0;
    isBroken = true;
    await sell(1n, 'a');
    await deliver();
    await manager.update(OutboxEvent, { listener: 'mailer' }, { dueAt: null });
    const [parked] = await store.parked(1);
    const before = await trail();
    const changes = async () => (await trail()).slice(before.length);
    return { manager, store, sell, deliver, changes, id: String(parked?.id) };
  }

  it('list shows what is parked and what waits', async () => {
    const { sell, id } = await withOneParked();
    await sell(2n, 'b');
    const { stdout } = await petstore('outbox', 'list', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      parked: [{ id: Number(id), ...PARKED, failures: 1 }],
      waiting: expect.arrayContaining([{ listener: 'mailer', events: 1, isKnown: true }]),
    });
    expect((await petstore('outbox', 'list')).stdout).toContain('Error: no connection');
  });

  it.each([['one'], ['all']])('retry has %s delivered again', async (which) => {
    const { deliver, id, changes } = await withOneParked();
    isBroken = false;
    const retry = () => petstore('outbox', 'retry', ...(which === 'one' ? [id] : []));
    expect(await retry()).toMatchObject({ code: 0, stdout: '1 event will be delivered again.\n' });
    await deliver();
    expect(received).toEqual(['a', 'a']);
    if (which === 'all') expect((await retry()).stdout).toBe('0 events will be delivered again.\n');
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

  it.each([
    ['retry', []],
    ['discard', ['--yes']],
  ])('%s changes nothing when its audit entry cannot be written', async (name, yes) => {
    const { store, id } = await withOneParked();
    vi.spyOn(service.app.get(AuditService), 'record').mockRejectedValue(new Error('no room'));
    await petstore('outbox', name, id, ...yes).catch(() => undefined);
    expect(await store.parked(2)).toMatchObject([{ id: BigInt(id) }]);
  });

  it('discard deletes one that is parked', async () => {
    const { manager, id, changes } = await withOneParked();
    expect((await petstore('outbox', 'discard', id, '--yes')).code).toBe(0);
    expect(await manager.count(OutboxEvent)).toBe(0);
    expect(await changes()).toMatchObject([
      { action: 'outbox_event.discarded', clientId: null, details: { ...PARKED, id } },
    ]);
    expect((await petstore('audit', 'list')).stdout).toMatch(/outbox_event\.discarded .*"listener":"mailer"/);
  });

  it('discard and retry refuse what is not parked', async () => {
    const { sell, store, changes } = await withOneParked();
    await sell(2n, 'b');
    const [waits] = await store.next('mailer', 1);
    for (const command of [['retry'], ['discard', '--yes']])
      expect(await petstore('outbox', ...command, String(waits?.id ?? 99))).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('`petstore outbox list`'),
      });
    expect((await petstore('outbox', 'retry', 'x')).code).toBe(1);
    expect(await changes()).toEqual([]);
  });
});
