import type { INestApplication } from '@nestjs/common';
import { createApp } from '../app.setup.js';
import { loadSettings } from '../config/load-settings.js';

/** Runs a command in the service's own application, not listening, and closes it. */
export async function withApp<T>(command: (app: INestApplication) => Promise<T>): Promise<T> {
  loadSettings();
  const app = await createApp({ logger: false });
  try {
    await app.init();
    return await command(app);
  } finally {
    await app.close();
  }
}
