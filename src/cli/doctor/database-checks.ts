import { stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readDatabaseUrl } from '../../core/config/database-url.js';
import type { Settings } from '../../core/config/settings.js';
import { createDataSource, openDataSource } from '../../database/data-source.js';
import type { Database } from '../../database/database.js';
import { checkSchema, migrateModeOf, refuseIfNewer, schemaStatus } from '../../database/schema.js';
import { exposedFiles } from '../../database/sqlite/private-files.js';
import { ServerLock } from '../../database/sqlite/server-lock.js';
import { fileOf } from '../../database/sqlite/sqlite-data-source.js';
import { MIN_FREE_BYTES, freeDiskBytes } from '../../database/sqlite/availability/sqlite-errors.js';
import { checkCreatable, checkWrites } from '../../database/sqlite/availability/usable-file.js';
import {
  checkDeclaredMigrations,
  checkEntities,
  checkSchema as checkTables,
} from '../../database/entity-checks.js';
import { unknownPlanErrors } from '../../auth/clients/unknown-plans.js';
import { type Finding, examined, fail, skip, warn } from './finding.js';
import { clockText } from './machine-checks.js';
import { instancesText, serverText } from './postgres-checks.js';

const MEBIBYTE = 1_048_576;
/** Free disk space, in bytes, below which the check warns. The write-ahead log alone can grow this large. */
const LITTLE_FREE_BYTES = 64 * MEBIBYTE;
/** Magic numbers of Linux network file systems. SQLite's shared memory does not work on them. */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB2',
  0x00c36400: 'Ceph',
};

/** Runs the checks of the database. If modules could not be imported, migrations and entities are unknown and not checked. */
export async function databaseFindings(settings: Settings, areImported: boolean): Promise<Finding[]> {
  const address = readDatabaseUrl(settings.databaseUrl);
  let database: Database | undefined;
  try {
    if (address?.kind === 'sqlite' && (await isMissing(address.file))) {
      const file = join(await checkCreatable(address.file), basename(address.file));
      return await examined([
        ['database', () => `${address.file} does not exist yet; the first start creates it`],
        areImported && ['entities', async () => entitiesText(await createDataSource(settings))],
        ['disk', () => diskText(file)],
        ['clock', () => clockText()],
      ]);
    }
    const check = async (declared: Database) => {
      if (areImported) await checkEntities(declared, settings.nodeEnv !== 'production');
    };
    const opened = (database = await openDataSource(settings, { journal: 'as it is', check }));
    const file = fileOf(opened);
    const isServer = address?.kind === 'postgres';
    return await examined([
      ['database', () => (isServer ? serverText(opened, settings) : writesText(file))],
      !isServer && ['integrity', () => integrityText(opened)],
      areImported && ['migrations', () => migrationsText(opened, settings)],
      areImported && ['entities', () => entitiesText(opened)],
      file !== undefined && ['permissions', () => permissionsText(file)],
      file !== undefined && ['disk', () => diskText(file)],
      file !== undefined && ['processes', () => serverLockText(file)],
      isServer && ['processes', () => instancesText(opened, settings)],
      areImported && ['plans', () => plansText(opened)],
      ['clock', () => clockText(opened, file)],
    ]);
  } catch (error) {
    return examined([
      ['database', () => Promise.reject(error)],
      ['clock', () => clockText()],
    ]);
  } finally {
    await database?.destroy();
  }
}

/** Whether the file is missing or empty, so that the first start creates the database. */
async function isMissing(path: string): Promise<boolean> {
  if (path === ':memory:') return false;
  try {
    const found = await stat(path);
    return found.isFile() && found.size === 0;
  } catch (error) {
    // checkCreatable() explains any other error in the path.
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

async function writesText(file: string | undefined): Promise<string> {
  if (file !== undefined) await checkWrites(file);
  return `${file ?? 'a database in memory'} opens and accepts writes`;
}

async function integrityText(database: Database): Promise<string> {
  const rows = await database.query<{ quick_check: string }[]>('PRAGMA quick_check(3)');
  const errors = rows.map((row) => row.quick_check).filter((error) => error !== 'ok');
  if (errors.length === 0) return 'no corruption found';
  return fail(`damaged: ${errors.join('; ')}. Stop the service and restore a backup.`);
}

async function migrationsText(database: Database, settings: Settings): Promise<string> {
  const mode = migrateModeOf(settings);
  if (mode === 'check') await checkSchema(database);
  const status = await schemaStatus(database);
  refuseIfNewer(database, status);
  const { applied, pending, expansions } = status;
  if (pending.length > 0 && mode === 'off')
    fail(
      `${pending.length} pending (${pending.join(', ')}), which startup ignores because of DATABASE_MIGRATE=off. Features that need them fail. ` +
        'Run "petstore db migrate".',
    );
  if (pending.length > 0) return `${pending.length} pending; the next startup runs them`;
  const more =
    expansions.length > 0 ? `; ${expansions.length} more, of a newer version, only expand the schema` : '';
  return `all ${applied.length} have run${more}`;
}

/**
 * Checks that the migrations, run on a database in memory, produce the schema that the entities declare. If the database is open and fully
 * migrated, its schema is checked as well.
 */
async function entitiesText(database: Database): Promise<string> {
  if (!database.isInitialized) await checkEntities(database, true);
  await checkDeclaredMigrations();
  if (database.isInitialized && (await schemaStatus(database)).pending.length === 0)
    await checkTables(database);
  return 'the entities match the migrations';
}

async function permissionsText(file: string): Promise<string> {
  const others = await exposedFiles(file);
  if (others !== undefined) fail(others);
  return 'no other user can access the database files';
}

async function diskText(file: string): Promise<string> {
  const { type } = await statfs(dirname(file));
  const network = NETWORK_FILE_SYSTEMS[type];
  if (network !== undefined) fail(`${network} does not support SQLite. Move ${file} to a local disk.`);
  const free = freeDiskBytes(file);
  const shown = `${(free / MEBIBYTE).toFixed(free < MEBIBYTE ? 1 : 0)} MiB free`;
  if (free < MIN_FREE_BYTES) fail(`the disk is full: ${shown}. Free up space for ${file}.`);
  if (free < LITTLE_FREE_BYTES) warn(`only ${shown}; free up space for ${file} soon`);
  return shown;
}

/** Checks that the plan of every client is in PLANS. The table of clients may not exist yet. */
async function plansText(database: Database): Promise<string> {
  if ((await schemaStatus(database)).pending.length > 0) skip('migrations are pending');
  const errors = await unknownPlanErrors(database.manager);
  return errors.length > 0 ? fail(errors.join(' ')) : 'PLANS contains every plan that clients have';
}

async function serverLockText(file: string): Promise<string> {
  return (await ServerLock.isLocked(file))
    ? 'a process serves this database'
    : 'no process serves this database';
}
