// Bundles the code that is loaded at startup into a few files, dist/bundle. Starting from dist/src takes 3.1 times as long as a minimal Nest
// service; starting from the bundle takes about as long (docs/decisions/0013-bundle.md).
import { copyFileSync, cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { asCommonJs, fileOfProgram, importedPackages, programOf } from './common-js.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const service = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The programs. */
const PROGRAMS = ['main', 'cli/main'];
/** Entry points, and files that the running service finds by name. */
const ENTRIES =
  /^(cli\/)?main\.js$|\.(entity|migration)\.js$|^database\/declared-files\.js$|^docs\/page-files\.js$/;
/**
 * Packages to bundle, together with everything they import. Packages that depend on one of them are bundled as well. Other packages stay
 * external, because they may be native, start workers, or read their own files.
 */
const INSIDE =
  /^(@nestjs\/.+|class-.+|commander|express|fast-string-.+|ioredis|lossless-json|prom-client|reflect-metadata|rxjs|typeorm)$/;
/** Never bundled: sqlite3 is native, swagger-ui-dist has files to serve, and iconv-lite loads large tables on demand. */
const OUTSIDE = new Set(['sqlite3', 'swagger-ui-dist', 'iconv-lite']);
/** Replaces `node:module` in packages that call createRequire(), which would load a second copy of these modules. */
const REQUIRE_OF_JOINED = `
import * as storage from 'class-transformer/cjs/storage.js';
import * as transformer from 'class-transformer';
import * as typeorm from 'typeorm';
import * as validator from 'class-validator';
const joined = { 'class-transformer/cjs/storage': storage, 'class-transformer': transformer, typeorm, 'class-validator': validator };
export const createRequire = () => (name) => joined[name];`;

/** The file in dist that package.json exports as `petstore-service` or `petstore-service/…`; undefined for any other id. */
export function fileOfService(id) {
  if (id !== service.name && !id.startsWith(`${service.name}/`)) return undefined;
  const below = id.slice(service.name.length + 1);
  const { default: file } = service.exports[below === '' ? '.' : `./${below}`] ?? service.exports['./*'];
  return file.slice('./dist/'.length).replaceAll('*', below);
}

/** Resolves imports of `petstore-service` and calls of createRequire() to the code in the bundle, so that nothing is loaded twice. */
const oneCopy = (dist) => ({
  name: 'petstore:one-copy',
  resolveId(id, importer = '') {
    if (id === 'node:module' && /@nestjs.(mapped-types|typeorm).dist/.test(importer)) return '\0joined';
    const file = fileOfService(id);
    return file === undefined ? null : join(dist, file);
  },
  load: (id) => (id === '\0joined' ? REQUIRE_OF_JOINED : null),
});

/** V8 compiles a parenthesized `function` eagerly, but parses an arrow function twice. Saves 11 % of the CPU time of startup. */
const compiledAtOnce = (code) =>
  code.replace(/\b(__(?:commonJS|esm)Min\(\()(\([\w$, ]*\)) => \{$/gm, '$1function$2 {');
/** A single character beyond Latin-1 makes V8 store the whole file with two bytes per character. Escaping saves 6 MiB of memory. */
const ascii = (code) =>
  code.replace(/(\\*)([^\0-\x7f])/g, (_, before, character) => {
    const escape = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    return before.slice(before.length % 2) + escape;
  });

/** Bundles `src` of a build folder, by default dist, into `bundle` in the same folder. */
export async function bundle(dist = join(root, 'dist')) {
  const source = join(dist, 'src');
  const files = readdirSync(source, { recursive: true }).map((file) => file.replaceAll('\\', '/'));
  const entries = files.filter((file) => ENTRIES.test(file));
  const bundled = await rolldown({
    input: Object.fromEntries(entries.map((file) => [file.slice(0, -'.js'.length), join(source, file)])),
    platform: 'node',
    logLevel: 'silent',
    // Tree shaking removes calls whose result is unused, even if their purpose is to throw, such as decodeURIComponent().
    treeshake: false,
    transform: { define: { 'import.meta.resolve': 'importModule.resolve' } },
    plugins: [
      oneCopy(dist),
      asCommonJs(staysOutside),
      { name: 'petstore:written', renderChunk: (code) => ascii(compiledAtOnce(code)) },
    ],
  });
  const dir = join(dist, 'bundle');
  rmSync(dir, { recursive: true, force: true });
  // Providers, routes and entities are identified by their class names.
  const shared = { keepNames: true, minify: false, sourcemap: true };
  const comments = { legal: true, annotation: false, jsdoc: false };
  const names = {
    entryFileNames: ({ name }) => (PROGRAMS.includes(name) ? fileOfProgram(name) : '[name].js'),
    chunkFileNames: 'chunks/[name]-[hash].js',
  };
  const { output } = await bundled
    .write({ dir, format: 'cjs', comments, ...names, ...shared })
    .catch((error) => explain(error));
  await bundled.close();
  const packages = importedPackages(output.filter(({ type }) => type === 'chunk'));
  writeFileSync(join(dir, 'packages.json'), JSON.stringify(packages));
  copyFileSync(join(source, 'start/bundle-loader.js'), join(dir, 'bundle-loader.js'));
  for (const name of PROGRAMS) writeFileSync(join(dir, `${name}.js`), programOf(name));
  for (const file of files.filter((name) => /(^|\/)static$/.test(name)))
    cpSync(join(source, file), join(dir, file), { recursive: true });
}

/** Throws the error of the bundler. For an `await` outside functions, says what to write, because the bundler suggests another format. */
function explain(error) {
  const [{ code, loc }] = error.errors ?? [{}];
  if (code !== 'INVALID_TLA_FORMAT') throw error;
  throw new Error(
    `${loc.file}:${loc.line}: await outside a function is not possible in a feature of a checkout, whose code is bundled as CommonJS. ` +
      'In a module, use a provider with an async useFactory().',
  );
}

function staysOutside(id, importer = '') {
  // Ids that start with # are files of the service, as `imports` in package.json defines them.
  if (/^[./#\0]|^node:/.test(id)) return false;
  const name = id.split('/', id.startsWith('@') ? 2 : 1).join('/');
  if (OUTSIDE.has(name)) return true;
  // The peer dependencies of TypeORM are the database drivers, which it loads on demand.
  if (/node_modules.typeorm\b/.test(importer)) return name in packageOf('typeorm').peerDependencies;
  return (
    !importer.includes('node_modules') && ![name, ...neededBy(name)].some((needed) => INSIDE.test(needed))
  );
}

/** The dependencies and peer dependencies of an installed package. */
function neededBy(name) {
  const { dependencies, peerDependencies } = packageOf(name);
  return Object.keys({ ...dependencies, ...peerDependencies });
}

function packageOf(name) {
  const file = join(root, 'node_modules', name, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await bundle(process.argv[2] === undefined ? undefined : resolve(process.argv[2]));
