import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCatalogue } from '../../core/errors/define-errors.js';
import { openDataSource } from '../../database/data-source.js';
import { Refusal } from '../refusal.js';
import { featureFiles } from './feature-files.js';
import type { FeaturePlan } from './feature-plan.js';
import { APP_MODULE, exists, formatted } from './generated-files.js';
import { timeAfter } from './migration-text.js';
import { withModule } from './module-texts.js';

/** What a generated feature adds to a project: new files by their paths, and the app.module.ts that lists its module. */
export interface GeneratedFeature {
  readonly files: ReadonlyMap<string, string>;
  readonly appModule: string;
}

/** Generates a feature for a project; writes nothing. Throws Refusal when its folder or one of its names exists, or app.module.ts cannot be extended. */
export async function generatedFeature(project: string, plan: FeaturePlan): Promise<GeneratedFeature> {
  const folder = join('src', plan.feature);
  if (await exists(join(project, folder)))
    throw new Refusal(
      `${folder} exists already. Choose another name for the feature; a folder that a run has left unfinished, remove first.`,
    );
  const appModule = join(project, APP_MODULE);
  const listed = withModule(await readFile(appModule, 'utf8'), plan);
  if (listed === undefined)
    throw new Refusal(`${APP_MODULE} lists its modules in another way than it did: nothing was written.`);
  const known = await openDataSource({ databaseUrl: 'sqlite::memory:' });
  const files = featureFiles(plan, timeAfter(known));
  const tables = known.entityMetadatas.map(({ tableName }) => tableName);
  const entities = known.entityMetadatas.map(({ name }) => name);
  await known.destroy();
  const taken = takenName(plan, tables, entities) ?? (await takenSchema(project, plan));
  if (taken !== undefined)
    throw new Refusal(`${taken} exists already. Choose another name for the feature, or another --singular.`);
  for (const { property, references } of plan.fields)
    if (references !== undefined && !tables.includes(references))
      throw new Refusal(
        `${property} refers to ${references}, which is no table of an entity: ${tables.toSorted().join(', ')}.`,
      );
  const texts = new Map<string, string>();
  for (const [path, text] of files) texts.set(path, await formatted(join(project, path), text));
  return { files: texts, appModule: await formatted(appModule, listed) };
}

/** What of the feature the service has already under the same name, in words. */
function takenName(
  { table, entity, error }: FeaturePlan,
  tables: readonly string[],
  entities: readonly string[],
): string | undefined {
  if (tables.includes(table)) return `The table ${table}`;
  if (entities.includes(entity)) return `The entity ${entity}`;
  const codes = new Set([`${error}_not_found`, `${error}_state_conflict`]);
  const row = errorCatalogue().find(({ code }) => codes.has(code));
  return row && `The error code ${row.code}`;
}

/** A schema of the documented operations that the feature would replace by its own; there may be no document yet. */
async function takenSchema(project: string, { entity, plural }: FeaturePlan): Promise<string | undefined> {
  const text = await readFile(join(project, 'docs', 'openapi.json'), 'utf8').catch(() => '{}');
  const { components } = JSON.parse(text) as { components?: { schemas?: Readonly<Record<string, unknown>> } };
  const names = [entity, plural, `New${entity}`, `${entity}Patch`];
  const taken = names.find((name) => Object.hasOwn(components?.schemas ?? {}, name));
  return taken && `The schema ${taken} of the OpenAPI document`;
}
