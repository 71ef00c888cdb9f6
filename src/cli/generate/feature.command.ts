import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Call, command } from '../command.js';
import { ListOption, flag, option } from '../options.js';
import {
  type FeatureOperation,
  OPERATIONS,
  type PlannedField,
  parseField,
  parseOperations,
  parseState,
  planFeature,
} from './feature-plan.js';
import { generatedFeature } from './generated-feature.js';
import { APP_MODULE, projectOf, writeNewFiles } from './generated-files.js';
import { regenerateDocs } from './regenerated-docs.js';

interface Input {
  readonly field?: readonly PlannedField[];
  readonly state?: PlannedField;
  readonly ops?: ReadonlySet<FeatureOperation>;
  readonly singular?: string;
  readonly dryRun: boolean;
  readonly docs: boolean;
}

/** `petstore generate feature`: a whole feature, with its table and its suite. */
export const FEATURE_COMMAND = command({
  name: 'feature',
  changes: true,
  description: 'write a feature: table, operations, scopes, errors, events, demo data and a suite',
  argument: ['<name>', 'the feature in the plural, in lower case with hyphens, such as adoptions'],
  options: [
    option(
      '--field <name:kind>',
      'a field, such as name:text:100, petId:int64:ref=pets, size:integer:1..9, colour:enum:red,blue, at:instant, ' +
        'token:uuid; with ? at the end when it may be absent; repeatable',
      repeated(parseField),
    ),
    option(
      '--state <a,b,c>',
      'a field `state` of these values in their order: it begins with the first, and can become those behind the one that it has',
      parseState,
    ),
    new ListOption(
      '--ops <a,b,c>',
      `operations; default: ${OPERATIONS.join(',')}`,
      () => OPERATIONS,
      parseOperations,
    ),
    option('--singular <name>', 'one of them, where leaving out the s of the plural is wrong'),
    flag('--dry-run', 'print the names of the files and write nothing'),
    option(
      '--no-docs',
      'leave the generated docs as they are; else the project is built for them',
      undefined,
      true,
    ),
  ],
  examples: [
    'generate feature toys --field name:text:100 --field priceCents:int64',
    'generate feature adoptions --field petId:int64:ref=pets --field adopterName:text:255 --field note:text:1000? ' +
      '--state requested,approved,declined --ops list,create,get,update,delete',
  ],
  runAlone: async ({ argument, input }: Call<Input>) => {
    const { field = [], state, ops = new Set(OPERATIONS), singular, dryRun, docs } = input;
    const plan = planFeature(argument, state ? [...field, state] : field, ops, singular);
    const project = await projectOf(process.cwd());
    const { files, appModule } = await generatedFeature(project, plan);
    if (!dryRun) {
      await writeNewFiles(project, files);
      await writeFile(join(project, APP_MODULE), appModule);
    }
    const regenerated = docs && !dryRun ? await regenerateDocs(project) : undefined;
    return { files: [...files.keys()], changed: [APP_MODULE], dryRun, docs: regenerated };
  },
  text: ({ files, changed, dryRun, docs }) =>
    [
      ...files.map((file) => `${dryRun ? 'Would write' : 'Wrote'} ${file}`),
      ...changed.map((file) => `${dryRun ? 'Would add' : 'Added'} the module to ${file}`),
      ...(dryRun
        ? []
        : [
            `Refine what the documentation says of the fields in ${files.find((file) => file.endsWith('.dto.ts'))}.`,
            ...(docs?.areGenerated === true ? ['Brought the generated docs up to date.'] : []),
            ...(docs?.why ? [`The docs could not be generated: ${docs.why}`] : []),
            `Next: ${docs?.areGenerated === true ? '' : 'npm run docs:generate, '}npm test, npm start.`,
          ]),
    ].join('\n'),
});

/** Collects the values of an option that may be given several times. */
function repeated<T>(parse: (text: string) => T) {
  return (text: string, before: T[] = []): T[] => [...before, parse(text)];
}
