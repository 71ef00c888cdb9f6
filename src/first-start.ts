import type { INestApplication } from '@nestjs/common';
import { ApiKeysService } from './auth/api-keys.service.js';
import { ClientsService } from './auth/clients.service.js';
import { SERVICE_ITSELF } from './auth/operator.js';
import { Settings } from './config/settings.js';
import { DemoData } from './database/demo-data.js';

/**
 * On an empty store outside production: loads the demo catalogue and makes a demo client with a key.
 * Answers the key, which cannot be shown again, or undefined when there was nothing to do.
 */
export async function prepareFirstStart(app: INestApplication): Promise<string | undefined> {
  if (app.get(Settings).nodeEnv === 'production') return undefined;
  const clients = app.get(ClientsService);
  const demoData = app.get(DemoData);
  const isEmpty = (await clients.count()) === 0 && (await demoData.isAbsent());
  if (!isEmpty) return undefined;
  await demoData.add();
  const client = await clients.create({ name: 'Demo', plan: 'free' }, SERVICE_ITSELF);
  const { secret } = await app.get(ApiKeysService).issue({ clientId: client.id }, SERVICE_ITSELF);
  return secret;
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
