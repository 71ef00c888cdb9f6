import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { modulesFile } from '#project-modules';
import type { Call } from '../frame/call.js';
import { parseFields } from './feature-fields.js';
import { generatedFeature } from './generated-feature.js';
import { APP_MODULE, projectOf, writeNewFiles } from './generated-files.js';

/** `petstore generate feature`: a complete feature with a table and tests. */
export async function feature(call: Call, name: string): Promise<void> {
  const { field = [], singular, webhook = false, dryRun = false } = call.options;
  const fields = parseFields(field);
  // Declares the existing tables, scopes and errors, so that clashes are found.
  await call.shell.loadModules();
  const project = projectOf(process.cwd());
  const { files: texts, appModule } = await generatedFeature(project, name, fields, {
    singular,
    hasWebhook: webhook,
  });
  if (!dryRun) {
    await writeNewFiles(project, texts);
    await writeFile(join(project, APP_MODULE), appModule);
  }
  const files = [...texts.keys()];
  const next = [
    `Refine the descriptions of the fields in ${files.find((file) => file.endsWith('.dto.ts'))}.`,
    `Next: ${modulesFile() === undefined ? 'npm run docs:generate, ' : ''}npm test, npm start.`,
  ];
  await call.showChange({ files, changed: [APP_MODULE], dryRun }, () =>
    [
      ...files.map((file) => `${dryRun ? 'Would write' : 'Wrote'} ${file}`),
      `${dryRun ? 'Would add' : 'Added'} the module to ${APP_MODULE}`,
      ...(dryRun ? [] : next),
    ].join('\n'),
  );
}
