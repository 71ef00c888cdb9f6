import type { INestApplication } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Actor } from '../auth/audit/audit-entry.entity.js';
import { AuditService } from '../auth/audit/audit.service.js';
import { OutboxStore } from '../events/outbox/outbox-store.js';
import { Outbox } from '../events/outbox/outbox.js';
import { action } from './action.js';
import { Refusal } from './refusal.js';
import { Moment, listTable } from './list-table.js';

const LIST_COLUMNS = [
  { title: 'ID' },
  { title: 'LISTENER', leaves: 4 },
  { title: 'EVENT' },
  { title: 'KEY', least: 8, leaves: 1 },
  { title: 'PUBLISHED', leaves: 3 },
  { title: 'FAILURES', leaves: 2 },
  { title: 'ERROR', least: 20 },
];

/** `petstore outbox list`. */
export const list = action({
  run: async (app, { input: { limit } }: { input: { limit: number } }) => {
    const store = app.get(OutboxStore);
    const { names } = app.get(Outbox);
    const parked = await store.parked(limit);
    const waiting = [...(await store.waiting())].map(([listener, events]) => ({
      listener,
      events,
      isKnown: names.includes(listener),
    }));
    return { parked, waiting };
  },
  text: ({ parked, waiting }, _input, view) =>
    [
      listTable(
        LIST_COLUMNS,
        parked.map(({ id, listener, event, key, publishedAt, failures, error }) => {
          return [String(id), listener, event, key, new Moment(publishedAt), String(failures), error];
        }),
        view,
      ),
      ...waiting.map(({ listener, events, isKnown }) =>
        isKnown
          ? `${listener}: ${events} waiting`
          : `${listener}: ${events} waiting, and no listener of this version is called so`,
      ),
    ].join('\n'),
});

/** `petstore outbox retry`. */
export const retry = action({
  run: async (app, { argument, by }) => {
    const store = app.get(OutboxStore);
    if (argument !== '')
      return {
        retried: await changed(app, by, 'outbox_event.retried', idOf(argument), (id) => store.retry(id)),
      };
    return app.get(DataSource).transaction(async (manager) => {
      const listeners = await store.parkedByListener();
      const retried = await store.retry();
      const details = { events: retried, listeners };
      if (retried > 0)
        await app.get(AuditService).record(manager, by, { action: 'outbox_event.retried', details });
      return { retried };
    });
  },
  text: ({ retried }) =>
    retried === 1 ? '1 event is delivered again.' : `${retried} events are delivered again.`,
});

/** `petstore outbox discard`. */
export const discard = action({
  confirm: {
    question: (_app, { argument }) => `Delete the event ${idOf(argument)}, which is then never delivered`,
  },
  run: async (app, { argument, by }) => {
    const remove = (id: bigint) => app.get(OutboxStore).discard(id, app.get(Outbox).names);
    return { discarded: await changed(app, by, 'outbox_event.discarded', idOf(argument), remove) };
  },
  text: () => 'The event is deleted.',
});

/**
 * Changes one event and writes that into the audit trail, in one transaction; answers how many were changed. Throws Refusal when it is
 * none that may be changed; then there is no entry.
 */
function changed(
  app: INestApplication,
  by: Actor,
  change: string,
  id: bigint,
  make: (id: bigint) => Promise<number>,
): Promise<number> {
  return app.get(DataSource).transaction(async (manager) => {
    const found = await app.get(OutboxStore).find(id);
    const count = await make(id);
    if (!found || count === 0) throw notParked(String(id));
    const { listener, event, key } = found;
    // Not what it tells, which may be anything.
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
