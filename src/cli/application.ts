import type { INestApplication } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { loadSettings } from '../core/config/settings.js';
import { fileOf } from '../database/sqlite/sqlite-data-source.js';
import { named } from '../database/sqlite/troubles/sqlite-errors.js';
import { ApiError } from '../core/errors/api-error.js';
import { importing } from '../core/import-failure.js';
import { tellingOfNewFile } from './new-file.js';

/** The application, imported by those commands alone that need it: the others work while a module cannot be imported. */
export function importApplication(): Promise<typeof import('../app.setup.js')> {
  return importing(() => import('../app.setup.js'));
}

/** Runs a command in the service's own application, not listening, and closes it. */
export async function withApplication<T>(command: (app: INestApplication) => Promise<T>): Promise<T> {
  const { createApp } = await importApplication();
  const tellOfNewFile = tellingOfNewFile(loadSettings());
  const app = await createApp({ logger: false });
  try {
    await app.init();
    tellOfNewFile((text) => process.stderr.write(text));
    return await command(app);
  } catch (error) {
    const file = fileOf(app.get(DataSource));
    // A remedy for callers over HTTP, such as a header to look at, is of no use here: the database file is named instead.
    throw error instanceof ApiError && file !== undefined ? named(file, error) : error;
  } finally {
    await app.close();
  }
}
