import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCatalogue } from '../../core/errors/define-errors.js';
import { modulesFile } from '#project-modules';
import { openDataSource } from '../../database/data-source.js';
import { Refusal } from '../../core/refusal.js';
import type { Field } from './feature-fields.js';
import { featureNames } from './feature-names.js';
import { APP_MODULE, filledTemplates, formatted } from './generated-files.js';
import { timeAfter } from './schema-changes.js';

type Names = ReturnType<typeof featureNames>;

/**
 * Fills the templates in schematics/feature for a project. Returns the new files by path, and app.module.ts with the module added. Writes
 * nothing. Throws Refusal if the folder or a name already exists or app.module.ts cannot be extended, and InvalidArgumentError for names
 * that no feature can have.
 */
export async function generatedFeature(
  project: string,
  name: string,
  fields: readonly Field[],
  { singular, hasWebhook }: { readonly singular: string | undefined; readonly hasWebhook: boolean },
) {
  const names = featureNames(name, fields, singular);
  const folder = join('src', name);
  if (existsSync(join(project, folder)))
    throw new Refusal(
      `${folder} already exists. Choose another name for the feature, or remove the folder if an interrupted run left it.`,
    );
  const appModule = join(project, APP_MODULE);
  const listed = withModule(await readFile(appModule, 'utf8'), names);
  if (listed === undefined)
    throw new Refusal(`${APP_MODULE} lists its modules in an unknown form. Nothing was written.`);
  const time = await checkedTime(project, names);
  const values = {
    ...names,
    time,
    hasWebhook,
    // Tables of the service itself are found by file name; a project that depends on the service lists its tables.
    isFound: modulesFile() === undefined,
  };
  const files = await filledTemplates('feature', values, (template) =>
    join(folder, template.replace('__name__', name).replace('__singular__', names.singular)),
  );
  checkNames(listed);
  for (const [file, text] of files) {
    checkNames(text);
    files.set(file, await formatted(join(project, file), text));
  }
  return { files, appModule: await formatted(appModule, listed) };
}

/** The timestamp of the migration, after all others. Throws Refusal if a name already exists, or a referenced table does not. */
async function checkedTime(
  project: string,
  { table, entity, plural, error, references }: Names,
): Promise<number> {
  const known = await openDataSource({ databaseUrl: 'sqlite::memory:' });
  const time = timeAfter(known);
  const tables = known.entityMetadatas.map(({ tableName }) => tableName);
  const numbered = known.entityMetadatas
    .filter(
      ({ primaryColumns: [key, ...more] }) => key && !more[0] && /int/.test(known.driver.normalizeType(key)),
    )
    .map(({ tableName }) => tableName);
  const entities = known.entityMetadatas.map((one) => one.name);
  await known.destroy();
  const codes = errorCatalogue().map(({ code }) => code);
  // The document may not exist yet.
  const document = await readFile(join(project, 'docs', 'openapi.json'), 'utf8').catch(() => '{}');
  const { components } = JSON.parse(document) as { components?: { schemas?: object } };
  const schemas = Object.keys(components?.schemas ?? {});
  const wanted: [what: string, there: readonly string[], ...names: string[]][] = [
    ['table', tables, table],
    ['entity', entities, entity],
    ['error code', codes, `${error}_not_found`],
    ['schema', schemas, entity, plural, `New${entity}`, `${entity}Patch`],
  ];
  for (const [what, there, ...names] of wanted)
    for (const name of names)
      if (there.includes(name))
        throw new Refusal(
          `The ${what} ${name} already exists. Choose another name for the feature, or another --singular.`,
        );
  for (const { property, references: other = '' } of references)
    if (!numbered.includes(other) && other !== table)
      throw new Refusal(
        `${property} refers to ${other}, which is not a table whose entity has an integer as its key: ${numbered.toSorted().join(', ')}.`,
      );
  return time;
}

/** Throws Refusal if a file would declare a name twice or shadow a JavaScript global. */
function checkNames(text: string): void {
  const declared = text.matchAll(
    /^import (?:type )?\{([^}]*)\}|^export (?:class|const|interface|type) (\w+)/gm,
  );
  const names = [...declared].flatMap(([, list, one]) => (list ?? one ?? '').match(/\b(?!type\b)\w+/g) ?? []);
  const hidden = names.find((name, at) => names.indexOf(name) < at || name in globalThis);
  if (hidden !== undefined)
    throw new Refusal(
      `${hidden} already has a meaning in the code. Choose another name, or give another --singular.`,
    );
}

/**
 * The source of app.module.ts with the module added before self-service and administration; undefined if the file has another structure.
 */
function withModule(source: string, { name, plural }: Names): string | undefined {
  const [declared] =
    /@Module\(\{\s*imports: \[[^]*\](?=,?\s*\}\)\s*export class AppModule\b)/.exec(source) ?? [];
  const last = [...source.matchAll(/^import .*;\n/gm)].at(-1);
  if (declared === undefined || !last) return undefined;
  const module = `${plural}Module`;
  const listed = /\b(?:Account|Admin)Module\b/.test(declared)
    ? declared.replace(/\b(?:Account|Admin)Module\b/, (first) => `${module}, ${first}`)
    : declared.replace(/(\[)?,?\s*\]$/, (_, empty?: string) => (empty ? `[${module}]` : `, ${module}]`));
  const end = last.index + last[0].length;
  const line = `import { ${module} } from './${name}/${name}.module.js';\n`;
  return source.slice(0, end) + line + source.slice(end).replace(declared, () => listed);
}
