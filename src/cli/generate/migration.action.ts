import { join } from 'node:path';
import { modulesFile } from '#project-modules';
import { type DataSource, DataTypeNotSupportedError } from 'typeorm';
import { readDatabaseUrl } from '../../core/config/database-url.js';
import { loadSettings } from '../../core/config/settings.js';
import { createDataSource, openDataSource } from '../../database/data-source.js';
import { moduleWithMigrations } from '../../database/declared-files.js';
import { MAX_IDENTIFIER_BYTES, tooLongNames } from '../../database/identifiers.js';
import { migrate, schemaStatus } from '../../database/schema.js';
import type { Call } from '../frame/call.js';
import { Refusal } from '../../core/refusal.js';
import { formatted, projectOf, writeNewFiles } from './generated-files.js';
import { pascalCase } from './feature-names.js';
import { migrationText, migrationsOf, schemaChanges, timeAfter } from './schema-changes.js';

/** A folder below src and the name of the migration, both in lower-case words with hyphens. */
const PATH = /^((?:[a-z][a-z0-9-]*\/)+)([a-z][a-z0-9]*(?:-[a-z0-9]+)*)$/;

/** `petstore generate migration`: a migration for the changed entities. */
export async function migration(call: Call, path: string): Promise<void> {
  const [, folder, name = ''] = PATH.exec(path) ?? [];
  if (folder === undefined)
    throw new Refusal(`Give a folder below src and a name, such as toys/toys-colour, not ${path}.`);
  await call.shell.loadModules();
  const { changes, time } = await undeclaredChanges();
  if (changes.length === 0) {
    const none = 'No changes: the migrations match the entities.';
    return call.show({ files: [] }, () => none);
  }
  const project = projectOf(process.cwd());
  const texts = new Map<string, string>();
  const classes: string[] = [];
  for (const part of migrationsOf(changes)) {
    const own = classes.length === 0 ? name : `${name}-indexes`;
    const className = pascalCase(own) + (time + classes.length);
    const file = `src/${folder}${own}.migration.ts`;
    const about = `Generated from the entities: ${own.replaceAll('-', ' ')}.`;
    texts.set(file, await formatted(join(project, file), migrationText(className, about, part)));
    classes.push(className);
  }
  await writeNewFiles(project, texts);
  const files = [...texts.keys()];
  const [wrote, it] = [files.join(' and '), files.length === 1 ? 'it' : 'them'];
  const module = await moduleWithMigrations(project, `src/${folder}`);
  // In a checkout, migrations are found by file name, but a module that other projects use also lists them.
  const listed =
    module === undefined && modulesFile() === undefined
      ? ''
      : ` Add ${classes.join(' and ')} to the migrations ${module === undefined ? 'of its module' : `in ${module}`}.`;
  await call.showChange(
    { files },
    () => `Wrote ${wrote}.${listed} Read ${it}, then run \`petstore db migrate\`.`,
  );
}

/** The changes that no declared migration makes. Throws Refusal for names that PostgreSQL would truncate. */
async function undeclaredChanges() {
  const dataSource = await createDataSource({ databaseUrl: 'sqlite::memory:' });
  try {
    await dataSource.initialize();
    await migrate(dataSource);
    return await changesOf(dataSource);
  } catch (error) {
    if (error instanceof DataTypeNotSupportedError) return await changesOnPostgres(error);
    throw error;
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}

/** For types that SQLite lacks, compares with the database of DATABASE_URL, without changing it. */
async function changesOnPostgres({ message }: DataTypeNotSupportedError) {
  const settings = loadSettings();
  if (readDatabaseUrl(settings.databaseUrl)?.kind !== 'postgres')
    throw new Refusal(`${message} Set DATABASE_URL to a database that supports it.`);
  const dataSource = await openDataSource(settings);
  try {
    const { pending } = await schemaStatus(dataSource);
    if (pending.length > 0)
      throw new Refusal(
        `The database lacks migrations (${pending.join(', ')}). Run \`petstore db migrate\` first: ` +
          'entities with PostgreSQL types are compared with this database.',
      );
    return await changesOf(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

async function changesOf(dataSource: DataSource) {
  for (const name of dataSource.entityMetadatas.flatMap(tooLongNames))
    throw new Refusal(
      `The name ${name} is longer than the ${MAX_IDENTIFIER_BYTES} bytes of PostgreSQL. Declare a shorter one.`,
    );
  return { changes: await schemaChanges(dataSource), time: timeAfter(dataSource) };
}
