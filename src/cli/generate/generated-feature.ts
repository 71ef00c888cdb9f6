import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDataSource } from '../../database/data-source.js';
import { Refusal } from '../command.js';
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

/** Generates a feature for a project; writes nothing. Throws Refusal when its folder exists, or app.module.ts cannot be extended. */
export async function generatedFeature(project: string, plan: FeaturePlan): Promise<GeneratedFeature> {
  const folder = join('src', plan.feature);
  if (await exists(join(project, folder)))
    throw new Refusal(`${folder} exists already. Choose another name for the feature.`);
  const appModule = join(project, APP_MODULE);
  const listed = withModule(await readFile(appModule, 'utf8'), plan);
  if (listed === undefined)
    throw new Refusal(`${APP_MODULE} lists its modules in another way than it did: nothing was written.`);
  const known = await openDataSource({ databaseUrl: 'sqlite::memory:' });
  const files = featureFiles(plan, timeAfter(known));
  const tables = known.entityMetadatas.map(({ tableName }) => tableName);
  await known.destroy();
  for (const { property, references } of plan.fields)
    if (references !== undefined && !tables.includes(references))
      throw new Refusal(
        `${property} refers to ${references}, which is no table of an entity: ${tables.toSorted().join(', ')}.`,
      );
  const texts = new Map<string, string>();
  for (const [path, text] of files) texts.set(path, await formatted(join(project, path), text));
  return { files: texts, appModule: await formatted(appModule, listed) };
}
