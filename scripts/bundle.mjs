// Joins what starts the service into few files, dist/bundle: most of a start is finding and reading some 1,500 of them.
import { cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { CHANGED_PACKAGES } from './bundle/changed-packages.mjs';
import { keepCompletionScripts } from './bundle/completion-scripts.mjs';
import { filesBelow, filesOf, STATIC } from './bundle/files.mjs';
import { neededBy, root, service, staysOutside } from './bundle/packages.mjs';
import { joinedService } from './bundle/service-file.mjs';
import { COMMONJS, WRITTEN_CODE } from './bundle/written-code.mjs';

/** Files that are found by their names while the service runs, so that they must still be there. */
const FOUND_BY_NAME = /\.(entity|migration)\.js$|^database\/declared-files\.js$|^docs\/page-files\.js$/;

/** The guides that the service shows as pages: copied to dist/docs, where docs/page-files.ts finds them without the repository. */
const GUIDES = ['using-the-api.md'];

/**
 * Writes `bundle` of a folder such as dist from its `src`: what starts the service, and the command line with the scripts that complete
 * it. Copies the guides that the service shows beside it.
 */
export async function bundle(dist = join(root, 'dist')) {
  for (const guide of GUIDES) cpSync(join(root, 'docs', guide), join(dist, 'docs', guide));
  const source = join(dist, 'src');
  await writeBundle(dist, 'bundle', {
    main: join(source, 'main.js'),
    'cli/main': join(source, 'cli', 'main.js'),
  });
  await keepCompletionScripts(join(dist, 'bundle'));
}

/** The packages with features for the service that it depends on: those that depend on it, or have it as a peer. */
export const FEATURE_PACKAGES = Object.keys(service.dependencies ?? {}).filter(
  (name) => name !== service.name && neededBy(name).includes(service.name),
);

/**
 * The file that a suite gets for `petstore-service`, or for what its package.json exports below that name: `src/public.js`;
 * undefined for anything else. Suites run on the source, where dist/src would be a second service.
 */
export function fileOfService(id) {
  if (id !== service.name && !id.startsWith(`${service.name}/`)) return undefined;
  const below = id.slice(service.name.length + 1);
  const { default: file } = service.exports[below === '' ? '.' : `./${below}`] ?? service.exports['./*'];
  return file.slice('./dist/'.length).replaceAll('*', below);
}

/** Packages that build on the service get what is bundled, not the files of the build before. */
const ownName = (dist) => ({
  name: 'petstore:own-name',
  resolveId(id) {
    const file = fileOfService(id);
    return file === undefined ? null : join(dist, file);
  },
});

/** Writes a bundle to a folder of dist: these entries, and the files that are found by their names. */
async function writeBundle(dist, folder, entries) {
  const source = join(dist, 'src');
  const found = filesOf(source).filter((file) => FOUND_BY_NAME.test(file));
  const bundled = await rolldown({
    input: { ...entries, ...Object.fromEntries(found.map((file) => [nameOf(file), join(source, file)])) },
    platform: 'node',
    external: staysOutside,
    logLevel: 'silent',
    // Both would drop calls that they take for having no effect; one that throws has one, such as decodeURIComponent.
    treeshake: false,
    plugins: [ownName(dist), ...CHANGED_PACKAGES, ...WRITTEN_CODE],
  });
  const dir = join(dist, folder);
  rmSync(dir, { recursive: true, force: true });
  await bundled.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // Only where there are packages: to make a `require` takes longer than to load a small file.
    banner: ({ moduleIds }) => (moduleIds.some((id) => !id.startsWith(source)) ? COMMONJS : ''),
    // Providers, routes and entities are told apart by the names of their classes.
    keepNames: true,
    minify: false,
    // V8 keeps the text of a file in memory, for as long as one of its functions has not been called.
    comments: { legal: true, annotation: false, jsdoc: false },
    sourcemap: true,
    codeSplitting: joinedService(source, found),
  });
  await bundled.close();
  for (const file of filesBelow(source).filter((name) => STATIC.test(name)))
    cpSync(join(source, file), join(dir, file));
}

function nameOf(file) {
  return file.slice(0, -'.js'.length);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await bundle(process.argv[2] === undefined ? undefined : resolve(process.argv[2]));
