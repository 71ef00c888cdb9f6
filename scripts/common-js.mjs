// Converts the bundle to CommonJS, keeping the meaning of imports, for src/start/bundle-loader.ts (docs/decisions/0013-bundle.md).
import { parseAst } from 'rolldown/parseAst';

/** Marks a package that an ES module imports: require() would find other files of some packages, and cannot load all. */
const IMPORTED = 'imported:';

/** The plugin of the bundler. `staysOutside` says whether an imported file is not bundled. */
export const asCommonJs = (staysOutside) => ({
  name: 'petstore:common-js',
  resolveId(id, importer, { kind }) {
    if (!staysOutside(id, importer)) return null;
    return { id: kind === 'import-statement' ? IMPORTED + id : id, external: true };
  },
  transform(code, id) {
    if (id.endsWith('root.module.js')) return withStaticImports(code);
    if (!id.endsWith('ImportUtils.js')) return null;
    const imports = 'Function("return filePath => import(filePath)")()';
    if (!code.includes(imports))
      throw new Error(`${id} imports files in another way. Adapt scripts/common-js.mjs.`);
    return code.replace(imports, '((path) => import(path))');
  },
  renderChunk: (code) => importedByLoader(withoutConversions(code)),
});

/** The file that runs a program of the bundle, such as `cli/main`. */
export const programOf = (name) =>
  `import { runBundled } from '${'../'.repeat(name.split('/').length - 1) || './'}bundle-loader.js';

await runBundled('${fileOfProgram(name)}');
`;

/** The file with the code of a program. */
export const fileOfProgram = (name) => `${name}.bundled.js`;

/** By file: the packages that it imports, itself or through other files. */
export function importedPackages(chunks) {
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const packages = {};
  for (const { fileName } of chunks) {
    const files = new Set([fileName]);
    for (const file of files) for (const imported of byFile.get(file)?.imports ?? []) files.add(imported);
    packages[fileName] = [...files]
      .filter((file) => file.startsWith(IMPORTED))
      .map((file) => file.slice(IMPORTED.length));
  }
  return packages;
}

/** In place of top-level await, which CommonJS does not have. */
function withStaticImports(code) {
  const imports = [];
  const text = code.replace(/await import\(('[^']+')\)/g, (_, file) => {
    imports.push(`import * as module${imports.length} from ${file};\n`);
    return `module${imports.length - 1}`;
  });
  return imports.join('') + text;
}

/** Removes the bundler's conversion of required packages: the loader returns what import() resolves to. */
function withoutConversions(code) {
  const names = [...code.matchAll(/^\s*(?:let|const|var) ([\w$]+) = require\("imported:[^"]+"\);$/gm)];
  const text = names.reduce(
    (rest, [, name]) =>
      rest.replace(new RegExp(`[\\w$.]*__toESM\\(${name.replaceAll('$', '\\$')}(?:, 1)?\\)`, 'g'), name),
    code,
  );
  if (/__toESM\((?:imported_|require\("imported:)/.test(text))
    throw new Error('The bundler converts imported packages in another way. Adapt scripts/common-js.mjs.');
  return text;
}

/** Replaces import(), and what the bundler writes for it, by the function that the loader passes to each file. */
function importedByLoader(code) {
  const promised = /Promise\.resolve\(\)\.then\(\(\) => require\("(\.[^"]+)"\)\)/g;
  const text = code.replace(promised, 'importModule(`${__dirname}/$1`)');
  if (!/\bimport\(/.test(text)) return text;
  const starts = [];
  const visit = (node) => {
    if (node?.type === 'ImportExpression') starts.push(node.start);
    if (typeof node === 'object' && node !== null) Object.values(node).forEach(visit);
  };
  visit(parseAst(text));
  return starts
    .toSorted((one, other) => other - one)
    .reduce((rest, at) => `${rest.slice(0, at)}importModule${rest.slice(at + 'import'.length)}`, text);
}
