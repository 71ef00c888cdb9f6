import type { INestApplication } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ADMINISTRATION, SERVICE_ITSELF } from '../auth/clients/audited-changes.js';
import { ClientsService } from '../auth/clients/clients.service.js';
import { KeyIssuingService } from '../auth/clients/key-issuing.service.js';
import { Settings } from '../core/config/settings.js';
import { DemoData } from '../database/demo-data.js';
import type { ExampleOperations } from '../docs/openapi/example-operations.js';
import { Transactions } from '../database/transactions/transactions.js';

/** Name of the client that the first start creates. */
export const DEMO_CLIENT = 'Demo';

/**
 * In an empty database outside production, loads the demo data of all features and creates a demo client with a key. `show` receives the
 * key, which is not stored and cannot be shown later. Returns whether it did so.
 */
export async function prepareFirstStart(
  app: INestApplication,
  show: (key: string) => void,
): Promise<boolean> {
  if (app.get(Settings).nodeEnv === 'production' || !(await isEmpty(app))) return false;
  return app.get(DataSource).transaction(async () => {
    await app.get(Transactions).lock(ADMINISTRATION);
    // Another process that started at the same time may have done it since the first check.
    if (!(await isEmpty(app))) return false;
    await app.get(DemoData).add();
    const client = await app.get(ClientsService).create({ name: DEMO_CLIENT, plan: 'free' }, SERVICE_ITSELF);
    const { secret } = await app.get(KeyIssuingService).issue({ clientId: client.id }, SERVICE_ITSELF);
    // Before the commit. If the process is killed in between, the database stays empty and the next startup shows another key.
    show(secret);
    return true;
  });
}

async function isEmpty(app: INestApplication): Promise<boolean> {
  return (await app.get(ClientsService).count()) === 0 && (await app.get(DemoData).isAbsent());
}

/** Output of the first start: a sample request, for the first list if there is one, and the address of the docs. */
export function firstStartText(key: string, origin: string, { list }: ExampleOperations): string {
  const path = list === undefined ? '/account' : `/v1${list}?limit=3`;
  return [
    '',
    'The database was empty: the demo data of all features and a demo client were created. The key is shown only once. Try',
    '',
    `  curl -H 'Authorization: Bearer ${key}' '${origin}${path}'`,
    '',
    `or open ${origin}/docs, press Authorize and paste the key.`,
    '',
  ].join('\n');
}
