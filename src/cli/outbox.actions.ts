import type { INestApplication } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Actor } from '../auth/audit/audit-entry.entity.js';
import { AuditService } from '../auth/audit/audit.service.js';
import { OutboxStore } from '../events/outbox/outbox-store.js';
import { Outbox } from '../events/outbox/outbox.js';
import type { Call } from './frame/call.js';
import { Refusal } from '../core/refusal.js';
import { listTable } from './frame/list-table.js';
import { LimitOption, inputOf } from './frame/service-calls.js';

const COLUMNS = ['id', 'event', 'listener', 'publishedAt', 'failures', 'error', 'key'] as const;

/** `petstore outbox list`. */
export async function list(call: Call): Promise<void> {
  const { limit } = await inputOf(LimitOption, call.options);
  const app = await call.start();
  const store = app.get(OutboxStore);
  const counts = [...(await store.byListener('waiting'))];
  const parked = await store.parked(limit);
  const waiting = counts.map(([listener, events]) => {
    return { listener, events, isKnown: app.get(Outbox).names.includes(listener) };
  });
  const unknown = ', but this listener does not exist in this version';
  const lines = waiting.map(
    ({ listener, events, isKnown }) => `${listener}: ${events} waiting${isKnown ? '' : unknown}`,
  );
  await call.show({ parked, waiting }, (view) => [listTable(parked, COLUMNS, view), ...lines].join('\n'));
}

/** `petstore outbox retry`. */
export async function retry(call: Call, eventId: string): Promise<void> {
  const app = await call.start();
  const store = app.get(OutboxStore);
  const all = () =>
    app.get(DataSource).transaction(async (manager) => {
      const listeners = Object.fromEntries(await store.byListener('parked'));
      const events = await store.retry();
      const change = { action: 'outbox_event.retried', details: { events, listeners } };
      if (events > 0) await app.get(AuditService).record(manager, call.by, change);
      return events;
    });
  const one = () => changed(app, call.by, 'outbox_event.retried', idOf(eventId), (id) => store.retry(id));
  const retried = await (eventId === '' ? all() : one());
  const text =
    retried === 1 ? '1 event will be delivered again.' : `${retried} events will be delivered again.`;
  await call.showChange({ retried }, () => text);
}

/** `petstore outbox discard`. */
export async function discard(call: Call, eventId: string): Promise<void> {
  call.requireConsent();
  const app = await call.start();
  await call.confirm(`Delete the event ${idOf(eventId)} without delivering it`);
  const remove = (id: bigint) => app.get(OutboxStore).discard(id, app.get(Outbox).names);
  const discarded = await changed(app, call.by, 'outbox_event.discarded', idOf(eventId), remove);
  await call.showChange({ discarded }, () => 'The event was deleted.');
}

/**
 * Changes one event and its audit entry in one transaction; returns the number of changed events. Throws Refusal, and records nothing, if
 * the event cannot be changed.
 */
function changed(
  app: INestApplication,
  by: Actor,
  change: string,
  id: bigint,
  changeEvent: (id: bigint) => Promise<number>,
): Promise<number> {
  return app.get(DataSource).transaction(async (manager) => {
    const found = await app.get(OutboxStore).find(id);
    const count = await changeEvent(id);
    if (!found || count === 0) throw notParked(String(id));
    const { listener, event, key } = found;
    // Without the event's data, which may be confidential.
    const details = { id: String(id), listener, event, key };
    await app.get(AuditService).record(manager, by, { action: change, details });
    return count;
  });
}

function idOf(text: string): bigint {
  if (!/^[1-9]\d{0,17}$/.test(text)) throw notParked(text);
  return BigInt(text);
}

function notParked(id: string): Refusal {
  return new Refusal(`No event ${id} is parked; \`petstore outbox list\` shows those that are.`);
}
