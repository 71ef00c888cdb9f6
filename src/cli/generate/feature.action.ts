import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Call, action } from '../action.js';
import { type FeatureOperation, OPERATIONS, type PlannedField, planFeature } from './feature-plan.js';
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
export const feature = action({
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
