import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type INestApplication, Logger } from '@nestjs/common';
import { readDatabaseUrl } from '../../core/config/database-url.js';
import { loadSettings } from '../../core/config/settings.js';
import { tablesBelow } from '../../database/tables.module.js';
import { importing } from '../../core/import-failure.js';
import { projectModules, staleBuild, staleCommands } from '../../core/project-modules.js';
import type { DatabaseUse } from './shell.js';

/**
 * Imports the application and all modules. Only commands that need them call this, so that all others work even if a module cannot be
 * imported.
 */
export async function importApplication(
  write: (text: string) => void,
): Promise<typeof import('../../app.setup.js')> {
  const application = await importing(() => import('../../app.setup.js'));
  tablesBelow(application.AppModule, ...(await projectModules()));
  write(await staleBuild());
  // Warnings of a database that is opened without the application would precede the JSON in the output.
  Logger.overrideLogger(false);
  return application;
}

/** Starts the service's application for a command, without listening. Messages go to `write`, which writes to standard error. */
export async function openApplication(
  use: DatabaseUse,
  write: (text: string) => void,
): Promise<INestApplication> {
  const { createApp } = await importApplication(write);
  if (use !== 'none') write(await staleCommands());
  const notice = chooseDatabase(use);
  const app = await createApp({ logger: false });
  try {
    await app.init();
  } catch (error) {
    await app.close();
    throw error;
  }
  write(notice);
  return app;
}

/**
 * Sets DATABASE_URL to a database in memory if the command uses none, or only reads an SQLite file that does not exist. Returns a note
 * about such a file, to be shown after startup, because its path is relative to the working directory, so the same command in another
 * folder would use another database than the service.
 */
export function chooseDatabase(use: DatabaseUse): string {
  const address = use === 'none' ? undefined : readDatabaseUrl(loadSettings().databaseUrl);
  const file = address?.kind === 'sqlite' && address.file !== ':memory:' ? resolve(address.file) : undefined;
  const isAbsent = file !== undefined && !existsSync(file);
  if (use === 'write') return isAbsent ? `Created the database ${file}.\n` : '';
  if (use === 'none' || isAbsent) process.env['DATABASE_URL'] = 'sqlite::memory:';
  return isAbsent
    ? `There is no database ${file}. Start the service or run \`petstore db migrate\` to create it.\n`
    : '';
}
