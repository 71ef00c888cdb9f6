// `nest g resource`: what `petstore generate feature` writes, by the means of Nest's command line (dry run, conflicts).
const path = require('node:path');
const url = require('node:url');

const root = path.join(__dirname, '..');
const load = (file) => import(url.pathToFileURL(path.join(root, file)).href);

/** A rule that adds a feature to the project. Empty texts are options that were not given. */
exports.resource = ({ name, fields, singular }) => {
  return async (tree) => {
    const { buildIfStale } = await load('scripts/build-if-stale.mjs');
    buildIfStale();
    const { parseFields } = await load('dist/src/cli/generate/feature-fields.js');
    const { generatedFeature } = await load('dist/src/cli/generate/generated-feature.js');
    const { projectOf } = await load('dist/src/cli/generate/generated-files.js');
    const { files, appModule } = await generatedFeature(
      projectOf(process.cwd()),
      name,
      parseFields(fields.split(' ').filter(Boolean)),
      singular || undefined,
    );
    for (const [file, text] of files) tree.create(file, text);
    tree.overwrite('src/app.module.ts', appModule);
  };
};
