// `nest g resource`: what `petstore generate feature` writes, by the means of Nest's command line (dry run, conflicts).
const path = require('node:path');
const url = require('node:url');

const root = path.join(__dirname, '..');
const load = (file) => import(url.pathToFileURL(path.join(root, file)).href);

/** A rule that adds a feature to the project. */
exports.resource = ({ name, fields }) => {
  return async (tree) => {
    const { buildIfStale } = await load('scripts/build-if-stale.mjs');
    buildIfStale();
    const { OPERATIONS, parseField, planFeature } = await load('dist/src/cli/generate/feature-plan.js');
    const { generatedFeature } = await load('dist/src/cli/generate/generated-feature.js');
    const planned = fields.split(' ').filter(Boolean).map(parseField);
    const { files, appModule } = await generatedFeature(
      root,
      planFeature(name, planned, new Set(OPERATIONS)),
    );
    for (const [file, text] of files) tree.create(file, text);
    tree.overwrite('src/app.module.ts', appModule);
  };
};
