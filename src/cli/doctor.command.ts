import { stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DataSource } from 'typeorm';
import { type Settings, loadSettings } from '../config/settings.js';
import { openDataSource } from '../database/data-source.js';
import { schemaStatus } from '../database/schema.js';
import { ProcessMarks } from '../database/sqlite/process-marks.js';
import { fileOf } from '../database/sqlite/sqlite-data-source.js';
import { LEAST_FREE_BYTES, freeBytesBeside } from '../database/sqlite/troubles/sqlite-errors.js';
import { checkCreatable, checkWrites } from '../database/sqlite/troubles/usable-file.js';
import { command } from './command.js';
import { tableOf } from './table.js';

const MEBIBYTE = 1_048_576;
/** Below so much free space, in bytes, more should be made: the write-ahead log alone may need it. */
const LITTLE_FREE_BYTES = 64 * MEBIBYTE;
/** Network file systems by their Linux magic number: SQLite's shared memory does not work on them. */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB2',
  0x00c36400: 'Ceph',
};

/** The result of one check; `skipped` means that it could not be made or that there is nothing to check. */
interface Finding {
  readonly check: 'database' | 'integrity' | 'migrations' | 'disk' | 'processes' | 'redis';
  readonly state: 'well' | 'wrong' | 'skipped';
  /** The result in words and, if it is wrong, what to do. */
  readonly found: string;
}

/** `petstore doctor`: whether the service can work here. */
export const DOCTOR_COMMAND = command({
  name: 'doctor',
  description: 'look whether the service can work here; changes nothing, and may run beside it',
  examples: ['doctor', 'doctor --json'],
  runAlone: async () => {
    const findings = await examine(loadSettings());
    return { isWell: findings.every(({ state }) => state !== 'wrong'), findings };
  },
  text: ({ findings }) =>
    tableOf([
      ['CHECK', 'STATE', 'FOUND'],
      ...findings.map(({ check, state, found }) => [check, state, found]),
    ]),
  refusal: ({ isWell, findings }) => {
    const failed = findings.filter(({ state }) => state === 'wrong').map(({ check }) => check);
    return isWell ? undefined : `Something is wrong: ${failed.join(', ')}.`;
  },
});

/** Checks everything that the service needs; creates no file. */
async function examine(settings: Settings): Promise<Finding[]> {
  return [...(await examineDatabase(settings)), await examineRedis(settings)];
}

async function examineDatabase(settings: Settings): Promise<Finding[]> {
  const path = settings.databaseUrl.slice('sqlite:'.length);
  let dataSource: DataSource;
  try {
    if (path !== ':memory:' && (await isMissing(path))) {
      const folder = await checkCreatable(path);
      const found = well('database', `${path} is not there yet; the first start makes it`);
      return [found, await examineDisk(join(folder, basename(path)))];
    }
    dataSource = await openDataSource(settings, 'as it is');
  } catch (error) {
    return [wrong('database', messageOf(error))];
  }
  try {
    const file = fileOf(dataSource);
    const database = await examineWrites(file);
    const ofFile = file === undefined ? [] : [examineDisk(file), examineProcesses(file, settings)];
    const found = await Promise.all([examineIntegrity(dataSource), examineMigrations(dataSource), ...ofFile]);
    return [database, ...found];
  } finally {
    await dataSource.destroy();
  }
}

async function examineWrites(file: string | undefined): Promise<Finding> {
  try {
    if (file !== undefined) await checkWrites(file);
    return well('database', `${file ?? 'a database in memory'} opens, and takes writes`);
  } catch (error) {
    return wrong('database', messageOf(error));
  }
}

/** Whether the first start will create the database: the file is absent or empty. */
async function isMissing(path: string): Promise<boolean> {
  try {
    const found = await stat(path);
    return found.isFile() && found.size === 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
}

async function examineIntegrity(dataSource: DataSource): Promise<Finding> {
  try {
    const rows = await dataSource.query<{ quick_check: string }[]>('PRAGMA quick_check(3)');
    const faults = rows.map((row) => row.quick_check).filter((fault) => fault !== 'ok');
    if (faults.length === 0) return well('integrity', 'every page is sound');
    return wrong('integrity', `damaged: ${faults.join('; ')}. Stop the service and restore a backup.`);
  } catch (error) {
    return wrong('integrity', messageOf(error));
  }
}

async function examineMigrations(dataSource: DataSource): Promise<Finding> {
  try {
    const { applied, pending, unknown } = await schemaStatus(dataSource);
    if (unknown.length > 0)
      return wrong('migrations', `of a newer version: ${unknown.join(', ')}. Run that version.`);
    if (pending.length > 0) return well('migrations', `${pending.length} pending; the next start runs them`);
    return well('migrations', `all ${applied.length} ran`);
  } catch (error) {
    return wrong('migrations', messageOf(error));
  }
}

async function examineDisk(file: string): Promise<Finding> {
  const { type } = await statfs(dirname(file));
  const network = NETWORK_FILE_SYSTEMS[type];
  if (network !== undefined)
    return wrong('disk', `${network} is no file system for SQLite. Move ${file} to a local disk.`);
  const free = await freeBytesBeside(file);
  const shown = `${(free / MEBIBYTE).toFixed(free < MEBIBYTE ? 1 : 0)} MiB free`;
  if (free < LEAST_FREE_BYTES) return wrong('disk', `the disk is full: ${shown}. Make room for ${file}.`);
  return well('disk', free < LITTLE_FREE_BYTES ? `only ${shown}: make room for ${file} in time` : shown);
}

async function examineProcesses(file: string, { redisUrl }: Settings): Promise<Finding> {
  const serving = await (await ProcessMarks.of(file)).others('left');
  const found = serving === 1 ? '1 process serves it' : `${serving} processes serve it`;
  if (serving < 2 || redisUrl !== null) return well('processes', found);
  return wrong(
    'processes',
    `${found}, and without Redis each counts quotas for itself. Set REDIS_URL in all, or run one.`,
  );
}

async function examineRedis({ redisUrl }: Settings): Promise<Finding> {
  if (redisUrl === null)
    return { check: 'redis', state: 'skipped', found: 'REDIS_URL is not set: one process counts alone' };
  try {
    const { checkRedis } = await import('../throttling/redis/redis-quota-store.js');
    await checkRedis(redisUrl);
    return well('redis', 'it takes counts');
  } catch (error) {
    return wrong('redis', `it takes no counts: ${messageOf(error)}. Look at REDIS_URL and at the server.`);
  }
}

function well(check: Finding['check'], found: string): Finding {
  return { check, state: 'well', found };
}

function wrong(check: Finding['check'], found: string): Finding {
  return { check, state: 'wrong', found };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
