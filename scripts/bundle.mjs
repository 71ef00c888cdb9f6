// Joins what starts the service into few files, dist/bundle: a start from dist/src takes 3.1 times the processor time of the smallest
// service of Nest, one from the bundle 1.3 times (docs/decisions/0013-bundle.md).
import { cpSync, existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const service = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** What starts, and files that are found by their names while the service runs. */
const ENTRIES =
  /^(cli\/)?main\.js$|\.(entity|migration)\.js$|^database\/declared-files\.js$|^docs\/page-files\.js$/;
/** Packages that are joined with what they import. Another may be native, start workers, or read its own files. */
const INSIDE =
  /^(@nestjs\/.+|class-.+|commander|express|fast-string-.+|ioredis|lossless-json|prom-client|reflect-metadata|rxjs|typeorm)$/;
/** Never joined: native, with files to serve, with large tables that are read when needed. */
const OUTSIDE = new Set(['sqlite3', 'swagger-ui-dist', 'iconv-lite']);
/** For packages that make a `require` for themselves, which would find a second copy of these alongside the joined one. */
const REQUIRE_OF_JOINED = `
import * as storage from 'class-transformer/cjs/storage.js';
import * as transformer from 'class-transformer';
import * as typeorm from 'typeorm';
import * as validator from 'class-validator';
const joined = { 'class-transformer/cjs/storage': storage, 'class-transformer': transformer, typeorm, 'class-validator': validator };
export const createRequire = () => (name) => joined[name];`;

/** The file below dist that is `petstore-service`, or what package.json exports below that name; undefined for anything else. */
export function fileOfService(id) {
  if (id !== service.name && !id.startsWith(`${service.name}/`)) return undefined;
  const below = id.slice(service.name.length + 1);
  const { default: file } = service.exports[below === '' ? '.' : `./${below}`] ?? service.exports['./*'];
  return file.slice('./dist/'.length).replaceAll('*', below);
}

/** Gives features the one copy of the service, which they import by its name, and packages that of what they require. */
const oneCopy = (dist) => ({
  name: 'petstore:one-copy',
  resolveId(id, importer = '') {
    if (id === 'node:module' && /@nestjs.(mapped-types|typeorm).dist/.test(importer)) return '\0joined';
    const file = fileOfService(id);
    return file === undefined ? null : join(dist, file);
  },
  load: (id) => (id === '\0joined' ? REQUIRE_OF_JOINED : null),
});

/** V8 compiles a `function` in parentheses where it reads it, an arrow function later: 11 % less processor time of a start. */
const compiledAtOnce = (code) =>
  code.replace(/\b(__(?:commonJS|esm)Min\(\()(\([\w$, ]*\)) => \{$/gm, '$1function$2 {');
/** One character beyond Latin-1 makes V8 hold a file with two bytes a character: escaped, 6 MiB less memory. */
const ascii = (code) =>
  code.replace(/(\\*)([^\0-\x7f])/g, (_, before, character) => {
    const escape = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    return before.slice(before.length % 2) + escape;
  });

/** Writes `bundle` of a folder such as dist from its `src`. */
export async function bundle(dist = join(root, 'dist')) {
  const source = join(dist, 'src');
  const files = readdirSync(source, { recursive: true }).map((file) => file.replaceAll('\\', '/'));
  const entries = files.filter((file) => ENTRIES.test(file));
  const bundled = await rolldown({
    input: Object.fromEntries(entries.map((file) => [file.slice(0, -'.js'.length), join(source, file)])),
    platform: 'node',
    external: staysOutside,
    logLevel: 'silent',
    // It drops calls whose value is not used, also one that is there because it throws, such as decodeURIComponent.
    treeshake: false,
    transform: { define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' } },
    plugins: [
      oneCopy(dist),
      { name: 'petstore:written', renderChunk: (code) => ascii(compiledAtOnce(code)) },
    ],
  });
  const dir = join(dist, 'bundle');
  rmSync(dir, { recursive: true, force: true });
  // Classes keep their names, by which providers, routes and entities are told apart.
  const shared = { keepNames: true, minify: false, sourcemap: true };
  const comments = { legal: true, annotation: false, jsdoc: false };
  await bundled.write({ dir, chunkFileNames: 'chunks/[name]-[hash].js', comments, ...shared });
  await bundled.close();
  for (const file of files.filter((name) => /(^|\/)static$/.test(name)))
    cpSync(join(source, file), join(dir, file), { recursive: true });
}

function staysOutside(id, importer = '') {
  // `#…` are files of the service itself, by `imports` of package.json.
  if (/^[./#\0]|^node:/.test(id)) return false;
  const name = id.split('/', id.startsWith('@') ? 2 : 1).join('/');
  if (OUTSIDE.has(name)) return true;
  // A peer is what a data source loads when it is asked for, such as a client of a database.
  if (/node_modules.typeorm\b/.test(importer)) return name in packageOf('typeorm').peerDependencies;
  return (
    !importer.includes('node_modules') && ![name, ...neededBy(name)].some((needed) => INSIDE.test(needed))
  );
}

/** The packages that an installed one depends on, or has as peers. */
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
