import { join } from 'node:path';
import { modulesFile } from '#project-modules';
import { openDataSource } from '../../database/data-source.js';
import { migrate } from '../../database/schema.js';
import type { Call } from '../call.js';
import { Refusal } from '../../core/refusal.js';
import { formatted, projectOf, writeNewFiles } from './generated-files.js';
import { pascalCase } from './feature-names.js';
import { migrationText, schemaChanges, timeAfter } from './schema-changes.js';

/** A folder below src, and the name of the migration, both in lower-case words with hyphens. */
const PATH = /^((?:[a-z][a-z0-9-]*\/)+)([a-z][a-z0-9]*(?:-[a-z0-9]+)*)$/;

/** `petstore generate migration`: a migration for what changed in the entities. */
export async function migration(call: Call, path: string): Promise<void> {
  const [, folder, name = ''] = PATH.exec(path) ?? [];
  if (folder === undefined)
    throw new Refusal(`Give a folder below src and a name, such as toys/toys-colour, not ${path}.`);
  await call.shell.loadModules();
  const { changes, time } = await undeclaredChanges();
  if (changes.length === 0) {
    const none = 'No changes: the migrations create what the entities declare.';
    return call.show({ file: null }, () => none);
  }
  const className = pascalCase(name) + time;
  const file = `src/${folder}${name}.migration.ts`;
  const about = `Generated from the entities: ${name.replaceAll('-', ' ')}.`;
  const project = projectOf(process.cwd());
  const text = await formatted(join(project, file), migrationText(className, about, changes));
  await writeNewFiles(project, new Map([[file, text]]));
  const listed = modulesFile() === undefined ? '' : ` Add ${className} to the migrations of its module.`;
  await call.showChange({ file }, () => `Wrote ${file}.${listed} Read it, then run \`petstore db migrate\`.`);
}

/** The changes that no declared migration makes. The database of DATABASE_URL is neither read nor changed. */
async function undeclaredChanges() {
  const dataSource = await openDataSource({ databaseUrl: 'sqlite::memory:' });
  try {
    await migrate(dataSource);
    return { changes: await schemaChanges(dataSource), time: timeAfter(dataSource) };
  } finally {
    await dataSource.destroy();
  }
}
