import { join } from 'node:path';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Client } from '../../src/auth/clients/client.entity.js';
import { openDataSource } from '../../src/database/data-source.js';
import { makeDatabase } from '../kit/test-database.js';
import { WebhookDelivery } from '../../src/webhooks/webhook-delivery.entity.js';
import { BackupFolder, drillLines } from '../support/backup-folder.js';
import { POSTGRES_URL, describeWith } from '../support/requirements.js';
import { WebhookReceiver, addEndpoint } from '../support/webhook-receiver.js';

/** A store: its settings, how it is backed up, and how it is put back, which answers its settings from then on. */
interface Store {
  readonly folder: BackupFolder;
  readonly environment: NodeJS.ProcessEnv & { readonly DATABASE_URL: string };
  readonly backUp: () => Promise<{ code: number | null; output: string }>;
  readonly restore: () => Promise<NodeJS.ProcessEnv & { readonly DATABASE_URL: string }>;
}

/** The rows of a database, which is closed again. */
async function inDatabase<T>(databaseUrl: string, work: (dataSource: DataSource) => Promise<T>): Promise<T> {
  const dataSource = await openDataSource({ databaseUrl });
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

const statesIn = (databaseUrl: string) =>
  inDatabase(databaseUrl, async ({ manager }) => {
    const all = await manager.find(WebhookDelivery, { order: { id: 'ASC' } });
    return all.map(({ id, state }) => [Number(id), state]);
  });

/** What waits in the backup was delivered after it, and so was a message that the backup does not know. */
async function restored({ folder, environment, backUp, restore }: Store): Promise<void> {
  let isAnswering = true;
  const receiver = await WebhookReceiver.start((response) =>
    response.writeHead(isAnswering ? 204 : 500).end(),
  );
  onTestFinished(() => receiver.stop());
  const settings = { ...environment, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' };
  await inDatabase(environment.DATABASE_URL, async ({ manager }) => {
    const { id: clientId } = await manager.findOneByOrFail(Client, { name: 'Drill' });
    await addEndpoint(manager, { clientId, url: receiver.url });
  });
  const service = await folder.start(settings);
  await folder.add(service, 'Told before');
  await expect.poll(() => receiver.names).toEqual(['Told before']);
  isAnswering = false;
  for (const name of ['Waits 1', 'Waits 2']) await folder.add(service, name);
  await expect.poll(() => receiver.names).toContain('Waits 1');
  expect(await backUp()).toMatchObject({ code: 0 });
  isAnswering = true;
  // It is tried again after five seconds.
  await expect.poll(() => receiver.names).toContain('Waits 2');
  await folder.add(service, 'Told and lost');
  await expect.poll(() => receiver.names).toContain('Told and lost');
  await service.stop('SIGKILL');
  const before = receiver.received.splice(0);

  const again = { ...settings, ...(await restore()) };
  const states = await statesIn(again.DATABASE_URL);
  expect(states).toEqual([
    [1, 'delivered'],
    [2, 'waiting'],
    [3, 'waiting'],
  ]);
  const next = await folder.start(again);
  await folder.add(next, 'New');
  await expect.poll(() => receiver.names).toEqual(['Waits 1', 'Waits 2', 'New']);
  // A receiver that keeps each webhook-id once has nothing twice.
  const idOf = (name: string) => before.find(({ body }) => body.data.name === name)?.id;
  expect(receiver.ids).toEqual([idOf('Waits 1'), idOf('Waits 2'), expect.stringMatching(/^msg_\w{32}$/)]);
  expect(before.map(({ id }) => id)).not.toContain(receiver.ids[2]);
  await next.stop();
  expect(await statesIn(again.DATABASE_URL)).toEqual([1, 2, 3, 4].map((id) => [id, 'delivered']));
}

describe('webhooks of a restored database', () => {
  it('are sent if they waited, in order and by the ids that they had, and then what is new', async () => {
    const folder = await BackupFolder.make();
    const environment = { DATABASE_URL: `sqlite:${join(folder.path, 'data/petstore.sqlite')}` };
    await restored({
      folder,
      environment,
      backUp: () => folder.shell('npx petstore db backup backup.sqlite'),
      restore: async () => {
        expect((await folder.shell('npx petstore db restore backup.sqlite --yes')).code).toBe(0);
        return environment;
      },
    });
  });
});

describeWith('postgres', 'webhooks of a restored database, on PostgreSQL', () => {
  it('are sent if they waited, in order and by the ids that they had, and then what is new', async () => {
    const [dump = '', create = '', load = ''] = await drillLines('backup.md', 'postgres drill');
    const { url, remove } = await makeDatabase('postgres');
    onTestFinished(remove);
    const name = `petstore_restored_${process.pid}`;
    const { hostname, port, username } = new URL(POSTGRES_URL);
    const environment = { DATABASE_URL: url, PGHOST: hostname, PGPORT: port, PGUSER: username };
    const folder = await BackupFolder.make(environment);
    const admin = new pg.Client({ connectionString: POSTGRES_URL });
    await admin.connect();
    onTestFinished(async () => {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.end();
    });
    const DATABASE_URL = POSTGRES_URL.replace(/[^/]*$/, name);
    const here = (line: string) =>
      line
        .replace('-O petstore restored', `-O ${username} ${name}`)
        .replace('postgres://petstore@db.internal/restored', DATABASE_URL);
    await restored({
      folder,
      environment,
      backUp: () => folder.shell(dump, environment),
      restore: async () => {
        expect(await folder.shell(`${here(create)}\n${here(load)}`, environment)).toMatchObject({ code: 0 });
        return { ...environment, DATABASE_URL };
      },
    });
  });
});
