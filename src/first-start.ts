import type { INestApplication } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ClientsService } from './accounts/clients.service.js';
import { KeyIssuingService } from './accounts/key-issuing.service.js';
import { SERVICE_ITSELF } from './accounts/operator.js';
import { Settings } from './config/settings.js';
import { DemoData } from './database/demo-data.js';

/**
 * On an empty store outside production: loads the demo catalogue and makes a demo client with a key. `show` is given the
 * key, which cannot be shown again.
 */
export async function prepareFirstStart(app: INestApplication, show: (key: string) => void): Promise<void> {
  if (app.get(Settings).nodeEnv === 'production' || !(await isEmpty(app))) return;
  await app.get(DataSource).transaction(async () => {
    // Another process that began at the same time may have been first.
    if (!(await isEmpty(app))) return;
    await app.get(DemoData).add();
    const client = await app.get(ClientsService).create({ name: 'Demo', plan: 'free' }, SERVICE_ITSELF);
    const { secret } = await app.get(KeyIssuingService).issue({ clientId: client.id }, SERVICE_ITSELF);
    // Before the commit: a process that is killed in between leaves an empty store, whose next start shows another key.
    show(secret);
  });
}

async function isEmpty(app: INestApplication): Promise<boolean> {
  return (await app.get(ClientsService).count()) === 0 && (await app.get(DemoData).isAbsent());
}

/** What the first start prints: a request to paste and where the docs are. */
export function firstStartText(key: string, origin: string): string {
  return [
    '',
    'The store was empty: a demo catalogue and a demo client were made. Its key is shown this once. Try',
    '',
    `  curl -H 'Authorization: Bearer ${key}' '${origin}/v1/pets?limit=3&status=available'`,
    '',
    `or open ${origin}/docs, press Authorize and paste the key.`,
    '',
  ].join('\n');
}
