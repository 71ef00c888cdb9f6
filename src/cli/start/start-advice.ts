import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ClientsService } from '../../auth/clients/clients.service.js';
import { readDatabaseUrl } from '../../core/config/database-url.js';
import { unreadSettings } from '../../core/config/unread-settings.js';
import { Settings } from '../../core/config/settings.js';
import { rightsOfOthers } from '../../database/sqlite/private-files.js';
import { fileOf, isInMemory } from '../../database/sqlite/sqlite-data-source.js';
import { DEMO_CLIENT } from './first-start.js';
import { softwareFolder } from '#supported-node';

/** A line of the log for the operator. */
export interface Advice {
  /** `warn` for what should be fixed. */
  readonly level: 'warn' | 'log';
  readonly text: string;
}

/**
 * Messages for the operator after the start, one per line: how to create the first key, or another instead of the demo key;
 * variables that look like settings and are not read; files of the database that other users may read; removed plans. Contains
 * nothing secret.
 */
export async function startAdvice(app: INestApplication, isFirstStart: boolean): Promise<Advice[]> {
  const file = fileOf(app.get(DataSource));
  const rights = file === undefined ? undefined : await rightsOfOthers(file);
  const key = isFirstStart ? undefined : await keyAdvice(app);
  return [
    ...[
      ...unreadSettings(),
      ...(rights === undefined ? [] : [rights]),
      ...(await app.get(ClientsService).unknownPlans()).map(unknownPlanText),
    ].map(warning),
    ...(key ? [key] : []),
  ];
}

function unknownPlanText(plan: string): string {
  return (
    `Clients have the plan ${plan}, which PLANS does not name: they get the limits of free. Add it to PLANS, or move them to ` +
    'another plan by `petstore client set-plan`.'
  );
}

function warning(text: string): Advice {
  return { level: 'warn', text };
}

/** How to get a key, if there is no client, or if the key of the demo client may be lost; otherwise undefined. */
async function keyAdvice(app: INestApplication): Promise<Advice | undefined> {
  const settings = app.get(Settings);
  // No other process reaches a database in memory.
  if (isInMemory(app.get(DataSource))) return undefined;
  const { command, where } = commandOf(settings);
  const { items } = await app.get(ClientsService).list({ limit: 1 });
  const [oldest] = items;
  if (!oldest)
    return warning(
      `There is no client yet, so every request is refused with 401. ${where} this creates one and its key: ` +
        `${command} client create --name 'My shop' --plan pro --issue-key`,
    );
  if (settings.nodeEnv === 'production' || oldest.name !== DEMO_CLIENT) return undefined;
  return {
    level: 'log',
    text: `The demo key was shown only at the first start. ${where} this creates another: ${command} key issue --client ${oldest.id}`,
  };
}

/** How the command line is called for the database of this process, and where, without anything secret. */
function commandOf({ databaseUrl, nodeEnv }: Settings): { command: string; where: string } {
  const here = process.cwd();
  const folder = softwareFolder();
  const called = here === folder ? 'npx petstore' : `node ${word(join(folder, 'bin', 'petstore.js'))}`;
  // The command reads .env itself.
  const isGiven = process.env['DATABASE_URL'] !== undefined;
  const isFile = readDatabaseUrl(databaseUrl)?.kind === 'sqlite';
  const given = [
    ...(process.env['NODE_ENV'] === undefined ? [] : [`NODE_ENV=${nodeEnv}`]),
    ...(isGiven && isFile ? [`DATABASE_URL=${word(databaseUrl)}`] : []),
  ];
  return {
    command: [...given, called].join(' '),
    where: `In ${here}${isGiven && !isFile ? ', with the DATABASE_URL of the service,' : ''}`,
  };
}

/** Quotes text as one word of a shell. */
function word(text: string): string {
  return /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
