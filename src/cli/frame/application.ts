import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type INestApplication, Logger } from '@nestjs/common';
import { readDatabaseUrl } from '../../core/config/database-url.js';
import { loadSettings } from '../../core/config/settings.js';
import { tablesBelow } from '../../database/tables.module.js';
import { importing } from '../../core/import-failure.js';
import { projectModules, staleBuild, staleCommands } from '../../core/project-modules.js';
import type { DatabaseUse } from './shell.js';

/** Imports the application and all modules, only for commands that need them: the others work even if a module cannot be imported. */
export async function importApplication(
  tell: (text: string) => void,
): Promise<typeof import('../../app.setup.js')> {
  const application = await importing(() => import('../../app.setup.js'));
  tablesBelow(application.AppModule, ...(await projectModules()));
  tell(await staleBuild());
  // Commands without an application open databases too, whose warnings would precede the JSON in the output.
  Logger.overrideLogger(false);
  return application;
}

/** Starts the service's own application for a command, not listening; `tell` writes to standard error. */
export async function openApplication(
  use: DatabaseUse,
  tell: (text: string) => void,
): Promise<INestApplication> {
  const { createApp } = await importApplication(tell);
  if (use !== 'none') tell(await staleCommands());
  const notice = chooseDatabase(use);
  const app = await createApp({ logger: false });
  try {
    await app.init();
  } catch (error) {
    await app.close();
    throw error;
  }
  tell(notice);
  return app;
}

/**
 * Puts a database in memory into DATABASE_URL if none is used, or if an SQLite file that is only read does not exist. Returns a line about
 * such a file for after the start: its path is relative to the working directory, so a command in another folder would work on
 * another database than the service.
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
