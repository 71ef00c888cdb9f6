// Which packages are joined into the bundle, and which stay outside.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the service, and what its package.json says. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const service = packageOf(root);

/**
 * Packages that are joined, with whatever they import. Every other one stays outside, because it may be native, start
 * workers or read files of its own; unless it builds on one of these, which would then be there twice.
 */
export const INSIDE = new Set([
  // Packages that build on the service import it by its name: they get what the bundle has, not dist/src beside it.
  service.name,
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
  'commander',
  'express',
  'fast-string-truncated-width',
  'ioredis',
  'lossless-json',
  'prom-client',
  'reflect-metadata',
  'rxjs',
  'typeorm',
]);

/** Outside in any case: native, and files to serve. */
const OUTSIDE = new Set(['sqlite3', 'swagger-ui-dist']);

/** Peers of TypeORM are what it loads when a data source asks for it, such as clients of databases. */
const PEERS_OF_TYPEORM = Object.keys(packageOf(join(root, 'node_modules', 'typeorm')).peerDependencies ?? {});

/** Requires its tables of characters when needed by itself; what it requires at once is small. */
const NOT_JOINED = 'iconv-lite';

/** Of what a joined package imports, only what must be outside is; of what the service imports, all but what is listed. */
export function staysOutside(id, importer = '') {
  // `#…` are files of the service itself, by `imports` of package.json.
  if (/^[./#]|^node:/.test(id)) return false;
  const name = id.split('/', id.startsWith('@') ? 2 : 1).join('/');
  if (OUTSIDE.has(name)) return true;
  if (name === NOT_JOINED) return isFoundFromHere(name, importer);
  if (/node_modules.typeorm\b/.test(importer) && PEERS_OF_TYPEORM.includes(name)) return true;
  return !importer.includes('node_modules') && !INSIDE.has(name) && !buildsOnWhatIsInside(name);
}

function buildsOnWhatIsInside(name) {
  return neededBy(name).some((needed) => INSIDE.has(needed));
}

/** The packages that an installed one depends on, or has as peers. */
export function neededBy(name) {
  const { dependencies, peerDependencies } = packageOf(join(root, 'node_modules', name));
  return Object.keys({ ...dependencies, ...peerDependencies });
}

/** What the package.json of a folder says; nothing where there is none. */
function packageOf(folder) {
  const file = join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** Whether the bundle finds a package where a joined file finds it, and not another version. */
export function isFoundFromHere(name, importer) {
  const from = (file) => createRequire(file).resolve(name);
  try {
    return from(importer) === from(join(root, 'package.json'));
  } catch {
    return false;
  }
}
