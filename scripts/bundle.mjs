// Joins what starts the service into few files, dist/bundle: most of a start is finding and reading some 1,500 of them.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'dist', 'src');

/** Files that are found by their names while the service runs, so that they must still be there. */
const FOUND_BY_NAME = /\.(entity|migration)\.js$|^database\/declared-files\.js$/;

/**
 * Packages that are joined, with whatever they import. Every other one stays outside, because it may be native, start
 * workers or read files of its own; unless it builds on one of these, which would then be there twice.
 */
const INSIDE = new Set([
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/event-emitter',
  '@nestjs/platform-express',
  '@nestjs/swagger',
  '@nestjs/terminus',
  '@nestjs/throttler',
  '@nestjs/typeorm',
  'class-transformer',
  'class-validator',
  'compression',
  'express',
  'ioredis',
  'lossless-json',
  'prom-client',
  'rxjs',
]);

/** Outside in any case: native, files to serve, and required by @nestjs/typeorm by itself. */
const OUTSIDE = new Set(['sqlite3', 'swagger-ui-dist', 'typeorm']);

/** What CommonJS packages expect to be there, once for each file. */
const COMMONJS = `
import { createRequire as petstoreCreateRequire } from 'node:module';
import { fileURLToPath as petstoreFileURLToPath } from 'node:url';
const require = petstoreCreateRequire(import.meta.url);
const __filename = petstoreFileURLToPath(import.meta.url);
const __dirname = petstoreFileURLToPath(new URL('.', import.meta.url));
`;

/** Writes dist/bundle from dist/src. */
export async function bundle() {
  const files = readdirSync(source, { recursive: true })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file === 'main.js' || FOUND_BY_NAME.test(file));
  const bundled = await rolldown({
    input: Object.fromEntries(files.map((file) => [file.slice(0, -'.js'.length), join(source, file)])),
    platform: 'node',
    external: staysOutside,
    logLevel: 'silent',
  });
  const dir = join(root, 'dist', 'bundle');
  rmSync(dir, { recursive: true, force: true });
  await bundled.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    banner: COMMONJS,
    // Providers, routes and entities are told apart by the names of their classes.
    keepNames: true,
    sourcemap: true,
  });
  await bundled.close();
}

/** Of what a joined package imports, only what must be outside is; of what the service imports, all but what is listed. */
function staysOutside(id, importer = '') {
  if (/^[./]|^node:/.test(id)) return false;
  const name = id.split('/', id.startsWith('@') ? 2 : 1).join('/');
  if (OUTSIDE.has(name)) return true;
  return !importer.includes('node_modules') && !INSIDE.has(name) && !buildsOnWhatIsInside(name);
}

function buildsOnWhatIsInside(name) {
  const file = join(root, 'node_modules', name, 'package.json');
  if (!existsSync(file)) return false;
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(file, 'utf8'));
  return Object.keys({ ...dependencies, ...peerDependencies }).some((needed) => INSIDE.has(needed));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle();
