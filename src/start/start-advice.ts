import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ClientsService } from '../auth/clients/clients.service.js';
import { unknownPlanErrors } from '../auth/clients/unknown-plans.js';
import { readDatabaseUrl } from '../core/config/database-url.js';
import { ignoredSettings } from '../core/config/ignored-settings.js';
import { Settings } from '../core/config/settings.js';
import { exposedEnvFile, exposedFiles } from '../database/sqlite/private-files.js';
import { fileOf, isInMemory } from '../database/sqlite/sqlite-data-source.js';
import { AppLogger } from '../core/logging/app-logger.js';
import { shellWord } from '../core/shell-word.js';
import { DEMO_CLIENT } from './first-start.js';
import { softwareFolder } from '#supported-node';
import { operatorScopes } from '../auth/scopes.js';

/**
 * Logs advice for the operator after startup, one line each: variables that look like settings but are not read; database files and, in
 * production, an `.env` that other users can read; removed plans; how to create the first key, or replace the demo key. Logs no secrets.
 */
export async function advise(app: INestApplication, isFirstStart: boolean): Promise<void> {
  const logger = app.get(AppLogger);
  const file = fileOf(app.get(DataSource));
  const rights = file === undefined ? undefined : await exposedFiles(file);
  const envFile = await exposedEnvFile(app.get(Settings));
  for (const text of [
    ...ignoredSettings(),
    ...(rights === undefined ? [] : [rights]),
    ...(envFile === undefined ? [] : [envFile]),
    ...(await unknownPlanErrors(app.get(DataSource).manager)),
  ])
    logger.warn(text, 'Start');
  // No other process can reach a database in memory.
  if (!isFirstStart && !isInMemory(app.get(DataSource))) await adviseKey(app, logger);
}

/** Logs how to get a key if there is no client, or if the demo client's key may be lost. */
async function adviseKey(app: INestApplication, logger: AppLogger): Promise<void> {
  const settings = app.get(Settings);
  const { command, where } = commandOf(settings);
  const { items } = await app.get(ClientsService).list({ limit: 1 });
  const [oldest] = items;
  if (!oldest)
    logger.warn(
      `There is no client yet, so every request is refused with 401. ${where}, create the first administrator, whose key also opens ` +
        `/console: ${command} client create --name Operators --plan business --issue-key --scopes ${operatorScopes()}. Then create a client with a key: ` +
        `${command} client create --name 'My shop' --plan pro --issue-key`,
      'Start',
    );
  else if (settings.nodeEnv !== 'production' && oldest.name === DEMO_CLIENT)
    logger.log(
      `The demo key was shown only at the first start. ${where}, create another key: ${command} key issue --client ${oldest.id}`,
      'Start',
    );
}

/** The command line for this process's database, without secrets. */
function commandOf({ databaseUrl, nodeEnv }: Settings): { command: string; where: string } {
  const here = process.cwd();
  const folder = softwareFolder();
  const called = here === folder ? 'npx petstore' : `node ${shellWord(join(folder, 'bin', 'petstore.js'))}`;
  // The command line reads .env itself.
  const isSet = process.env['DATABASE_URL'] !== undefined;
  const isFile = readDatabaseUrl(databaseUrl)?.kind === 'sqlite';
  const assignments = [
    ...(process.env['NODE_ENV'] === undefined ? [] : [`NODE_ENV=${nodeEnv}`]),
    ...(isSet && isFile ? [`DATABASE_URL=${shellWord(databaseUrl)}`] : []),
  ];
  return {
    command: [...assignments, called].join(' '),
    where: `In ${here}${isSet && !isFile ? ' and with the DATABASE_URL of the service' : ''}`,
  };
}
