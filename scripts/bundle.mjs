// Joins what starts the service into few files, dist/bundle: most of a start is finding and reading some 1,500 of them.
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'dist', 'src');

/** Files that are found by their names while the service runs, so that they must still be there. */
const FOUND_BY_NAME = /\.(entity|migration)\.js$|^database\/declared-files\.js$/;

/** Packages that stay outside: one is native, one has files to serve, one is required by @nestjs/typeorm as well. */
const OUTSIDE = /^(sqlite3|swagger-ui-dist|typeorm)(\/|$)/;

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
    external: OUTSIDE,
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

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle();
