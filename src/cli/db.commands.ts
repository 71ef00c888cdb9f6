import type { Command } from 'commander';
import type { DataSource } from 'typeorm';
import { loadSettings } from '../config/load-settings.js';
import { openDataSource } from '../database/data-source.js';
import { DemoData } from '../database/demo-data.js';
import { migrate, schemaStatus } from '../database/schema.js';
import { examples, jsonOption, positiveInteger } from './arguments.js';
import { print, type Shell } from './shell.js';
import { tableOf } from './table.js';

/** `petstore db …`: the database. */
export function addDbCommands(program: Command, shell: Shell): void {
  const db = program.command('db').description('the database');

  db.command('migrate')
    .description('bring the schema up to date; nothing happens when it is')
    .addOption(jsonOption())
    .addHelpText('after', examples('db migrate'))
    .action(async (options: { json: boolean }) => {
      const applied = await withDatabase(migrate);
      print(
        shell,
        options.json,
        { applied },
        applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`,
      );
    });

  db.command('status')
    .description('show which migrations ran and which are pending; changes nothing')
    .addOption(jsonOption())
    .addHelpText('after', examples('db status --json'))
    .action(async (options: { json: boolean }) => {
      const status = await withDatabase(schemaStatus);
      const rows = (['applied', 'pending', 'unknown'] as const).flatMap((state) =>
        status[state].map((name) => [name, state]),
      );
      print(shell, options.json, status, tableOf([['MIGRATION', 'STATE'], ...rows]));
    });

  db.command('seed')
    .description('add demo data')
    .option('--count <animals>', 'how many animals; default: the demo catalogue once', positiveInteger)
    .addOption(jsonOption())
    .addHelpText('after', examples('db seed', 'db seed --count 10000'))
    .action(async (options: { count?: number; json: boolean }) => {
      const added = await shell.withApp((app) => app.get(DemoData).add(options.count));
      print(shell, options.json, { added }, `Added ${added} animals.`);
    });
}

/** Opens the database without migrating it, which starting the application would do. */
async function withDatabase<T>(command: (dataSource: DataSource) => Promise<T>): Promise<T> {
  const dataSource = await openDataSource(loadSettings());
  try {
    return await command(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
