import { stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readDatabaseUrl } from '../core/config/database-url.js';
import { SettingsError } from '../core/config/define-settings.js';
import { type Settings, loadSettings } from '../core/config/settings.js';
import { openDataSource } from '../database/data-source.js';
import type { Database } from '../database/database.js';
import { ProcessLockFiles } from '../database/sqlite/process-lock-files.js';
import { fileOf } from '../database/sqlite/sqlite-data-source.js';
import { LEAST_FREE_BYTES, freeBytesBeside } from '../database/sqlite/troubles/sqlite-errors.js';
import { checkCreatable, checkWrites } from '../database/sqlite/troubles/usable-file.js';
import { action } from './action.js';
import { type Finding, messageOf, well, wrong } from './finding.js';
import { examineClock, examineNames, examineNode, examinePorts, examineRights } from './machine-findings.js';
import { examineDeclarations, examineEntities, examineMigrations } from './module-findings.js';
import { examineRedis } from './redis-findings.js';
import { examineServer } from './server-findings.js';
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

/** `petstore doctor`: whether the service can work here. */
export const doctor = action({
  runAlone: async ({ loadModules }) => {
    const { areImported, findings: declarations } = await examineDeclarations(loadModules);
    const findings = [examineNode(), ...declarations, ...(await examine(areImported))];
    return { isWell: findings.every(({ state }) => state !== 'wrong'), findings };
  },
  text: ({ findings }) =>
    tableOf([
      ['CHECK', 'STATE', 'FOUND'],
      ...findings.map(({ check, state, found }) => [check, state, found]),
    ]),
  refusal: ({ isWell, findings }) => {
    const failed = new Set(findings.filter(({ state }) => state === 'wrong').map(({ check }) => check));
    return isWell ? undefined : `Something is wrong: ${[...failed].join(', ')}.`;
  },
});

/** Checks everything that the service needs; creates no file. */
async function examine(areImported: boolean): Promise<Finding[]> {
  let settings: Settings;
  try {
    settings = loadSettings();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const misspelt = namesBeside(error);
    // Nothing else can be looked at.
    return [...error.faults.map((fault) => wrong('settings', fault)), ...misspelt];
  }
  const database = await examineDatabase(settings, areImported);
  return [
    ...examineNames(),
    ...(await examinePorts(settings)),
    ...database,
    ...(await examineRedis(settings)),
  ];
}

/** What is misspelt besides the faults of settings; nothing where those are of `.env` itself, whose names cannot be read then. */
function namesBeside(error: SettingsError): Finding[] {
  try {
    return examineNames().filter(({ state }) => state === 'wrong');
  } catch (again) {
    if (again instanceof SettingsError && again.message === error.message) return [];
    throw again;
  }
}

/** Without all modules, what they bring to the database is not known: then neither migrations nor entities are looked at. */
async function examineDatabase(settings: Settings, areImported: boolean): Promise<Finding[]> {
  const address = readDatabaseUrl(settings.databaseUrl);
  const path = address?.kind === 'sqlite' ? address.file : ':memory:';
  let dataSource: Database;
  try {
    if (path !== ':memory:' && (await isMissing(path))) {
      const folder = await checkCreatable(path);
      const found = well('database', `${path} is not there yet; the first start makes it`);
      const entities = areImported ? [await examineEntities()] : [];
      const clock = await examineClock(undefined, undefined);
      return [found, ...entities, await examineDisk(join(folder, basename(path))), clock];
    }
    dataSource = await openDataSource(settings, { journal: 'as it is' });
  } catch (error) {
    return [wrong('database', messageOf(error)), await examineClock(undefined, undefined)];
  }
  try {
    const ofModules = areImported ? [examineMigrations(dataSource), examineEntities(dataSource)] : [];
    if (address?.kind === 'postgres')
      return [
        await examineServer(dataSource, settings),
        ...(await Promise.all([...ofModules, examineClock(dataSource, undefined)])),
      ];
    const file = fileOf(dataSource);
    const database = await examineWrites(file);
    const ofFile =
      file === undefined ? [] : [examineRights(file), examineDisk(file), examineProcesses(file, settings)];
    const found = await Promise.all([
      examineIntegrity(dataSource),
      ...ofModules,
      ...ofFile,
      examineClock(dataSource, file),
    ]);
    return [database, ...found];
  } catch (error) {
    // Such as a server that goes away meanwhile: what was found elsewhere is told all the same.
    return [wrong('database', messageOf(error))];
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
    // Any other error is that of a folder on the way, which a file that cannot be made tells in words.
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

async function examineIntegrity(dataSource: Database): Promise<Finding> {
  try {
    const rows = await dataSource.query<{ quick_check: string }[]>('PRAGMA quick_check(3)');
    const faults = rows.map((row) => row.quick_check).filter((fault) => fault !== 'ok');
    if (faults.length === 0) return well('integrity', 'every page is sound');
    return wrong('integrity', `damaged: ${faults.join('; ')}. Stop the service and restore a backup.`);
  } catch (error) {
    return wrong('integrity', messageOf(error));
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
  const serving = await (await ProcessLockFiles.of(file)).others('left');
  const found = serving === 1 ? '1 process serves it' : `${serving} processes serve it`;
  if (serving < 2 || redisUrl !== null) return well('processes', found);
  return wrong(
    'processes',
    `${found}, and without Redis each counts quotas for itself. Set REDIS_URL in all, or run one.`,
  );
}
