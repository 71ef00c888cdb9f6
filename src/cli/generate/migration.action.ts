import { modulesFile } from '#project-modules';
import { openDataSource } from '../../database/data-source.js';
import { migrate } from '../../database/schema.js';
import type { Call } from '../call.js';
import { Refusal } from '../refusal.js';
import { projectOf, writeNewFiles } from './generated-files.js';
import { pascalCase } from './feature-names.js';
import { migrationText, schemaChanges, timeAfter } from './schema-changes.js';

/** A folder below src, and the name of the migration, both in lower-case words with hyphens. */
const PATH = /^((?:[a-z][a-z0-9-]*\/)+)([a-z][a-z0-9-]*)$/;

/** `petstore generate migration`: a migration for what changed in the entities. */
export async function migration(call: Call, path: string): Promise<void> {
  const [, folder, name] = PATH.exec(path) ?? [];
  if (folder === undefined || name === undefined)
    throw new Refusal(`Give a folder below src and a name, such as toys/toys-colour, not ${path}.`);
  await call.loadModules();
  // A separate database, made by the declared migrations; that of DATABASE_URL is neither read nor changed.
  const dataSource = await openDataSource({ databaseUrl: 'sqlite::memory:' });
  try {
    await migrate(dataSource);
    const changes = await schemaChanges(dataSource);
    if (changes.length === 0)
      return await call.show(
        { file: null },
        () => 'No changes: the migrations create what the entities declare.',
      );
    const file = `src/${folder}${name}.migration.ts`;
    const className = pascalCase(name) + timeAfter(dataSource);
    const text = migrationText(
      className,
      `Generated from the entities: ${name.replaceAll('-', ' ')}.`,
      changes,
    );
    await writeNewFiles(await projectOf(process.cwd()), new Map([[file, text]]));
    const listed = modulesFile() === undefined ? '' : ` Add ${className} to the migrations of its module.`;
    await call.showChange(
      { file },
      () => `Wrote ${file}.${listed} Read it, then run \`petstore db migrate\`.`,
    );
  } finally {
    await dataSource.destroy();
  }
}
