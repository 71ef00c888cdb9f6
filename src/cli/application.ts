import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type INestApplication, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { readDatabaseUrl } from '../core/config/database-url.js';
import { type Settings, loadSettings } from '../core/config/settings.js';
import { fileOf } from '../database/sqlite/sqlite-data-source.js';
import { named } from '../database/sqlite/troubles/sqlite-errors.js';
import { ApiError } from '../core/errors/api-error.js';
import { importing } from '../core/import-failure.js';
import { projectModules } from '../core/project-modules.js';
import type { DatabaseUse } from './shell.js';

/** A database that ends with the process. */
export const IN_MEMORY = 'sqlite::memory:';

/** The application and all modules, imported by those commands alone that need them: the others work while a module cannot be imported. */
export async function importApplication(): Promise<typeof import('../app.setup.js')> {
  const application = await importing(() => import('../app.setup.js'));
  await projectModules();
  // Commands without an application open databases too: a warning of theirs would stand in the output, before its JSON.
  Logger.overrideLogger(false);
  return application;
}

/**
 * Runs a command in the service's own application, not listening, and closes it; `tell` writes to standard error.
 */
export async function withApplication<T>(
  command: (app: INestApplication) => Promise<T>,
  use: DatabaseUse,
  tell: (text: string) => void,
): Promise<T> {
  const { createApp } = await importApplication();
  const absent = use === 'none' ? undefined : absentFile(loadSettings());
  if (use === 'none' || (use === 'read' && absent !== undefined)) process.env['DATABASE_URL'] = IN_MEMORY;
  const app = await createApp({ logger: false });
  try {
    await app.init();
    if (absent !== undefined) tell(absenceText(absent, use));
    return await command(app);
  } catch (error) {
    const file = fileOf(app.get(DataSource));
    // A remedy for callers over HTTP, such as a header to look at, is of no use here: the database file is named instead.
    throw error instanceof ApiError && file !== undefined ? named(file, error) : error;
  } finally {
    await app.close();
  }
}

/**
 * The SQLite file of DATABASE_URL where it is not there. Its path is relative to the working directory: whoever calls a command
 * elsewhere works on another store than that of the service, which has to be told.
 */
export function absentFile({ databaseUrl }: Pick<Settings, 'databaseUrl'>): string | undefined {
  const address = readDatabaseUrl(databaseUrl);
  const file = address?.kind === 'sqlite' && address.file !== ':memory:' ? resolve(address.file) : undefined;
  return file === undefined || existsSync(file) ? undefined : file;
}

/** What is told of a file that was not there. */
export function absenceText(file: string, use: DatabaseUse): string {
  if (use === 'write') return `Made the database ${file}, which was not there.\n`;
  return `There is no database ${file}; the first start of the service makes it, or \`petstore db migrate\`.\n`;
}
