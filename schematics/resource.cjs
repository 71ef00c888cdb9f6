// `nest g resource`: what `petstore generate feature` writes, by the means of Nest's command line (dry run, conflicts).
const path = require('node:path');
const url = require('node:url');

const root = path.join(__dirname, '..');
const load = (file) => import(url.pathToFileURL(path.join(root, file)).href);

/** A rule that adds a feature to the project. Empty texts are options that were not given. */
exports.resource = ({ name, fields, state, ops, singular }) => {
  return async (tree) => {
    const { buildIfStale } = await load('scripts/build-if-stale.mjs');
    buildIfStale();
    const plan = await load('dist/src/cli/generate/feature-plan.js');
    const { generatedFeature } = await load('dist/src/cli/generate/generated-feature.js');
    const { projectOf } = await load('dist/src/cli/generate/generated-files.js');
    const planned = fields.split(' ').filter(Boolean).map(plan.parseField);
    if (state) planned.push(plan.parseState(state));
    const operations = ops ? plan.parseOperations(ops) : new Set(plan.OPERATIONS);
    const { files, appModule } = await generatedFeature(
      await projectOf(process.cwd()),
      plan.planFeature(name, planned, operations, singular || undefined),
    );
    for (const [file, text] of files) tree.create(file, text);
    tree.overwrite('src/app.module.ts', appModule);
  };
};
