import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type INestApplication, Logger } from '@nestjs/common';
import { readDatabaseUrl } from '../core/config/database-url.js';
import { type Settings, loadSettings } from '../core/config/settings.js';
import { tablesBelow } from '../database/tables.module.js';
import { importing } from '../core/import-failure.js';
import { projectModules } from '../core/project-modules.js';
import type { DatabaseUse } from './shell.js';

/** A database that ends with the process. */
export const IN_MEMORY = 'sqlite::memory:';

/** Imports the application and all modules, only for commands that need them: the others work even if a module cannot be imported. */
export async function importApplication(): Promise<typeof import('../app.setup.js')> {
  const application = await importing(() => import('../app.setup.js'));
  tablesBelow(application.AppModule, ...(await projectModules()));
  // Commands without an application open databases too, whose warnings would precede the JSON in the output.
  Logger.overrideLogger(false);
  return application;
}

/** Starts the service's own application for a command, not listening; `tell` writes to standard error. */
export async function openApplication(
  use: DatabaseUse,
  tell: (text: string) => void,
): Promise<INestApplication> {
  const { createApp } = await importApplication();
  const absent = use === 'none' ? undefined : absentFile(loadSettings());
  if (use === 'none' || (use === 'read' && absent !== undefined)) process.env['DATABASE_URL'] = IN_MEMORY;
  const app = await createApp({ logger: false });
  try {
    await app.init();
  } catch (error) {
    await app.close();
    throw error;
  }
  if (absent !== undefined) tell(absenceText(absent, use));
  return app;
}

/**
 * The SQLite file of DATABASE_URL if it does not exist. Its path is relative to the working directory: a command in another folder would
 * work on another database than the service, so this is reported.
 */
export function absentFile({ databaseUrl }: Pick<Settings, 'databaseUrl'>): string | undefined {
  const address = readDatabaseUrl(databaseUrl);
  const file = address?.kind === 'sqlite' && address.file !== ':memory:' ? resolve(address.file) : undefined;
  return file === undefined || existsSync(file) ? undefined : file;
}

/** The message about a database file that did not exist. */
export function absenceText(file: string, use: DatabaseUse): string {
  if (use === 'write') return `Created the database ${file}.\n`;
  return `There is no database ${file}; the first start of the service creates it, or \`petstore db migrate\`.\n`;
}
